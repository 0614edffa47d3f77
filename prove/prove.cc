#include "prove/prove.h"

#include <algorithm>
#include <bit>

#include "prove/reach.h"
#include "prove/scenario_system.h"
#include "replay/goal.h"

namespace lastout::prove {

namespace {

using cluster::Slot;

bool isThere(const uint64_t* state, const cluster::Layout& layout, Slot slot) {
  const cluster::StateRef view(const_cast<uint64_t*>(state), layout);  // only read
  return view.presence(slot) != cluster::Presence::Absent;
}

// Answers proveScenario()'s questions about one finished exploration.
class Prover {
 public:
  Prover(const replay::Compiled& compiled, const cluster::Machine& machine, const ScenarioSystem& teardown,
         const Exploration& found, bool findsAll)
      : compiled_(compiled),
        layout_(machine.layout()),
        teardown_(teardown),
        found_(found),
        findsAll_(findsAll) {}

  Proof proof() const {
    Proof proof;
    proof.end = found_.end;
    proof.states = found_.states.size();
    proof.transitions = found_.transitions;
    proof.bytes = found_.bytesFor(found_.states.size(), found_.edges.size());
    proof.goalStates = static_cast<uint64_t>(std::count(found_.goal.begin(), found_.goal.end(), true));
    for (const Violation& violation : found_.violations) {
      if (uint64_t{1} << violation.property == cluster::kUnsafeBit) {
        proof.unsafe = wayThrough(violation);
      } else {
        proof.broken.push_back(broken(violation));
      }
    }
    if (findsAll_ && proof.unsafe) addUnsafeCommits(proof);
    const std::vector<bool> canReach = canReachGoal(found_);
    if (const std::optional<uint32_t> doomed = firstDoomed(canReach)) {
      proof.stuck = stuckEnd(trapFrom(found_, *doomed));
      if (findsAll_) addEnds(canReach, proof);
    }
    proof.verdict = verdict(proof);
    return proof;
  }

 private:
  static ProofResult verdict(const Proof& proof) {
    if (proof.unsafe) return ProofResult::Unsafe;
    if (proof.stuck) return ProofResult::Stuck;
    if (!proof.broken.empty()) return ProofResult::Broken;
    return proof.end == Exploration::End::Complete ? ProofResult::Proven : ProofResult::Undecided;
  }

  Way wayAlong(const std::vector<uint32_t>& states) const {
    Way way;
    std::vector<cluster::Action> actions;
    for (size_t i = 0; i + 1 < states.size(); ++i) {
      const uint32_t action =
          actionBetween(teardown_, found_.states[states[i]], found_.states[states[i + 1]], actions);
      way.push_back(actions[action]);
    }
    return way;
  }

  Way wayThrough(const Violation& violation) const {
    Way way = wayAlong(wayTo(found_, violation.state));
    const uint64_t* state = found_.states[violation.state];
    std::vector<uint64_t> words(state, state + layout_.words);
    std::vector<cluster::Action> actions;
    teardown_.enabled(words.data(), actions);
    way.push_back(actions[violation.action]);
    return way;
  }

  // The exploration notes the first unsafe commit alone. States are numbered by their distance.
  void addUnsafeCommits(Proof& proof) const {
    std::vector<cluster::Action> actions;
    for (uint32_t number = 0; number < found_.states.size(); ++number) {
      const uint64_t* state = found_.states[number];
      std::vector<uint64_t> words(state, state + layout_.words);
      actions.clear();
      teardown_.enabled(words.data(), actions);
      for (uint32_t action = 0; action < actions.size(); ++action) {
        const Slot object = teardown_.unsafelyDeleted(words.data(), actions[action]);
        const bool isKnown = std::ranges::any_of(
            proof.unsafeCommits, [&](const UnsafeCommit& other) { return other.object == object; });
        if (object == cluster::kNone || isKnown) continue;
        proof.unsafeCommits.push_back(
            {.object = object, .way = wayThrough({.property = 0, .state = number, .action = action})});
      }
    }
  }

  BrokenExpectation broken(const Violation& violation) const {
    BrokenExpectation result{.event = {}, .missing = {}, .way = wayThrough(violation)};
    for (const replay::WatchedEvent& event : compiled_.never) {
      if (event.bit == violation.property) {
        result.event = event;
        return result;
      }
    }
    const uint64_t missing = teardown_.missing(found_.states[violation.state], violation.property);
    for (const replay::BeforePair& pair : compiled_.before) {
      if (pair.second.bit != violation.property) continue;
      result.event = pair.second;
      if ((missing >> pair.first.bit & 1) != 0) result.missing.push_back(pair.first);
    }
    return result;
  }

  // What is wrong in an end. Compared as sets: an end with less of the same says nothing more.
  struct Wrong {
    std::vector<Slot> left;
    std::vector<uint32_t> missing;
    bool isWithin(const Wrong& other) const {
      return std::ranges::includes(other.left, left) && std::ranges::includes(other.missing, missing);
    }
  };

  // An end that no other covers, by the first of its states.
  struct KeptEnd {
    Wrong wrong;
    uint32_t first = 0;
  };

  // Keeps of all ends that leave and miss the same only the nearest, and none that another covers.
  void addEnds(const std::vector<bool>& canReach, Proof& proof) const {
    std::vector<KeptEnd> kept;
    eachEndWithoutGoal(found_, canReach, [&](const std::vector<uint32_t>& states) {
      KeptEnd end{.wrong = {inAll(states), missing(states)}, .first = states.front()};
      const auto covers = [&](const KeptEnd& other) { return end.wrong.isWithin(other.wrong); };
      const auto covering = std::ranges::find_if(kept, covers);
      if (covering != kept.end()) {
        if (covering->wrong.isWithin(end.wrong)) covering->first = std::min(covering->first, end.first);
        return;
      }
      std::erase_if(kept, [&](const KeptEnd& other) { return other.wrong.isWithin(end.wrong); });
      if (kept.size() == kMostEnds)
        proof.hasMoreEnds = true;
      else
        kept.push_back(std::move(end));
    });
    std::ranges::sort(kept, {}, &KeptEnd::first);
    proof.ends.reserve(kept.size());
    for (const KeptEnd& end : kept) {
      // From a state of an end, nothing but that end can be reached.
      std::vector<uint32_t> states = reachableFrom(found_, end.first);
      std::ranges::sort(states);
      proof.ends.push_back(stuckEnd(trapTo(std::move(states), canReach)));
    }
  }

  // A shortest way to an end, parted where the goal gets out of reach on it.
  Trap trapTo(std::vector<uint32_t> end, const std::vector<bool>& canReach) const {
    const std::vector<uint32_t> way = wayTo(found_, end.front());
    const auto doomed = std::ranges::find_if(way, [&](uint32_t state) { return !canReach[state]; });
    return {.doomed = *doomed, .onward = {doomed, way.end()}, .end = std::move(end)};
  }

  StuckEnd stuckEnd(const Trap& trap) const {
    const uint64_t* last = found_.states[trap.onward.back()];
    StuckEnd end;
    end.way = wayAlong(wayTo(found_, trap.doomed));
    end.onward = wayAlong(trap.onward);
    end.state.assign(last, last + layout_.words);
    end.states = trap.end.size();
    end.churn = churn(trap.end);
    end.left = inAll(trap.end);
    end.lost = inAll(reachableFrom(found_, trap.doomed));
    end.missing = missing(trap.end);
    return end;
  }

  // Each action but once; a few states of a large set show what goes on in it.
  std::vector<Churn> churn(const std::vector<uint32_t>& states) const {
    constexpr size_t kEnough = 200;
    std::vector<Churn> result;
    std::vector<cluster::Action> actions;
    for (size_t i = 0; states.size() > 1 && i < std::min(states.size(), kEnough); ++i) {
      const uint64_t* state = found_.states[states[i]];
      const std::vector<uint64_t> before(state, state + layout_.words);
      std::vector<uint64_t> after = before;
      actions.clear();
      teardown_.enabled(after.data(), actions);
      for (const cluster::Action& action : actions) {
        const auto same = [&](const Churn& other) { return other.action == action; };
        after = before;
        teardown_.apply(before.data(), after.data(), action);
        if (after != before && std::none_of(result.begin(), result.end(), same))
          result.push_back({before, action});
      }
    }
    return result;
  }

  // Of the goal, what is there in every one of these states.
  std::vector<Slot> inAll(const std::vector<uint32_t>& states) const {
    std::vector<Slot> slots = compiled_.goal;
    for (const uint32_t state : states) {
      const cluster::StateRef view(const_cast<uint64_t*>(found_.states[state]), layout_);  // only read
      std::erase_if(slots, [&](Slot slot) { return !replay::isLeft(compiled_, view, slot); });
    }
    return slots;
  }

  // Of what has to exist, what is in none of these states.
  std::vector<uint32_t> missing(const std::vector<uint32_t>& states) const {
    std::vector<uint32_t> result;
    if (!compiled_.mustExist) return result;
    for (uint32_t index = 0; index < compiled_.exists.size(); ++index) {
      const auto has = [&](uint32_t state) {
        const cluster::StateRef view(const_cast<uint64_t*>(found_.states[state]), layout_);  // only read
        return replay::exists(compiled_, view, index);
      };
      if (std::ranges::none_of(states, has)) result.push_back(index);
    }
    return result;
  }

  const replay::Compiled& compiled_;
  const cluster::Layout& layout_;
  const ScenarioSystem& teardown_;
  const Exploration& found_;
  bool findsAll_;
};

}  // namespace

Proof proveScenario(const replay::Compiled& compiled, const ProofScope& question,
                    const OnProgress& progress) {
  const cluster::Machine machine(compiled.model);
  const ScenarioSystem teardown(machine, compiled, question.orders);
  const Exploration found = Explorer(teardown, question.bounds).run(progress);
  Proof proof = Prover(compiled, machine, teardown, found, question.findsAll).proof();
  if (question.certifies && proof.verdict == ProofResult::Proven) proof.certificate = certificateOf(found);
  return proof;
}

bool asExpected(const replay::Compiled& compiled, const replay::Expectations& expect, const Proof& proof) {
  if (expect.ends.value_or(replay::Ending::Empty) == replay::Ending::Empty)
    return proof.verdict == ProofResult::Proven;
  if (proof.verdict != ProofResult::Stuck || !proof.broken.empty()) return false;
  const cluster::Layout layout(compiled.model);
  const auto someLeft = [&](const std::vector<Slot>& slots) {
    return std::any_of(slots.begin(), slots.end(),
                       [&](Slot slot) { return isThere(proof.stuck->state.data(), layout, slot); });
  };
  std::vector<uint64_t> words = proof.stuck->state;
  return std::all_of(compiled.stuck.begin(), compiled.stuck.end(), someLeft) &&
         replay::allExist(compiled, cluster::StateRef(words.data(), layout));
}

}  // namespace lastout::prove
