// CowVector and Pool: the graph's storage. A copy shares every chunk; the first write to a shared chunk
// copies it.
//
// Threading: as CowChunk's. One thread may write to one CowVector while others read copies of it.
// A reference from operator[] is invalid after the next write to the same vector (the chunk may have been
// replaced); one from write() stays valid until the vector is copied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "graph/cow_chunk.h"
#include "kube/invariant.h"

namespace lastout::graph {

inline constexpr uint32_t kNone = ~uint32_t{0};  // "no such", for every kind of number in the graph

template <class T>
class CowVector {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= CowChunk::kAlignment);

 public:
  // About 16 kB: few enough to copy all handles of a million objects in a millisecond, small enough that the
  // first write after a snapshot copies little.
  static constexpr uint32_t kBits = std::bit_width(size_t{16384} / sizeof(T)) - 1;
  static constexpr uint32_t kPerChunk = uint32_t{1} << kBits;

  uint32_t size() const { return size_; }
  const T& operator[](uint32_t index) const {
    return items(chunks_[index >> kBits])[index & (kPerChunk - 1)];
  }
  T& write(uint32_t index) {
    CowChunk& chunk = chunks_[index >> kBits];
    if (chunk.shared()) [[unlikely]] {
      chunk.makeWritable(kBytes, sizeof(T) * std::min(kPerChunk, size_ - (index & ~(kPerChunk - 1))));
    }
    return items(chunk)[index & (kPerChunk - 1)];
  }
  void push_back(const T& item) {
    if ((size_ & (kPerChunk - 1)) == 0) chunks_.push_back(CowChunk::allocate(kBytes));
    ++size_;
    write(size_ - 1) = item;
  }
  void assign(uint32_t count, const T& item) {
    chunks_.clear();
    for (size_ = 0; size_ < count; size_ += std::min(kPerChunk, count - size_)) {
      chunks_.push_back(CowChunk::allocate(kBytes));
      std::fill_n(items(chunks_.back()), std::min(kPerChunk, count - size_), item);
    }
  }
  void prefetch(uint32_t index) const { __builtin_prefetch(&(*this)[index]); }

 private:
  static constexpr size_t kBytes = sizeof(T) * kPerChunk;
  static T* items(const CowChunk& chunk) { return reinterpret_cast<T*>(chunk.bytes()); }

  std::vector<CowChunk> chunks_;
  uint32_t size_ = 0;
};

// Records with dense numbers that are used again after release, last released first.
template <class T>
class Pool {
  static_assert(sizeof(T) >= sizeof(uint32_t));

 public:
  uint32_t add(const T& item) {
    ++live_;
    if (firstFree_ == kNone) {
      items_.push_back(item);
      return items_.size() - 1;
    }
    const uint32_t index = firstFree_;
    T& slot = items_.write(index);
    std::memcpy(&firstFree_, reinterpret_cast<const std::byte*>(&slot), sizeof(firstFree_));
    slot = item;
    return index;
  }
  // The slot becomes T{} but for its first four bytes, which link the free ones.
  void release(uint32_t index) {
    T& slot = items_.write(index);
    slot = T{};
    std::memcpy(reinterpret_cast<std::byte*>(&slot), &firstFree_, sizeof(firstFree_));
    firstFree_ = index;
    LASTOUT_INVARIANT(live_ > 0);
    --live_;
  }
  const T& operator[](uint32_t index) const { return items_[index]; }
  T& write(uint32_t index) { return items_.write(index); }
  void prefetch(uint32_t index) const { items_.prefetch(index); }
  uint32_t slots() const { return items_.size(); }  // all numbers are below
  uint32_t live() const { return live_; }

 private:
  CowVector<T> items_;
  uint32_t firstFree_ = kNone;
  uint32_t live_ = 0;
};

}  // namespace lastout::graph
