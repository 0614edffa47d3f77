// explore: every state that a system can reach, by breadth, with the transitions between them.
//
// Breadth first, in the order in which the system lists its actions: states are numbered by their distance
// from the initial one, the first way found to a state is a shortest one, and the same system and bounds give
// the same numbers. It knows nothing of clusters: a System says what may happen, reach.h answers questions
// about what was found.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "prove/state_set.h"

namespace lastout::prove {

// A deterministic system whose states are arrays of `words()` words. `apply` performs an action that
// `enabled` listed in place, and returns a mask of the safety properties that this very step violates.
template <class S>
concept System = requires(const S& system, const uint64_t* before, uint64_t* state,
                          std::vector<typename S::Action>& actions, const typename S::Action& action) {
  { system.words() } -> std::convertible_to<uint32_t>;
  { system.initial() } -> std::convertible_to<std::vector<uint64_t>>;
  {system.enabled(state, actions)};
  { system.apply(before, state, action) } -> std::convertible_to<uint64_t>;
  { system.goal(before) } -> std::convertible_to<bool>;
};

struct Bounds {
  uint64_t states = std::numeric_limits<uint32_t>::max() - 1;
  uint64_t bytes =
      uint64_t{2} << 30;  // of all that grows with the states, the analysis that follows included
};

struct Explored {
  uint64_t states = 0;       // seen
  uint64_t expanded = 0;     // of them, those whose every action was tried
  uint64_t transitions = 0;  // actions tried
};
// Returns false to end the exploration.
using OnProgress = std::function<bool(const Explored&)>;

// A step that violates a safety property: the action with this index among those enabled in `state`.
struct Violation {
  uint32_t property = 0;  // bit of apply's mask
  uint32_t state = 0;
  uint32_t action = 0;
};

struct Exploration {
  enum class End : uint8_t { Complete, StateBound, MemoryBound, Stopped };

  explicit Exploration(uint32_t words) : states(words) {}

  StateSet states;           // 0 is the initial one
  Blocks<uint32_t> parents;  // where a state was first reached from; its own number for 0
  Blocks<uint32_t>
      edgesEnd;            // of an expanded state: its edges end here, and start where its predecessor's end
  Blocks<uint32_t> edges;  // target states; steps that change nothing are left out
  std::vector<bool> goal;
  std::vector<Violation> violations;  // of each violated property the first, which no shorter way violates
  uint64_t transitions = 0;
  End end = End::Complete;

  uint32_t expanded() const { return static_cast<uint32_t>(edgesEnd.size()); }
  uint32_t edgeBegin(uint32_t state) const { return state == 0 ? 0 : *edgesEnd[state - 1]; }
  uint32_t edgeEnd(uint32_t state) const { return *edgesEnd[state]; }

  // The most bytes that this, and reach.h's questions about it, need with so many states and edges.
  uint64_t bytesFor(uint64_t stateCount, uint64_t edgeCount) const {
    return states.bytesFor(stateCount) + parents.bytesFor(stateCount) + edgesEnd.bytesFor(stateCount) +
           edges.bytesFor(edgeCount) + 4 * edgeCount + 32 * stateCount;
  }
};

template <System S>
class Explorer {
 public:
  using Action = typename S::Action;

  Explorer(const S& system, const Bounds& bounds)
      : system_(system), bounds_(bounds), words_(system.words()), found_(words_), source_(words_) {}

  // Explores until nothing new is found or a bound is met. To be called once.
  Exploration run(const OnProgress& progress = nullptr) {
    const std::vector<uint64_t> initial = system_.initial();
    found_.states.insert(initial.data(), hashWords(initial.data(), words_), 1);
    *found_.parents.append() = 0;
    found_.goal.push_back(system_.goal(initial.data()));
    for (uint32_t next = 0; found_.end == Exploration::End::Complete && next < found_.states.size(); next++) {
      expand(next);
      const bool last = next + 1 == found_.states.size();
      if (pending_.size() >= kBatch || last) {
        flush();
      }
      if (progress && next % kProgressEvery == kProgressEvery - 1 &&
          !progress({found_.states.size(), found_.expanded(), found_.transitions})) {
        found_.end = Exploration::End::Stopped;
      }
    }
    return std::move(found_);
  }

 private:
  static constexpr size_t kBatch = 128;
  static constexpr uint32_t kProgressEvery = 1024;

  struct Pending {
    uint32_t source;
    uint64_t hash;
  };

  // Tries every action of `source`; what they lead to is looked up in batches.
  void expand(uint32_t source) {
    std::memcpy(source_.data(), found_.states[source], words_ * sizeof(uint64_t));
    actions_.clear();
    system_.enabled(source_.data(), actions_);
    found_.transitions += actions_.size();
    for (uint32_t i = 0; i < actions_.size(); i++) {
      if (successors_.size() < (pending_.size() + 1) * words_) {
        successors_.resize((pending_.size() + 1) * words_);
      }
      uint64_t* const target = successors_.data() + pending_.size() * words_;
      std::memcpy(target, source_.data(), words_ * sizeof(uint64_t));
      const uint64_t violated = system_.apply(source_.data(), target, actions_[i]);
      if ((violated & ~violated_) != 0) {
        note(violated & ~violated_, source, i);
      }
      if (std::memcmp(target, source_.data(), words_ * sizeof(uint64_t)) != 0) {
        pending_.push_back({source, hashWords(target, words_)});
      }
    }
    expandedTo_ = source + 1;
  }

  void note(uint64_t properties, uint32_t state, uint32_t action) {
    violated_ |= properties;
    for (; properties != 0; properties &= properties - 1) {
      found_.violations.push_back({static_cast<uint32_t>(std::countr_zero(properties)), state, action});
    }
  }

  void flush() {
    const uint64_t states = found_.states.size() + pending_.size();
    const uint64_t edges = found_.edges.size() + pending_.size();
    if (found_.bytesFor(states, edges) > bounds_.bytes || edges > std::numeric_limits<uint32_t>::max()) {
      found_.end = Exploration::End::MemoryBound;
      return;
    }
    for (const Pending& pending : pending_) {
      found_.states.prefetchTable(pending.hash);
    }
    for (const Pending& pending : pending_) {
      found_.states.prefetchRecord(pending.hash);
    }
    for (size_t i = 0; i < pending_.size() && found_.end == Exploration::End::Complete; i++) {
      closeUpTo(pending_[i].source);
      link(pending_[i], successors_.data() + i * words_);
    }
    if (found_.end == Exploration::End::Complete) {
      closeUpTo(expandedTo_);
    }
    pending_.clear();
  }

  // The edges of every state before `source` are all there.
  void closeUpTo(uint32_t source) {
    while (found_.edgesEnd.size() < source) {
      *found_.edgesEnd.append() = static_cast<uint32_t>(found_.edges.size());
    }
  }

  void link(const Pending& pending, const uint64_t* target) {
    const uint32_t room = static_cast<uint32_t>(std::min<uint64_t>(bounds_.states, StateSet::kNoState - 1));
    const StateSet::Inserted inserted = found_.states.insert(target, pending.hash, room);
    if (inserted.id == StateSet::kNoState) {
      found_.end = Exploration::End::StateBound;
      return;
    }
    if (inserted.fresh) {
      *found_.parents.append() = pending.source;
      found_.goal.push_back(system_.goal(target));
    }
    *found_.edges.append() = inserted.id;
  }

  const S& system_;
  Bounds bounds_;
  uint32_t words_;
  Exploration found_;
  std::vector<uint64_t> source_;
  std::vector<Action> actions_;
  std::vector<Pending> pending_;
  std::vector<uint64_t> successors_;  // of pending_, one after another
  uint32_t expandedTo_ = 0;
  uint64_t violated_ = 0;
};

// The number of the action that leads from one state to another, among those enabled in the first.
template <System S>
uint32_t actionBetween(const S& system, const uint64_t* from, const uint64_t* to,
                       std::vector<typename S::Action>& actions) {
  const uint32_t words = system.words();
  std::vector<uint64_t> source(from, from + words);
  std::vector<uint64_t> target(words);
  actions.clear();
  system.enabled(source.data(), actions);
  for (uint32_t i = 0; i < actions.size(); i++) {
    target = source;
    system.apply(source.data(), target.data(), actions[i]);
    if (std::memcmp(target.data(), to, words * sizeof(uint64_t)) == 0) {
      return i;
    }
  }
  return static_cast<uint32_t>(actions.size());  // no such action: the two states are not neighbours
}

}  // namespace lastout::prove
