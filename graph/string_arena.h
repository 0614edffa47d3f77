// StringArena: the graph's strings. Copy-on-write like the rest; freed space is used again, and given back by
// pages.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/cow_vector.h"

namespace lastout::graph {

// Names a string in an arena. kNone is the empty string, which takes no space.
enum class StringId : uint32_t {};
inline constexpr StringId kEmptyString{kNone};

// Pages of 16 kB, each cut into slots of one size; a string (4 bytes of length, then its bytes) never
// straddles a page. Longer strings than fit have a page of their own. A page with a free slot is in its
// size's list; a page whose last string goes is given back, unless it is the only one in that list.
//
// Threading: as CowVector's. A view is valid until the next add or release.
class StringArena {
 public:
  StringArena() { open_.fill(kNone); }

  StringId add(std::string_view text);
  void release(StringId string);
  uint32_t pages() const { return info_.live(); }
  uint32_t count() const { return count_; }  // strings in it
  std::string_view view(StringId string) const {
    if (string == kEmptyString) return {};
    const uint32_t number = static_cast<uint32_t>(string);
    const std::byte* slot = pages_[number >> kUnitBits].bytes() + size_t{number & (kUnits - 1)} * kUnit;
    uint32_t length = 0;
    std::memcpy(&length, slot, sizeof(length));
    return {reinterpret_cast<const char*>(slot) + sizeof(length), length};
  }

 private:
  static constexpr uint32_t kUnit = 8;  // slots begin at multiples of it
  static constexpr uint32_t kUnitBits = 11;
  static constexpr uint32_t kUnits = 1 << kUnitBits;  // in a page
  static constexpr uint32_t kPageBytes = kUnit * kUnits;
  static constexpr uint32_t kLargestSlot = 4096;
  static constexpr uint32_t kSizes = 56;
  static constexpr uint16_t kNoSlot = 0xffff;

  struct Page {
    uint32_t previous = kNone;  // in the list of its size's pages with a free slot
    uint32_t next = kNone;
    uint16_t size = 0;             // index of its slots' size; kSizes: one long string
    uint16_t used = 0;             // strings in it
    uint16_t firstFree = kNoSlot;  // a released slot, in units; the next one is in its first two bytes
    uint16_t fresh = 0;            // units from here on were never used
    uint32_t bytes = 0;            // allocated
  };

  static uint32_t sizeIndex(uint32_t bytes);
  static uint32_t slotBytes(uint32_t size);
  static bool hasRoom(const Page& page);
  uint32_t addPage(uint32_t size, uint32_t bytes);
  void link(uint32_t page);
  void unlink(uint32_t page);
  std::byte* writable(uint32_t page);

  std::vector<CowChunk> pages_;
  Pool<Page> info_;  // numbered as pages_
  uint32_t count_ = 0;
  std::array<uint32_t, kSizes> open_;  // of each size, the first page with a free slot
};

}  // namespace lastout::graph
