// proof_change: what counts as worse. Each test changes one thing of a small cluster.
#include "prove/proof_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "prove/ci_report.h"
#include "tests/prove/small_scenario.h"

namespace lastout::prove {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// One side of a comparison: the scenario stays where it is.
struct Side {
  explicit Side(std::unique_ptr<const replay::Ready> made, Bounds bounds = {}) : ready(std::move(made)) {
    const ProofScope scope{
        .bounds = bounds, .orders = ready->scenario.expect.ends != replay::Ending::Stuck, .allEnds = true};
    report = reportOf(*ready, scope, proveScenario(ready->compiled, scope));
  }
  std::unique_ptr<const replay::Ready> ready;
  ProofReport report;
};

ProofChange compared(const Side& before, const Side& now) {
  return compareProofs({*before.ready, before.report}, {*now.ready, now.report});
}

std::vector<std::string> kindsOf(const ProofChange& change) {
  std::vector<std::string> kinds;
  kinds.reserve(change.worse.size());
  for (const Worsening& each : change.worse) kinds.emplace_back(word(each.kind));
  return kinds;
}

const std::string kDeleteOperatorAndWidget =
    "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one]\n";
const std::string kDeleteOperatorAndWidgets =
    "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/*]\n";
const std::string kSecondWidget =
    "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: two, finalizers: "
    "[example.com/cleanup]}\n";

Side operatorWith(const std::string& documents, const std::string& steps = kDeleteOperatorAndWidget) {
  return Side(smallScenario(steps, kOperator + documents));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

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

// Nothing is deleted that could get stuck: the guard is lost all the same.
TEST(ProofChange, AGuardIsLostWhateverIsProven) {
  const std::string steps = "  steps:\n    - delete: [widgets/one]\n";
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard, steps), operatorWith("", steps))),
              ElementsAre("lost-guard"));
}

TEST(ProofChange, AnotherNameOfTheGuardIsNoLoss) {
  const std::string renamed = replaced(kGuard, "metadata: {name: operator}", "metadata: {name: other}");
  EXPECT_EQ(compared(operatorWith(kGuard), operatorWith(renamed)).result, ChangeResult::NotWorse);
}

TEST(ProofChange, ACriterionIsLostWhileItsTypeIsThere) {
  const std::string crd =
      "    - type: SpecificResource\n      specificResource: {group: apiextensions.k8s.io, resource: "
      "customresourcedefinitions, name: widgets.example.com}\n";
  const ProofChange change = compared(operatorWith(kGuard + crd), operatorWith(kGuard));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text,
              HasSubstr("customresourcedefinitions.apiextensions.k8s.io/widgets.example.com"));
  const std::string gone =
      "    - type: SpecificResource\n      specificResource: {resource: configmaps, namespace: operator, "
      "name: "
      "gone}\n";
  const std::string map =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone, namespace: operator}\n";
  const ProofChange together = compared(operatorWith(kGuard + gone + map), operatorWith(kGuard));
  EXPECT_THAT(kindsOf(together), IsEmpty());
  EXPECT_THAT(together.notes, ElementsAre(HasSubstr("not there either")));
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard + gone + map), operatorWith(kGuard + map))),
              ElementsAre("lost-guard"));
}

// A misspelt criterion names nothing that is there, and what it named is lost.
TEST(ProofChange, AMisspeltFinalizerLosesItsCriterion) {
  const std::string misspelt =
      replaced(kGuard, "finalizerName: example.com/cleanup", "finalizerName: example.com/cleanups");
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(misspelt))),
              ElementsAre("new-stuck", "lost-guard"));
}

TEST(ProofChange, AGuardThatMeansAProviderThatIsNotThereIsLost) {
  const std::string renamed = replaced(replaced(kOperator, "metadata: {name: operator, namespace: operator}",
                                                "metadata: {name: manager, namespace: operator}"),
                                       "kind: Widget", "kind: Widget");
  const std::string steps = "  steps:\n    - delete: [widgets/one]\n";
  const std::string controller = "  guard: true\n";
  const auto sideOf = [&](const std::string& documents, const std::string& workload) {
    auto scenario = replay::parse(
        "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: small}\nspec:\n  controllers:\n"
        "    - name: cleanup\n      runsIn: deployments.apps/operator/" +
            workload + "\n      removes: {finalizer: example.com/cleanup, from: widgets.example.com}\n" +
            steps + documents,
        "small.yaml");
    EXPECT_TRUE(scenario);
    auto model = compile(*scenario);
    EXPECT_TRUE(model);
    return Side(
        std::make_unique<const replay::Ready>(replay::Ready{std::move(*scenario), std::move(*model)}));
  };
  const ProofChange change =
      compared(sideOf(kOperator + std::string(kGuard), "operator"), sideOf(renamed + kGuard, "manager"));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text, HasSubstr("guards nothing any more"));
  const std::string moved =
      replaced(kGuard, "namespace: operator, name: operator", "namespace: operator, name: manager");
  EXPECT_THAT(kindsOf(compared(sideOf(kOperator + std::string(kGuard), "operator"),
                               sideOf(renamed + moved, "manager"))),
              IsEmpty());
}

TEST(ProofChange, WithoutLastoutEveryGuardIsLost) {
  const std::string steps = "  guard: false\n" + kDeleteOperatorAndWidget;
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(kGuard, steps))),
              ElementsAre("new-stuck", "lost-guard"));
}

TEST(ProofChange, WhereNothingWasGuardedNothingIsLost) {
  const std::string steps = "  guard: false\n" + kDeleteOperatorAndWidget;
  EXPECT_THAT(kindsOf(compared(operatorWith(""), operatorWith("", steps))), IsEmpty());
}

TEST(ProofChange, AnIntentThatGivesTheProviderUpIsALoss) {
  const std::string given = replaced(kGuard, "spec:\n", "spec:\n  deletionIntent: OrphanResources\n");
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(given))), Contains("lost-guard"));
}

// Who may delete the CriticalService first may delete its provider next.
TEST(ProofChange, AnIntentByWhichTheServiceMayGoFirstIsALoss) {
  const std::string mayGo = replaced(kGuard, "spec:\n", "spec:\n  deletionIntent: BestEffortDeletion\n");
  const ProofChange change = compared(operatorWith(kGuard), operatorWith(mayGo));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_EQ(change.worse[0].object, "criticalservices.lastout.dev/operator");
  EXPECT_THAT(change.worse[0].text,
              AllOf(HasSubstr("may be deleted before deployments.apps/operator/operator"),
                    HasSubstr("BestEffortDeletion"), HasSubstr("example.com/cleanup")));
  EXPECT_THAT(kindsOf(compared(operatorWith(mayGo), operatorWith(kGuard))), IsEmpty());
  const std::string second = replaced(kGuard, "metadata: {name: operator}", "metadata: {name: second}");
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(mayGo + second))), IsEmpty())
      << "another CriticalService stays, and waits for the same";
}

TEST(ProofChange, TheOtherEnforcementIsALoss) {
  const std::string held = replaced(kGuard, "spec:\n", "spec:\n  enforcement: Hold\n");
  const auto textsOf = [&](const std::string& before, const std::string& now) {
    std::vector<std::string> texts;
    for (const Worsening& each : compared(operatorWith(before), operatorWith(now)).worse)
      if (each.kind == WorseningKind::Guard) texts.push_back(each.text);
    return texts;
  };
  EXPECT_THAT(textsOf(kGuard, held), ElementsAre(HasSubstr("cannot be taken back")));
  EXPECT_THAT(textsOf(held, kGuard), ElementsAre(HasSubstr("no finalizer keeps")));
  // One that says Deny is enough, whichever it is.
  const auto named = [](const std::string& guard, const std::string& name) {
    return replaced(guard, "metadata: {name: operator}", "metadata: {name: " + name + "}");
  };
  EXPECT_THAT(textsOf(named(kGuard, "a") + named(kGuard, "b"), named(held, "a") + named(kGuard, "b")),
              IsEmpty());
}

TEST(ProofChange, DeletionsThatNobodyRunsLaterAreALoss) {
  const std::string steps = "  carryOut: false\n" + kDeleteOperatorAndWidget;
  const ProofChange change = compared(operatorWith(kGuard), operatorWith(kGuard, steps));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text, HasSubstr("`carryOut: false`"));
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard, steps), operatorWith(kGuard))), IsEmpty());
  EXPECT_THAT(kindsOf(compared(operatorWith(""), operatorWith("", steps))), IsEmpty())
      << "nothing is denied, so nothing is left to be deleted later";
}

TEST(ProofChange, ScalingAndDependenciesCount) {
  const std::string scaling = replaced(kGuard, "spec:\n", "spec:\n  guard: {scaleToZero: true}\n");
  const ProofChange scaled = compared(operatorWith(scaling), operatorWith(kGuard));
  ASSERT_THAT(kindsOf(scaled), ElementsAre("lost-guard"));
  EXPECT_THAT(scaled.worse[0].text, HasSubstr("scaled to zero"));

  const std::string account =
      "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: operator, namespace: operator}\n";
  const auto withAccount = [&](const std::string& guard) {
    return Side(smallScenario(
        kDeleteOperatorAndWidget,
        replaced(kOperator, "spec: {containers", "spec: {serviceAccountName: operator, containers") +
            account + guard));
  };
  const std::string none = replaced(kGuard, "spec:\n", "spec:\n  guard: {dependencies: None}\n");
  const ProofChange change = compared(withAccount(kGuard), withAccount(none));
  ASSERT_THAT(kindsOf(change), Contains("lost-guard"));
  EXPECT_THAT(change.worse.back().text, HasSubstr("serviceaccounts/operator/operator"));
  // What the provider needs no longer is guarded no longer, and nobody misses that.
  EXPECT_THAT(kindsOf(compared(withAccount(kGuard), operatorWith(account + kGuard))), IsEmpty());
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

TEST(ProofChange, WhichDeletionsAreUnsafeIsNotSaid) {
  Side side = operatorWith("");
  side.report.proof.verdict = ProofResult::Unsafe;
  side.report.unsafe = Counterexample{.text = "unsafe", .steps = {}};
  const ProofChange change = compared(side, side);
  EXPECT_EQ(change.result, ChangeResult::NotWorse);
  EXPECT_THAT(change.notes, ElementsAre("it is still UNSAFE; which deletions are unsafe is not compared"));
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

// --- DeletionPolicies

const std::string kLabelled =
    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: operator, labels: {keep: "
    "\"yes\"}}\n";
const std::string kPolicy =
    "---\napiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: keep}\nspec:\n  objects:\n"
    "    - resources: [{resource: configmaps}]\n      labelSelector: {matchLabels: {keep: \"yes\"}}\n";

TEST(ProofChange, AProtectionThatIsTakenAwayIsLost) {
  const Side before = operatorWith(kGuard + kLabelled + kPolicy);
  const ProofChange change = compared(before, operatorWith(kGuard + kLabelled));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text,
              AllOf(HasSubstr("configmaps/operator/kept"), HasSubstr("DeletionPolicy keep")));
  const std::string plain = replaced(kLabelled, "keep: \"yes\"", "keep: \"no\"");
  EXPECT_THAT(kindsOf(compared(before, operatorWith(kGuard + plain + kPolicy))), ElementsAre("lost-guard"))
      << "the object is protected no longer";
  EXPECT_EQ(compared(before, operatorWith(kGuard + kPolicy)).result, ChangeResult::NotWorse)
      << "the object is gone";
  const std::string renamed = replaced(kPolicy, "metadata: {name: keep}", "metadata: {name: other}");
  EXPECT_EQ(compared(before, operatorWith(kGuard + kLabelled + renamed)).result, ChangeResult::NotWorse);
}

TEST(ProofChange, AnExemptionIsALossForWhomItExempts) {
  const std::string steps =
      kDeleteOperatorAndWidget + "    - delete: [configmaps/operator/kept]\n      as: eve\n";
  const Side before = operatorWith(kGuard + kLabelled + kPolicy, steps);
  const Side exempt = operatorWith(kGuard + kLabelled + kPolicy + "  exempt: {users: [eve]}\n", steps);
  const Side other = operatorWith(kGuard + kLabelled + kPolicy + "  exempt: {users: [adam]}\n", steps);
  EXPECT_THAT(kindsOf(compared(before, exempt)), Contains("lost-guard"));
  EXPECT_THAT(kindsOf(compared(before, other)), IsEmpty());
}

TEST(ProofChange, WhoMayTakeAProtectionAwayCounts) {
  const std::string both = kPolicy + "  blocks: [Delete, Unprotect]\n";
  const ProofChange change =
      compared(operatorWith(kGuard + kLabelled + both), operatorWith(kGuard + kLabelled + kPolicy));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text, HasSubstr("may be taken away"));
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
