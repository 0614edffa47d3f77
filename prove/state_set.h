// StateSet: which states have been seen, exactly, and a number for each in the order they were first seen.
//
// States are compared in full, never by their hash alone, so that "not seen" is a fact: a proof rests on it.
// Records lie one after another in blocks that never move; beside them an open-addressing table of numbers.
// One writer, and no reader beside it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace lastout::prove {

// A growing array of records of `width` elements that are never moved once they are there.
template <class T>
class Blocks {
 public:
  explicit Blocks(uint32_t width = 1) : width_(width), shift_(shiftFor(width)) {}

  uint64_t size() const { return size_; }
  const T* operator[](uint64_t i) const { return blocks_[i >> shift_].get() + (i & mask()) * width_; }
  T* at(uint64_t i) { return blocks_[i >> shift_].get() + (i & mask()) * width_; }

  // One more record, not initialized.
  T* append() {
    if (size_ >> shift_ == blocks_.size()) {
      blocks_.push_back(std::make_unique_for_overwrite<T[]>(size_t{width_} << shift_));
    }
    return at(size_++);
  }
  void truncate(uint64_t size) { size_ = std::min(size, size_); }

  // Bytes that it occupies once it holds `records`.
  uint64_t bytesFor(uint64_t records) const {
    return ((records + mask()) >> shift_) * (uint64_t{width_} << shift_) * sizeof(T);
  }

 private:
  // Blocks of about 64 KiB: small beside any bound on memory, and large enough to make allocations rare.
  static uint32_t shiftFor(uint32_t width) {
    return std::bit_width(std::max<uint64_t>(1, (uint64_t{1} << 16) / (sizeof(T) * width))) - 1;
  }
  uint64_t mask() const { return (uint64_t{1} << shift_) - 1; }

  uint32_t width_;
  uint32_t shift_;
  uint64_t size_ = 0;
  std::vector<std::unique_ptr<T[]>> blocks_;
};

// Each word is multiplied with a constant of its place and folded, and the results are added: no word waits
// for the one before it, which is what makes this faster here than a general hash of so few bytes.
inline uint64_t hashWords(const uint64_t* words, uint32_t count) {
  __extension__ using Wide = unsigned __int128;
  uint64_t sum = 0;
  uint64_t salt = 0x9e3779b97f4a7c15;
  for (uint32_t i = 0; i < count; i++) {
    const Wide product = static_cast<Wide>(words[i] ^ salt) * (salt ^ 0xd6e8feb86659fd93);
    sum += static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    salt += 0x9e3779b97f4a7c16;  // stays odd or even by turns; never the same twice
  }
  sum ^= sum >> 32;
  return sum * 0xd6e8feb86659fd93;
}

class StateSet {
 public:
  static constexpr uint32_t kNoState = ~uint32_t{0};

  struct Inserted {
    uint32_t id = kNoState;  // kNoState: it is new, and there is no room for another
    bool fresh = false;
  };

  explicit StateSet(uint32_t words) : words_(words), records_(words), table_(kSmallestTable, kEmpty) {}

  uint32_t words() const { return words_; }
  uint32_t size() const { return static_cast<uint32_t>(records_.size()); }
  const uint64_t* operator[](uint32_t id) const { return records_[id]; }

  // Two hints, to be given for many states before the first of them is inserted: memory answers slowly.
  void prefetchTable(uint64_t hash) const { __builtin_prefetch(&table_[bucket(hash)]); }
  void prefetchRecord(uint64_t hash) const {
    const uint64_t entry = table_[bucket(hash)];
    if (entry != kEmpty && tag(entry) == tagOf(hash)) {
      const uint64_t* record = records_[id(entry)];
      __builtin_prefetch(record);
      __builtin_prefetch(record + words_ - 1);
    }
  }

  // `hash` is hashWords' of `state`; at most `room` states are kept.
  Inserted insert(const uint64_t* state, uint64_t hash, uint32_t room) {
    for (uint64_t i = bucket(hash);; i = (i + 1) & (table_.size() - 1)) {
      const uint64_t entry = table_[i];
      if (entry == kEmpty) {
        return add(state, hash, i, room);
      }
      if (tag(entry) == tagOf(hash) &&
          std::memcmp(records_[id(entry)], state, words_ * sizeof(uint64_t)) == 0) {
        return {id(entry), false};
      }
    }
  }

  // The most bytes in use at any time until it holds `states`: when its table grows, the old one is still
  // there.
  uint64_t bytesFor(uint64_t states) const {
    const uint64_t table = tableFor(states);
    return records_.bytesFor(states) +
           (table == table_.size() ? table : table + table / 2) * sizeof(uint64_t);
  }

 private:
  // An entry: 32 bits of the hash above, the state's number below. The place in the table comes from the same
  // 32 bits, so growing needs no state to be hashed again.
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  static constexpr uint64_t kSmallestTable = 1024;
  static uint32_t id(uint64_t entry) { return static_cast<uint32_t>(entry); }
  static uint32_t tag(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }
  static uint32_t tagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  uint64_t bucket(uint64_t hash) const { return tagOf(hash) & (table_.size() - 1); }
  uint64_t tableFor(uint64_t states) const {
    return std::max<uint64_t>(table_.size(), std::bit_ceil(states + states / 2 + 1));
  }

  Inserted add(const uint64_t* state, uint64_t hash, uint64_t place, uint32_t room) {
    if (size() >= room) {
      return {};
    }
    const uint32_t number = size();
    std::memcpy(records_.append(), state, words_ * sizeof(uint64_t));
    table_[place] = uint64_t{tagOf(hash)} << 32 | number;
    if (tableFor(size()) != table_.size()) {
      grow();
    }
    return {number, true};
  }

  void grow() {
    std::vector<uint64_t> old(table_.size() * 2, kEmpty);
    old.swap(table_);
    for (const uint64_t entry : old) {
      if (entry == kEmpty) {
        continue;
      }
      uint64_t i = tag(entry) & (table_.size() - 1);
      while (table_[i] != kEmpty) {
        i = (i + 1) & (table_.size() - 1);
      }
      table_[i] = entry;
    }
  }

  uint32_t words_;
  Blocks<uint64_t> records_;
  std::vector<uint64_t> table_;
};

}  // namespace lastout::prove
