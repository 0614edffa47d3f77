// replay: runs a scenario on the machine in virtual time, in the written order or in a random one.
//
// Written order: clients send at their steps' times, and everything else happens as long after it became
// possible as it took in the recordings. Random order: any possible action is next, each as likely as the
// others, the steps of clients too. The same scenario, order and seed give the same
// run, byte for byte, everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/machine.h"
#include "cluster/schedule.h"
#include "replay/blockers.h"
#include "replay/compile.h"
#include "replay/random.h"

namespace lastout::replay {

enum class Order : uint8_t {
  Written,
  Random,
  // Of reports alone: a single run has one order.
  All,       // prove/all_orders.h
  Recorded,  // of a recording, not of a scenario (replay/recorded_verdicts.h)
};

struct RunOptions {
  Order order = Order::Written;
  uint64_t seed = 1;  // Random
  // When a run is given up: after this virtual time, in written order; after so many actions, in any.
  std::chrono::milliseconds horizon{86'400'000};
  uint32_t maxActions = 1'000'000;
};

enum class End : uint8_t {
  Empty,      // nothing can change any more, and the goal holds
  Stuck,      // nothing can change any more, and the goal does not hold
  Undecided,  // given up: still changing at a bound
};

// One event, and what then was of its object.
struct Happening {
  std::chrono::milliseconds at{0};
  cluster::ClusterEvent event;
  cluster::Action action;       // what it was a part of
  uint32_t number = 0;          // of that action in the run, from 1
  cluster::ObjectState object;  // after the action
  SharedState state;            // Denied: all of the cluster then, to say why
};

// When an event of an object happened for the first time.
struct First {
  int64_t at = -1;        // virtual milliseconds; -1: it did not happen
  uint32_t sequence = 0;  // among all events of the run
  bool happened() const { return at >= 0; }
};

struct Run {
  RunOptions options;
  End end = End::Undecided;
  std::chrono::milliseconds time{0};                // of the last change
  std::optional<std::chrono::milliseconds> goalAt;  // from then on the goal held until the end
  uint32_t actions = 0;
  // A guarded object's deletion was committed although its criteria did not hold when it was confirmed.
  bool unsafe = false;
  std::vector<First> firsts;    // by slot and kind of event; see first()
  std::vector<uint64_t> state;  // the last one

  const First& first(cluster::Slot slot, cluster::EventKind kind) const {
    return firsts[slot * kEventKinds + static_cast<size_t>(kind)];
  }
  static constexpr size_t kEventKinds = 6;
};

// Runs one scenario as often as wanted. Keeps what it needs from run to run, so it belongs to one thread.
class Replayer {
 public:
  explicit Replayer(const Compiled& compiled);  // keeps a reference
  const cluster::Machine& machine() const { return machine_; }

  // Appends every event to *log, unless it is null.
  void run(const RunOptions& options, Run& run, std::vector<Happening>* log = nullptr);

 private:
  // An action that may happen, and when it would in written order.
  struct Pending : cluster::ScheduledAction {
    uint32_t triedAt = 0;  // number of the last action that was this one; 0: none
  };

  void refresh(Run& run);
  bool mayBeSent(const Run& run, uint32_t step, uint32_t turn) const;
  uint32_t turn(cluster::StateRef state) const;
  Pending schedule(const Run& run, cluster::StateRef state, const cluster::Action& action) const;
  bool isWoken(const cluster::Action& action) const;
  bool isFirstSend(const cluster::Action& action, cluster::StateRef state) const;
  bool settled() const;
  size_t choose(const RunOptions& options, Random& random) const;
  void perform(size_t index, Run& run, std::vector<Happening>* log);
  void record(Run& run, const cluster::Action& action, std::vector<Happening>* log);
  const SharedState& share(const std::vector<uint64_t>& state);

  const Compiled& compiled_;
  cluster::Machine machine_;
  std::vector<uint64_t> initial_;
  std::vector<uint64_t> before_;  // the state before the action under way
  SharedState shared_;            // of the last denial that was recorded
  std::vector<cluster::Action> enabled_;
  std::vector<Pending> pending_;  // in the order of enabled_
  std::vector<Pending> former_;
  cluster::Events events_;  // of the last action
  std::chrono::milliseconds now_{0};
  uint32_t number_ = 0;     // of the action under way, from 1
  uint32_t changedAt_ = 0;  // number of the last action that changed the state
  uint32_t sequence_ = 0;   // of the last event
};

}  // namespace lastout::replay
