// Expectations in every order.
#include "prove/all_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/output.h"
#include "tests/replay/play.h"

namespace lastout::prove {
namespace {

using replay::failures;
using replay::play;
using replay::scenario;
using replay::ScenarioReport;
using replay::toText;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

ScenarioReport everyOrder(std::string_view spec, std::string_view documents = replay::kOperator,
                          const Bounds& bounds = {}) {
  return replayAllOrders(
      *replay::ready(scenario(std::string(replay::kController) + std::string(spec), documents)), bounds);
}

constexpr std::string_view kTeardown =
    "  steps:\n    - delete: [widgets/one, deployments.apps/operator/operator]\n";

TEST(EveryOrder, TheGuardedTeardownEndsEmpty) {
  const ScenarioReport report = everyOrder(R"(
  steps:
    - delete: [crd/widgets.example.com, deployments.apps/operator/operator]
  expect:
    ends: empty
    before: [[crd/widgets.example.com gone, deployments.apps/operator/operator accepted]]
    never: [widgets/one denied]
    denied: [deployments.apps/operator/operator])");
  EXPECT_THAT(failures(report), IsEmpty());
  EXPECT_TRUE(report.held);
  EXPECT_GT(report.states.value_or(0), 10u);
  EXPECT_THAT(toText(report, {}), HasSubstr("every order, in "));
}

TEST(EveryOrder, WhatShouldExistDoesSoInEachOfThem) {
  EXPECT_THAT(failures(everyOrder(R"(
  guard: false
  steps:
    - delete: crd/widgets.example.com
    - apply: crd/widgets.example.com
      after: crd/widgets.example.com accepted
      at: 60s
  expect: { ends: empty, exists: [crd/widgets.example.com] })",
                                  replay::kUnguarded)),
              ElementsAre(AllOf(StartsWith("crd/widgets.example.com exists at the end: not in every order"),
                                HasSubstr("lastout prove"))))
      << "when it is applied before it is gone";
}

TEST(EveryOrder, OneOrderThatGetsStuckIsEnoughToFail) {
  const std::string spec = R"(
  steps:
    - delete: widgets/one
    - delete: deployments.apps/operator/operator
      at: 30s
  expect: { ends: empty })";
  EXPECT_TRUE(play(scenario(std::string(replay::kController) + spec, replay::kUnguarded))
                  .held);  // in the written order
  EXPECT_THAT(failures(everyOrder(spec, replay::kUnguarded)),
              ElementsAre("ends empty: not in every order; `lastout prove s.yaml` tells which"));
}

TEST(EveryOrder, OneOrderThatGetsStuckIsEnoughToShowIt) {
  EXPECT_THAT(failures(everyOrder(std::string(kTeardown) + "  expect: { ends: stuck, stuck: [widgets/one] }",
                                  replay::kUnguarded)),
              IsEmpty());
  EXPECT_THAT(failures(everyOrder("  steps:\n    - delete: widgets/one\n  expect: { ends: stuck }")),
              ElementsAre("ends stuck: in no order"));
}

TEST(EveryOrder, AnOrderOfEventsHasToBeKeptInEachOfThem) {
  EXPECT_THAT(
      failures(everyOrder(std::string(kTeardown) + R"(
  expect:
    before: [[deployments.apps/operator/operator gone, widgets/one accepted]]
    never: [widgets/one gone])",
                          replay::kUnguarded)),
      ElementsAre(
          StartsWith("deployments/operator/operator gone before widgets/one accepted: not in every order"),
          StartsWith("never widgets/one gone: not in every order")));
}

TEST(EveryOrder, AnEventThatBrokeOneExpectationLeavesItsOthersOpen) {
  EXPECT_THAT(failures(everyOrder(std::string(kTeardown) + "  expect: { before: [[namespace/operator gone, "
                                                           "widgets/one gone]], never: [widgets/one gone] }",
                                  replay::kUnguarded)),
              ElementsAre(HasSubstr("not decided, because the same event broke another expectation"),
                          StartsWith("never widgets/one gone: not in every order")));
}

TEST(EveryOrder, ABoundIsNoProof) {
  const ScenarioReport report = everyOrder(
      "  steps:\n    - delete: [crd/widgets.example.com, deployments.apps/operator/operator]\n  expect: { "
      "ends: "
      "empty }",
      replay::kOperator, {.states = 5});
  EXPECT_FALSE(report.held);
  EXPECT_FALSE(report.decided);
  EXPECT_THAT(failures(report),
              ElementsAre(StartsWith("every order was looked at: the bound of 5 states was met after ")));
}

}  // namespace
}  // namespace lastout::prove
