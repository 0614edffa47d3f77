// prove on small clusters: every kind of verdict, and what shows it.
#include "prove/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/small_scenario.h"

namespace lastout::prove {
namespace {

using cluster::Action;
using cluster::EventKind;
using replay::Compiled;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// What a way does, as "requested widgets/one".
std::vector<std::string> eventsOf(const Compiled& compiled, const Way& way) {
  static constexpr const char* kWords[] = {"requested", "denied", "accepted", "gone", "created", "changed"};
  const cluster::Machine machine(compiled.model);
  std::vector<uint64_t> words = machine.initial();
  cluster::Events events;
  for (const Action& action : way) {
    std::vector<Action> possible;
    machine.enabled({words.data(), machine.layout()}, possible);
    EXPECT_THAT(possible, Contains(action)) << "a way has to be one that can be gone";
    machine.apply({words.data(), machine.layout()}, action, &events);
  }
  std::vector<std::string> result;
  for (const cluster::ClusterEvent& event : events)
    result.push_back(std::string(kWords[static_cast<size_t>(event.kind)]) + " " +
                     compiled.model.name(event.slot));
  return result;
}

std::vector<std::string> namesOf(const Compiled& compiled, const std::vector<cluster::Slot>& slots) {
  std::vector<std::string> result;
  result.reserve(slots.size());
  for (const cluster::Slot slot : slots) result.push_back(compiled.model.name(slot));
  return result;
}

const std::string kDeleteBoth = "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one]\n";
const std::string kUnguarded = "  guard: false\n";

TEST(Prove, AGuardedProviderGoesLastInEveryOrder) {
  const auto small = smallScenario(kDeleteBoth, std::string(kOperator) + kGuard);
  const Proof proof = proveScenario(small->compiled);
  EXPECT_EQ(proof.verdict, ProofResult::Proven);
  EXPECT_EQ(proof.end, Exploration::End::Complete);
  EXPECT_FALSE(proof.stuck);
  EXPECT_FALSE(proof.unsafe);
  EXPECT_GT(proof.goalStates, 0u);
  EXPECT_TRUE(asExpected(small->compiled, small->scenario.expect, proof));
}

TEST(Prove, AnUnguardedOneGetsStuckWhenItGoesFirst) {
  const auto small = smallScenario(kUnguarded + kDeleteBoth, kOperator);
  const Proof proof = proveScenario(small->compiled);
  ASSERT_EQ(proof.verdict, ProofResult::Stuck);
  EXPECT_THAT(eventsOf(small->compiled, proof.stuck->way),
              Contains("gone deployments.apps/operator/operator"));
  EXPECT_THAT(eventsOf(small->compiled, proof.stuck->way),
              Not(Contains("requested widgets.example.com/one")));
  EXPECT_THAT(namesOf(small->compiled, proof.stuck->left), ElementsAre("widgets.example.com/one"));
  EXPECT_THAT(namesOf(small->compiled, proof.stuck->lost), ElementsAre("widgets.example.com/one"));
  EXPECT_EQ(proof.stuck->states, 1u);
  EXPECT_THAT(proof.stuck->churn, IsEmpty());
  EXPECT_FALSE(asExpected(small->compiled, small->scenario.expect, proof));
}

TEST(Prove, TheWayOnFromWhereItIsLostLeadsToTheEnd) {
  const auto small = smallScenario(kUnguarded + kDeleteBoth, kOperator);
  const Proof proof = proveScenario(small->compiled);
  ASSERT_TRUE(proof.stuck);
  Way whole = proof.stuck->way;
  whole.insert(whole.end(), proof.stuck->onward.begin(), proof.stuck->onward.end());
  EXPECT_THAT(eventsOf(small->compiled, whole), Contains("accepted widgets.example.com/one"));
  const cluster::Machine machine(small->compiled.model);
  std::vector<uint64_t> words = machine.initial();
  for (const Action& action : whole) machine.apply({words.data(), machine.layout()}, action, nullptr);
  EXPECT_EQ(words, proof.stuck->state);
}

TEST(Prove, ExpectingItToGetStuckMakesNoDifferenceToTheTruth) {
  const std::string ends = "  expect: {ends: stuck, stuck: [widgets/one]}\n";
  const auto stuck = smallScenario(kUnguarded + kDeleteBoth + ends, kOperator);
  const Proof isStuck = proveScenario(stuck->compiled);
  EXPECT_EQ(isStuck.verdict, ProofResult::Stuck);
  EXPECT_TRUE(asExpected(stuck->compiled, stuck->scenario.expect, isStuck));

  const auto proven = smallScenario(kDeleteBoth + ends, std::string(kOperator) + kGuard);
  const Proof isProven = proveScenario(proven->compiled);
  EXPECT_EQ(isProven.verdict, ProofResult::Proven);
  EXPECT_FALSE(asExpected(proven->compiled, proven->scenario.expect, isProven));

  const std::string other = "  expect: {ends: stuck, stuck: [deployments.apps/operator/operator]}\n";
  const auto elsewhere = smallScenario(kUnguarded + kDeleteBoth + other, kOperator);
  EXPECT_FALSE(
      asExpected(elsewhere->compiled, elsewhere->scenario.expect, proveScenario(elsewhere->compiled)));
}

// A CRD that is deleted and applied again takes its instances along, whether it comes back or not.
TEST(Prove, WhatShouldExistHasToStayWithinReach) {
  const std::string again = kUnguarded + R"(  steps:
    - delete: crd/widgets.example.com
    - apply: crd/widgets.example.com
      after: crd/widgets.example.com AGAIN
  expect: {ends: empty, exists: [deployments.apps/operator/operator, WIDGET]}
)";
  const auto proven = [&](const std::string& moment, const std::string& widget) {
    std::string spec = again;
    spec.replace(spec.find("AGAIN"), 5, moment);
    spec.replace(spec.find("WIDGET"), 6, widget);
    const auto small = smallScenario(spec, kOperator);
    return proveScenario(small->compiled);
  };
  EXPECT_EQ(proven("gone", "crd/widgets.example.com").verdict, ProofResult::Proven);
  const Proof refused = proven("accepted", "crd/widgets.example.com");
  EXPECT_EQ(refused.verdict, ProofResult::Stuck) << "the CRD may still be there when it is applied";
  const Proof lost = proven("gone", "widgets/one");
  ASSERT_EQ(lost.verdict, ProofResult::Stuck);
  EXPECT_THAT(lost.stuck->missing, ElementsAre(1U));
  EXPECT_THAT(lost.stuck->left, IsEmpty());
}

TEST(Prove, WhatShouldExistAtAStuckEndIsJudgedThere) {
  const auto expected = [](const std::string& exists) {
    const auto small = smallScenario(
        kUnguarded + kDeleteBoth + "  expect: {ends: stuck, exists: [" + exists + "]}\n", kOperator);
    const Proof proof = proveScenario(small->compiled);
    EXPECT_EQ(proof.verdict, ProofResult::Stuck);
    return asExpected(small->compiled, small->scenario.expect, proof);
  };
  EXPECT_TRUE(expected("crd/widgets.example.com"));
  EXPECT_FALSE(expected("deployments.apps/operator/operator"));
  EXPECT_FALSE(expected("widgets/one")) << "it is being deleted";
}

// What is created between the verdict and the commit.
const std::string kLateWidget = R"(  steps:
    - delete: widgets/one
    - delete: deployments.apps/operator/operator
    - apply:
        apiVersion: example.com/v1
        kind: Widget
        metadata: {name: late, finalizers: [example.com/cleanup]}
    - delete: widgets/late
)";

TEST(Prove, WithoutItsConfirmingReadLastoutIsUnsafe) {
  const auto small = smallScenario(kLateWidget, std::string(kOperator) + kGuard);
  Compiled careless = small->compiled;
  careless.model.confirms = false;
  const Proof proof = proveScenario(careless);
  ASSERT_EQ(proof.verdict, ProofResult::Unsafe);
  const std::vector<std::string> events = eventsOf(careless, *proof.unsafe);
  EXPECT_EQ(events.back(), "gone deployments.apps/operator/operator");
  EXPECT_THAT(events, Contains("created widgets.example.com/late"));
  EXPECT_THAT(events, Not(Contains("denied deployments.apps/operator/operator")));
  EXPECT_TRUE(proof.stuck) << "being unsafe does not hide that it gets stuck";
}

TEST(Prove, WithItsConfirmingReadItIsSafeButNotAlwaysEnough) {
  const auto small = smallScenario(kLateWidget, std::string(kOperator) + kGuard);
  const Proof proof = proveScenario(small->compiled);
  EXPECT_EQ(proof.verdict, ProofResult::Stuck);  // created after the read: docs/concepts.md
  EXPECT_FALSE(proof.unsafe);
}

TEST(Prove, AnExpectedOrderIsCheckedInEveryOrder) {
  const std::string expect =
      "  expect:\n    before:\n"
      "      - [widgets/one gone, deployments.apps/operator/operator accepted]\n"
      "      - [deployments.apps/operator/operator requested, widgets/one gone]\n";
  const auto small = smallScenario(kDeleteBoth + expect, std::string(kOperator) + kGuard);
  const Proof proof = proveScenario(small->compiled);
  EXPECT_EQ(proof.verdict, ProofResult::Broken);
  ASSERT_THAT(proof.broken, SizeIs(1));
  EXPECT_EQ(small->compiled.model.name(proof.broken[0].event.slot), "widgets.example.com/one");
  EXPECT_EQ(proof.broken[0].event.kind, EventKind::Gone);
  ASSERT_THAT(proof.broken[0].missing, SizeIs(1));
  EXPECT_EQ(proof.broken[0].missing[0].kind, EventKind::Requested);
  EXPECT_THAT(eventsOf(small->compiled, proof.broken[0].way),
              ElementsAre("requested widgets.example.com/one", "accepted widgets.example.com/one",
                          "changed widgets.example.com/one", "gone widgets.example.com/one"));

  const Proof unasked = proveScenario(small->compiled, {.bounds = {}, .orders = false});
  EXPECT_EQ(unasked.verdict, ProofResult::Proven);
}

// The Deployment has no finalizer: one action accepts its deletion and removes it.
TEST(Prove, TwoEventsOfOneActionKeepTheirOrder) {
  const std::string right =
      "  expect: {before: [[deployments.apps/operator/operator accepted, deployments.apps/operator/operator "
      "gone]]}\n";
  const std::string wrong =
      "  expect: {before: [[deployments.apps/operator/operator gone, deployments.apps/operator/operator "
      "accepted]]}\n";
  const std::string guarded = std::string(kOperator) + kGuard;
  EXPECT_EQ(proveScenario(smallScenario(kDeleteBoth + right, guarded)->compiled).verdict,
            ProofResult::Proven);
  EXPECT_EQ(proveScenario(smallScenario(kDeleteBoth + wrong, guarded)->compiled).verdict,
            ProofResult::Broken);
}

TEST(Prove, WhatShouldNeverHappenIsFoundWithAShortestWay) {
  const std::string expect = "  expect: {never: [deployments.apps/operator/operator denied]}\n";
  const auto small = smallScenario(kDeleteBoth + expect, std::string(kOperator) + kGuard);
  const Proof proof = proveScenario(small->compiled);
  EXPECT_EQ(proof.verdict, ProofResult::Broken);
  ASSERT_THAT(proof.broken, SizeIs(1));
  EXPECT_THAT(proof.broken[0].missing, IsEmpty());
  EXPECT_THAT(proof.broken[0].way, SizeIs(1));
  const auto unwatched = smallScenario(kDeleteBoth, std::string(kOperator) + kGuard);
  EXPECT_EQ(proof.states, proveScenario(unwatched->compiled).states)
      << "what nothing waits for costs no states";
}

TEST(Prove, AStepThatWaitsForAnEventIsNotSentBeforeIt) {
  const std::string steps =
      "  guard: false\n  steps:\n    - delete: widgets/one\n"
      "    - delete: deployments.apps/operator/operator\n      after: widgets/one gone\n";
  EXPECT_EQ(proveScenario(smallScenario(steps, kOperator)->compiled).verdict, ProofResult::Proven);
}

TEST(Prove, ABoundIsNeverProven) {
  const auto small = smallScenario(kDeleteBoth, std::string(kOperator) + kGuard);
  const uint64_t all = proveScenario(small->compiled).states;
  for (uint64_t bound = 1; bound < all; ++bound) {
    const Proof proof = proveScenario(small->compiled, {.bounds = {.states = bound}, .orders = true});
    ASSERT_EQ(proof.verdict, ProofResult::Undecided) << bound;
    ASSERT_EQ(proof.end, Exploration::End::StateBound);
    ASSERT_EQ(proof.states, bound);
  }
  EXPECT_EQ(proveScenario(small->compiled, {.bounds = {.states = all}, .orders = true}).verdict,
            ProofResult::Proven);
  const Proof starved = proveScenario(small->compiled, {.bounds = {.bytes = 1000}, .orders = true});
  EXPECT_EQ(starved.verdict, ProofResult::Undecided);
  EXPECT_EQ(starved.end, Exploration::End::MemoryBound);
}

// One way gets stuck soon; the other, longer one is cut off by the bound.
TEST(Prove, WhatABoundLeavesCertainIsStillSaid) {
  const std::string more =
      "    - delete: [namespaces/operator, crd/widgets.example.com]\n      after: widgets/one gone\n";
  const auto small = smallScenario(kUnguarded + kDeleteBoth + more, kOperator);
  const Proof whole = proveScenario(small->compiled);
  ASSERT_EQ(whole.verdict, ProofResult::Stuck);
  uint64_t said = 0;
  for (uint64_t bound = 1; bound < whole.states; ++bound) {
    const Proof proof = proveScenario(small->compiled, {.bounds = {.states = bound}, .orders = true});
    ASSERT_TRUE(proof.verdict == ProofResult::Undecided || proof.verdict == ProofResult::Stuck);
    if (proof.verdict != ProofResult::Stuck) continue;
    ++said;
    EXPECT_EQ(proof.end, Exploration::End::StateBound);
    EXPECT_EQ(namesOf(small->compiled, proof.stuck->lost), namesOf(small->compiled, whole.stuck->lost));
  }
  EXPECT_GT(said, 0u);
}

TEST(Prove, NothingToDeleteIsProven) {
  const auto small = smallScenario("  steps: []\n", kOperator);
  const Proof proof = proveScenario(small->compiled);
  EXPECT_EQ(proof.verdict, ProofResult::Proven);
  EXPECT_EQ(proof.states, 1u);
}

// https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/: it makes another Pod, whose name is
// another one.
TEST(Prove, APodThatItsReplicaSetReplacesIsGone) {
  const auto small = smallScenario("  guard: false\n  steps:\n    - delete: pods/operator/*\n", kOperator);
  EXPECT_EQ(proveScenario(small->compiled).verdict, ProofResult::Proven);
}

TEST(Prove, APodThatCannotGoIsNotReplaced) {
  const std::string finalized =
      std::string(kOperator) +
      "---\napiVersion: v1\nkind: Pod\nmetadata: { name: db-0, namespace: operator, finalizers: "
      "[example.com/f], "
      "ownerReferences: [{ apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true }] }\n"
      "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: db, namespace: operator, uid: u }\n"
      "spec: { replicas: 1, template: { spec: { containers: [{ name: a, image: a }] } } }\n";
  const auto small = smallScenario("  guard: false\n  steps:\n    - delete: pods/operator/db-0\n", finalized);
  const Proof proof = proveScenario(small->compiled);
  ASSERT_EQ(proof.verdict, ProofResult::Stuck);
  EXPECT_THAT(proof.stuck->left, SizeIs(1));
}

}  // namespace
}  // namespace lastout::prove
