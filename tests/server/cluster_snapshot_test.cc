// A cluster that is asked once, by people who may read all of it, some, or nothing.
#include "server/cluster_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/protection/policies.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::jsonOf;
using lastout::testing::objectOf;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClusterSnapshotTest : public lastout::testing::ServerWorld {
 public:
  kube::Result<ClusterSnapshot> askAs(const std::string& token, const std::string& reference = {}) {
    ClusterSnapshotOptions options;
    options.reference = reference;
    options.random = lastout::testing::oneHalf;
    return takeClusterSnapshot(accessOf(token), options);
  }
  std::string refusedAs(const std::string& token, const std::string& reference = {}) {
    const auto asked = askAs(token, reference);
    return asked ? "" : asked.error().message;
  }
};

TEST_F(ClusterSnapshotTest, WhoMayReadAllHearsAll) {
  createStory();
  const auto asked = askAs("the-token");
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_THAT(asked->warnings, IsEmpty());
  EXPECT_TRUE(admission::drawn(asked->cluster, {})->find("provider") != std::string::npos);
}

TEST_F(ClusterSnapshotTest, WhatMayNotBeReadIsSaid) {
  createStory();
  const auto asked = askAs("readers-token");
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_THAT(asked->warnings,
              ElementsAre(HasSubstr("you may not list namespaces, so what depends on that "
                                    "type counts as unknown here (403 Forbidden"),
                          HasSubstr("you may not list deployments.apps"),
                          HasSubstr("not all that providers need is known here, as these cannot be read: "
                                    "persistentvolumeclaims, serviceaccounts, services, apiservices")));
  const auto why = admission::whyOf(asked->cluster, "criticalservice/s");
  ASSERT_TRUE(why);
  EXPECT_THAT(why->message, AllOf(HasSubstr("(you are not allowed to list deployments.apps)"),
                                  HasSubstr("ask as somebody who may list deployments.apps")));
}

// Nobody can tell then what is guarded: an empty graph would be a lie.
TEST_F(ClusterSnapshotTest, WithoutCriticalServicesNothingIsTold) {
  createStory();
  EXPECT_THAT(refusedAs("scrapers-token"),
              AllOf(HasSubstr("you may not list criticalservices.lastout.dev, so nothing can be told"),
                    HasSubstr("403")));
}

TEST_F(ClusterSnapshotTest, OneObjectOfATypeThatMayNotBeListedIsLookedUp) {
  createStory();
  EXPECT_EQ(refusedAs("readers-token", "deployment/provider"),
            "you may not list deployments.apps in all namespaces, so \"deployment/provider\" lacks the "
            "namespace; write deployments.apps/<namespace>/provider or deployment/provider -n <namespace>");
  const auto asked = askAs("readers-token", "deployment/provider -n default");
  ASSERT_TRUE(asked) << asked.error().message;
  const auto why = admission::whyOf(asked->cluster, "deployment/provider -n default");
  ASSERT_TRUE(why);
  EXPECT_TRUE(why->present);
  EXPECT_FALSE(why->allowed);
  EXPECT_THAT(refusedAs("readers-token", "deployment/provider -n elsewhere"), HasSubstr("403"));
  EXPECT_THAT(refusedAs("readers-token", "deployment/nobody -n default"), HasSubstr("404"));
}

TEST_F(ClusterSnapshotTest, WhatPoliciesSayIsToldOfTheObjectAndOfWhatHoldsIt) {
  create("/apis/lastout.dev/v1alpha1/deletionpolicies", jsonOf(protection::policyText(R"(
  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: keep, children: [{resource: secrets, label: parent}]}]
)")));
  create("/api/v1/namespaces", jsonOf("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"));
  const auto createIn = [this](const std::string& resource, const std::string& kind,
                               const std::string& meta) {
    create("/api/v1/namespaces/shop/" + resource,
           jsonOf("{apiVersion: v1, kind: " + kind + ", metadata: {namespace: shop, " + meta + "}}"));
  };
  createIn("configmaps", "ConfigMap", "name: kept, labels: {keep: \"yes\"}");
  createIn("configmaps", "ConfigMap", "name: free");
  createIn("secrets", "Secret", "name: child, labels: {parent: kept}");
  const auto whyOf = [this](const std::string& reference) {
    const auto asked = askAs("the-token", reference);
    EXPECT_TRUE(asked) << asked.error().message;
    EXPECT_THAT(asked->warnings, IsEmpty());
    return admission::whyOf(asked->cluster, reference).value();
  };
  const admission::Why kept = whyOf("configmap/kept -n shop");
  EXPECT_FALSE(kept.allowed);
  EXPECT_EQ(kept.reason, "Protected");
  EXPECT_EQ(kept.message,
            "configmaps kept in namespace \"shop\" must not be deleted: label keep is yes and 1 object of "
            "secrets that refers to it (Secret/child), says deletion policy p");
  EXPECT_THAT(whyOf("namespace/shop").message, HasSubstr("namespaces/shop holds configmaps/shop/kept"));
  EXPECT_TRUE(whyOf("configmap/free -n shop").allowed);
}

// It may be deleted, and hangs: the controller that empties it is denied.
TEST_F(ClusterSnapshotTest, OfANamespaceThatWouldHangItNamesWhatCannotBeDeleted) {
  const auto createPolicy = [this](const char* name, const std::string& rest) {
    create("/apis/lastout.dev/v1alpha1/deletionpolicies",
           jsonOf(protection::policyText(
               "  objects: [{resources: [{resource: configmaps}]}]\n  namespaces: Ignore\n" + rest, name)));
  };
  createPolicy("holds",
               "  when: [{label: held}]\n  enforcement: Hold\n  hold: {finalizer: example.com/hold}\n");
  createPolicy("keeps", "  when: [{label: denied}]\n");
  createPolicy("spares", "  when: [{label: spared}]\n  exempt: {groups: [\"system:serviceaccounts\"]}\n");
  for (const char* space : {"unheld", "denied", "spared"}) {
    create("/api/v1/namespaces", objectOf("v1", "Namespace", space, simulator::Json::object()));
    create(
        "/api/v1/namespaces/" + std::string(space) + "/configmaps",
        objectOf("v1", "ConfigMap", "settings", {{space == std::string("unheld") ? "held" : space, "yes"}}));
  }
  const auto whyOf = [this](const std::string& reference) {
    const auto asked = askAs("the-token", reference);
    EXPECT_TRUE(asked) << asked.error().message;
    return admission::whyOf(asked->cluster, reference).value();
  };
  const admission::Why unheld = whyOf("ns/unheld");
  EXPECT_TRUE(unheld.allowed);
  EXPECT_TRUE(unheld.isBlocked());
  EXPECT_EQ(unheld.reason, "Held");
  EXPECT_THAT(unheld.message,
              HasSubstr("namespaces/unheld stays until configmaps/unheld/settings is gone, whose "
                        "deletion DeletionPolicy holds denies (label held is yes)"));
  EXPECT_THAT(whyOf("ns/denied").message,
              HasSubstr("whose deletion DeletionPolicy keeps denies (label denied is yes)"));
  EXPECT_FALSE(whyOf("ns/spared").isBlocked()) << "the controller is exempt";
}

// Nobody guards any of it, so no watch follows it.
TEST_F(ClusterSnapshotTest, WhatSomethingWaitsForThatIsBeingDeletedIsLookedUp) {
  createStoryWithoutService();
  createInstance("stays", {"f.x/nobody"});
  using simulator::Json;
  create("/api/v1/namespaces",
         Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "tenant"}}}});
  create("/api/v1/namespaces/tenant/configmaps",
         Json{{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", "kept"}, {"finalizers", {"f.x/nobody"}}}}});
  const std::string works = "/apis/work.open-cluster-management.io/v1/";
  create(works + "namespaces/tenant/manifestworks",
         Json{{"apiVersion", "work.open-cluster-management.io/v1"},
              {"kind", "ManifestWork"},
              {"metadata", {{"name", "w"}, {"finalizers", {"f.x/nobody"}}}},
              {"spec", {{"workload", {{"manifests", Json::array()}}}}}});
  create(works + "appliedmanifestworks",
         Json{{"apiVersion", "work.open-cluster-management.io/v1"},
              {"kind", "AppliedManifestWork"},
              {"metadata", {{"name", "hub-w"}, {"finalizers", {"f.x/nobody"}}}},
              {"spec", {{"hubHash", "hub"}, {"manifestWorkName", "w"}}}});
  remove(works + "namespaces/tenant/manifestworks/w");
  remove("/api/v1/namespaces/tenant");
  remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group");
  const auto roots = [this](const std::string& reference) {
    const auto asked = askAs("the-token", reference);
    EXPECT_TRUE(asked) << asked.error().message;
    EXPECT_THAT(asked->warnings, IsEmpty());
    std::string all;
    const auto why = admission::whyOf(asked->cluster, reference);
    for (const auto& root : why.value().roots) all += root.message + "\n";
    return all;
  };
  EXPECT_THAT(roots("crd/coolresources.my.crd.group"), HasSubstr("stays"));
  EXPECT_THAT(roots("ns/tenant"), HasSubstr("configmaps/tenant/kept"));
  EXPECT_THAT(roots("manifestwork/w -n tenant"), HasSubstr("hub-w"));
  EXPECT_EQ(roots("manifestwork/w -n tenant").find("stays"), std::string::npos) << "it was not applied";
  const auto work =
      admission::whyOf(askAs("the-token", "manifestwork/w -n tenant")->cluster, "manifestwork/w -n tenant");
  ASSERT_EQ(work->blockers.size(), 2U);
  EXPECT_EQ(work->blockers[0].message, "appliedmanifestworks.work.open-cluster-management.io/hub-w");
  EXPECT_THAT(work->blockers[1].message,
              AllOf(HasSubstr("it has finalizer f.x/nobody, and nobody is known to remove it: "),
                    HasSubstr(" among the Deployments, StatefulSets and DaemonSets of the cluster")));
}

// The agent's note goes after all that it notes; what is gone is passed over.
TEST_F(ClusterSnapshotTest, WhatAWorkHasAppliedIsLookedUp) {
  createStoryWithoutService();
  createInstance("stays", {"f.x/nobody"});
  createInstance("remade", {"f.x/nobody"});
  using simulator::Json;
  const std::string works = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks";
  create(works, Json{{"apiVersion", "work.open-cluster-management.io/v1"},
                     {"kind", "AppliedManifestWork"},
                     {"metadata", {{"name", "hub-w"}, {"finalizers", {"f.x/nobody"}}}},
                     {"spec", {{"hubHash", "hub"}, {"manifestWorkName", "w"}}}});
  const auto noted = [](const char* name, const char* uid) {
    return Json{{"group", "my.crd.group"},
                {"version", "v1"},
                {"resource", "coolresources"},
                {"name", name},
                {"uid", uid}};
  };
  const auto all = {noted("stays", ""), noted("gone", "u1"), noted("remade", "u2")};
  patch(works + "/hub-w/status", Json{{"status", {{"appliedResources", all}}}});
  remove(works + "/hub-w");
  remove("/apis/my.crd.group/v1/coolresources/stays");
  const auto asked = askAs("the-token", "appliedmanifestwork/hub-w");
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_THAT(asked->warnings, IsEmpty());
  const auto why = admission::whyOf(asked->cluster, "appliedmanifestwork/hub-w");
  ASSERT_EQ(why->blockers.size(), 2U);
  EXPECT_THAT(why->blockers[0].message, HasSubstr("coolresources.my.crd.group/stays"));
  EXPECT_THAT(why->blockers[1].message, HasSubstr("it has finalizer f.x/nobody"));
}

// With what is asked of a cluster that has them, the same is told as of files.
class SpecSnapshotTest : public ClusterSnapshotTest {
 public:
  void createYaml(const std::string& collection, const std::string& yaml) {
    create(collection, jsonOf(yaml));
  }

  admission::Why whyOf(const std::string& reference) {
    const auto asked = askAs("the-token", reference);
    EXPECT_TRUE(asked) << asked.error().message;
    EXPECT_THAT(asked->warnings, IsEmpty());
    return admission::whyOf(asked->cluster, reference).value();
  }

  static std::string rootsOf(const admission::Why& why) {
    std::string all;
    for (const admission::WhyRoot& root : why.roots) all += root.message + "\n";
    return all;
  }

  // A webhook for the DELETEs of ConfigMaps with that label, behind the Service gone/hook.
  void createWebhook() {
    createYaml("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: gone, name: hook}}
  objectSelector: {matchLabels: {checked: "yes"}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]
  sideEffects: None
  admissionReviewVersions: [v1]
)");
    for (const char* name : {"team", "gone"})
      createYaml("/api/v1/namespaces",
                 "{apiVersion: v1, kind: Namespace, metadata: {name: " + std::string(name) + "}}");
    const std::string maps = "/api/v1/namespaces/team/configmaps";
    createYaml(maps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {checked: \"yes\"}}}");
    createYaml(maps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}");
  }
};

TEST_F(SpecSnapshotTest, AWebhookThatDoesNotAnswerIsFound) {
  createStory();
  createWebhook();
  const admission::Why why = whyOf("configmap/a -n team");
  EXPECT_EQ(why.reason, "WebhookFails");
  EXPECT_THAT(why.message,
              HasSubstr("checks.example.com of "
                        "validatingwebhookconfigurations.admissionregistration.k8s.io/checks does "
                        "not answer, because its Service gone/hook does not exist"));
  EXPECT_FALSE(whyOf("configmap/b -n team").isBlocked()) << "it has not that label";

  createYaml(
      "/api/v1/namespaces/gone/services",
      "{apiVersion: v1, kind: Service, metadata: {name: hook}, spec: {selector: {app: hook}, ports: [{port: "
      "443}]}}");
  const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/gone/endpointslices";
  const auto slice = [](const std::string& name, const std::string& ready) {
    return "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: " + name +
           ", labels: {kubernetes.io/service-name: hook}}, addressType: IPv4, endpoints: [{addresses: "
           "[10.0.0.1], conditions: {ready: " +
           ready + "}}], ports: [{port: 9443}]}";
  };
  createYaml(slices, slice("hook-1", "false"));
  EXPECT_THAT(whyOf("configmap/a -n team").message,
              HasSubstr("no endpoint of its Service gone/hook is Ready"));
  createYaml(slices, slice("hook-2", "true"));
  EXPECT_FALSE(whyOf("configmap/a -n team").isBlocked());
}

TEST_F(SpecSnapshotTest, ANamespaceThatIsBeingDeletedLeadsToTheWebhook) {
  createStory();
  createWebhook();
  remove("/api/v1/namespaces/team");
  const admission::Why why = whyOf("ns/team");
  ASSERT_EQ(why.roots.size(), 1U) << rootsOf(why) << "the webhook is not asked about configmaps/team/b";
  EXPECT_THAT(
      why.roots[0].message,
      HasSubstr("checks: its webhook checks.example.com does not answer, because its Service gone/hook"));
  EXPECT_THAT(why.roots[0].path, ElementsAre("namespaces/team", "configmaps/team/a", HasSubstr("/checks")));
}

TEST_F(SpecSnapshotTest, WhatMayNotBeReadIsSaidAndNoReason) {
  createStory();
  createWebhook();
  const auto asked = askAs("readers-token", "deployment/provider -n default");
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_THAT(asked->warnings,
              ::testing::Contains(
                  AllOf(HasSubstr("not all that could keep deployments.apps/default/provider is known"),
                        HasSubstr("validatingwebhookconfigurations.admissionregistration.k8s.io"))));
}

// A half removed lastout denies what it guards, as any webhook does that nobody answers.
TEST_F(SpecSnapshotTest, ALastoutThatIsGoneIsFound) {
  createStory();
  createYaml("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: lastout}
webhooks:
- name: guard.lastout.dev
  clientConfig: {service: {namespace: lastout, name: lastout}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]
  sideEffects: None
  admissionReviewVersions: [v1]
)");
  createYaml("/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  createYaml("/api/v1/namespaces/team/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
  EXPECT_THAT(whyOf("configmap/a -n team").message, HasSubstr("its Service lastout/lastout does not exist"));
}

// The Deployment's status, and the rights of its ServiceAccount, are read, too.
TEST_F(SpecSnapshotTest, AFinalizerLeadsToTheDeploymentThatRemovesIt) {
  createStory();
  createInstance("stays", {"my.crd.group/super-important"});
  patch("/apis/apps/v1/namespaces/default/deployments/provider", jsonOf("{spec: {replicas: 0}}"));
  remove("/apis/my.crd.group/v1/coolresources/stays");
  const admission::Why why = whyOf("coolresources/stays");
  ASSERT_EQ(why.blockers.size(), 1U);
  EXPECT_EQ(why.blockers[0].message,
            "it has finalizer my.crd.group/super-important, and deployments.apps/default/provider, which "
            "removes it (criticalservices.lastout.dev/s says so), cannot: it is scaled to zero; make it work "
            "again");
  EXPECT_THAT(rootsOf(why), HasSubstr("deployments.apps/default/provider: it is scaled to zero"));
}

TEST_F(SpecSnapshotTest, AClaimLeadsToItsPodAndToTheNode) {
  createStory();
  createYaml("/api/v1/nodes", "{apiVersion: v1, kind: Node, metadata: {name: n}}");
  patch("/api/v1/nodes/n/status", jsonOf("{status: {conditions: [{type: Ready, status: Unknown}]}}"));
  createYaml("/api/v1/namespaces/default/persistentvolumeclaims",
             "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, finalizers: "
             "[kubernetes.io/pvc-protection]}, spec: {accessModes: [ReadWriteOnce], resources: {requests: "
             "{storage: 1Gi}}}}");
  createYaml(
      "/api/v1/namespaces/default/pods",
      "{apiVersion: v1, kind: Pod, metadata: {name: db}, spec: {nodeName: n, containers: [{name: c, image: "
      "i}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}");
  remove("/api/v1/namespaces/default/persistentvolumeclaims/data");
  const admission::Why why = whyOf("pvc/data -n default");
  ASSERT_EQ(why.blockers.size(), 1U);
  EXPECT_THAT(why.blockers[0].message, HasSubstr("it stays while Pods use it: pods/default/db"));
  EXPECT_THAT(rootsOf(why), HasSubstr("nodes/n: its condition Ready is Unknown"));
  EXPECT_EQ(whyOf("pod/db -n default").blockers.at(0).reason, "NodeNotReady");
}

// An API server that keeps managedFields, which the embedded one does not: of each ConfigMap that it sends
// whole, "provider" set the finalizer.
class ManagedFieldsTest : public SpecSnapshotTest {
 public:
  ManagedFieldsTest() {
    serveAndConnect([this](const simulator::ExchangeRequest& request) {
      simulator::ExchangeResponse response = handle(request);
      const bool isWhole = request.accept.find("as=PartialObjectMetadata") == std::string::npos;
      if (isWhole && request.method == "GET" &&
          request.path.starts_with("/api/v1/namespaces/team/configmaps"))
        response.body = withManager(simulator::Json::parse(response.body)).dump();
      return response;
    });
  }
  ~ManagedFieldsTest() override { listener.reset(); }

 private:
  static simulator::Json withManager(simulator::Json answer) {
    if (answer.contains("items"))
      for (simulator::Json& item : answer["items"]) item = withManager(item);
    else
      answer["metadata"]["managedFields"] = simulator::Json::array(
          {{{"manager", "provider"},
            {"operation", "Update"},
            {"fieldsV1",
             {{"f:metadata", {{"f:finalizers", {{"v:\"example.com/f\"", simulator::Json::object()}}}}}}}}});
    return answer;
  }
};

// Objects in a Namespace are read with their managedFields if they have a finalizer that is not Kubernetes'.
TEST_F(ManagedFieldsTest, SayTheSameOfANamespaceAsOfWhatIsInIt) {
  createStoryWithoutService();
  createYaml("/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: team}}");
  createYaml("/api/v1/namespaces/team/configmaps",
             "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, finalizers: [example.com/f]}}");
  patch("/apis/apps/v1/namespaces/default/deployments/provider", jsonOf("{spec: {replicas: 0}}"));
  remove("/api/v1/namespaces/team");
  for (const char* reference : {"configmap/kept -n team", "namespace/team"})
    EXPECT_THAT(rootsOf(whyOf(reference)),
                HasSubstr("deployments.apps/default/provider: it is scaled to zero"))
        << reference;
}

TEST_F(ClusterSnapshotTest, NobodyThereIsSaidAtOnce) {
  listener.reset();
  EXPECT_THAT(refusedAs("the-token"), HasSubstr("onnection refused"));
}

}  // namespace
}  // namespace lastout::server
