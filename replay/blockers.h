// VerdictBlockers: what keeps lastout from allowing a DELETE in a state of the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/machine.h"

namespace lastout::replay {

struct VerdictBlockers {
  std::vector<std::string>
      causes;  // in admission::explain's words, each once; empty: the DELETE would be allowed
  std::vector<cluster::Slot> objects;  // those that hold the criteria
  bool none() const { return causes.empty(); }
  std::string sentence() const;  // "a exists, b exists and c exists"
};

// Somebody's request.
struct Asker {
  cluster::Actor actor = cluster::Actor::Client;
  uint32_t by = cluster::kNone;
  bool isUpdate = false;  // else a DELETE
  friend bool operator==(const Asker&, const Asker&) = default;
};

// Returns the sender of the request that an event answers.
Asker askerOf(const cluster::Model& model, const cluster::Action& action, const cluster::ClusterEvent& event);

// Returns what blocks a DELETE; by default of an unknown person.
VerdictBlockers blockersOf(const cluster::Machine& machine, cluster::StateRef state, cluster::Slot slot,
                           const Asker& asker = {});
// The same of CriticalServices alone.
VerdictBlockers unmetCriteria(const cluster::Machine& machine, cluster::StateRef state, cluster::Slot slot);

// A state of the machine that several happenings share.
using SharedState = std::shared_ptr<const std::vector<uint64_t>>;

// Caches what blocks a DELETE: a client that asks again while the state is the same gets the cached answer.
class DenialCache {
 public:
  explicit DenialCache(const cluster::Machine& machine) : machine_(machine) {}

  // Valid until the next call for the same slot.
  const VerdictBlockers& blockersOf(const SharedState& state, cluster::Slot slot, const Asker& asker);

 private:
  struct Known {
    SharedState state;
    Asker asker;
    VerdictBlockers blockers;
  };

  const cluster::Machine& machine_;
  std::unordered_map<cluster::Slot, Known> known_;
};

}  // namespace lastout::replay
