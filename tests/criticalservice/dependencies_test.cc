// What a provider needs, found in manifests as Kubernetes' documentation has them.
#include "criticalservice/dependencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/manifests.h"

namespace lastout::criticalservice {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const kube::ObjectKey kManager{{"apps", "deployments"}, "run", "manager"};

const std::string kPodSpec = R"(
      serviceAccountName: manager
      imagePullSecrets: [{name: registry}]
      initContainers:
      - name: prepare
        envFrom: [{configMapRef: {name: first-settings}}, {secretRef: {name: not-needed, optional: true}}]
      containers:
      - name: main
        env:
        - {name: PLAIN, value: x}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: password, key: p}}}
        - {name: LEVEL, valueFrom: {configMapKeyRef: {name: levels, key: l}}}
        - {name: MAYBE, valueFrom: {configMapKeyRef: {name: not-there, key: l, optional: true}}}
        - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
      volumes:
      - {name: certs, secret: {secretName: certs}}
      - {name: settings, configMap: {name: settings}}
      - {name: more, configMap: {name: not-either, optional: true}}
      - {name: data, persistentVolumeClaim: {claimName: data}}
      - {name: scratch, emptyDir: {}}
      - name: all
        projected:
          sources:
          - {secret: {name: token}}
          - {configMap: {name: bundle}}
          - {serviceAccountToken: {path: token}}
      - {name: remote, csi: {driver: d.example.com, nodePublishSecretRef: {name: driver}}}
)";

std::string deployment(const std::string& podSpec, const std::string& metadata = "") {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: run" + metadata +
         "}\nspec:\n  replicas: 1\n  template:\n    metadata: {labels: {app: manager, tier: control}}\n    "
         "spec:" +
         podSpec;
}

const std::string kPlainPodSpec = " {serviceAccountName: manager, containers: [{name: main}]}\n";

class DependenciesTest : public ::testing::Test {
 public:
  DependenciesTest() {
    service.meta.name = "guard";
    service.provider = kManager;
    service.criteria = {FinalizerCriterion{{"example.com", "widgets"}, "example.com/clean"}};
  }

  std::set<std::string> put(const std::string& yaml) {
    kube::ResourceMap types = kube::ResourceMap::builtIn();
    std::set<std::string> concerned;
    for (const kube::Object& object : testing::objects(yaml, types)) {
      graph.upsert(graph.internType(object.key.type), object.meta);
      concerned.merge(finder.put(object));
    }
    return concerned;
  }

  Needed needs() const { return finder.needs(service, carriesIn(graph)); }

  std::vector<std::string> found() const {
    std::vector<std::string> names;
    for (const Dependency& dependency : needs().guarded) names.push_back(toString(dependency.object));
    return names;
  }

  std::string why(const std::string& object) const {
    for (const Dependency& dependency : needs().guarded) {
      if (toString(dependency.object) == object) return dependency.why;
    }
    return "it is not needed";
  }

  DependencyFinder finder;
  CriticalService service;
  graph::Graph graph;
};

TEST_F(DependenciesTest, AreWhatItsPodsName) {
  put(deployment(kPodSpec));
  EXPECT_THAT(found(),
              ElementsAre("configmaps/run/bundle", "configmaps/run/first-settings", "configmaps/run/levels",
                          "configmaps/run/settings", "persistentvolumeclaims/run/data", "secrets/run/certs",
                          "secrets/run/driver", "secrets/run/password", "secrets/run/registry",
                          "secrets/run/token", "serviceaccounts/run/manager"));
  EXPECT_EQ(why("secrets/run/certs"), "volume certs");
  EXPECT_EQ(why("secrets/run/password"), "variable PASSWORD");
  EXPECT_EQ(why("secrets/run/registry"), "image pull secret");
  EXPECT_EQ(why("configmaps/run/first-settings"), "variables of container prepare");
  EXPECT_EQ(why("serviceaccounts/run/manager"), "its ServiceAccount");
}

// Kubernetes makes it anew; what binds it, it does not.
TEST_F(DependenciesTest, OfTheDefaultServiceAccountAreItsBindings) {
  put(deployment(" {containers: [{name: main}]}\n"));
  EXPECT_THAT(found(), IsEmpty());
  put("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n"
      "roleRef: {kind: ClusterRole, name: r}\n"
      "subjects: [{kind: ServiceAccount, name: default, namespace: run}]\n");
  EXPECT_THAT(found(), ElementsAre("clusterrolebindings.rbac.authorization.k8s.io/b",
                                   "clusterroles.rbac.authorization.k8s.io/r"));
}

TEST_F(DependenciesTest, OfAStatefulSetAreItsPodsClaims) {
  service.provider = {{"apps", "statefulsets"}, "run", "store"};
  put(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store, namespace: run}
spec:
  replicas: 2
  template: {spec: {containers: [{name: main}]}}
  volumeClaimTemplates: [{metadata: {name: data}}]
)");
  EXPECT_THAT(found(), ElementsAre("persistentvolumeclaims/run/data-store-0",
                                   "persistentvolumeclaims/run/data-store-1"));
}

TEST_F(DependenciesTest, AreTheRightsOfItsServiceAccount) {
  const auto concerned = put(deployment(kPlainPodSpec) + R"(
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: run}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: elections, namespace: run}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: elector}
subjects: [{kind: User, name: somebody}, {kind: ServiceAccount, name: manager, namespace: run}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: of-a-tenant, namespace: elsewhere}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: cleaner}
subjects: [{kind: ServiceAccount, name: manager, namespace: run}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: of-others}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: others}
subjects:
- {kind: ServiceAccount, name: manager, namespace: other}
- {kind: User, name: manager}
- {kind: User, name: "system:serviceaccount:run:managers"}
- {kind: User, name: "system:serviceaccount:run"}
- {kind: Group, name: "system:serviceaccounts:other"}
- {kind: Group, name: "system:serviceaccounts"}
)");
  EXPECT_THAT(concerned, ElementsAre("other", "run"));
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager",
                                   "clusterrolebindings.rbac.authorization.k8s.io/manager",
                                   "clusterroles.rbac.authorization.k8s.io/manager",
                                   "rolebindings.rbac.authorization.k8s.io/run/elections",
                                   "roles.rbac.authorization.k8s.io/run/elector"));
}

std::string clusterBinding(const std::string& name, const std::string& subject, const std::string& role = "r",
                           const std::string& createdAt = "") {
  return "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: " +
         name + (createdAt.empty() ? "" : ", creationTimestamp: '" + createdAt + "'") +
         "}\nroleRef: {kind: ClusterRole, name: " + role + "}\nsubjects: [" + subject + "]\n";
}

std::string clusterRole(const std::string& name, const std::string& labels, const std::string& more = "") {
  return "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + name +
         ", labels: {" + labels + "}}\n" + more;
}

constexpr const char* kItsAccount = "{kind: ServiceAccount, name: manager, namespace: run}";

// A token of a ServiceAccount is one of this user, who is in this group.
TEST_F(DependenciesTest, AreTheRightsOfItsServiceAccountByOtherNames) {
  put(deployment(kPlainPodSpec) +
      clusterBinding("by-user", "{kind: User, name: 'system:serviceaccount:run:manager'}") +
      clusterBinding("by-group", "{kind: Group, name: 'system:serviceaccounts:run'}") + R"(
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: near, namespace: run}
roleRef: {kind: ClusterRole, name: r}
subjects: [{kind: User, name: "system:serviceaccount:run:manager"}]
)");
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager",
                                   "clusterrolebindings.rbac.authorization.k8s.io/by-group",
                                   "clusterrolebindings.rbac.authorization.k8s.io/by-user",
                                   "clusterroles.rbac.authorization.k8s.io/r",
                                   "rolebindings.rbac.authorization.k8s.io/run/near"));
}

// Kubernetes copies the rules of those that an aggregationRule selects, and takes them away with these.
TEST_F(DependenciesTest, AreThePartsOfAnAggregatedClusterRole) {
  const std::string whole = "aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: whole}}]}\n";
  put(deployment(kPlainPodSpec) + clusterBinding("b", kItsAccount, "whole"));
  EXPECT_THAT(put(clusterRole("whole", "", whole)), ElementsAre("run"));
  EXPECT_THAT(put(clusterRole("part", "to: whole",
                              "aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: part}}]}\n")),
              ElementsAre("run"));
  EXPECT_THAT(put(clusterRole("inner", "to: part")), ElementsAre("run"));
  EXPECT_THAT(put(clusterRole("other", "to: other")), IsEmpty());
  const std::string type = "clusterroles.rbac.authorization.k8s.io/";
  EXPECT_THAT(found(),
              ElementsAre("serviceaccounts/run/manager", "clusterrolebindings.rbac.authorization.k8s.io/b",
                          type + "inner", type + "part", type + "whole"));
  EXPECT_EQ(why(type + "inner"), "part of ClusterRole whole of its ServiceAccount");
  EXPECT_THAT(put(clusterRole("part", "to: nobody")), ElementsAre("run"));
  EXPECT_THAT(found(), Not(Contains(type + "inner")));
  EXPECT_THAT(finder.remove({{"rbac.authorization.k8s.io", "clusterroles"}, "", "whole"}),
              ElementsAre("run"));
}

TEST_F(DependenciesTest, AreTheImagePullSecretsOfItsServiceAccount) {
  const std::string account =
      "\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: manager, namespace: run}\n";
  put(deployment(kPlainPodSpec));
  EXPECT_THAT(put(account), IsEmpty());
  EXPECT_THAT(put(account + "imagePullSecrets: [{name: registry}]\n"), ElementsAre("run"));
  EXPECT_THAT(found(), ElementsAre("secrets/run/registry", "serviceaccounts/run/manager"));
  EXPECT_EQ(why("secrets/run/registry"), "image pull secret of its ServiceAccount");
  put(deployment(
      " {serviceAccountName: manager, imagePullSecrets: [{name: own}], containers: [{name: main}]}\n"));
  EXPECT_THAT(found(), ElementsAre("secrets/run/own", "serviceaccounts/run/manager"));
  put(deployment(kPlainPodSpec));
  EXPECT_THAT(finder.remove({{"", "serviceaccounts"}, "run", "manager"}), ElementsAre("run"));
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager"));
}

// By these lastout knows whether the criteria hold.
class ReadingTest : public DependenciesTest {
 public:
  static std::string granting(const std::string& name, const std::string& groups,
                              const std::string& resources, const std::string& label = "true") {
    return clusterRole(name, "lastout.dev/aggregate-to-reads: '" + label + "'",
                       "rules: [{apiGroups: [" + groups + "], resources: [" + resources +
                           "], verbs: [get, list, watch]}]\n");
  }
  const std::string aggregating = clusterRole(
      "reads", "",
      "aggregationRule: {clusterRoleSelectors: [{matchLabels: {lastout.dev/aggregate-to-reads: 'true'}}]}\n");
  const std::string bound =
      clusterBinding("reads", "{kind: ServiceAccount, name: lastout, namespace: lastout}", "reads");
  const std::string roles = "clusterroles.rbac.authorization.k8s.io/";
  const std::string binding = "clusterrolebindings.rbac.authorization.k8s.io/reads";
};

TEST_F(ReadingTest, OfACriterionsTypeIsByLabelledClusterRoles) {
  EXPECT_THAT(put(granting("exact", "example.com", "gadgets, widgets")), ElementsAre("*"));
  put(granting("any-group", "'*'", "widgets") + granting("any-resource", "example.com", "'*'") +
      granting("not-labelled", "example.com", "widgets", "false") +
      granting("elsewhere", "example.org", "widgets") + granting("another", "example.com", "gadgets"));
  EXPECT_THAT(put(aggregating), ElementsAre("*"));
  EXPECT_THAT(put(bound), ElementsAre("*", "lastout"));
  for (const auto mode : {DependencyMode::None, DependencyMode::Listed, DependencyMode::Auto}) {
    service.dependencies = {mode, {}};
    EXPECT_THAT(found(), ElementsAre(binding, roles + "any-group", roles + "any-resource", roles + "exact",
                                     roles + "reads"));
    EXPECT_THAT(typesToRead(service),
                Contains(kube::GroupResource{"rbac.authorization.k8s.io", "clusterroles"}));
  }
  EXPECT_EQ(why(roles + "exact"), "lastout reads widgets.example.com by it");
  service.intent = DeletionIntent::OrphanResources;
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(ReadingTest, OfAGroupIsByWhatReadsTypesOfIt) {
  service.criteria = {FinalizerCriterion{{"*.example.com", "*"}, "a/b"}};
  put(granting("type", "sub.example.com", "widgets") + granting("part", "sub.example.com", "widgets/status") +
      granting("no-wildcard", "'*.example.com'", "widgets") + granting("elsewhere", "example.org", "'*'") +
      aggregating + bound);
  EXPECT_THAT(found(), ElementsAre(binding, roles + "reads", roles + "type"));
}

TEST_F(ReadingTest, OfWhatIsAlwaysReadNeedsNone) {
  put(granting("crds", "apiextensions.k8s.io", "customresourcedefinitions") + aggregating + bound);
  service.criteria = {SpecificResourceCriterion{kube::crdKey({"example.com", "widgets"})}};
  EXPECT_THAT(found(), IsEmpty());
  service.dependencies = {DependencyMode::None, {}};
  EXPECT_THAT(typesToRead(service), IsEmpty());
}

TEST_F(ReadingTest, FollowsWhatChanges) {
  put(granting("exact", "example.com", "widgets") + aggregating + bound);
  EXPECT_THAT(found(), SizeIs(3));
  EXPECT_THAT(put(granting("exact", "example.com", "widgets", "no")), Contains("*"));
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(put(granting("exact", "example.com", "widgets")), Contains("*"));
  EXPECT_THAT(finder.remove({{"rbac.authorization.k8s.io", "clusterrolebindings"}, "", "reads"}),
              ElementsAre("*", "lastout"));
  EXPECT_THAT(found(), SizeIs(2));
}

// None of these is the real one, which was there before.
TEST_F(DependenciesTest, OfOneKindPushOutNoOther) {
  std::string flood;
  for (int i = 100; i < 400; ++i)
    flood += clusterBinding("a" + std::to_string(i), kItsAccount, "role-" + std::to_string(i),
                            "2026-11-25T10:00:00Z");
  for (int i = 100; i < 400; ++i)
    flood += "\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a" + std::to_string(i) +
             ", namespace: run}\nspec: {selector: {app: manager}}\n";
  put(deployment(kPodSpec) + clusterBinding("real", kItsAccount, "real", "2025-01-01T00:00:00Z") + flood);
  EXPECT_THAT(found(), Contains("clusterrolebindings.rbac.authorization.k8s.io/real"));
  EXPECT_THAT(found(), Contains("clusterroles.rbac.authorization.k8s.io/real"));
  EXPECT_THAT(found(), Contains("secrets/run/certs"));
  EXPECT_THAT(found(), SizeIs(11 + kMostClusterRights + kMostServices));
  const std::vector<TooMany> tooMany = needs().tooMany;
  ASSERT_THAT(tooMany, SizeIs(2));
  EXPECT_EQ(tooMany[0].what, "ClusterRoles and ClusterRoleBindings of its ServiceAccount");
  EXPECT_EQ(tooMany[0].found, 602U);
  EXPECT_EQ(tooMany[1].what, "Services of its Pods");
  EXPECT_EQ(tooMany[1].found, 300U);
  EXPECT_EQ(tooMany[1].guarded, kMostServices);
}

TEST_F(DependenciesTest, AreWhatReachesItsPods) {
  put(deployment(kPlainPodSpec) + R"(
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: run}
spec: {selector: {app: manager}}
---
apiVersion: v1
kind: Service
metadata: {name: of-others, namespace: run}
spec: {selector: {app: manager, tier: data}}
---
apiVersion: v1
kind: Service
metadata: {name: without-selector, namespace: run}
spec: {externalName: example.com}
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: other}
spec: {selector: {app: manager}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com}
spec: {group: metrics.example.com, version: v1, service: {namespace: run, name: webhook}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.apps}
spec: {group: apps, version: v1}
)");
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager", "services/run/webhook"))
      << "an APIService that is left behind makes every namespace hang";
  EXPECT_THAT(finder.apisOf(service), ElementsAre("v1.metrics.example.com"));
}

constexpr const char* kFront = R"(
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: run}
spec: {selector: {app: manager}}
)";

// `calls`: of spec.conversion.
std::string definition(const std::string& plural, const std::string& calls,
                       const std::string& group = "example.com") {
  return "\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " +
         plural + "." + group + "}\nspec:\n  group: " + group +
         "\n  scope: Namespaced\n  names: {plural: " + plural + ", singular: " + plural +
         "-one, kind: Kind-of-" + plural +
         "}\n  versions: [{name: v1, served: true, storage: true}]\n  conversion: " + calls + "\n";
}

std::string calling(const std::string& service, const std::string& space = "run") {
  return "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: "
         "{namespace: " +
         space + ", name: " + service + "}}}}";
}

class ConversionTest : public DependenciesTest {
 public:
  // What the provider's service waits for beside its own criteria, which come first.
  std::vector<std::string> converted() const {
    const CriticalService found = finder.withConverted(service);
    EXPECT_EQ(writtenCriteria(found), service.criteria);
    std::vector<std::string> names;
    for (size_t i = service.criteria.size(); i < found.criteria.size(); ++i) {
      EXPECT_EQ(fieldOf(found, i), "spec.guard.dependencies");
      names.push_back(toString(found.criteria[i]));
    }
    return names;
  }
};

TEST_F(ConversionTest, OfATypeIsByTheWebhookThatItsCrdNames) {
  put(deployment(kPlainPodSpec) + kFront + definition("widgets", calling("front")) +
      definition("gadgets", calling("front")) + definition("elsewhere", calling("front", "other")) +
      definition("anothers", calling("back")) +
      definition("reached", "{strategy: Webhook, webhook: {clientConfig: {url: 'https://front.run'}}}") +
      definition("leftovers",
                 "{strategy: None, webhook: {clientConfig: {service: {namespace: run, name: "
                 "front}}}}") +
      definition("plain", "{strategy: None}"));
  EXPECT_THAT(converted(), ElementsAre("any gadgets.example.com", "any widgets.example.com"));
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager", "services/run/front"))
      << "no CRD goes after the provider";
  const CriticalService twice = finder.withConverted(finder.withConverted(service));
  EXPECT_THAT(twice.criteria, SizeIs(3));
  EXPECT_EQ(kube::toJson(toManifest(twice)).dump(), kube::toJson(toManifest(service)).dump())
      << "nobody has written them";
}

TEST_F(ConversionTest, FollowsWhatChanges) {
  put(deployment(kPlainPodSpec) + kFront);
  EXPECT_THAT(converted(), IsEmpty());
  EXPECT_THAT(put(definition("widgets", calling("front"))), ElementsAre("run"));
  EXPECT_THAT(converted(), ElementsAre("any widgets.example.com"));
  EXPECT_THAT(put(definition("widgets", calling("front"))), IsEmpty());
  EXPECT_THAT(put(definition("widgets", calling("front", "away"))), ElementsAre("away", "run"));
  EXPECT_THAT(converted(), IsEmpty());
  EXPECT_THAT(put(definition("widgets", "{strategy: None}")), ElementsAre("away"));
  EXPECT_THAT(finder.remove(kube::crdKey({"example.com", "widgets"})), IsEmpty());
  put(definition("widgets", calling("front")));
  EXPECT_THAT(finder.remove({{"", "services"}, "run", "front"}), ElementsAre("run"));
  EXPECT_THAT(converted(), IsEmpty());
  put(kFront);
  EXPECT_THAT(converted(), ElementsAre("any widgets.example.com"));
  EXPECT_THAT(finder.remove(kube::crdKey({"example.com", "widgets"})), ElementsAre("run"));
  EXPECT_THAT(converted(), IsEmpty());
}

TEST_F(ConversionTest, CountsWhereDependenciesAreFound) {
  put(deployment(kPlainPodSpec) + kFront + definition("widgets", calling("front")));
  service.dependencies = {DependencyMode::None, {}};
  EXPECT_THAT(converted(), IsEmpty());
  service.dependencies = {DependencyMode::Listed, {{{"", "services"}, "run", "front"}}};
  EXPECT_THAT(converted(), IsEmpty());
  service.dependencies = {};
  service.intent = DeletionIntent::OrphanResources;
  EXPECT_THAT(converted(), IsEmpty());
  service.intent = DeletionIntent::BestEffortDeletion;
  EXPECT_THAT(converted(), SizeIs(1));
}

// A CRD is gone only after its instances. That none of them carries a finalizer says less.
TEST_F(ConversionTest, AddsNothingToACriterionForTheCrd) {
  put(deployment(kPlainPodSpec) + kFront + definition("widgets", calling("front")));
  service.criteria = {FinalizerCriterion{{"example.com", "widgets"}, "example.com/clean"},
                      SpecificResourceCriterion{kube::crdKey({"example.com", "gadgets"})}};
  EXPECT_THAT(converted(), SizeIs(1));
  service.criteria.emplace_back(SpecificResourceCriterion{kube::crdKey({"example.com", "widgets"})});
  EXPECT_THAT(converted(), IsEmpty());
}

// Nothing of these could ever be gone before the provider.
TEST_F(ConversionTest, OfWhatWouldWaitForItselfIsLeftOut) {
  const std::string objects = kFront + definition("widgets", calling("front")) +
                              definition("criticalservices", calling("front"), "lastout.dev");
  put(deployment(kPlainPodSpec) + objects);
  EXPECT_THAT(converted(), ElementsAre("any widgets.example.com"));
  const auto owned = [](const std::string& kind) {
    return deployment(kPlainPodSpec, ", ownerReferences: [{apiVersion: " + kind + ", name: x, uid: v}]");
  };
  put(owned("example.com/v1, kind: Kind-of-gadgets"));
  EXPECT_THAT(converted(), SizeIs(1));
  put(owned("other.example.com/v1, kind: Kind-of-widgets"));
  EXPECT_THAT(converted(), SizeIs(1));
  put(owned("example.com/v2, kind: Kind-of-widgets"));
  EXPECT_THAT(converted(), IsEmpty()) << "deleted in the foreground, the owner waits for the provider";

  service.provider = {{"example.com", "widgets"}, "run", "manager"};
  std::string itself = deployment(kPlainPodSpec);
  itself.replace(0, itself.find("metadata"), "apiVersion: example.com/v1\nkind: Kind-of-widgets\n");
  put(definition("widgets", calling("front")).substr(5) + "\n---\n" + itself);
  service.criteria.clear();
  EXPECT_THAT(converted(), IsEmpty());
}

TEST_F(ConversionTest, IsBounded) {
  std::string definitions;
  for (int i = 0; i < 50; ++i) definitions += definition("w" + std::to_string(100 + i), calling("front"));
  put(deployment(kPlainPodSpec) + kFront + definitions);
  ASSERT_THAT(converted(), SizeIs(kMostConverted));
  EXPECT_EQ(converted().front(), "any w100.example.com");
}

TEST_F(DependenciesTest, FollowWhatChanges) {
  const std::string web =
      "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: run}\nspec: {selector: {app: ";
  put(deployment(kPlainPodSpec));
  EXPECT_THAT(put(web + "manager}}\n"), ElementsAre("run"));
  EXPECT_THAT(found(), Contains("services/run/web"));
  put(web + "another}}\n");
  EXPECT_THAT(found(), Not(Contains("services/run/web")));
  put(web + "manager}}\n");
  EXPECT_THAT(finder.remove({{"", "services"}, "run", "web"}), ElementsAre("run"));
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager"));
  EXPECT_THAT(finder.remove(kManager), ElementsAre("run"));
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(finder.remove(kManager), IsEmpty());
}

TEST_F(DependenciesTest, OfABindingFollowItsSubjects) {
  put(deployment(kPlainPodSpec));
  const auto binding = [](const std::string& subjects) {
    return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n"
           "roleRef: {kind: ClusterRole, name: r}\nsubjects: [" +
           subjects + "]\n";
  };
  const std::string manager = "{kind: ServiceAccount, name: manager, namespace: run}";
  put(binding(manager + ", " + manager));
  EXPECT_THAT(found(), SizeIs(3));
  EXPECT_THAT(put(binding("{kind: ServiceAccount, name: other, namespace: away}")),
              ElementsAre("away", "run"));
  EXPECT_THAT(found(), SizeIs(1));
  put(binding(""));
  EXPECT_THAT(finder.remove({{"rbac.authorization.k8s.io", "clusterrolebindings"}, "", "b"}), IsEmpty());
}

TEST_F(DependenciesTest, AreNotWhatTheProviderWaitsFor) {
  put(deployment(kPodSpec));
  service.criteria = {SpecificResourceCriterion{{{"", "secrets"}, "run", "certs"}},
                      SpecificResourceCriterion{{{"", "configmaps"}, "run", "bundle"}}};
  EXPECT_THAT(found(),
              ElementsAre("configmaps/run/first-settings", "configmaps/run/levels", "configmaps/run/settings",
                          "persistentvolumeclaims/run/data", "secrets/run/driver", "secrets/run/password",
                          "secrets/run/registry", "secrets/run/token", "serviceaccounts/run/manager"));
}

// An object of a criterion's type goes before the provider only while it carries the finalizer.
TEST_F(DependenciesTest, AreWhatCarriesNoFinalizerOfACriterion) {
  const auto account = [](const std::string& finalizers) {
    return "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: manager, namespace: run, finalizers: "
           "[" +
           finalizers + "]}\n";
  };
  service.criteria = {FinalizerCriterion{{"", "serviceaccounts"}, "example.com/clean"}};
  put(deployment(kPlainPodSpec) + account("example.com/other"));
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager"));
  EXPECT_THAT(needs().awaited, IsEmpty());
  put(account("example.com/other, example.com/clean"));
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_THAT(needs().awaited, ElementsAre(kube::ObjectKey{{"", "serviceaccounts"}, "run", "manager"}));
  auto& criterion = std::get<FinalizerCriterion>(service.criteria.front());
  criterion.scope = kube::NamespaceScope::outside("run");
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager"));
  criterion = FinalizerCriterion{{"", "secrets"}, "example.com/clean"};
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager"));
}

TEST_F(DependenciesTest, AreNotInAnExcludedNamespace) {
  put(deployment(kPlainPodSpec) + R"(
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: kube-system}
roleRef: {kind: Role, name: extension-apiserver-authentication-reader}
subjects: [{kind: ServiceAccount, name: manager, namespace: run}]
)");
  EXPECT_THAT(found(), ElementsAre("serviceaccounts/run/manager"));
}

TEST_F(DependenciesTest, MayOwnTheProvider) {
  put(deployment(kPlainPodSpec,
                 ", ownerReferences: [{apiVersion: v1, kind: ServiceAccount, name: manager, "
                 "uid: u}, {apiVersion: example.com/v1, kind: Thing, name: x, uid: v}]"));
  const std::vector<Dependency> all = needs().guarded;
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(all[0].ownsProvider);
}

TEST_F(DependenciesTest, OfAnyTypeMayOwnTheProvider) {
  const kube::GroupResource gateways{"example.com", "gateways"};
  put(deployment(kPlainPodSpec,
                 ", ownerReferences: [{apiVersion: example.com/v2, kind: Gateway, name: x, uid: u}]"));
  service.dependencies = {DependencyMode::Listed,
                          {{gateways, "run", "x"},
                           {gateways, "run", "y"},
                           {gateways, "other", "x"},
                           {{"example.com", "policies"}, "run", "x"},
                           {{"example.org", "gateways"}, "run", "x"}}};
  std::vector<std::string> owners;
  for (const Dependency& dependency : needs().guarded) {
    if (dependency.ownsProvider) owners.push_back(toString(dependency.object));
  }
  EXPECT_THAT(owners, ElementsAre("gateways.example.com/run/x"));
}

TEST(OwnerNames, MeanObjects) {
  const kube::ObjectKey policy{{"example.com", "policies"}, "n", "x"};
  EXPECT_TRUE(means({"example.com", "Policy", "x"}, policy));
  EXPECT_FALSE(means({"example.com", "Policy", "z"}, policy));
  EXPECT_FALSE(means({"example.com", "Pool", "x"}, policy));
  EXPECT_FALSE(means({"example.com", "", "x"}, policy));
  EXPECT_TRUE(means({"apps", "Deployment", "x"}, {{"apps", "deployments"}, "n", "x"}));
  EXPECT_FALSE(means({"apps", "DeploymentX", "x"}, {{"apps", "deployments"}, "n", "x"})) << "those are known";
}

TEST_F(DependenciesTest, AreThoseThatAreListed) {
  put(deployment(kPodSpec));
  service.dependencies = {DependencyMode::Listed,
                          {{{"", "secrets"}, "run", "b"}, {{"", "secrets"}, "run", "a"}}};
  EXPECT_THAT(found(), ElementsAre("secrets/run/a", "secrets/run/b"));
  EXPECT_EQ(why("secrets/run/a"), "spec.guard.dependencies[1]");
  service.dependencies = {DependencyMode::None, {}};
  EXPECT_THAT(found(), IsEmpty());
}

// With its namespace, a workload's Pods would go, which no webhook is asked about; with its CRD, an instance.
TEST_F(DependenciesTest, AreWhatTakesThatAlongWhichIsListed) {
  const kube::GroupResource deployments{"apps", "deployments"};
  service.dependencies = {DependencyMode::Listed,
                          {{deployments, "cache", "redis"},
                           {deployments, "run", "beside"},
                           {deployments, "cache", "second"},
                           {{"batch", "cronjobs"}, "night", "job"},
                           {{"example.com", "certs"}, "tls", "c"},
                           {{"", "secrets"}, "other", "certs"}}};
  EXPECT_THAT(found(), ElementsAre("namespaces/cache", "namespaces/night", "secrets/other/certs",
                                   "customresourcedefinitions.apiextensions.k8s.io/certs.example.com",
                                   "deployments.apps/cache/redis", "deployments.apps/cache/second",
                                   "deployments.apps/run/beside", "cronjobs.batch/night/job",
                                   "certs.example.com/tls/c"));
  EXPECT_EQ(why("namespaces/cache"), "namespace of spec.guard.dependencies[0]");
  EXPECT_EQ(why("customresourcedefinitions.apiextensions.k8s.io/certs.example.com"),
            "CRD of spec.guard.dependencies[4]");
  service.criteria = {SpecificResourceCriterion{{{"", "namespaces"}, "", "cache"}}};
  EXPECT_THAT(found(), Not(Contains("namespaces/cache"))) << "the provider waits for it";
}

// The Pods that act for it go with the namespace, which so cannot be as free as that of a Deployment.
TEST_F(DependenciesTest, IsTheNamespaceOfAProviderThatOthersRunFor) {
  service.provider = {{"example.com", "engines"}, "run", "e"};
  service.dependencies = {DependencyMode::Listed, {{{"apps", "deployments"}, "run", "operator"}}};
  EXPECT_THAT(found(), ElementsAre("namespaces/run", "deployments.apps/run/operator"));
}

TEST_F(DependenciesTest, AreBounded) {
  std::string variables;
  for (int i = 0; i < 300; ++i)
    variables += "{name: V, valueFrom: {secretKeyRef: {name: s" + std::to_string(i) + "}}}, ";
  put(deployment(" {serviceAccountName: manager, containers: [{name: main, env: [" + variables + "]}]}\n"));
  EXPECT_THAT(found(), SizeIs(kMostNamedByPods));
  EXPECT_EQ(needs().tooMany.at(0).found, 301U);
  EXPECT_THAT(found(), Contains("serviceaccounts/run/manager"));
}

TEST_F(DependenciesTest, OfWhatMakesNoPodsAreNone) {
  service.provider = {{"example.com", "engines"}, "run", "e"};
  kube::Object engine;
  engine.key = service.provider;
  finder.put(engine);
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace lastout::criticalservice
