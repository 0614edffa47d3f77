// Manifests and what is deleted of them, as a scenario: who removes which finalizer is found in the
// manifests.
#include "replay/finalizer_removers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/scenario.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kOperatorAndThings = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  names: { kind: Thing, plural: things, singular: thing }
  scope: Namespaced
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
---
apiVersion: v1
kind: Namespace
metadata: { name: tenant }
---
apiVersion: v1
kind: Namespace
metadata: { name: op }
)";

std::string thing(const std::string& finalizer, const std::string& metadata = "") {
  return "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: { name: one, namespace: tenant, "
         "finalizers: ['" +
         finalizer + "']" + metadata + " }\n";
}

std::string deployment(const std::string& name, const std::string& container = "main") {
  return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: " + name +
         ", namespace: op }\nspec:\n  selector: { matchLabels: { app: " + name +
         " } }\n  template:\n    metadata: { labels: { app: " + name +
         " } }\n    spec: { serviceAccountName: " + name + ", containers: [{ name: " + container +
         ", image: a }] }\n";
}

std::string roleToUpdate(const std::string& name, const std::string& resources,
                         const std::string& verbs = "update") {
  return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: " + name +
         " }\nrules: [{ apiGroups: [example.com], resources: [" + resources + "], verbs: [" + verbs +
         "] }]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: { name: " +
         name + " }\nroleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + name +
         " }\nsubjects: [{ kind: ServiceAccount, name: " + name + ", namespace: op }]\n";
}

std::string service(const std::string& provider, const std::string& finalizer) {
  return "---\napiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: { name: guard }\nspec:\n"
         "  provider: { group: apps, resource: deployments, namespace: op, name: " +
         provider +
         " }\n  criteria: [{ type: Finalizer, finalizer: { group: example.com, resource: things, "
         "finalizerName: " +
         finalizer + " } }]\n";
}

// The scenario in which the thing is deleted; its errors as text.
tl::expected<Scenario, std::string> read(const std::string& text,
                                         const std::string& reference = "thing/one") {
  auto scenario = scenarioOfDeletions({{"all.yaml", text}}, {reference});
  if (scenario) return std::move(*scenario);
  std::string errors;
  for (const kube::Error& error : scenario.error()) errors += kube::toString(error) + "\n";
  return tl::unexpected(errors);
}

// "op removes example.com/f: <why>" of each.
std::vector<std::string> removers(const std::string& text) {
  const auto scenario = read(text);
  if (!scenario) return {scenario.error()};
  std::vector<std::string> all;
  for (const ScenarioController& controller : scenario->controllers)
    all.push_back(controller.runsIn->text + " removes " + controller.finalizer + ": " + controller.evidence);
  return all;
}

TEST(FinalizerRemovers, AreTheProvidersThatCriticalServicesName) {
  const std::string text = kOperatorAndThings + thing("example.com/f") + deployment("op") +
                           deployment("other") + roleToUpdate("other", "things/finalizers");
  EXPECT_THAT(removers(text + service("op", "example.com/f")),
              ElementsAre("deployments.apps/op/op removes example.com/f: "
                          "criticalservices.lastout.dev/guard says so"));
  EXPECT_THAT(removers(text + service("op", "example.com/another")),
              ElementsAre(HasSubstr("deployments.apps/op/other removes example.com/f")));
}

TEST(FinalizerRemovers, AreCalledAsTheManagerOfTheFinalizer) {
  const std::string managed =
      ", managedFields: [{ manager: cleaner, operation: Update, fieldsType: FieldsV1, fieldsV1: { "
      "'f:metadata': "
      "{ 'f:finalizers': { '.': {}, 'v:\"example.com/f\"': {} } } } }]";
  const std::string text = kOperatorAndThings + thing("example.com/f", managed);
  EXPECT_THAT(removers(text + deployment("cleaner")),
              ElementsAre(HasSubstr("deployments.apps/op/cleaner removes")));
  EXPECT_THAT(removers(text + deployment("op", "cleaner") + deployment("other")),
              ElementsAre(AllOf(HasSubstr("deployments.apps/op/op removes example.com/f"),
                                HasSubstr("managedFields of things.example.com/tenant/one"))));
  EXPECT_THAT(removers(text + deployment("op", "cleaner") + deployment("other", "cleaner")), IsEmpty())
      << "two are called so";
}

TEST(FinalizerRemovers, MayUpdateTheFinalizersOfTheType) {
  const std::string text = kOperatorAndThings + thing("example.com/f") + deployment("op");
  EXPECT_THAT(removers(text + roleToUpdate("op", "things/finalizers")),
              ElementsAre("deployments.apps/op/op removes example.com/f: "
                          "clusterroles.rbac.authorization.k8s.io/op lets its ServiceAccount update "
                          "things/finalizers"));
  EXPECT_THAT(removers(text + roleToUpdate("op", "things, others/finalizers")), IsEmpty());
  EXPECT_THAT(removers(text + roleToUpdate("op", "things/finalizers", "get")), IsEmpty());
  EXPECT_THAT(removers(text + deployment("two") + roleToUpdate("op", "things/finalizers") +
                       roleToUpdate("two", "things/finalizers", "patch")),
              SizeIs(2));
}

// An operator that has rights only where its objects are.
TEST(FinalizerRemovers, MayHaveThatRightInTheNamespaceOfTheObjectAlone) {
  std::string rights = roleToUpdate("op", "things/finalizers");
  const std::string clusterWide = "kind: ClusterRoleBinding\nmetadata: { name: op }";
  ASSERT_NE(rights.find(clusterWide), std::string::npos);
  rights.replace(rights.find(clusterWide), clusterWide.size(),
                 "kind: RoleBinding\nmetadata: { name: op, namespace: tenant }");
  EXPECT_THAT(removers(kOperatorAndThings + thing("example.com/f") + deployment("op") + rights),
              ElementsAre(HasSubstr("deployments.apps/op/op removes example.com/f")));
}

TEST(FinalizerRemovers, AreNotLookedForWhereKubernetesRemovesIt) {
  const std::string text = kOperatorAndThings + deployment("op") + roleToUpdate("op", "things/finalizers");
  for (const char* finalizer : {"foregroundDeletion", "orphan", "service.kubernetes.io/load-balancer-cleanup",
                                "lastout.dev/criteria"})
    EXPECT_THAT(removers(text + thing(finalizer)), IsEmpty()) << finalizer;
}

TEST(ScenarioOfDeletions, RefusesWhatItCannotRead) {
  EXPECT_THAT(read(kOperatorAndThings, "nothings/one").error(), HasSubstr("--delete \"nothings/one\": "));
  const auto scenario = read(kOperatorAndThings +
                             "---\napiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: { name: a "
                             "}\nspec: { steps: [] }\n");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error(), AllOf(HasSubstr("all.yaml:19:1"), HasSubstr("leave out --delete")));
}

// Of what a CRD that is wrong would have defined, nothing is said; of all else it is.
TEST(ScenarioOfDeletions, RefusesUnknownReferencesBesideACrdThatIsWrong) {
  std::string wrong = kOperatorAndThings;
  const std::string served = "served: true";
  ASSERT_NE(wrong.find(served), std::string::npos);
  wrong.replace(wrong.find(served), served.size(), "served: false");
  const std::string unserved = "spec.versions has no version that is served";
  for (const char* reference : {"things/tenant/one", "thing/tenant/one", "Thing.example.com/tenant/one"})
    EXPECT_THAT(read(wrong, reference).error(), AllOf(HasSubstr(unserved), Not(HasSubstr("--delete"))))
        << reference;
  EXPECT_THAT(read(wrong, "typo/x").error(), AllOf(HasSubstr(unserved), HasSubstr("--delete \"typo/x\": ")));
}

TEST(ScenarioOfDeletions, DeletesWhatIsNamedAtAnyTime) {
  const auto scenario =
      scenarioOfDeletions({{"a.yaml", kOperatorAndThings}, {"b.yaml", thing("example.com/f")}},
                          {"namespace/tenant", "crd/things.example.com", "namespace/op"});
  ASSERT_TRUE(scenario);
  EXPECT_EQ(scenario->name, "delete namespace/tenant, crd/things.example.com and namespace/op");
  ASSERT_THAT(scenario->steps, SizeIs(3));
  EXPECT_EQ(scenario->steps[1].objects.front().text, "crd/things.example.com");
  EXPECT_FALSE(scenario->expect.ends);
}

}  // namespace
}  // namespace lastout::replay
