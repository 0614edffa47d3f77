// What a provider needs by earlier Pod templates, while Pods still run by them.
#include "criticalservice/pod_templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "criticalservice/dependencies.h"
#include "kube/well_known.h"
#include "tests/support/manifests.h"

namespace lastout::criticalservice {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A Pod template that mounts this Secret.
std::string mounting(const std::string& secret, const std::string& account = "manager") {
  return "{metadata: {labels: {app: manager, mounts: " + secret +
         "}}, spec: {serviceAccountName: " + account +
         ", containers: [{name: main}], volumes: [{name: v, secret: {secretName: " + secret + "}}]}}";
}

// `status`: of a StatefulSet or DaemonSet.
std::string workload(const std::string& kind, const std::string& secret, const std::string& status = "") {
  return "apiVersion: apps/v1\nkind: " + kind +
         "\nmetadata: {name: manager, namespace: run, uid: u, generation: 2}\n" +
         (status.empty() ? "" : "status: {" + status + "}\n") + "spec: {template: " + mounting(secret) +
         "}\n";
}

// `replicas`: in its spec, and in its status.
std::string replicaSet(const std::string& name, const std::string& secret, const std::string& spec,
                       const std::string& status, const std::string& owner = "manager",
                       const std::string& account = "manager") {
  return "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " + name +
         ", namespace: run, ownerReferences: "
         "[{apiVersion: apps/v1, kind: Deployment, name: " +
         owner +
         ", uid: u, controller: true}]}\n"
         "spec: {" +
         spec + "template: " + mounting(secret, account) + "}\nstatus: {" + status + "}\n";
}

std::string revision(const std::string& name, const std::string& kind, const std::string& secret) {
  return "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: " + name +
         ", namespace: run, "
         "ownerReferences: [{apiVersion: apps/v1, kind: " +
         kind +
         ", name: manager, uid: u, controller: true}]}\n"
         "revision: 1\ndata: {spec: {template: " +
         mounting(secret) + "}}\n";
}

class EarlierTemplatesTest : public ::testing::Test {
 public:
  EarlierTemplatesTest() {
    service.meta.name = "guard";
    provide("deployments");
    service.criteria = {FinalizerCriterion{{"example.com", "widgets"}, "example.com/clean"}};
  }
  void provide(const std::string& resource) { service.provider = {{"apps", resource}, "run", "manager"}; }
  std::set<std::string> put(const std::string& yaml) { return finder.put(testing::object(yaml)); }
  std::vector<std::string> found() const {
    std::vector<std::string> names;
    for (const Dependency& dependency : finder.find(service, carriesIn(graph)))
      names.push_back(toString(dependency.object));
    return names;
  }

  DependencyFinder finder;
  CriticalService service;
  graph::Graph graph;  // nothing is known to carry a finalizer
};

constexpr const char* kFormerSecret = "secrets/run/former";

// Whoever edits the Deployment does not make the Secret free: the Pods that mount it still run.
TEST_F(EarlierTemplatesTest, OfReplicaSetsWithPodsCount) {
  put(workload("Deployment", "former"));
  EXPECT_THAT(put(replicaSet("manager-1", "former", "replicas: 1, ", "replicas: 1")), ElementsAre("run"));
  put(workload("Deployment", "present"));
  EXPECT_THAT(found(), ElementsAre(kFormerSecret, "secrets/run/present", "serviceaccounts/run/manager"));
  put(replicaSet("manager-1", "former", "replicas: 0, ", "replicas: 1"));
  EXPECT_THAT(found(), Contains(kFormerSecret)) << "its last Pod runs";
  put(replicaSet("manager-1", "former", "replicas: 0, ", "replicas: 0, terminatingReplicas: 1"));
  EXPECT_THAT(found(), Contains(kFormerSecret)) << "its last Pod ends, and is not gone";
  EXPECT_THAT(put(replicaSet("manager-1", "former", "replicas: 0, ", "replicas: 0")), ElementsAre("run"));
  EXPECT_THAT(found(), ElementsAre("secrets/run/present", "serviceaccounts/run/manager"));
  put(replicaSet("manager-1", "former", "", ""));
  EXPECT_THAT(found(), Contains(kFormerSecret)) << "one replica is the default";
  EXPECT_THAT(finder.remove({{"apps", "replicasets"}, "run", "manager-1"}), ElementsAre("run"));
  EXPECT_THAT(found(), Not(Contains(kFormerSecret)));
}

TEST_F(EarlierTemplatesTest, CountInAnyOrder) {
  put(replicaSet("manager-1", "former", "replicas: 1, ", "replicas: 1"));
  EXPECT_THAT(found(), IsEmpty()) << "the provider is not there";
  put(workload("Deployment", "present"));
  EXPECT_THAT(found(), Contains(kFormerSecret));
}

TEST_F(EarlierTemplatesTest, OfOthersDoNot) {
  put(workload("Deployment", "present"));
  put(replicaSet("other-1", "of-another", "replicas: 1, ", "", "other"));
  std::string former = replicaSet("manager-1", "of-the-former-one", "replicas: 1, ", "");
  former.replace(former.find("uid: u"), 6, "uid: v");
  put(former);
  std::string owned = replicaSet("manager-2", "of-what-it-owns", "replicas: 1, ", "");
  owned.replace(owned.find("controller: true"), 16, "controller: false");
  put(owned);
  std::string elsewhere = replicaSet("manager-3", "elsewhere", "replicas: 1, ", "");
  elsewhere.replace(elsewhere.find("namespace: run"), 14, "namespace: far");
  put(elsewhere);
  EXPECT_THAT(found(), ElementsAre("secrets/run/present", "serviceaccounts/run/manager"));
}

// What the Pods act through, and what selects them, follows from their own template.
TEST_F(EarlierTemplatesTest, NameTheirServiceAccountAndAreSelected) {
  put(workload("Deployment", "present"));
  put(replicaSet("manager-1", "former", "replicas: 1, ", "", "manager", "swapped"));
  put("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n"
      "roleRef: {kind: ClusterRole, name: r}\n"
      "subjects: [{kind: ServiceAccount, name: swapped, namespace: run}]\n");
  put("apiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: run}\n"
      "spec: {selector: {mounts: former}}\n");
  for (const char* object : {"serviceaccounts/run/swapped", "clusterroles.rbac.authorization.k8s.io/r",
                             "clusterrolebindings.rbac.authorization.k8s.io/b", "services/run/front"})
    EXPECT_THAT(found(), Contains(object));
}

TEST_F(EarlierTemplatesTest, OfAStatefulSetCountUntilItIsRolledOut) {
  provide("statefulsets");
  put(revision("manager-1", "StatefulSet", "former"));
  put(revision("manager-2", "DaemonSet", "of-another"));
  const std::vector<std::string> present{"secrets/run/present", "serviceaccounts/run/manager"};
  for (const char* status : {"", "observedGeneration: 1, replicas: 2, updatedReplicas: 2",
                             "observedGeneration: 2, replicas: 2, updatedReplicas: 1"}) {
    put(workload("StatefulSet", "present", status));
    EXPECT_THAT(found(), ElementsAre(kFormerSecret, present[0], present[1])) << status;
  }
  EXPECT_THAT(
      put(workload("StatefulSet", "present", "observedGeneration: 2, replicas: 2, updatedReplicas: 2")),
      ElementsAre("run"));
  EXPECT_EQ(found(), present);
}

TEST_F(EarlierTemplatesTest, OfADaemonSetCountUntilItIsRolledOut) {
  provide("daemonsets");
  put(revision("manager-1", "DaemonSet", "former"));
  const std::string all = "observedGeneration: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2";
  for (const std::string& status :
       {std::string("observedGeneration: 2, currentNumberScheduled: 2"), all + ", numberMisscheduled: 1"}) {
    put(workload("DaemonSet", "present", status));
    EXPECT_THAT(found(), Contains(kFormerSecret)) << status;
  }
  put(workload("DaemonSet", "present", all));
  EXPECT_THAT(found(), Not(Contains(kFormerSecret)));
}

// The same limits, and what the present template names comes first.
TEST_F(EarlierTemplatesTest, PushOutNothingOfThePresentOne) {
  std::string many = replicaSet("manager-1", "former", "replicas: 1, ", "");
  std::string volumes;
  for (size_t i = 0; i < kMostNamedByPods; ++i)
    volumes += ", {name: v" + std::to_string(i) + ", secret: {secretName: a" + std::to_string(i) + "}}";
  many.insert(many.find("secretName: former}}") + 20, volumes);
  put(many);
  put(workload("Deployment", "present"));
  const Needed needed = finder.needs(service, carriesIn(graph));
  ASSERT_EQ(needed.tooMany.size(), 1U);
  EXPECT_EQ(needed.tooMany[0].found, kMostNamedByPods + 3);
  EXPECT_THAT(found(), Contains("secrets/run/present"));
  EXPECT_EQ(found().size(), kMostNamedByPods);
}

// Whoever may make ReplicaSets could name the provider as their controller.
TEST_F(EarlierTemplatesTest, AreTheOldestWhereThereAreTooMany) {
  put(workload("Deployment", "present"));
  const auto create = [&](const std::string& name, const std::string& secret, const std::string& createdAt) {
    std::string set = replicaSet(name, secret, "replicas: 1, ", "");
    set.insert(set.find("namespace: run"), "creationTimestamp: '" + createdAt + "', ");
    put(set);
  };
  create("manager-z", "former", "2026-01-01T00:00:00Z");
  for (size_t i = 0; i < kMostEarlierTemplates; ++i)
    create("a-" + std::to_string(i), "flood-" + std::to_string(i), "2026-01-02T00:00:00Z");
  EXPECT_THAT(found(), Contains(kFormerSecret));
  EXPECT_EQ(found().size(), kMostEarlierTemplates + 2) << "with the present Secret, and the ServiceAccount";
  const Needed needed = finder.needs(service, carriesIn(graph));
  ASSERT_EQ(needed.tooMany.size(), 1U);
  EXPECT_EQ(needed.tooMany[0].found, kMostEarlierTemplates + 1);
  EXPECT_EQ(needed.tooMany[0].guarded, kMostEarlierTemplates);
}

TEST_F(EarlierTemplatesTest, AreReadOfTheProvidersTypeAlone) {
  const kube::GroupResource replicaSets{"apps", "replicasets"};
  EXPECT_THAT(typesToRead(service), Contains(replicaSets));
  EXPECT_THAT(typesToRead(service), Not(Contains(kube::kControllerRevisions)));
  provide("statefulsets");
  EXPECT_THAT(typesToRead(service), Contains(kube::kControllerRevisions));
  EXPECT_THAT(typesToRead(service), Not(Contains(replicaSets)));
  service.dependencies = {DependencyMode::None, {}};
  EXPECT_THAT(typesToRead(service), Not(Contains(kube::kControllerRevisions)));
}

}  // namespace
}  // namespace lastout::criticalservice
