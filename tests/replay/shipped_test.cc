// The scenarios that are shipped: each holds, in written order, in random ones and in all, and shows what it
// is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "prove/proof_report.h"
#include "replay/output.h"
#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

#ifdef LASTOUT_SANITIZED
constexpr uint64_t kMaxStates = 20'000;  // two of the files have more
#else
constexpr uint64_t kMaxStates = prove::Bounds{}.states;
#endif

std::string textOf(const std::string& file) {
  std::ifstream input(file);
  return {std::istreambuf_iterator<char>(input), {}};
}

// One of these files, with the first `from` in it replaced.
std::string changed(const std::string& file, const std::string& from, const std::string& to) {
  std::string text = textOf(file);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << file;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

class Shipped : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<const Ready> load() const {
    auto all = loadAll({{GetParam(), true}});
    if (!all) {
      ADD_FAILURE() << kube::toString(all.error().front());
      return nullptr;
    }
    return std::move(all->front());
  }
};

TEST_P(Shipped, HoldsInWrittenOrder) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  EXPECT_THAT(failures(replay(*loaded, {})), IsEmpty());
}

TEST_P(Shipped, HoldsInRandomOrders) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  EXPECT_THAT(failures(replay(*loaded, {.order = Order::Random, .seed = 1, .runs = 300})), IsEmpty());
}

// What `lastout prove --as-expected` says.
TEST_P(Shipped, IsAsExpectedInEveryOrder) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  const prove::ProofScope question{.bounds = {.states = kMaxStates},
                                   .orders = loaded->scenario.expect.ends != Ending::Stuck};
  const prove::ProofReport report =
      prove::reportOf(*loaded, question, prove::proveScenario(loaded->compiled, question));
  if (report.proof.end == prove::Exploration::End::StateBound && kMaxStates < prove::Bounds{}.states)
    GTEST_SKIP() << "has too many states for a sanitized build";
  EXPECT_TRUE(report.expected) << toText(report, {});
}

// What holds without lastout as well says nothing of it.
TEST_P(Shipped, FailsWithoutLastoutUnlessItIsAControl) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  if (!loaded->scenario.guard) return;
  const auto unguarded = ready(changed(GetParam(), "\nspec:\n", "\nspec:\n  guard: false\n"), GetParam());
  ASSERT_FALSE(unguarded->scenario.guard);
  EXPECT_THAT(failures(replay(*unguarded, {})), Not(IsEmpty()));
}

// As a row of the page that lists them all.
std::string rowOf(const Scenario& scenario) {
  const bool isStuck = scenario.expect.ends == Ending::Stuck;
  return "| [" + scenario.name + "](" + scenario.name + ".yaml) | " + scenario.description + " | " +
         (isStuck ? "stuck" : "everything goes") + (scenario.guard ? "" : ", without lastout") +
         (scenario.kubernetes == kube::kNewestKubernetes
              ? ""
              : ", Kubernetes " + std::string(toString(scenario.kubernetes))) +
         " |\n";
}

TEST_P(Shipped, SaysWhatItTeachesAndHowItEnds) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  EXPECT_GT(loaded->scenario.description.size(), 40u);
  EXPECT_TRUE(loaded->scenario.expect.ends.has_value());
  EXPECT_EQ(loaded->scenario.name, std::filesystem::path(GetParam()).stem().string());
  EXPECT_THAT(textOf("scenarios/README.md"), HasSubstr(rowOf(loaded->scenario)));
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Shipped, ::testing::ValuesIn(shippedFiles()), [](const auto& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Shipped, AreAllThere) {
  std::vector<std::string> names;
  for (const std::string& file : shippedFiles()) names.push_back(std::filesystem::path(file).stem().string());
  EXPECT_THAT(names, IsSupersetOf({"story-three-works",
                                   "story-one-work",
                                   "story-unguarded",
                                   "story-deadlock",
                                   "story-only-denied",
                                   "story-forgotten-namespace",
                                   "finalizer-prefix",
                                   "group-of-types",
                                   "managed-cluster-namespace",
                                   "provider-statefulset",
                                   "provider-webhook",
                                   "webhook-without-service",
                                   "webhook-refuses-collector",
                                   "webhook-refuses-controller",
                                   "apiservice-left-behind",
                                   "volume-of-a-claim",
                                   "two-services-one-provider",
                                   "chain-of-three-operators",
                                   "same-namespace",
                                   "cycle-of-two",
                                   "own-namespace",
                                   "own-namespace-excepted",
                                   "network-in-use",
                                   "operator-for-each-tenant",
                                   "operator-for-labelled-namespaces",
                                   "provider-gone",
                                   "work-orphans",
                                   "late-instance-with-crd",
                                   "late-instance-without-crd",
                                   "provider-recreated",
                                   "foreground-delete",
                                   "hold-background",
                                   "hold-foreground",
                                   "hold-story",
                                   "deletecollection",
                                   "crd-deleted-directly",
                                   "crd-of-criticalservices",
                                   "dependency-apiservice",
                                   "dependency-clusterrolebinding",
                                   "dependency-secret",
                                   "needs-rolebinding",
                                   "needs-service-account",
                                   "needs-credentials",
                                   "waits-for-each-other",
                                   "reapplied-crd",
                                   "controller-in-job",
                                   "job-time-to-live",
                                   "work-replica-set",
                                   "dependency-configmap",
                                   "dependency-conversion-service",
                                   "dependency-conversion-webhook",
                                   "dependency-of-a-criterions-type",
                                   "dependency-of-nobody",
                                   "dependency-of-custom-provider",
                                   "intent-ordered",
                                   "intent-best-effort",
                                   "intent-orphan",
                                   "policy-ancestor",
                                   "policy-appcat-composite-gone",
                                   "policy-appcat-elsewhere",
                                   "policy-appcat-labels",
                                   "policy-appcat-nested",
                                   "policy-appcat-objects",
                                   "policy-appcat-override",
                                   "policy-appcat-toggle",
                                   "operator-with-its-objects",
                                   "policy-children",
                                   "policy-class-in-use",
                                   "policy-record-before-namespace",
                                   "policy-dbops-cascade",
                                   "policy-dbops-cascade-new-child",
                                   "policy-dbops-children",
                                   "policy-dbops-deletion-policies",
                                   "policy-dbops-external-fails",
                                   "policy-dbops-force",
                                   "policy-dbops-force-starts",
                                   "policy-dbops-late-child",
                                   "policy-dbops-namespace",
                                   "policy-dbops-operator-down",
                                   "policy-dbops-other-operator",
                                   "policy-dbops-protected-by-annotation",
                                   "policy-dbops-protected-by-field",
                                   "policy-dbops-unprotect",
                                   "policy-hold",
                                   "policy-hold-protected",
                                   "policy-karmada-application",
                                   "policy-karmada-namespace",
                                   "policy-karmada-namespace-implied",
                                   "policy-karmada-objects",
                                   "policy-karmada-objects-come-and-go",
                                   "policy-karmada-test-plan",
                                   "policy-karmada-values",
                                   "policy-kruise-always",
                                   "policy-kruise-cascading-crd",
                                   "policy-kruise-cascading-namespace",
                                   "policy-kruise-cascading-workload",
                                   "policy-label",
                                   "policy-namespace",
                                   "policy-orkestra-delete-now-disabled",
                                   "policy-orkestra-delete-now-strict",
                                   "policy-orkestra-exemption",
                                   "policy-orkestra-exemption-repaired",
                                   "policy-orkestra-gateway-only",
                                   "policy-orkestra-labels",
                                   "policy-orkestra-own-objects",
                                   "policy-orkestra-protect-crd",
                                   "policy-orkestra-protect-crs",
                                   "policy-orkestra-strict-update",
                                   "policy-orkestra-two-phases",
                                   "policy-strict",
                                   "policy-usage",
                                   "policy-usage-cluster",
                                   "policy-usage-selector",
                                   "policy-with-criticalservice"}));
}

// What they are about is an instance that comes late: where it is refused, as it is without server-side apply
// in a terminating CRD, or nobody applies it, they must not hold.
TEST(Shipped, TheLateInstanceHasToBeCreated) {
  const std::string file = "scenarios/late-instance-with-crd.yaml";
  const auto refused = ready(changed(file, "      serverSide: true\n", ""));
  EXPECT_THAT(failures(replay(*refused, {})), Not(IsEmpty()));
  EXPECT_THAT(failures(replay(*refused, {.order = Order::Random, .seed = 1, .runs = 20})), Not(IsEmpty()));
  EXPECT_EQ(prove::proveScenario(refused->compiled).verdict, prove::ProofResult::Stuck);

  const auto neverSent =
      ready(changed("scenarios/late-instance-without-crd.yaml",
                    "after: deployments.apps/operator/operator gone", "after: widgets/late gone"));
  EXPECT_THAT(failures(replay(*neverSent, {})), Not(IsEmpty()));
}

// The scenario ends as it is, and without the line it does not.
void expectStuckWithout(const std::string& file, const std::string& line) {
  EXPECT_EQ(prove::proveScenario(ready(textOf(file))->compiled).verdict, prove::ProofResult::Proven);
  const auto whole = ready(changed(file, line, ""));
  EXPECT_EQ(prove::proveScenario(whole->compiled).verdict, prove::ProofResult::Stuck);
  EXPECT_THAT(failures(replay(*whole, {})), Not(IsEmpty()));
}

// Nobody can delete the claim that the provider's own Pods mount before them.
TEST(Shipped, WithoutTheExceptionNoDeletionEnds) {
  expectStuckWithout("scenarios/own-namespace-excepted.yaml", "        exceptProviderNamespace: true\n");
}

TEST(Shipped, WithoutItsNamespacesATenantWaitsForAnother) {
  expectStuckWithout("scenarios/operator-for-each-tenant.yaml",
                     "        namespaces: { sameAsProvider: true }\n");
}

TEST(Shipped, WithAnotherSelectorATenantWaitsForAnother) {
  const std::string file = "scenarios/operator-for-labelled-namespaces.yaml";
  const auto outcome = [&](const std::string& selector) {
    return prove::proveScenario(
               ready(changed(file, "matchLabels: { capsule.clastix.io/tenant: oil }", selector))->compiled)
        .verdict;
  };
  EXPECT_EQ(outcome("matchLabels: { capsule.clastix.io/tenant: oil }"), prove::ProofResult::Proven);
  EXPECT_EQ(outcome("matchExpressions: [{ key: capsule.clastix.io/tenant, operator: Exists }]"),
            prove::ProofResult::Stuck);
  // It waits for nothing that the controller has to clean up, so it may go before.
  EXPECT_EQ(outcome("matchLabels: { capsule.clastix.io/tenant: water }"), prove::ProofResult::Stuck);
}

TEST(Shipped, NoStepChangesWhichNamespacesAreSelected) {
  const std::string file = "scenarios/operator-for-labelled-namespaces.yaml";
  const auto patched = [&](const std::string& labels) {
    const std::string step = "    - patch: { object: namespaces/gas-production, labels: " + labels + " }\n";
    return mistakes(changed(file, "  expect:\n", step + "  expect:\n"));
  };
  EXPECT_THAT(patched("{ capsule.clastix.io/tenant: gas, a: b }"), IsEmpty());
  EXPECT_THAT(
      patched("{ capsule.clastix.io/tenant: oil }"),
      ElementsAre(HasSubstr("a criterion's selector matches namespaces/gas-production before this step "
                            "and not after it, or the other way round")));
}

// The provider alone is not enough: without what it needs, it cannot clean up.
TEST(Shipped, WhatAProviderNeedsHasToBeGuarded) {
  for (const char* what :
       {"clusterrolebinding", "secret", "configmap", "conversion-service", "conversion-webhook"}) {
    const auto alone = ready(changed(std::string("scenarios/dependency-") + what + ".yaml",
                                     "dependencies: Auto", "dependencies: None"));
    EXPECT_EQ(prove::proveScenario(alone->compiled).verdict, prove::ProofResult::Stuck) << what;
    EXPECT_THAT(failures(replay(*alone, {})), Not(IsEmpty())) << what;
  }
}

// API servers do not ask about it (docs/verdicts.md), so nobody may call that proven.
TEST(Shipped, WhatIsInLastoutsOwnNamespaceIsNotGuarded) {
  const std::string file = "scenarios/intent-ordered.yaml";
  ASSERT_EQ(prove::proveScenario(ready(changed(file, "", ""))->compiled).verdict, prove::ProofResult::Proven);
  const auto atHome = ready(changed(file, "\nspec:\n", "\nspec:\n  lastoutNamespace: operator\n"));
  EXPECT_EQ(prove::proveScenario(atHome->compiled).verdict, prove::ProofResult::Unsafe);
}

// The document lists nine steps; the two stories show each of them, at a time that agrees with the partial
// order.
TEST(Shipped, TheStoriesShowTheDocumentsNineSteps) {
  for (const char* file : {"scenarios/story-three-works.yaml", "scenarios/story-one-work.yaml"}) {
    auto all = loadAll({{file, true}});
    ASSERT_TRUE(all.has_value());
    const ScenarioReport report = replay(*all->front(), {});
    ASSERT_EQ(report.story.size(), 9u) << file;
    for (const Moment& moment : report.story) EXPECT_TRUE(moment.at.has_value()) << moment.title;
    EXPECT_LT(report.story[2].at, report.story[3].at) << file;  // the instance is finalized before its CRD
    EXPECT_LT(report.story[3].at, report.story[4].at) << file;  // the CRD before the Deployment is deleted
    EXPECT_LE(report.story[6].at, report.story[8].at) << file;  // the Deployment before the CriticalService
  }
}

}  // namespace
}  // namespace lastout::replay
