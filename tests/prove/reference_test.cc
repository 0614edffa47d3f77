// prove against the plainest exploration that can be written: sets of states, and reachability by its
// definition.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "prove/prove.h"
#include "replay/batch.h"
#include "replay/goal.h"

namespace lastout::prove {
namespace {

using replay::Compiled;
using replay::goalHolds;
using replay::loadAll;
using replay::WatchedEvent;

using Words = std::vector<uint64_t>;

// Every state that the machine reaches when a client's step waits for nothing but its event, without monitors
// that are not needed for that.
struct Plain {
  explicit Plain(const Compiled& compiled) : machine(compiled.model) {
    uint64_t kept = 0;
    for (const WatchedEvent& event : compiled.sendAfter)
      kept |= event.slot == cluster::kNone ? 0 : uint64_t{1} << event.bit;
    see(machine.initial());
    for (size_t from = 0; from < states.size(); ++from) {
      Words copy = states[from];
      std::vector<cluster::Action> actions;
      machine.enabled({copy.data(), machine.layout()}, actions);
      for (const cluster::Action& action : actions) {
        if (waits(compiled, states[from], action)) continue;
        copy = states[from];
        machine.apply({copy.data(), machine.layout()}, action, nullptr);
        unsafe = unsafe || (copy[0] & cluster::kUnsafeBit) != 0;
        copy[0] &= kept;
        before[see(copy)].push_back(from);
      }
    }
    std::vector<size_t> found;
    for (size_t i = 0; i < states.size(); ++i)
      if (goalHolds(compiled, {states[i].data(), machine.layout()})) found.push_back(i);
    while (!found.empty()) {
      const size_t state = found.back();
      found.pop_back();
      if (live.insert(state).second) found.insert(found.end(), before[state].begin(), before[state].end());
    }
  }

  size_t see(const Words& state) {
    const auto [known, isNew] = number.try_emplace(state, states.size());
    if (isNew) states.push_back(state);
    before.resize(states.size());
    return known->second;
  }

  static bool waits(const Compiled& compiled, const Words& state, const cluster::Action& action) {
    if (action.kind != cluster::Action::Kind::Send) return false;
    const WatchedEvent& event = compiled.sendAfter[action.a];
    return event.slot != cluster::kNone && (state[0] >> event.bit & 1) == 0;
  }

  cluster::Machine machine;
  std::vector<Words> states;
  std::map<Words, size_t> number;
  std::vector<std::vector<size_t>> before;  // which lead to a state in one step
  std::set<size_t> live;                    // from which the goal can be reached
  bool unsafe = false;
};

class AgainstPlain : public ::testing::TestWithParam<const char*> {};

TEST_P(AgainstPlain, FindsTheSameStatesAndTheSameVerdict) {
  const auto all = loadAll({{std::string("scenarios/") + GetParam() + ".yaml", true}});
  ASSERT_TRUE(all) << kube::toString(all.error().front());
  const Compiled& compiled = all->front()->compiled;
  const Proof proof = proveScenario(compiled, {.bounds = {}, .orders = false});
  const Plain plain(compiled);
  EXPECT_EQ(proof.states, plain.states.size());
  EXPECT_EQ(proof.stuck.has_value(), plain.live.size() < plain.states.size());
  EXPECT_EQ(proof.unsafe.has_value(), plain.unsafe);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, AgainstPlain,
                         ::testing::Values("story-three-works", "story-one-work", "story-unguarded",
                                           "story-deadlock", "story-only-denied", "provider-recreated",
                                           "intent-best-effort", "late-instance-without-crd", "cycle-of-two",
                                           "foreground-delete", "hold-foreground"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lastout::prove
