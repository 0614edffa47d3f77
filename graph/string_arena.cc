#include "graph/string_arena.h"

#include "kube/invariant.h"

namespace lastout::graph {

// Sizes grow by an eighth of the power of two below them: 8, 16, ..., 128, 144, ..., 256, 288, ... A slot
// wastes at most an eighth of itself beyond the rounding to 8.
uint32_t StringArena::sizeIndex(uint32_t bytes) {
  if (bytes <= 128) return (bytes + 7) / 8 - 1;
  const uint32_t octave = static_cast<uint32_t>(std::bit_width(bytes - 1)) - 8;  // 129..256: 0
  const uint32_t step = 16u << octave;
  return 16 + 8 * octave + (bytes - (128u << octave) + step - 1) / step - 1;
}

uint32_t StringArena::slotBytes(uint32_t size) {
  if (size < 16) return 8 * (size + 1);
  const uint32_t octave = (size - 16) / 8;
  return (128u << octave) + (16u << octave) * ((size - 16) % 8 + 1);
}

bool StringArena::hasRoom(const Page& page) {
  return page.firstFree != kNoSlot || (page.fresh + slotBytes(page.size) / kUnit) <= kUnits;
}

uint32_t StringArena::addPage(uint32_t size, uint32_t bytes) {
  Page page;
  page.size = static_cast<uint16_t>(size);
  page.bytes = bytes;
  const uint32_t number = info_.add(page);
  if (number == pages_.size()) pages_.emplace_back();
  pages_[number] = CowChunk::allocate(bytes);
  return number;
}

void StringArena::link(uint32_t page) {
  Page& info = info_.write(page);
  uint32_t& first = open_[info.size];
  info.previous = kNone;
  info.next = first;
  if (first != kNone) info_.write(first).previous = page;
  first = page;
}

void StringArena::unlink(uint32_t page) {
  const Page info = info_[page];
  if (info.previous != kNone) {
    info_.write(info.previous).next = info.next;
  } else {
    open_[info.size] = info.next;
  }
  if (info.next != kNone) info_.write(info.next).previous = info.previous;
}

std::byte* StringArena::writable(uint32_t page) {
  const Page& info = info_[page];
  CowChunk& chunk = pages_[page];
  chunk.makeWritable(info.bytes, info.size == kSizes ? info.bytes : size_t{info.fresh} * kUnit);
  return chunk.bytes();
}

StringId StringArena::add(std::string_view text) {
  if (text.empty()) return kEmptyString;
  ++count_;
  const uint32_t length = static_cast<uint32_t>(text.size());
  const uint32_t bytes = length + static_cast<uint32_t>(sizeof(length));
  uint32_t page = 0;
  uint32_t unit = 0;
  if (bytes > kLargestSlot) {
    page = addPage(kSizes, bytes);
    info_.write(page).used = 1;
  } else {
    const uint32_t size = sizeIndex(bytes);
    if (open_[size] == kNone) link(addPage(size, kPageBytes));
    page = open_[size];
    std::byte* memory = writable(page);
    Page& info = info_.write(page);
    if (info.firstFree != kNoSlot) {
      unit = info.firstFree;
      std::memcpy(&info.firstFree, memory + size_t{unit} * kUnit, sizeof(info.firstFree));
    } else {
      unit = info.fresh;
      info.fresh = static_cast<uint16_t>(unit + slotBytes(size) / kUnit);
    }
    ++info.used;
    if (!hasRoom(info)) unlink(page);
  }
  std::byte* slot = pages_[page].bytes() + size_t{unit} * kUnit;
  std::memcpy(slot, &length, sizeof(length));
  std::memcpy(slot + sizeof(length), text.data(), length);
  return StringId{page << kUnitBits | unit};
}

void StringArena::release(StringId string) {
  if (string == kEmptyString) return;
  LASTOUT_INVARIANT(count_ > 0);
  --count_;
  const uint32_t page = static_cast<uint32_t>(string) >> kUnitBits;
  const uint16_t unit = static_cast<uint16_t>(static_cast<uint32_t>(string) & (kUnits - 1));
  Page& info = info_.write(page);
  const bool isLong = info.size == kSizes;
  const bool wasOpen = !isLong && hasRoom(info);
  const bool onlyOpen = wasOpen && info.previous == kNone && info.next == kNone;
  LASTOUT_INVARIANT(info.used > 0);
  if (--info.used == 0 && !onlyOpen) {
    if (wasOpen) unlink(page);
    info_.release(page);
    pages_[page] = CowChunk();
    return;
  }
  std::byte* memory = writable(page);
  std::memcpy(memory + size_t{unit} * kUnit, &info.firstFree, sizeof(info.firstFree));
  info.firstFree = unit;
  if (!wasOpen) link(page);
}

}  // namespace lastout::graph
