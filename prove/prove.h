// prove: checks a scenario in every order in which its clients and the cluster could act.
//
// Clients send their steps in any order, and between any two of them everything else that may happen, may
// happen. Three things are looked for, each with a shortest order that shows it: a state from which the goal
// is out of reach whatever follows (stuck), a deletion committed although its criteria did not hold at its
// confirming read (unsafe), and an expected order of events that was not kept (broken). docs/prove.md says
// exactly what PROVEN means.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/machine.h"
#include "prove/certificate.h"
#include "prove/explore.h"
#include "replay/compile.h"

namespace lastout::prove {

enum class ProofResult : uint8_t {
  Proven,     // every order was looked at, and none is stuck, unsafe or broken
  Stuck,      // some order gets stuck
  Unsafe,     // some order makes an unsafe commit (and may get stuck too)
  Broken,     // some order breaks an expectation; none is unsafe or stuck as far as was looked
  Undecided,  // a bound was met before all was looked at, and nothing wrong was found by then
};

// Actions to perform one after the other.
using Way = std::vector<cluster::Action>;

// An event that came too early, or that should never come.
struct BrokenExpectation {
  replay::WatchedEvent event;
  std::vector<replay::WatchedEvent>
      missing;  // what had to happen before and had not; empty: the event is under `never`
  Way way;      // from the initial state; the event happens in its last action
};

// A step that goes on happening, and a state in which it does.
struct Churn {
  std::vector<uint64_t> state;
  cluster::Action action;
};

// A deletion that is committed although its criteria did not hold at its confirming read.
struct UnsafeCommit {
  cluster::Slot object = cluster::kNone;
  Way way;  // from the initial state; a shortest one to such a commit of this object
};

struct StuckEnd {
  Way way;     // from the initial state to one from which nothing leads to the goal
  Way onward;  // a shortest way from there to the end: a set of states that lead only to each other
  std::vector<uint64_t> state;      // where `onward` ends: a state of that set
  uint64_t states = 1;              // how many states the set has
  std::vector<Churn> churn;         // what leads from one of them to another; empty where there is but one
  std::vector<cluster::Slot> left;  // of the goal, what is there in every state of the set
  std::vector<cluster::Slot> lost;  // of the goal, what is there in every state from the end of `way` on
  std::vector<uint32_t> missing;    // of Compiled::exists, where it counts: what no state of the set has
};

struct Proof {
  ProofResult verdict = ProofResult::Undecided;
  Exploration::End end = Exploration::End::Complete;
  uint64_t states = 0;
  uint64_t transitions = 0;
  uint64_t bytes = 0;       // of memory that the states took
  uint64_t goalStates = 0;  // states in which the goal holds
  std::optional<Way> unsafe;
  std::vector<UnsafeCommit> unsafeCommits = {};  // where the scope asks for it: one of each object
  std::optional<StuckEnd> stuck;
  // Where the scope asks for it. Every end leaves and misses no more than one of these does, and none of
  // these no more than another. At most kMostEnds, each the nearest of those that leave and miss the same.
  std::vector<StuckEnd> ends;
  bool hasMoreEnds = false;  // there are others than these
  std::vector<BrokenExpectation> broken;
  std::optional<Certificate> certificate;  // where the scope asks for it: of what is PROVEN
};

inline constexpr size_t kMostEnds = 100;

struct ProofScope {
  Bounds bounds;
  bool orders = true;     // `before` and `never` have to hold in every order; where a scenario is expected to
                          // get stuck they tell of the one order that does
  bool findsAll = false;  // find Proof::ends and Proof::unsafeCommits, too
  bool certifies = false;  // make Proof::certificate; the bounds are to be within kMostCertifiedStates
};

// Explores every order. The same scenario and scope give the same proof.
Proof proveScenario(const replay::Compiled& compiled, const ProofScope& question = {},
                    const OnProgress& progress = nullptr);

// Returns true if the verdict is what the scenario's `ends`, `stuck` and `exists` expect.
bool asExpected(const replay::Compiled& compiled, const replay::Expectations& expect, const Proof& proof);

}  // namespace lastout::prove
