// HashIndex: from a hash to the numbers of records that have it. Open addressing over a CowVector.
#pragma once

#include <cstdint>

#include "graph/cow_vector.h"
#include "kube/invariant.h"

namespace lastout::graph {

// Linear probing with the hashes stored beside the numbers. A record's slot is at or after hash >> shift_,
// with no free slot between; erasing moves what follows back, so there are no tombstones and churn costs
// nothing over time. Different records may have equal hashes: the caller compares what it finds. It takes the
// high bits of the hash: doubling then walks both tables forwards.
class HashIndex {
 public:
  // The first number with this hash for which equal(number) holds, or kNone.
  template <class Equal>
  uint32_t find(uint32_t hash, const Equal& equal) const {
    if (live_ == 0) return kNone;
    for (uint32_t at = hash >> shift_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone) return kNone;
      if (slot.hash == hash && equal(slot.number)) return slot.number;
    }
  }

  void insert(uint32_t hash, uint32_t number) {
    if (live_ >= limit_) grow();
    ++live_;
    place(hash, number);
  }

  // `number` must be in it under this hash.
  void erase(uint32_t hash, uint32_t number) {
    uint32_t hole = hash >> shift_;
    while (slots_[hole].number != number) {
      LASTOUT_INVARIANT(slots_[hole].number != kNone);
      hole = (hole + 1) & mask_;
    }
    --live_;
    for (uint32_t at = (hole + 1) & mask_;; at = (at + 1) & mask_) {
      const Slot slot = slots_[at];
      if (slot.number == kNone) break;
      // It may move back to the hole unless its home lies behind the hole.
      if (((at - (slot.hash >> shift_)) & mask_) < ((at - hole) & mask_)) continue;
      slots_.write(hole) = slot;
      hole = at;
    }
    slots_.write(hole) = Slot{};
  }

  void prefetch(uint32_t hash) const {
    if (live_ > 0) slots_.prefetch(hash >> shift_);
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kNone;  // kNone: free
  };

  void place(uint32_t hash, uint32_t number) {
    uint32_t at = hash >> shift_;
    while (slots_[at].number != kNone) at = (at + 1) & mask_;
    slots_.write(at) = Slot{hash, number};
  }

  void grow() {
    const CowVector<Slot> old = std::move(slots_);
    const uint32_t count = old.size() == 0 ? 16 : old.size() * 2;
    slots_ = CowVector<Slot>();
    slots_.assign(count, Slot{});
    mask_ = count - 1;
    shift_ = static_cast<uint32_t>(32 - std::bit_width(mask_));
    limit_ = count / 4 * 3;
    for (uint32_t i = 0; i < old.size(); ++i) {
      if (old[i].number != kNone) place(old[i].hash, old[i].number);
    }
  }

  CowVector<Slot> slots_;
  uint32_t mask_ = 0;
  uint32_t shift_ = 0;
  uint32_t limit_ = 0;
  uint32_t live_ = 0;
};

}  // namespace lastout::graph
