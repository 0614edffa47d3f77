// Expectations: when they hold, and what is said when they do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// The operator's Deployment and the CRD are deleted at once.
std::string teardown(std::string_view expect, std::string_view more = "") {
  return scenario(std::string(kController) + std::string(more) +
                  "\n  steps:\n    - delete: [crd/widgets.example.com, deployments.apps/operator/operator]\n "
                  " expect:\n    " +
                  std::string(expect));
}

// The operator goes and nobody finalizes the instance.
std::string stuck(std::string_view expect) {
  return scenario(std::string(kController) +
                      "\n  steps:\n    - delete: deployments.apps/operator/operator\n    - delete: "
                      "widgets/one\n      at: "
                      "5s\n  expect:\n    " +
                      std::string(expect),
                  kUnguarded);
}

TEST(Expectations, EndsEmpty) {
  EXPECT_THAT(failures(play(teardown("ends: empty"))), IsEmpty());
  EXPECT_THAT(
      failures(play(stuck("ends: empty"))),
      ElementsAre("ends empty: nothing changed any more after 5.000 s, and widgets/one was still there"));
}

TEST(Expectations, EndsStuck) {
  EXPECT_THAT(failures(play(stuck("{ ends: stuck, stuck: [widgets/one] }"))), IsEmpty());
  EXPECT_THAT(failures(play(teardown("ends: stuck"))), ElementsAre("ends stuck: it ended empty at 10.524 s"));
}

TEST(Expectations, WhatIsStuckIsNamed) {
  EXPECT_THAT(
      failures(play(stuck("{ ends: stuck, stuck: [widgets/one, deployments.apps/operator/operator] }"))),
      ElementsAre("deployments.apps/operator/operator is still there at the end: it is gone"));
}

TEST(Expectations, OneEventBeforeAnother) {
  EXPECT_THAT(
      failures(play(teardown("before: [[crd/widgets.example.com gone, deployments.apps/operator/operator "
                             "accepted]]"))),
      IsEmpty());
  EXPECT_THAT(
      failures(play(
          teardown("before: [[deployments.apps/operator/operator gone, crd/widgets.example.com gone]]"))),
      ElementsAre(
          "deployments/operator/operator gone before customresourcedefinitions/widgets.example.com gone: "
          "customresourcedefinitions/widgets.example.com was gone at 6.020 s, deployments/operator/operator "
          "only at 10.004 s"));
  EXPECT_THAT(failures(play(teardown("before: [[namespace/operator gone, widgets/one gone]]"))),
              ElementsAre(HasSubstr("widgets/one was gone at 1.020 s, namespaces/operator never was")));
}

TEST(Expectations, ADoesNotHaveToComeWhenBDoesNot) {
  EXPECT_THAT(failures(play(teardown("before: [[widgets/one gone, namespace/operator gone]]"))), IsEmpty());
  EXPECT_THAT(failures(play(teardown("before: [[namespace/operator requested, namespace/operator gone]]"))),
              IsEmpty());
}

TEST(Expectations, AChainIsEachBeforeTheNext) {
  EXPECT_THAT(
      failures(play(teardown("before: [[widgets/one gone, deployments.apps/operator/operator gone, "
                             "crd/widgets.example.com gone]]"))),
      ElementsAre(StartsWith("deployments/operator/operator gone before customresourcedefinitions/")));
}

TEST(Expectations, Denied) {
  EXPECT_THAT(failures(play(teardown("denied: [deployments.apps/operator/operator]"))), IsEmpty());
  EXPECT_THAT(failures(play(teardown("denied: [crd/widgets.example.com]"))),
              ElementsAre("crd/widgets.example.com is denied: nothing denied it"));
}

TEST(Expectations, DeletingWhatIsGoneIsNotDenied) {
  EXPECT_THAT(failures(play(scenario(R"(
  steps:
    - delete: widgets/one
    - patch: { object: widgets/one, finalizers: [] }
    - delete: widgets/one
      after: widgets/one gone
  expect: { never: [widgets/one denied] })"))),
              IsEmpty());
}

TEST(Expectations, Never) {
  EXPECT_THAT(failures(play(teardown("never: [widgets/one denied, namespace/operator requested]"))),
              IsEmpty());
  EXPECT_THAT(failures(play(teardown("never: [widgets/one gone, 'pods/operator/* gone']"))),
              ElementsAre("never widgets/one gone: widgets/one was gone at 1.020 s",
                          AllOf(StartsWith("never pods/operator/* gone: pods/operator/operator-"),
                                HasSubstr("was gone at 10.524 s"))));
}

TEST(Expectations, Within) {
  EXPECT_THAT(failures(play(teardown("{ ends: empty, within: 10524ms }"))), IsEmpty());
  EXPECT_THAT(failures(play(teardown("{ ends: empty, within: 10523ms }"))),
              ElementsAre("done within 10.523 s: it was done at 10.524 s"));
}

// --- many runs

constexpr ReplayOptions kMany{.order = Order::Random, .seed = 1, .runs = 300};

TEST(ManyRuns, WhatIsExpectedOfEveryRunNamesTheFirstThatFailed) {
  const ScenarioReport report = play(scenario(std::string(kController) + R"(
  steps:
    - delete: [deployments.apps/operator/operator, widgets/one]
  expect: { ends: empty })",
                                              kUnguarded),
                                     kMany);
  EXPECT_FALSE(report.held);
  EXPECT_EQ(report.end, End::Stuck);
  EXPECT_THAT(failures(report),
              ElementsAre(AllOf(StartsWith("ends empty: nothing changed any more"),
                                HasSubstr("(seed " + std::to_string(report.seed) + "; so in "),
                                HasSubstr(" of 300 runs)"))));
  // That seed alone shows the same.
  EXPECT_EQ(play(scenario(std::string(kController) + R"(
  steps:
    - delete: [deployments.apps/operator/operator, widgets/one])",
                          kUnguarded),
                 {.order = Order::Random, .seed = report.seed, .runs = 1})
                .end,
            End::Stuck);
}

TEST(ManyRuns, WhatEndsStuckNeedsOneRunThatShowsIt) {
  const ScenarioReport report = play(scenario(std::string(kController) + R"(
  steps:
    - delete: [deployments.apps/operator/operator, widgets/one]
  expect: { ends: stuck, stuck: [widgets/one], never: [widgets/one gone] })",
                                              kUnguarded),
                                     kMany);
  EXPECT_TRUE(report.held);
  EXPECT_EQ(report.end, End::Stuck);  // the run that is told is one that shows it
  EXPECT_GT(report.ended[static_cast<size_t>(End::Empty)], 0u);
}

TEST(ManyRuns, WhatIsDeniedNeedsOneRunInWhichItWas) {
  EXPECT_TRUE(play(teardown("{ ends: empty, denied: [deployments.apps/operator/operator] }"), kMany).held);
  EXPECT_THAT(failures(play(teardown("denied: [widgets/one]"), kMany)),
              ElementsAre("widgets/one is denied: nothing denied it"));
}

TEST(ManyRuns, TimesCountInWrittenOrderAlone) {
  EXPECT_TRUE(play(teardown("{ ends: empty, within: 1ms }"), kMany).held);
}

TEST(Expectations, Exists) {
  const auto again = [](const std::string& exists) {
    return failures(play(scenario(std::string(kController) + R"(
  guard: false
  steps:
    - delete: crd/widgets.example.com
    - apply: crd/widgets.example.com
      after: crd/widgets.example.com gone
  expect: { ends: empty, exists: [)" + exists +
                                      "] }",
                                  kUnguarded)));
  };
  EXPECT_THAT(again("crd/widgets.example.com, deployments.apps/operator/*"), IsEmpty());
  EXPECT_THAT(again("crd/widgets.example.com, widgets/*"),
              ElementsAre(AllOf(StartsWith("widgets/* exists at the end: widgets/one was gone at "),
                                HasSubstr(", and nothing has created it again"))));
  EXPECT_THAT(failures(play(stuck("{ ends: stuck, exists: [crd/widgets.example.com, widgets/one] }"))),
              ElementsAre("widgets/one exists at the end: widgets/one is being deleted"));
  EXPECT_THAT(mistakes(stuck("exists: [widgets/two]")),
              ElementsAre(HasSubstr("widgets/two\" names nothing")));
}

}  // namespace
}  // namespace lastout::replay
