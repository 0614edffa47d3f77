// What a provider's Pods and controllers need, and what lastout keeps for the provider's sake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/condition.h"
#include "kube/well_known.h"
#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNeedy = R"(
apiVersion: v1
kind: Namespace
metadata: {name: operator}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: controller, namespace: operator}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: c}}
    spec:
      serviceAccountName: controller
      containers: [{name: main, envFrom: [{configMapRef: {name: settings}}]}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: controller, namespace: operator}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: operator}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: of-nobody, namespace: operator}
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: operator}
spec: {selector: {app: c}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: cleaner}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: cleaner}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cleaner}
subjects: [{kind: ServiceAccount, name: controller, namespace: operator}]
---
)";

constexpr char kBinding[] = "clusterrolebindings.rbac.authorization.k8s.io/cleaner";
constexpr char kRole[] = "clusterroles.rbac.authorization.k8s.io/cleaner";
constexpr char kAccount[] = "serviceaccounts/operator/controller";
constexpr char kSettings[] = "configmaps/operator/settings";
constexpr char kFront[] = "services/operator/front";

// `guard`: what stands in spec.guard of the CriticalService; empty: there is none.
World needyWorld(const std::string& guard, const WorldOptions& options = {}) {
  std::string service = kGuard;
  const size_t spec = service.find("spec:\n") + 6;
  service.insert(spec, "  guard: " + guard + "\n");
  World world(kNeedy + kInstances + service, options);
  world.controller("cleaner", kDeployment, "example.com/clean", "widgets.example.com");
  return world;
}

TEST(Needs, OfAControllerAreItsRights) {
  for (const char* lost : {kBinding, kRole, kAccount}) {
    World world = needyWorld("{dependencies: None}");
    world.deletes(lost);
    world.deletes(kWidget);
    world.settle();
    EXPECT_TRUE(world.terminating(kWidget)) << lost;
  }
  World world = needyWorld("{dependencies: None}");
  world.deletes(kWidget);
  world.settle();
  EXPECT_FALSE(world.present(kWidget));
}

// https://kubernetes.io/docs/reference/access-authn-authz/rbac/: permissions are purely additive.
TEST(Needs, OfBindingsThatGiveTheSameAreOne) {
  const auto bindingOf = [](const std::string& role) {
    return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: again}\n"
           "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " +
           role + "}\nsubjects: [{kind: ServiceAccount, name: controller, namespace: operator}]\n---\n";
  };
  const std::string other =
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: other}\n";
  const std::string rules = "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n";
  const auto stays = [](const std::string& more, const std::vector<const char*>& lost) {
    World world(kNeedy + more + kInstances);
    world.controller("cleaner", kDeployment, "example.com/clean", "widgets.example.com");
    for (const char* object : lost) world.deletes(object);
    world.deletes(kWidget);
    world.settle();
    return world.present(kWidget);
  };
  constexpr const char* kAgain = "clusterrolebindings.rbac.authorization.k8s.io/again";
  const std::string same = bindingOf("cleaner");
  EXPECT_FALSE(stays(same, {kBinding}));
  EXPECT_FALSE(stays(same, {kAgain}));
  EXPECT_TRUE(stays(same, {kBinding, kAgain}));
  EXPECT_TRUE(stays(same, {kRole}));
  EXPECT_TRUE(stays(same, {kAccount}));
  const std::string alike = other + "---\n" + bindingOf("other");
  EXPECT_FALSE(stays(alike, {kRole})) << "another role has the same rules";
  EXPECT_TRUE(stays(alike, {kRole, kAgain}));
  EXPECT_TRUE(stays(other + rules + "---\n" + bindingOf("other"), {kAgain})) << "it gives other rights";
}

TEST(Needs, OfAPodAreWhatItCannotStartWithout) {
  World world = needyWorld("{dependencies: None}");
  world.deletes(kSettings);
  const std::vector<std::string> left = world.left();
  const auto pod = std::ranges::find_if(left, [](const auto& name) { return name.starts_with("pods/"); });
  ASSERT_NE(pod, left.end());
  world.deletes(*pod);  // and its ReplicaSet makes another
  world.deletes(kWidget);
  world.settle();
  EXPECT_TRUE(world.terminating(kWidget));
}

TEST(Needs, AreKeptUntilTheirProviderIsGone) {
  World world = needyWorld("{dependencies: Auto}");
  for (const char* object : {kBinding, kRole, kAccount, kSettings, kFront}) {
    world.deletes(object);
    EXPECT_THAT(world.log(), Contains(std::string("client denied ") + object));
    EXPECT_TRUE(world.present(object)) << object;
  }
  world.deletes("configmaps/operator/of-nobody");
  EXPECT_FALSE(world.present("configmaps/operator/of-nobody"));
  world.deletes(kWidget);
  world.settle();
  world.deletes(kSettings);
  EXPECT_TRUE(world.present(kSettings)) << "its provider's criteria hold, and it is there";
  world.deletes(kDeployment);
  world.settle();
  for (const char* object : {kBinding, kRole, kAccount, kSettings, kFront}) {
    world.deletes(object);
    EXPECT_FALSE(world.present(object)) << object;
  }
  EXPECT_FALSE(world.unsafe());
}

// In the middle of a roll-out: the Deployment's present template reads other settings than its old Pods.
std::string rollingOut(int replicas) {
  const auto replicaSet = [](const std::string& name, int count, const std::string& settings) {
    return "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " + name +
           ", namespace: operator, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: "
           "controller, uid: '', controller: true}]}\nspec:\n  replicas: " +
           std::to_string(count) +
           "\n  template:\n    metadata: {labels: {app: c}}\n    spec: {containers: [{name: main, envFrom: "
           "[{configMapRef: {name: " +
           settings + "}}]}]}\n---\n";
  };
  return replicaSet("controller-old", replicas, "of-nobody") + replicaSet("controller-new", 1, "settings");
}

TEST(Needs, OfEarlierPodTemplatesAreKeptWhilePodsRunByThem) {
  const char kFormer[] = "configmaps/operator/of-nobody";
  for (const int replicas : {0, 1}) {
    World world(rollingOut(replicas) + kNeedy + kInstances + kGuard);
    world.deletes(kFormer);
    EXPECT_EQ(world.present(kFormer), replicas > 0);
    EXPECT_TRUE(world.present(kSettings));
    clear(world);
    world.deletes(kDeployment);
    world.settle();
    world.deletes(kFormer);
    EXPECT_FALSE(world.present(kFormer)) << "its provider is gone";
  }
}

TEST(Needs, OfAnOldPodAreThoseOfItsReplicaSet) {
  for (const int replicas : {0, 1}) {  // a step may give it some
    const std::string sets = rollingOut(replicas);
    for (const std::string& yaml : {sets + kNeedy, kNeedy + sets}) {
      const World world(yaml + kInstances, {.guarded = false});
      for (const SlotInfo& info : world.model().slots) {
        if (info.kind != SlotKind::Pod) continue;
        std::vector<std::string> needs;
        for (const Slot need : info.startsWith) needs.push_back(world.model().name(need));
        const bool isOld = info.key.name.starts_with("controller-old");
        EXPECT_THAT(needs, ElementsAre(isOld ? "configmaps/operator/of-nobody" : kSettings)) << info.key.name;
      }
    }
  }
}

// The collector deletes what is owned first, and the provider waits for that.
TEST(Needs, ThatTheProviderOwnsGoWithItInTheForeground) {
  std::string needy = kNeedy;
  const std::string settings = "metadata: {name: settings, namespace: operator";
  needy.insert(needy.find(settings) + settings.size(),
               ", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: controller, uid: '', "
               "blockOwnerDeletion: true}]");
  World world(needy + kInstances + kGuard, {.runsDeferredDeletions = true});
  clear(world);
  world.deletes(kDeployment, PropagationPolicy::Foreground);
  world.settle();
  EXPECT_FALSE(world.present(kDeployment) || world.present(kSettings));
}

TEST(Needs, AreNotKeptWhereTheirServiceGaveUp) {
  World world = needyWorld("{dependencies: Auto}");
  world.does(ClientStep::Verb::SetIntent, kService,
             static_cast<uint16_t>(criticalservice::DeletionIntent::OrphanResources));
  world.deletes(kSettings);
  EXPECT_FALSE(world.present(kSettings));
}

TEST(Needs, ThatAreListedAreAllThatIsKept) {
  World world = needyWorld("{dependencies: [{resource: configmaps, namespace: operator, name: of-nobody}]}");
  world.deletes("configmaps/operator/of-nobody");
  EXPECT_TRUE(world.present("configmaps/operator/of-nobody"));
  world.deletes(kSettings);
  EXPECT_FALSE(world.present(kSettings));
}

// The agent asks once for each; the provider comes first of what lastout runs, whatever the names.
TEST(Needs, AreRunAfterTheirProvider) {
  World world = needyWorld(
      "{dependencies: Auto}",
      {.runsDeferredDeletions = true,
       .works = {std::string("provider: ") + kNamespace + " " + kDeployment + " " + kService + " " +
                 kBinding + " " + kRole + " " + kAccount + " " + kSettings + " " + kFront + " " + kWidget}});
  world.deletes(kWork);
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre(kCrd));
  std::vector<std::string> gone;
  for (const std::string& line : world.log()) {
    const std::string object = line.substr(line.rfind(' ') + 1);
    if (line.find(" gone ") != std::string::npos) gone.push_back(object);
  }
  const auto at = [&](const char* object) { return std::ranges::find(gone, object) - gone.begin(); };
  for (const char* object : {kBinding, kRole, kAccount, kSettings, kFront}) {
    EXPECT_LT(at(kDeployment), at(object)) << object;
    EXPECT_LT(at(object), at(kApplied)) << object;
  }
  EXPECT_FALSE(world.unsafe());
}

// Nobody follows ConfigMaps: the work's record tells that one is there, and then lastout's own memory.
TEST(Needs, KeepTheWorkThatAppliedNothingElse) {
  World world = needyWorld(
      "{dependencies: Auto}",
      {.runsDeferredDeletions = true,
       .works = {std::string("provider: ") + kNamespace + " " + kDeployment + " " + kService + " " + kWidget,
                 std::string("settings: ") + kSettings}});
  const char kOther[] = "manifestworks.work.open-cluster-management.io/hub/settings";
  const char kOtherApplied[] = "appliedmanifestworks.work.open-cluster-management.io/applied-settings";
  EXPECT_THAT(world.finalizers(kOtherApplied), Contains(kube::kAppliedObjectsFinalizer));
  world.deletes(kOther);
  world.settle();
  EXPECT_TRUE(world.present(kSettings)) << "its provider is there";
  EXPECT_THAT(world.finalizers(kOtherApplied), ElementsAre(kube::kAppliedObjectsFinalizer));
  world.deletes(kWork);
  world.settle();
  EXPECT_FALSE(world.present(kSettings) || world.present(kOther));
}

// kInstances, which the provider converts: some may be stored in v2.
std::string convertedInstances() {
  std::string instances = kInstances;
  instances.insert(
      instances.find("  versions:"),
      "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: operator, "
      "name: front, path: /convert}}, conversionReviewVersions: [v1]}}\n");
  instances.insert(instances.find("storage: true}") + 14, ", {name: v2, served: true, storage: false}");
  instances.insert(instances.find("---"), "status: {storedVersions: [v2, v1]}\n");
  return instances;
}

TEST(Needs, OfAConvertedTypeIsItsWebhook) {
  World world(kNeedy + convertedInstances(), {.guarded = false});
  world.controller("free", "", "example.com/clean", "widgets.example.com");
  world.deletes(kWidget);
  world.deletes(kFront);
  world.settle();
  EXPECT_TRUE(world.terminating(kWidget)) << "nobody can write it";
}

// It can neither list nor delete what is stored in another version and nobody converts.
TEST(Needs, OfACrdsCleanUpIsItsWebhook) {
  std::string instances = convertedInstances();
  instances.replace(instances.find(", finalizers: [example.com/clean]"), 33, "");
  for (const bool isThere : {true, false}) {
    World world(kNeedy + instances, {.guarded = false});
    if (!isThere) world.deletes(kDeployment);
    world.settle();
    world.deletes(kCrd);
    world.settle();
    EXPECT_EQ(world.present(kWidget), !isThere);
    EXPECT_EQ(world.present(kCrd), !isThere);
  }
}

World convertingWorld(const std::string& guard) {
  std::string instances = convertedInstances();
  instances.replace(instances.find(", finalizers: [example.com/clean]"), 33, "");
  std::string service = kGuard;
  service.insert(service.find("spec:\n") + 6, "  guard: " + guard + "\n");
  return World(kNeedy + instances + service);
}

// Its own criterion holds: nothing carries the finalizer.
TEST(Needs, WhoConvertsStaysUntilNothingIsLeftToConvert) {
  World world = convertingWorld("{dependencies: Auto}");
  for (const char* object : {kDeployment, kNamespace}) {
    world.deletes(object);
    EXPECT_THAT(world.log(), Contains(std::string("client denied ") + object));
    EXPECT_TRUE(world.present(object)) << object;
  }
  world.deletes(kCrd);
  world.settle();
  EXPECT_FALSE(world.present(kWidget) || world.present(kCrd));
  world.deletes(kDeployment);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe());
}

TEST(Needs, WhoConvertsMayGoWhereNothingIsToBeFound) {
  World world = convertingWorld("{dependencies: None}");
  world.deletes(kDeployment);
  world.settle();
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.unsafe()) << "nobody has asked for it";
  world.deletes(kCrd);
  world.settle();
  EXPECT_TRUE(world.terminating(kCrd));
}

// A reading that shares no code with the verdict.
TEST(Needs, WhoConvertsIsMissedByTheReadingOfTheCriteria) {
  World world = convertingWorld("{dependencies: Auto}");
  EXPECT_FALSE(world.machine().criteriaAreMet(world.state(), world.slot(kDeployment)));
  EXPECT_FALSE(world.machine().criteriaAreMet(world.state(), world.slot(kNamespace)));
  EXPECT_TRUE(world.machine().criteriaAreMet(world.state(), world.slot(kCrd)));
  world.deletes(kWidget);
  EXPECT_TRUE(world.machine().criteriaAreMet(world.state(), world.slot(kDeployment)));
}

}  // namespace
}  // namespace lastout::cluster
