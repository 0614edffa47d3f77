// HashIndex: from a hash to the numbers of records that have it. Open addressing over a CowVector.
#pragma once

#include <cstdint>

#include "graph/cow_vector.h"
#include "kube/invariant.h"

namespace lastout::graph {

// Linear probing with the hashes stored beside the numbers. A record's slot is at or after its home, with no
// free slot between; erasing moves what follows back, so there are no tombstones and churn costs nothing over
// time. Different records may have equal hashes: the caller compares what it finds. Homes are in the order of
// the hashes: growing then walks both tables forwards. It grows by half: after that, half of it is used.
class HashIndex {
 public:
  // The first number with this hash for which equal(number) holds, or kNone.
  template <class Equal>
  uint32_t find(uint32_t hash, const Equal& equal) const {
    if (live_ == 0) return kNone;
    for (uint32_t at = home(hash);; at = after(at)) {
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
    uint32_t hole = home(hash);
    while (slots_[hole].number != number) {
      LASTOUT_INVARIANT(slots_[hole].number != kNone);
      hole = after(hole);
    }
    --live_;
    for (uint32_t at = after(hole);; at = after(at)) {
      const Slot slot = slots_[at];
      if (slot.number == kNone) break;
      // It may move back to the hole unless its home lies behind the hole.
      if (distance(home(slot.hash), at) < distance(hole, at)) continue;
      slots_.write(hole) = slot;
      hole = at;
    }
    slots_.write(hole) = Slot{};
  }

  void prefetch(uint32_t hash) const {
    if (live_ > 0) slots_.prefetch(home(hash));
  }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = kNone;  // kNone: free
  };

  uint32_t home(uint32_t hash) const { return static_cast<uint32_t>(uint64_t{hash} * slots_.size() >> 32); }
  uint32_t after(uint32_t at) const { return at + 1 == slots_.size() ? 0 : at + 1; }
  // Returns how many steps it is from one slot to another.
  uint32_t distance(uint32_t from, uint32_t to) const { return to - from + (to < from ? slots_.size() : 0); }

  void place(uint32_t hash, uint32_t number) {
    uint32_t at = home(hash);
    while (slots_[at].number != kNone) at = after(at);
    slots_.write(at) = Slot{hash, number};
  }

  void grow() {
    const CowVector<Slot> old = std::move(slots_);
    const uint32_t count = old.size() == 0 ? 16 : old.size() + old.size() / 2;
    slots_ = CowVector<Slot>();
    slots_.assign(count, Slot{});
    limit_ = count / 4 * 3;
    for (uint32_t i = 0; i < old.size(); ++i) {
      if (old[i].number != kNone) place(old[i].hash, old[i].number);
    }
  }

  CowVector<Slot> slots_;
  uint32_t limit_ = 0;
  uint32_t live_ = 0;
};

}  // namespace lastout::graph
