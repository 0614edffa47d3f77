// What providers need, as a view of a cluster is told of it: in whatever order, and as it changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "graph/blockers.h"
#include "kube/well_known.h"
#include "tests/support/manifests.h"

namespace lastout::admission {
namespace {

using ::testing::HasSubstr;

const std::string kManager = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: run}
spec:
  template:
    metadata: {labels: {app: manager}}
    spec:
      serviceAccountName: manager
      containers: [{name: main}]
      volumes: [{name: certs, secret: {secretName: certs}}]
)";

const std::string kBinding = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: run}]
)";

const std::string kSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: certs, namespace: run}\n";

std::string service(const std::string& more = "") {
  return "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: guard}\nspec:\n"
         "  provider: {group: apps, resource: deployments, namespace: run, name: manager}\n"
         "  criteria: [{type: SpecificResource, specificResource: {resource: configmaps, namespace: n, name: "
         "c}}]\n" +
         more;
}

const kube::ObjectKey kProvider{{"apps", "deployments"}, "run", "manager"};
const kube::GroupResource kReplicaSets{"apps", "replicasets"};
const kube::ObjectKey kCerts{{"", "secrets"}, "run", "certs"};
const kube::ObjectKey kBound{{"rbac.authorization.k8s.io", "clusterrolebindings"}, "", "manager"};

struct ViewOfDependencies : ::testing::Test {
  void tell(const std::string& yaml) { view.tell(testing::object(yaml)); }
  void guard(const std::string& yaml) {
    const auto guarded = view.guard(testing::object(yaml));
    ASSERT_TRUE(guarded) << testing::lines(guarded.error());
  }
  bool denies(const kube::ObjectKey& key) const { return !view.decide(key).allowed; }

  ClusterView view;
};

TEST_F(ViewOfDependencies, AreFoundInAnyOrder) {
  const std::vector<std::string> told{kManager, kBinding, service()};
  std::vector<size_t> order{0, 1, 2};
  do {
    ClusterView fresh;
    for (const size_t i : order) {
      const kube::Object object = testing::object(told[i]);
      if (i == 2)
        ASSERT_TRUE(fresh.guard(object));
      else
        fresh.tell(object);
    }
    EXPECT_FALSE(fresh.decide(kCerts).allowed);
    EXPECT_FALSE(fresh.decide(kBound).allowed);
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(ViewOfDependencies, FollowWhatIsTold) {
  guard(service());
  tell(kBinding);
  EXPECT_FALSE(denies(kBound)) << "there is no provider";
  tell(kManager);
  EXPECT_TRUE(denies(kBound));
  std::string other = kBinding;
  other.replace(other.find("namespace: run"), 14, "namespace: far");
  tell(other);
  EXPECT_FALSE(denies(kBound)) << "it is somebody else's now";
  tell(kBinding);
  view.remove(kBound);
  EXPECT_FALSE(denies(kBound));
}

TEST_F(ViewOfDependencies, GoAfterTheirProvider) {
  guard(service());
  tell(kManager);
  tell(kSecret);
  EXPECT_TRUE(denies(kCerts));
  EXPECT_EQ(view.decide(kCerts).reason, Reason::ProviderPresent);
  EXPECT_TRUE(view.decide(kProvider).allowed) << "its criterion holds";
  view.remove(kProvider);
  EXPECT_FALSE(denies(kCerts));
}

// While anything but what it owns keeps the provider, somebody may still work for it.
TEST_F(ViewOfDependencies, StayWhileTheProviderIsFinalized) {
  guard(service());
  const auto tellProvider = [&](std::vector<std::string> finalizers) {
    kube::Object provider = testing::object(kManager);
    provider.meta.deletionTimestamp = 1;
    provider.meta.finalizers = std::move(finalizers);
    view.tell(provider);
  };
  tellProvider({"example.com/own"});
  EXPECT_TRUE(denies(kCerts));
  tellProvider({"example.com/own", std::string(kube::kForegroundFinalizer)});
  EXPECT_TRUE(denies(kCerts));
  tellProvider({std::string(kube::kForegroundFinalizer)});
  EXPECT_FALSE(denies(kCerts)) << "it may wait for that";
  tell("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
  EXPECT_TRUE(denies(kCerts)) << "a criterion is unmet";
}

TEST_F(ViewOfDependencies, AreThoseThatTheServiceSays) {
  tell(kManager);
  guard(service());
  EXPECT_TRUE(denies(kCerts));
  guard(service("  guard: {dependencies: None}\n"));
  EXPECT_FALSE(denies(kCerts));
  guard(service("  guard: {dependencies: [{resource: secrets, namespace: run, name: other}]}\n"));
  EXPECT_FALSE(denies(kCerts));
  EXPECT_TRUE(denies({{"", "secrets"}, "run", "other"}));
  guard(service("  deletionIntent: OrphanResources\n"));
  EXPECT_FALSE(denies(kCerts));
  guard(service("  deletionIntent: BestEffortDeletion\n"));
  EXPECT_TRUE(denies(kCerts));
  view.remove(criticalservice::keyOf(*view.service("guard")));
  EXPECT_FALSE(denies(kCerts));
}

// The provider goes because its owner does. Its metadata tells, also where nothing else of it is read.
std::string carrying(const std::string& finalizers) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: certs, namespace: run, finalizers: [" + finalizers +
         "]}\n";
}

std::string waitingForSecrets(const std::string& name, const std::string& provider,
                              const std::string& finalizer) {
  return "apiVersion: lastout.dev/v1alpha1\nkind: CriticalService\nmetadata: {name: " + name +
         "}\nspec:\n  provider: {group: apps, resource: deployments, namespace: run, name: " + provider +
         "}\n  criteria: [{type: Finalizer, finalizer: {resource: secrets, finalizerName: " + finalizer +
         "}}]\n";
}

// The Secret that the provider mounts goes before the provider while it carries the criterion's finalizer.
TEST_F(ViewOfDependencies, OfACriterionsTypeGoBeforeTheProviderWhileTheyCarryItsFinalizer) {
  guard(waitingForSecrets("guard", "manager", "example.com/clean"));
  tell(kManager);
  tell(kSecret);
  EXPECT_TRUE(denies(kCerts)) << "it carries nothing";
  EXPECT_FALSE(denies(kProvider));
  tell(carrying("example.com/other"));
  EXPECT_TRUE(denies(kCerts));
  tell(carrying("example.com/clean"));
  EXPECT_FALSE(denies(kCerts)) << "the provider waits for it";
  EXPECT_TRUE(denies(kProvider));
  view.remove(kCerts);
  EXPECT_FALSE(denies(kProvider));
  tell(kSecret);
  EXPECT_TRUE(denies(kCerts)) << "another of its name";
  view.remove({criticalservice::criticalServiceType(), "", "guard"});
  tell(carrying("example.com/clean"));
  EXPECT_FALSE(denies(kCerts));
}

// Each guards what it needs itself, whatever the other waits for.
TEST_F(ViewOfDependencies, OfTwoProvidersInOneNamespaceStayGuarded) {
  std::string other = kManager;
  for (size_t at = 0; (at = other.find("manager", at)) != std::string::npos; at += 5)
    other.replace(at, 7, "other");
  other.replace(other.find("secretName: certs"), 17, "secretName: others-certs");
  const kube::ObjectKey othersCerts{{"", "secrets"}, "run", "others-certs"};
  guard(waitingForSecrets("guard", "manager", "example.com/clean"));
  guard(waitingForSecrets("guard-of-other", "other", "example.org/clean"));
  tell(kManager);
  tell(other);
  tell(kSecret);
  EXPECT_TRUE(denies(kCerts));
  EXPECT_TRUE(denies(othersCerts));
  tell(carrying("example.org/clean"));
  EXPECT_TRUE(denies(kCerts)) << "the other waits for it, and its own provider mounts it";
  EXPECT_TRUE(denies({{"apps", "deployments"}, "run", "other"}));
  EXPECT_TRUE(denies(othersCerts));
  view.remove(kProvider);
  EXPECT_FALSE(denies(kCerts));
  EXPECT_TRUE(denies(othersCerts));
}

TEST_F(ViewOfDependencies, ThatOwnTheProviderGoWhenItMay) {
  const kube::ObjectKey owner{{"", "secrets"}, "run", "owner"};
  guard(service("  guard: {dependencies: [{resource: secrets, namespace: run, name: owner}]}\n"));
  kube::Object provider = testing::object(kManager);
  view.upsert(provider.key.type, provider.meta);
  EXPECT_TRUE(denies(owner));
  provider.meta.ownerReferences = {{"v1", "Secret", "owner", "u", false, false}};
  view.upsert(provider.key.type, provider.meta);
  EXPECT_FALSE(denies(owner));
  tell("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
  EXPECT_EQ(view.decide(owner).reason, Reason::CriterionUnmet);
}

TEST_F(ViewOfDependencies, ShowInTheGraph) {
  guard(service());
  tell(kManager);
  tell(kSecret);
  tell("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
  const graph::Graph& graph = view.graph();
  const auto secret = graph.find(kCerts);
  ASSERT_TRUE(secret);
  const graph::Blockers found = graph::blockers(graph, graph::vertexOf(*secret), {});
  ASSERT_EQ(found.roots.size(), 1U);
  EXPECT_EQ(toString(graph.key(graph::objectOf(found.roots[0].vertex))), "configmaps/n/c");
  EXPECT_THAT(view.explain(kCerts, view.decide(kCerts)).message,
              HasSubstr("is needed by a provider (volume certs)"));
}

// Whatever spec.guard.dependencies says: without it, nobody could tell when the criterion holds.
TEST_F(ViewOfDependencies, AreTheRightsByWhichTheCriterionIsRead) {
  const kube::ObjectKey role{{"rbac.authorization.k8s.io", "clusterroles"}, "", "lastout-reads-configmaps"};
  guard(service("  guard: {dependencies: None}\n"));
  tell(kManager);
  EXPECT_FALSE(denies(role));
  tell(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lastout-reads-configmaps, labels: {lastout.dev/aggregate-to-reads: "true"}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
)");
  EXPECT_TRUE(denies(role));
  EXPECT_THAT(view.explain(role, view.decide(role)).message, HasSubstr("(lastout reads configmaps by it)"));
  view.remove(kProvider);
  EXPECT_FALSE(denies(role));
}

const std::string kFront =
    "apiVersion: v1\nkind: Service\nmetadata: {name: front, namespace: run}\n"
    "spec: {selector: {app: manager}}\n";
const std::string kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions: [{name: v1, served: true, storage: true}]
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: run, name: front}}}}
)";
const kube::ObjectKey kWidget{{"example.com", "widgets"}, "far", "one"};

struct ViewOfConversion : ViewOfDependencies {
  void putWidget() {
    kube::ObjectMeta meta;
    meta.namespaceName = kWidget.namespaceName;
    meta.name = kWidget.name;
    view.upsert(kWidget.type, meta);
  }
};

TEST_F(ViewOfConversion, IsFoundInAnyOrder) {
  const std::vector<std::string> told{kManager, kFront, kDefinition, service()};
  std::vector<size_t> order{0, 1, 2, 3};
  do {
    ClusterView fresh;
    for (const size_t i : order) {
      const kube::Object object = testing::object(told[i]);
      if (i == 3)
        ASSERT_TRUE(fresh.guard(object));
      else
        fresh.tell(object);
    }
    EXPECT_TRUE(fresh.decide(kProvider).allowed) << "there are none";
    kube::ObjectMeta meta;
    meta.name = "one";
    fresh.upsert(kWidget.type, meta);
    EXPECT_EQ(fresh.decide(kProvider).reason, Reason::CriterionUnmet);
    EXPECT_EQ(fresh.decide(kProvider).criterion, 1U);
  } while (std::ranges::next_permutation(order).found);
}

TEST_F(ViewOfConversion, KeepsTheProviderWhileObjectsAreThere) {
  guard(service());
  for (const std::string& object : {kManager, kFront, kDefinition}) tell(object);
  putWidget();
  EXPECT_TRUE(denies(kProvider));
  EXPECT_TRUE(denies({{"", "namespaces"}, "", "run"}));
  EXPECT_FALSE(denies(kWidget) || denies(kube::crdKey(kWidget.type))) << "they go first";
  const Explanation denial = view.explain(kProvider, view.decide(kProvider));
  EXPECT_THAT(denial.message, HasSubstr("while widgets.example.com/far/one exists, and the provider converts "
                                        "it; delete it first"));
  EXPECT_EQ(denial.causes.at(0).field, "criticalservices.lastout.dev/guard#spec.guard.dependencies");
  view.remove(kWidget);
  EXPECT_FALSE(denies(kProvider));
  ASSERT_EQ(view.judge(kProvider).toConfirm.size(), 2U);
  EXPECT_EQ(view.judge(kProvider).toConfirm[1].kind, graph::Condition::Kind::Instances);
}

TEST_F(ViewOfConversion, FollowsWhatIsTold) {
  guard(service());
  for (const std::string& object : {kManager, kFront, kDefinition}) tell(object);
  putWidget();
  view.remove(kube::crdKey(kWidget.type));
  EXPECT_FALSE(denies(kProvider)) << "nobody converts it any more";
  tell(kDefinition);
  EXPECT_TRUE(denies(kProvider));
  guard(service("  guard: {dependencies: None}\n"));
  EXPECT_FALSE(denies(kProvider));
  EXPECT_EQ(view.service("guard")->criteria.size(), 1U);
  guard(service());
  guard(service("  deletionIntent: OrphanResources\n"));
  EXPECT_FALSE(denies(kProvider));
  guard(service());
  EXPECT_TRUE(denies(kProvider));
  view.remove(kProvider);
  EXPECT_EQ(view.service("guard")->criteria.size(), 2U) << "it converted them last";
  tell(kManager);
  EXPECT_EQ(view.service("guard")->criteria.size(), 2U);
}

// Nothing is believed of a type before it was listed.
TEST(ViewOfConversionByWatches, IsUnsureUntilTheTypeIsKnown) {
  ClusterView view({}, ViewScope::WhatIsWatched);
  for (const kube::GroupResource& type :
       {criticalservice::criticalServiceType(), kube::GroupResource{"", "configmaps"},
        kube::GroupResource{"", "services"}, kProvider.type, kReplicaSets})
    view.know(type, graph::Knowledge::Synced);
  ASSERT_TRUE(view.guard(testing::object(service())));
  for (const std::string& object : {kManager, kFront, kDefinition}) view.tell(testing::object(object));
  EXPECT_EQ(view.decide(kProvider).reason, Reason::CriterionUnknown);
  view.know(kWidget.type, graph::Knowledge::Synced);
  EXPECT_TRUE(view.decide(kProvider).allowed);
  EXPECT_FALSE(view.isMet(criticalservice::InstancesCriterion{{"example.com", "gadgets"}}));
}

// Which Services stand before the provider's Pods is not known before they were listed, or not at all: then
// what calls any in its namespace may need it.
TEST(ViewOfConversionByWatches, WhileServicesAreUnknownAnyInItsNamespaceMayBeItsOwn) {
  for (const graph::Knowledge knowledge : {graph::Knowledge::Unknown, graph::Knowledge::Forbidden}) {
    ClusterView view({}, ViewScope::WhatIsWatched);
    for (const kube::GroupResource& type :
         {criticalservice::criticalServiceType(), kube::GroupResource{"", "configmaps"}, kProvider.type,
          kReplicaSets, kWidget.type})
      view.know(type, graph::Knowledge::Synced);
    view.know({"", "services"}, knowledge);
    ASSERT_TRUE(view.guard(testing::object(service())));
    for (const std::string& object : {kManager, kDefinition}) view.tell(testing::object(object));
    EXPECT_TRUE(view.decide(kProvider).allowed) << "there is nothing to convert";
    kube::ObjectMeta widget;
    widget.name = kWidget.name;
    view.upsert(kWidget.type, widget);
    EXPECT_EQ(view.decide(kProvider).reason, Reason::CriterionUnmet);
    view.know({"", "services"}, graph::Knowledge::Synced);
    EXPECT_TRUE(view.decide(kProvider).allowed) << "no Service is there that it could stand behind";
    view.tell(testing::object(kFront));
    EXPECT_EQ(view.decide(kProvider).reason, Reason::CriterionUnmet);
    view.remove({{"", "services"}, "run", "front"});
    EXPECT_TRUE(view.decide(kProvider).allowed);
    for (const kube::GroupResource& type : {kReplicaSets, kProvider.type}) {
      view.know(type, graph::Knowledge::Unknown);
      EXPECT_EQ(view.decide(kProvider).reason, Reason::CriterionUnmet);
      view.know(type, graph::Knowledge::Synced);
    }
  }
}

// A service may find another provider's needs when it was understood anew; nothing of the former is left.
TEST_F(ViewOfDependencies, OfServicesThatShareAProviderAreOfEach) {
  tell(kManager);
  guard(service());
  std::string second = service("  guard: {dependencies: None}\n");
  second.replace(second.find("name: guard"), 11, "name: other");
  guard(second);
  EXPECT_TRUE(denies(kCerts));
  view.remove({criticalservice::criticalServiceType(), "", "guard"});
  EXPECT_FALSE(denies(kCerts));
  tell(kManager);
  EXPECT_FALSE(denies(kCerts));
}

}  // namespace
}  // namespace lastout::admission
