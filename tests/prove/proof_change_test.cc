// proof_change: what counts as worse. Each test changes one thing of a small cluster.
#include "prove/proof_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "prove/ci_report.h"
#include "tests/prove/changed_scenario.h"

namespace lastout::prove {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ProofChange, TheSameIsNotWorse) {
  const Side guarded = operatorWith(kGuard);
  EXPECT_EQ(compared(guarded, guarded).result, ChangeResult::NotWorse);
  const Side stuck = operatorWith("");
  const ProofChange change = compared(stuck, stuck);
  EXPECT_EQ(change.result, ChangeResult::NotWorse);
  EXPECT_THAT(change.notes, ElementsAre(HasSubstr("still STUCK, in no other way")));
}

TEST(ProofChange, AGuardThatIsTakenAwayIsLostAndWhatItKeptGetsStuck) {
  const ProofChange change = compared(operatorWith(kGuard), operatorWith(""));
  EXPECT_EQ(change.result, ChangeResult::Worse);
  ASSERT_THAT(kindsOf(change), ElementsAre("new-stuck", "lost-guard"));
  ASSERT_TRUE(change.worse[0].stuck);
  EXPECT_THAT(change.worse[0].text, HasSubstr("widgets.example.com/one stays"));
  EXPECT_EQ(change.worse[1].object, "deployments.apps/operator/operator");
  EXPECT_THAT(toText(change, {}), AllOf(StartsWith("WORSE  small  PROVEN before, STUCK now"),
                                        HasSubstr("A shortest way to get stuck")));
}

TEST(ProofChange, TheOtherWayRoundItIsBetter) {
  const ProofChange change = compared(operatorWith(""), operatorWith(kGuard));
  EXPECT_EQ(change.result, ChangeResult::Better);
  EXPECT_THAT(change.worse, IsEmpty());
}

// --- getting stuck in another way

TEST(ProofChange, OneMoreObjectThatStaysIsAnotherWayToGetStuck) {
  const Side one = operatorWith("", kDeleteOperatorAndWidgets);
  const Side two = operatorWith(kSecondWidget, kDeleteOperatorAndWidgets);
  const ProofChange change = compared(one, two);
  ASSERT_THAT(kindsOf(change), ElementsAre("new-stuck-end"));
  EXPECT_THAT(change.worse[0].text, HasSubstr("widgets.example.com/one and widgets.example.com/two stay"));
  ASSERT_TRUE(change.worse[0].stuck);
  EXPECT_EQ(compared(two, one).result, ChangeResult::NotWorse) << "less stays than before";
}

// The nearest end stays as it was: the widget, and the second controller that is deleted only after it. Once
// the widget is gone, something else can be left.
TEST(ProofChange, ANewEndThatIsNotTheNearestIsFound) {
  const std::string steps =
      "    - name: second\n      runsIn: deployments.apps/operator/second\n"
      "      removes: {finalizer: example.com/late, from: configmaps}\n"
      "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one, configmaps/operator/late]\n"
      "    - delete: [deployments.apps/operator/second]\n      after: widgets/one gone\n";
  const std::string documents =
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: second, namespace: operator}\nspec:\n"
      "  replicas: 1\n  selector: {matchLabels: {app: second}}\n  template:\n"
      "    metadata: {labels: {app: second}}\n    spec: {containers: [{name: second, image: second}]}\n"
      "---\napiVersion: v1\nkind: ConfigMap\n";
  const Side before = operatorWith(documents + "metadata: {name: late, namespace: operator}\n", steps);
  const Side now = operatorWith(
      documents + "metadata: {name: late, namespace: operator, finalizers: [example.com/late]}\n", steps);
  ASSERT_TRUE(now.report.stuck);
  for (const replay::Leftover& left : now.report.stuck->leftovers)
    ASSERT_NE(left.object, "configmaps/operator/late") << "the nearest end has to be the same as before";
  const ProofChange change = compared(before, now);
  ASSERT_THAT(kindsOf(change), ElementsAre("new-stuck-end"));
  EXPECT_THAT(change.worse[0].text,
              AllOf(HasSubstr("configmaps/operator/late stays"), Not(HasSubstr("widgets"))));
  EXPECT_THAT(toText(change, {}), HasSubstr("finalizer example.com/late"));
}

TEST(ProofChange, AnEventThatComesTooEarlyIsWorse) {
  const std::string order =
      "  expect:\n    before:\n      - [widgets/one gone, deployments.apps/operator/operator gone]\n";
  const std::string never = "  expect:\n    never: [widgets/one gone]\n";
  const ProofChange change = compared(operatorWith(kGuard, kDeleteOperatorAndWidget + order),
                                      operatorWith(kGuard, kDeleteOperatorAndWidget + never));
  ASSERT_THAT(kindsOf(change), ElementsAre("new-broken"));
  EXPECT_THAT(change.worse[0].steps, Not(IsEmpty()));
  const Side broken = operatorWith(kGuard, kDeleteOperatorAndWidget + never);
  EXPECT_EQ(compared(broken, broken).result, ChangeResult::NotWorse);
}

// --- what is expected

const std::string kExpectsAll =
    "  expect:\n    before:\n      - [widgets/one gone, deployments.apps/operator/operator gone]\n"
    "    never: [namespaces/operator gone]\n    exists: [namespaces/operator]\n";

TEST(ProofChange, WhatIsExpectedNoLongerIsTold) {
  const Side before = operatorWith(kGuard, kDeleteOperatorAndWidget + kExpectsAll);
  const ProofChange change = compared(before, operatorWith(kGuard));
  EXPECT_EQ(change.result, ChangeResult::NotWorse);
  ASSERT_THAT(change.notes, ElementsAre(AllOf(HasSubstr("it no longer expects"),
                                              HasSubstr("widgets.example.com/one gone `before` "
                                                        "deployments.apps/operator/operator gone"),
                                              HasSubstr("`never` namespaces/operator gone"),
                                              HasSubstr("that namespaces/operator `exists`"))));
  EXPECT_THAT(toText(change, {}), HasSubstr("It no longer expects"));
  EXPECT_THAT(nlohmann::json::parse(toJson(std::vector{change}, "base"))["scenarios"][0]["notes"].dump(),
              HasSubstr("it no longer expects"));
  EXPECT_THAT(compared(before, before).notes, IsEmpty());
  EXPECT_THAT(compared(operatorWith(kGuard), before).notes, IsEmpty()) << "more is expected";
}

TEST(ProofChange, WhatIsExpectedInOtherWordsIsExpectedStill) {
  const std::string other =
      "  expect:\n    before:\n      - [widgets.example.com/one gone, deployments/operator/operator gone]\n"
      "    never: [namespace/operator gone]\n    exists: [namespace/operator]\n";
  EXPECT_THAT(compared(operatorWith(kGuard, kDeleteOperatorAndWidget + kExpectsAll),
                       operatorWith(kGuard, kDeleteOperatorAndWidget + other))
                  .notes,
              IsEmpty());
}

TEST(ProofChange, AnExpectationOfWhatIsGoneIsNotMissed) {
  const std::string never = "  expect:\n    never: [widgets/two gone]\n";
  EXPECT_THAT(
      compared(operatorWith(kGuard + kSecondWidget, kDeleteOperatorAndWidget + never), operatorWith(kGuard))
          .notes,
      IsEmpty());
}

TEST(ProofChange, ADeletionThatNobodyAsksForAnyMoreIsTold) {
  const std::string steps = "  steps:\n    - delete: [widgets/one]\n";
  const ProofChange change = compared(operatorWith(""), operatorWith("", steps));
  EXPECT_EQ(change.result, ChangeResult::Better);
  EXPECT_THAT(change.notes,
              ElementsAre(AllOf(HasSubstr("no client deletes"), HasSubstr("operator/operator any more"))));
}

TEST(ProofChange, AStuckEndThatIsExpectedNowIsTold) {
  const std::string stuck = "  expect:\n    ends: stuck\n";
  const ProofChange change =
      compared(operatorWith(kGuard), operatorWith(kGuard, kDeleteOperatorAndWidget + stuck));
  EXPECT_THAT(change.notes, ElementsAre(HasSubstr("it is expected to get stuck now")));
}

// An unsafe commit is a fault of lastout's own, here that it makes no confirming read.
TEST(ProofChange, AnotherObjectThatCanBeDeletedUnsafelyIsWorse) {
  const auto careless = [](const std::string& steps) {
    auto made = std::make_unique<replay::Ready>(*smallScenario(steps, std::string(kOperator) + kGuard));
    made->compiled.model.confirms = false;
    return Side(std::move(made));
  };
  const std::string late =
      "  steps:\n    - apply:\n        apiVersion: example.com/v1\n        kind: Widget\n        metadata: "
      "{name: "
      "late, finalizers: [example.com/cleanup]}\n    - delete: [widgets/one, widgets/late, ";
  const Side provider = careless(late + "deployments/operator/operator]\n");
  ASSERT_EQ(provider.report.proof.verdict, ProofResult::Unsafe);
  const Side both = careless(late + "deployments/operator/operator, namespaces/operator]\n");
  const ProofChange worse = compared(provider, both);
  ASSERT_THAT(kindsOf(worse), Contains("new-unsafe"));
  EXPECT_EQ(
      worse.worse.front().text,
      "a deletion of namespaces/operator is committed whose criteria did not hold at its confirming read");
  EXPECT_THAT(worse.worse.front().steps, Not(IsEmpty()));
  const ProofChange same = compared(both, both);
  EXPECT_EQ(same.result, ChangeResult::NotWorse);
  EXPECT_THAT(same.notes, ElementsAre("it is still UNSAFE, in no other way than before"));
  EXPECT_THAT(kindsOf(compared(both, provider)), Not(Contains("new-unsafe")));
}

// --- assumptions

const std::string kWebhook =
    "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: "
    "{name: "
    "checks}\nwebhooks:\n  - name: checks.example.com\n    clientConfig: {url: "
    "\"https://checks.example.com\"}\n"
    "    admissionReviewVersions: [v1]\n    sideEffects: None\n    failurePolicy: Fail\n    rules: "
    "[{operations: "
    "[DELETE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]\n";

TEST(ProofChange, ANewAssumptionIsWorseUnlessItComesWithTheProof) {
  const ProofChange change = compared(operatorWith(kGuard), operatorWith(kGuard + kWebhook));
  ASSERT_THAT(kindsOf(change), ElementsAre("new-assumption"));
  EXPECT_EQ(change.worse[0].object, "validatingwebhookconfigurations/checks");
  EXPECT_EQ(compared(operatorWith(kGuard + kWebhook), operatorWith(kGuard)).result, ChangeResult::NotWorse);
  EXPECT_THAT(kindsOf(compared(operatorWith(""), operatorWith(kWebhook))), ElementsAre("new-assumption"));
  const ProofChange gain = compared(operatorWith(""), operatorWith(kGuard + kWebhook));
  EXPECT_EQ(gain.result, ChangeResult::Better);
  EXPECT_THAT(gain.notes, Contains(HasSubstr("assumes what it did not before")));
}

// --- bounds

TEST(ProofChange, WhatABoundLeavesOpenIsNotDecided) {
  const Side whole = operatorWith(kGuard);
  const Side part(smallScenario(kDeleteOperatorAndWidget, std::string(kOperator) + kGuard),
                  Bounds{.states = 10});
  EXPECT_EQ(compared(whole, part).result, ChangeResult::Undecided);
  EXPECT_EQ(compared(part, whole).result, ChangeResult::NotWorse) << "what is proven is no worse";
  const ProofChange unknown =
      compared(part, operatorWith(kGuard, "  guard: false\n" + kDeleteOperatorAndWidget));
  EXPECT_THAT(kindsOf(unknown), ElementsAre("lost-guard")) << "a guard is compared without a proof";
  const Side stuck = operatorWith("");
  const Side partOfStuck(smallScenario(kDeleteOperatorAndWidget, kOperator), Bounds{.states = 10});
  const ProofChange open = compared(partOfStuck, stuck);
  EXPECT_EQ(open.result, ChangeResult::Undecided);
  EXPECT_THAT(open.notes, ElementsAre(HasSubstr("of how it is before")));
}

TEST(ProofChange, EndsThatWereNotKeptLeaveOpenWhatIsNotAmongThoseThatWere) {
  Side before = operatorWith(kSecondWidget, kDeleteOperatorAndWidgets);
  before.report.proof.hasMoreEnds = true;
  EXPECT_EQ(compared(before, operatorWith("", kDeleteOperatorAndWidgets)).result, ChangeResult::NotWorse)
      << "the end is a part of one that was kept";
  const std::string third = replaced(kSecondWidget, "name: two", "name: three");
  const ProofChange open = compared(before, operatorWith(kSecondWidget + third, kDeleteOperatorAndWidgets));
  EXPECT_EQ(open.result, ChangeResult::Undecided);
  EXPECT_THAT(open.notes, ElementsAre(HasSubstr("more than 100 ways")));
  Side now = operatorWith(kSecondWidget, kDeleteOperatorAndWidgets);
  now.report.proof.hasMoreEnds = true;
  EXPECT_EQ(compared(operatorWith(kSecondWidget, kDeleteOperatorAndWidgets), now).result,
            ChangeResult::Undecided)
      << "ends that were not kept may be others than before";
}

TEST(ProofChange, WhatIsReadFromTheSameBytesIsNoWorseWithinAnyBound) {
  const Side part(smallScenario(kDeleteOperatorAndWidget, std::string(kOperator) + kGuard),
                  Bounds{.states = 10});
  const ProofChange change = unchangedScenario(part.report, "base/small.yaml");
  EXPECT_EQ(change.result, ChangeResult::NotWorse);
  EXPECT_THAT(change.notes, ElementsAre(HasSubstr("still NOT DECIDED")));
  ASSERT_TRUE(change.before);
  EXPECT_EQ(change.before->file, "base/small.yaml");
  EXPECT_EQ(change.now->file, "small.yaml");
  EXPECT_THAT(unchangedScenario(operatorWith(kGuard).report, "").notes, IsEmpty());
}

// --- what programs read

TEST(ProofChange, JsonSarifAndJUnitCarryEachWorsening) {
  const std::vector<ProofChange> changes{compared(operatorWith(kGuard), operatorWith(kWebhook)),
                                         compared(operatorWith(""), operatorWith("")),
                                         removedScenario("gone.yaml", "gone")};
  const auto json = nlohmann::json::parse(toJson(changes, "base"));
  EXPECT_EQ(json["changedFrom"], "base");
  ASSERT_EQ(json["scenarios"].size(), 3U);
  const auto& first = json["scenarios"][0];
  EXPECT_EQ(first["result"], "WORSE");
  EXPECT_EQ(first["before"]["verdict"], "PROVEN");
  EXPECT_EQ(first["now"]["verdict"], "STUCK");
  ASSERT_EQ(first["worse"].size(), 3U);
  EXPECT_EQ(first["worse"][0]["kind"], "new-stuck");
  EXPECT_FALSE(first["worse"][0]["stuck"]["steps"].empty());
  EXPECT_TRUE(first["worse"][1]["stuck"].is_null());
  EXPECT_TRUE(json["scenarios"][2]["now"].is_null());

  const auto results = nlohmann::json::parse(toSarif(changes))["runs"][0]["results"];
  std::vector<std::string> told;
  for (const auto& result : results)
    told.push_back(result["ruleId"].get<std::string>() + " " + result["level"].get<std::string>());
  EXPECT_THAT(told,
              ElementsAre("new-stuck error", "lost-guard error", "new-assumption warning", "STUCK note"));

  const std::string xml = toJUnit(changes);
  EXPECT_THAT(xml, AllOf(HasSubstr(R"(tests="14" failures="3")"), HasSubstr(R"(name="no lost guard">)"),
                         HasSubstr(R"(name="no lost guard"/>)"), Not(HasSubstr("gone.yaml"))));
}

}  // namespace
}  // namespace lastout::prove
