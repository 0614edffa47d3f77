// Manifests and what is deleted of them, as a scenario: who removes which finalizer is found in the
// manifests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "criticalservice/remover_finder.h"
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

// As that of an administrator.
std::string roleForAll(const std::string& name) {
  std::string role = roleToUpdate(name, "'*'");
  return role.replace(role.find("[example.com]"), std::string_view("[example.com]").size(), "['*']");
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

// "op removes example.com/f in namespace a: <why>" of each.
std::vector<std::string> removers(const std::string& text, const std::string& reference = "thing/one") {
  const auto scenario = read(text, reference);
  if (!scenario) return {scenario.error()};
  std::vector<std::string> all;
  for (const ScenarioController& controller : scenario->controllers)
    all.push_back(controller.runsIn->text + " removes " + controller.finalizer +
                  kube::inWords(controller.scope, 9) + ": " + controller.evidence);
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

TEST(FinalizerRemovers, AreThoseThatCriticalServicesNameOnlyInTheirNamespaces) {
  const auto replaced = [](std::string text, const std::string& old, const std::string& now) {
    return text.replace(text.find(old), old.size(), now);
  };
  const std::string far = replaced(thing("example.com/f"), "namespace: tenant", "namespace: op");
  const std::string text = kOperatorAndThings + thing("example.com/f") + deployment("op");
  const auto serving = [&](const std::string& spaces) {
    return replaced(service("op", "example.com/f"), "finalizerName: example.com/f",
                    "finalizerName: example.com/f, namespaces: { names: [" + spaces + "] }");
  };
  EXPECT_THAT(removers(text + far + serving("tenant")),
              ElementsAre(HasSubstr("op/op removes example.com/f in namespace tenant: criticalservices")))
      << "nobody is known to remove the other's";
  EXPECT_THAT(
      removers(text + far + serving("tenant") + deployment("other") +
               roleToUpdate("other", "things/finalizers")),
      ElementsAre(HasSubstr("op/op removes example.com/f in namespace tenant: criticalservices"),
                  HasSubstr("op/other removes example.com/f outside namespace tenant: clusterroles")));
  EXPECT_THAT(
      removers(text + serving("another") + deployment("other") + roleToUpdate("other", "things/finalizers")),
      ElementsAre(HasSubstr("op/op removes example.com/f in namespace another: criticalservices"),
                  HasSubstr("op/other removes example.com/f outside namespace another: clusterroles")));
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
  EXPECT_THAT(removers(text + roleToUpdate("op", "'*/finalizers'")),
              ElementsAre(HasSubstr("deployments.apps/op/op removes example.com/f")));
  EXPECT_THAT(removers(text + roleToUpdate("op", "others, others/finalizers")), IsEmpty());
  EXPECT_THAT(removers(text + roleToUpdate("op", "things/finalizers", "get")), IsEmpty());
  EXPECT_THAT(removers(text + deployment("two") + roleToUpdate("op", "things/finalizers") +
                       roleToUpdate("two", "things/finalizers", "patch")),
              SizeIs(2));
}

// Few controllers that nobody generated ask for the right to things/finalizers.
TEST(FinalizerRemovers, MayBeTheOnlyOneThatUpdatesTheType) {
  const std::string text = kOperatorAndThings + thing("example.com/f") + deployment("op");
  EXPECT_THAT(removers(text + roleToUpdate("op", "things")),
              ElementsAre("deployments.apps/op/op removes example.com/f: "
                          "clusterroles.rbac.authorization.k8s.io/op lets its ServiceAccount update things"));
  EXPECT_THAT(removers(text + roleForAll("op")), IsEmpty()) << "as administrators may, too";
  EXPECT_THAT(removers(text + roleToUpdate("op", "'*'")), SizeIs(1)) << "all of one group";
  EXPECT_THAT(
      removers(text + deployment("two") + roleToUpdate("op", "things") + roleToUpdate("two", "things")),
      SizeIs(2))
      << "it may be either";
}

// Many write objects of Kubernetes' own types.
TEST(FinalizerRemovers, OfATypeOfKubernetesMayBeTheOnlyOneThatUpdatesIt) {
  const std::string map =
      kOperatorAndThings +
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: c, finalizers: [example.com/f] }\n" +
      deployment("op");
  const auto ofCore = [](std::string role) { return role.replace(role.find("[example.com]"), 13, "['']"); };
  EXPECT_THAT(removers(map + ofCore(roleToUpdate("op", "configmaps")), "configmap/c"), SizeIs(1));
  EXPECT_THAT(removers(map + deployment("two") + ofCore(roleToUpdate("op", "configmaps")) +
                           ofCore(roleToUpdate("two", "configmaps")),
                       "configmap/c"),
              IsEmpty());
}

// Programs put what they do, or where, around the name of their Deployment: "gotk-kustomize-controller" of
// Flux, "velero-server", "cert-manager-certificates-trigger".
TEST(FinalizerRemovers, MayBeAPartOfTheManagersName) {
  const auto managedBy = [](const std::string& manager) {
    return kOperatorAndThings +
           thing("example.com/f",
                 ", managedFields: [{ manager: " + manager +
                     ", operation: Update, fieldsType: FieldsV1, fieldsV1: { 'f:metadata': { "
                     "'f:finalizers': { 'v:\"example.com/f\"': {} } } } }]");
  };
  const std::string both = deployment("a-controller") + deployment("b-controller") +
                           roleToUpdate("a-controller", "things/finalizers, things") +
                           roleToUpdate("b-controller", "things/finalizers, things");
  EXPECT_THAT(removers(managedBy("gotk-a-controller") + both),
              ElementsAre(HasSubstr("deployments.apps/op/a-controller removes")));
  EXPECT_THAT(removers(managedBy("gotka-controller") + both), SizeIs(2)) << "not the whole name";
  EXPECT_THAT(removers(managedBy("kube-a-controller") + both), SizeIs(2)) << "one of Kubernetes";
  EXPECT_THAT(removers(managedBy("gotk-a-controller") + deployment("a-controller")), IsEmpty())
      << "no role lets it";
  EXPECT_THAT(removers(managedBy("acme-operator") + deployment("operator") + roleForAll("operator")),
              IsEmpty())
      << "what many are called";
}

// spec.finalizers of a Namespace are changed through namespaces/finalize alone.
TEST(FinalizerRemovers, OfANamespaceFinalizeIt) {
  const auto with = [](const std::string& resources) {
    std::string role = roleToUpdate("op", resources);
    role.replace(role.find("[example.com]"), 13, "['']");
    return kOperatorAndThings + deployment("op") + role +
           "---\napiVersion: v1\nkind: Namespace\nmetadata: { name: held }\nspec: { finalizers: [kubernetes, "
           "example.com/origin] }\n";
  };
  EXPECT_THAT(
      removers(with("namespaces/finalize"), "namespace/held"),
      ElementsAre(HasSubstr("deployments.apps/op/op removes example.com/origin: "
                            "clusterroles.rbac.authorization.k8s.io/op lets its ServiceAccount update "
                            "namespaces/finalize")));
  EXPECT_THAT(removers(with("namespaces"), "namespace/held"), IsEmpty())
      << "an UPDATE leaves spec.finalizers alone";
  const auto none = read(with("configmaps"), "namespace/held");
  ASSERT_TRUE(none);
  ASSERT_THAT(none->unremoved, SizeIs(1));
  EXPECT_THAT(none->unremoved.front().lookedFor, HasSubstr("no role for namespaces/finalize names"));
}

// What applies manifests, as GitOps tools do, sets the finalizers that are in them.
TEST(FinalizerRemovers, AreNotThoseThatApplyManifestsWhereARoleSaysOtherwise) {
  const std::string applied =
      ", managedFields: [{ manager: applier, operation: Apply, fieldsType: FieldsV1, fieldsV1: { "
      "'f:metadata': { 'f:finalizers': { 'v:\"example.com/f\"': {} } } } }]";
  const std::string text = kOperatorAndThings + thing("example.com/f", applied) + deployment("applier");
  EXPECT_THAT(removers(text + deployment("op") + roleToUpdate("op", "things/finalizers")),
              ElementsAre(HasSubstr("deployments.apps/op/op removes example.com/f")));
  EXPECT_THAT(removers(text), ElementsAre(HasSubstr("deployments.apps/op/applier removes example.com/f")));
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

// As the operators of Argo CD, of Elasticsearch and of OLM do with what they install.
TEST(FinalizerRemovers, MayBeControlledByACustomResource) {
  const auto controlledBy = [](std::string workload, const std::string& owner) {
    const std::string metadata = ", namespace: op }";
    workload.replace(workload.find(metadata), metadata.size(),
                     ", namespace: op, ownerReferences: [{ " + owner + ", uid: u, controller: true }] }");
    return workload;
  };
  const std::string text =
      kOperatorAndThings + thing("example.com/f") + roleToUpdate("op", "things/finalizers");
  EXPECT_THAT(
      removers(text + controlledBy(deployment("op"), "apiVersion: example.com/v1, kind: Thing, name: csv")),
      ElementsAre(HasSubstr("deployments.apps/op/op removes example.com/f")));
  EXPECT_THAT(removers(text + controlledBy(deployment("op"), "apiVersion: a.b/v1, kind: Unknown, name: csv")),
              ElementsAre(HasSubstr("deployments.apps/op/op removes example.com/f")));

  const std::string pod =
      "---\napiVersion: v1\nkind: Pod\nmetadata: { name: op-1-2, namespace: op }\n"
      "spec: { serviceAccountName: op, containers: [{ name: main, image: a }] }\n";
  EXPECT_THAT(removers(text + deployment("op") +
                       controlledBy(pod, "apiVersion: apps/v1, kind: ReplicaSet, name: op-1")),
              ElementsAre(HasSubstr("deployments.apps/op/op removes")))
      << "the Pod stands for a workload, whether that is in the files or not";
}

TEST(FinalizerRemovers, RunPods) {
  const std::string spec = "spec: { serviceAccountName: op, containers: [{ name: main, image: a }] }";
  const std::string cronJob =
      "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: { name: op, namespace: op }\nspec: { schedule: '0 "
      "0 * * "
      "*', jobTemplate: { spec: { template: { " +
      spec + " } } } }\n";
  const std::string job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: { name: op-1, namespace: op, ownerReferences: [{ "
      "apiVersion: batch/v1, kind: CronJob, name: op, uid: u, controller: true }] }\nspec: { template: { " +
      spec + " } }\n";
  const std::string text =
      kOperatorAndThings + thing("example.com/f") + roleToUpdate("op", "things/finalizers");
  EXPECT_THAT(removers(text + cronJob), ElementsAre(HasSubstr("cronjobs.batch/op/op removes")));
  EXPECT_THAT(removers(text + cronJob + job), ElementsAre(HasSubstr("cronjobs.batch/op/op removes")));
}

TEST(FinalizerRemovers, AreNotLookedForWhereKubernetesRemovesIt) {
  const std::string text = kOperatorAndThings + deployment("op") + roleToUpdate("op", "things/finalizers");
  for (const char* finalizer :
       {"foregroundDeletion", "orphan", "kubernetes.io/pvc-protection", "batch.kubernetes.io/job-tracking",
        "resource.kubernetes.io/delete-protection", "networking.k8s.io/service-cidr-finalizer",
        "lastout.dev/criteria"})
    EXPECT_THAT(removers(text + thing(finalizer)), IsEmpty()) << finalizer;
}

// https://kubernetes-csi.github.io/docs/snapshot-controller.html: it is deployed beside the control plane.
TEST(FinalizerRemovers, AreLookedForInTheDomainsOfKubernetes) {
  const std::string finalizer = "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection";
  const std::string text = kOperatorAndThings + thing(finalizer) + deployment("op");
  EXPECT_THAT(removers(text + roleToUpdate("op", "things/finalizers")),
              ElementsAre(HasSubstr("deployments.apps/op/op removes " + finalizer)));
  EXPECT_THAT(removers(text + service("op", finalizer)),
              ElementsAre(HasSubstr("criticalservices.lastout.dev/guard says so")));
}

TEST(FinalizerRemovers, OfALoadBalancerRunOutsideUnlessTheyAreFound) {
  const std::string front =
      "---\napiVersion: v1\nkind: Service\nmetadata: { name: front, namespace: tenant, finalizers: "
      "[service.kubernetes.io/load-balancer-cleanup] }\nspec: { type: LoadBalancer }\n";
  const auto outside = read(kOperatorAndThings + front, "service/front");
  ASSERT_TRUE(outside) << outside.error();
  ASSERT_THAT(outside->controllers, SizeIs(1));
  EXPECT_FALSE(outside->controllers.front().runsIn);
  EXPECT_EQ(outside->controllers.front().from, (kube::GroupResource{"", "services"}));

  std::string role = roleToUpdate("ccm", "services/finalizers");
  role.replace(role.find("[example.com]"), 13, "['']");
  EXPECT_THAT(removers(kOperatorAndThings + front + deployment("ccm") + role, "service/front"),
              ElementsAre(HasSubstr("deployments.apps/op/ccm removes service.kubernetes.io/")));
}

// What a verdict says was looked for; empty: somebody removes all finalizers.
std::string lookedFor(const std::string& text) {
  const auto scenario = read(kOperatorAndThings + text);
  if (!scenario) return scenario.error();
  return scenario->unremoved.empty() ? "" : scenario->unremoved.front().lookedFor;
}

TEST(UnremovedFinalizers, NameTheWorkloadsThatCameClose) {
  const std::string managed =
      ", managedFields: [{ manager: manager, operation: Update, fieldsType: FieldsV1, fieldsV1: { "
      "'f:metadata': { 'f:finalizers': { 'v:\"example.com/f\"': {} } } } }]";
  EXPECT_EQ(
      lookedFor(thing("example.com/f")),
      "no CriticalService, no metadata.managedFields and no role for things/finalizers names a workload in "
      "the files");
  EXPECT_THAT(
      lookedFor(thing("example.com/f", managed) + deployment("a", "manager") + deployment("b", "manager")),
      HasSubstr("; \"manager\" set it, and that is what deployments.apps/op/a and deployments.apps/op/b are "
                "called"));
  EXPECT_THAT(lookedFor(thing("example.com/f", managed) + deployment("a")),
              HasSubstr("; \"manager\" set it, and no workload or container has that name"));
  EXPECT_THAT(lookedFor(thing("example.com/f") + deployment("op") + roleForAll("op")),
              HasSubstr("; deployments.apps/op/op may update things, but by a role for many types"));
  EXPECT_THAT(
      lookedFor(thing("example.com/f") + deployment("op") + deployment("two") + roleForAll("op") +
                roleForAll("two")),
      HasSubstr("; deployments.apps/op/op and deployments.apps/op/two may update things, but by a role for "
                "many types"));
  EXPECT_THAT(lookedFor(thing("example.com/f") + service("gone", "example.com/f")),
              HasSubstr("; criticalservices.lastout.dev/guard names it, but its provider "
                        "deployments.apps/op/gone is not there, or runs no Pods"));
  std::string elsewhere = service("op", "example.com/f");
  elsewhere.insert(elsewhere.find("finalizerName: example.com/f") + 28, ", namespaces: { names: [another] }");
  EXPECT_THAT(lookedFor(thing("example.com/f") + deployment("op") + elsewhere),
              HasSubstr("; criticalservices.lastout.dev/guard names it only in namespace another"));
  EXPECT_EQ(lookedFor(thing("example.com/f") + deployment("op") + roleToUpdate("op", "things/finalizers")),
            "");
}

TEST(FinalizerRemovers, OfACsiDriversAttacherRunOutside) {
  const auto scenario =
      read(kOperatorAndThings +
               "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: { name: pv, finalizers: "
               "[external-attacher/d-example-com, example.com/f] }\n",
           "pv/pv");
  ASSERT_TRUE(scenario) << scenario.error();
  ASSERT_THAT(scenario->controllers, SizeIs(1));
  EXPECT_EQ(scenario->controllers.front().finalizer, "external-attacher/d-example-com");
  ASSERT_THAT(scenario->unremoved, SizeIs(1));
  EXPECT_EQ(scenario->unremoved.front().finalizer, "example.com/f");
}

// The API server would orphan the Pods of a Job
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/); kubectl asks for the background.
TEST(ScenarioOfDeletions, DeletesAsKubectlDoes) {
  const auto scenario =
      read(kOperatorAndThings +
               "---\napiVersion: batch/v1\nkind: Job\nmetadata: { name: j, namespace: op }\n"
               "spec: { template: { spec: { containers: [{ name: main, image: a }] } } }\n",
           "job/j");
  ASSERT_TRUE(scenario) << scenario.error();
  EXPECT_EQ(scenario->steps.front().policy, cluster::PropagationPolicy::Background);
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
