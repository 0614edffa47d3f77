// lost_guards: which guards and which protections a change takes away. Each test changes one thing of a small
// cluster.
#include "prove/lost_guards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/changed_scenario.h"

namespace lastout::prove {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Nothing is deleted that could get stuck: the guard is lost all the same.
TEST(LostGuards, AGuardIsLostWhateverIsProven) {
  const std::string steps = "  steps:\n    - delete: [widgets/one]\n";
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard, steps), operatorWith("", steps))),
              ElementsAre("lost-guard"));
}

TEST(LostGuards, AnotherNameOfTheGuardIsNoLoss) {
  const std::string renamed = replaced(kGuard, "metadata: {name: operator}", "metadata: {name: other}");
  EXPECT_EQ(compared(operatorWith(kGuard), operatorWith(renamed)).result, ChangeResult::NotWorse);
}

TEST(LostGuards, ACriterionIsLostWhileItsTypeIsThere) {
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
TEST(LostGuards, AMisspeltFinalizerLosesItsCriterion) {
  const std::string misspelt =
      replaced(kGuard, "finalizerName: example.com/cleanup", "finalizerName: example.com/cleanups");
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(misspelt))),
              ElementsAre("new-stuck", "lost-guard"));
}

TEST(LostGuards, ANamespaceThatIsLeftOutIsALoss) {
  const std::string namespaced = replaced(kOperator, "scope: Cluster", "scope: Namespaced");
  const std::string others =
      replaced(namespaced, "metadata: {name: one,", "metadata: {name: one, namespace: operator,");
  const std::string excepting =
      replaced(kGuard, "example.com/cleanup}", "example.com/cleanup, exceptProviderNamespace: true}");
  const std::string steps = "  steps:\n    - delete: [widgets/operator/one]\n";
  const auto with = [&](const std::string& guard) { return Side(smallScenario(steps, others + guard)); };
  const ProofChange change = compared(with(kGuard), with(excepting));
  EXPECT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse.at(0).text, HasSubstr("in namespace operator (`exceptProviderNamespace`)"));
  EXPECT_THAT(kindsOf(compared(with(excepting), with(kGuard))), IsEmpty()) << "that asks for more";
  const std::string scoped =
      replaced(kGuard, "example.com/cleanup}", "example.com/cleanup, namespaces: {names: [a, operator]}}");
  const ProofChange lessOf = compared(with(scoped), with(replaced(scoped, "[a, operator]", "[a]")));
  EXPECT_THAT(kindsOf(lessOf), ElementsAre("lost-guard"));
  EXPECT_THAT(lessOf.worse.at(0).text, HasSubstr("widgets.example.com in namespace operator (`namespaces`)"));
  const std::string lenient =
      replaced(kGuard, "- type: Finalizer", "- type: Finalizer\n      ifNotInstalled: Met");
  const std::string another = replaced(lenient, "metadata: {name: ", "metadata: {name: another-");
  EXPECT_THAT(kindsOf(compared(with(excepting), with(excepting + another))), IsEmpty())
      << "what was asked before is asked as strictly, and more is asked, too";
}

TEST(LostGuards, AGuardThatMeansAProviderThatIsNotThereIsLost) {
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

TEST(LostGuards, WithoutLastoutEveryGuardIsLost) {
  const std::string steps = "  guard: false\n" + kDeleteOperatorAndWidget;
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(kGuard, steps))),
              ElementsAre("new-stuck", "lost-guard"));
}

TEST(LostGuards, WhereNothingWasGuardedNothingIsLost) {
  const std::string steps = "  guard: false\n" + kDeleteOperatorAndWidget;
  EXPECT_THAT(kindsOf(compared(operatorWith(""), operatorWith("", steps))), IsEmpty());
}

TEST(LostGuards, AnIntentThatGivesTheProviderUpIsALoss) {
  const std::string given = replaced(kGuard, "spec:\n", "spec:\n  deletionIntent: OrphanResources\n");
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard), operatorWith(given))), Contains("lost-guard"));
}

// Who may delete the CriticalService first may delete its provider next.
TEST(LostGuards, AnIntentByWhichTheServiceMayGoFirstIsALoss) {
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

TEST(LostGuards, TheOtherEnforcementIsALoss) {
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

TEST(LostGuards, DeletionsThatNobodyRunsLaterAreALoss) {
  const std::string steps = "  carryOut: false\n" + kDeleteOperatorAndWidget;
  const ProofChange change = compared(operatorWith(kGuard), operatorWith(kGuard, steps));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text, HasSubstr("`carryOut: false`"));
  EXPECT_THAT(kindsOf(compared(operatorWith(kGuard, steps), operatorWith(kGuard))), IsEmpty());
  EXPECT_THAT(kindsOf(compared(operatorWith(""), operatorWith("", steps))), IsEmpty())
      << "nothing is denied, so nothing is left to be deleted later";
}

TEST(LostGuards, ScalingAndDependenciesCount) {
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

// --- DeletionPolicies

const std::string kLabelled =
    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: operator, labels: {keep: "
    "\"yes\"}}\n";
const std::string kPolicy =
    "---\napiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: keep}\nspec:\n  objects:\n"
    "    - resources: [{resource: configmaps}]\n      labelSelector: {matchLabels: {keep: \"yes\"}}\n";

TEST(LostGuards, AProtectionThatIsTakenAwayIsLost) {
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

TEST(LostGuards, AnExemptionIsALossForWhomItExempts) {
  const std::string steps =
      kDeleteOperatorAndWidget + "    - delete: [configmaps/operator/kept]\n      as: eve\n";
  const Side before = operatorWith(kGuard + kLabelled + kPolicy, steps);
  const Side exempt = operatorWith(kGuard + kLabelled + kPolicy + "  exempt: {users: [eve]}\n", steps);
  const Side other = operatorWith(kGuard + kLabelled + kPolicy + "  exempt: {users: [adam]}\n", steps);
  EXPECT_THAT(kindsOf(compared(before, exempt)), Contains("lost-guard"));
  EXPECT_THAT(kindsOf(compared(before, other)), IsEmpty());
}

TEST(LostGuards, WhoMayTakeAProtectionAwayCounts) {
  const std::string both = kPolicy + "  blocks: [Delete, Unprotect]\n";
  const ProofChange change =
      compared(operatorWith(kGuard + kLabelled + both), operatorWith(kGuard + kLabelled + kPolicy));
  ASSERT_THAT(kindsOf(change), ElementsAre("lost-guard"));
  EXPECT_THAT(change.worse[0].text, HasSubstr("may be taken away"));
}

}  // namespace
}  // namespace lastout::prove
