// CowChunk: a counted block of memory, shared between a graph and its snapshots until somebody writes to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace lastout::graph {

// One owner's handle on a block. Copying a handle shares the block; any thread may copy or drop its own
// handle while others use theirs. A block may be written to through a handle only while that handle is the
// only one.
//
// Why the orders below are enough. A reader's loads from the block come before its fetch_sub(release) when it
// drops its handle; shared() loads with acquire. So a writer that sees itself alone has synchronized with
// every reader that ever left, and its stores cannot be seen by their loads. Nobody can join after that: a
// new handle is made only by copying an existing one, and the only existing one is the writer's own.
class CowChunk {
 public:
  static constexpr size_t kAlignment = 64;  // a cache line: the count shares none with the payload

  CowChunk() = default;
  static CowChunk allocate(size_t bytes) {
    void* memory = ::operator new (kAlignment + bytes, std::align_val_t{kAlignment});
    return CowChunk(new (memory) Header);
  }
  CowChunk(const CowChunk& other) noexcept : header_(other.header_) {
    if (header_ != nullptr) header_->handles.fetch_add(1, std::memory_order_relaxed);
  }
  CowChunk(CowChunk&& other) noexcept : header_(std::exchange(other.header_, nullptr)) {}
  CowChunk& operator=(CowChunk other) noexcept {
    std::swap(header_, other.header_);
    return *this;
  }
  ~CowChunk() {
    // acquire, for the one that frees: its free must come after everybody else's last read.
    if (header_ != nullptr && header_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      ::operator delete (header_, std::align_val_t{kAlignment});
    }
  }

  bool empty() const { return header_ == nullptr; }
  bool shared() const { return header_->handles.load(std::memory_order_acquire) != 1; }
  std::byte* bytes() const { return reinterpret_cast<std::byte*>(header_) + kAlignment; }

  // Makes this the only handle of its block: a block that is shared is replaced by a copy of its first `used`
  // bytes.
  void makeWritable(size_t bytesAllocated, size_t used) {
    if (!shared()) return;
    CowChunk copy = allocate(bytesAllocated);
    std::memcpy(copy.bytes(), bytes(), used);
    *this = std::move(copy);
  }

 private:
  struct Header {
    std::atomic<uint32_t> handles{1};
  };
  explicit CowChunk(Header* header) : header_(header) {}

  Header* header_ = nullptr;
};

}  // namespace lastout::graph
