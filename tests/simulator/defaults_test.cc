// What the API server fills in, held against what it recorded.
#include "simulator/defaults.h"

#include <gtest/gtest.h>

#include "simulator/metadata.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

std::string noAddress(const Json& /*service*/) { return "10.96.0.7"; }

// The object that a create stores.
Json created(const TypeRules& rules, Json object) {
  const Birth birth{"uid-1", "2026-11-21T02:46:55Z", [](uint32_t) { return 0; }};
  return completeOnCreate(rules, prepareForCreate(rules, std::move(object), birth), noAddress);
}

TEST(Defaults, AreThoseOfTheRecordedCreations) {
  const TypeRules namespaces{{"", "namespaces"}, "Namespace"};
  const TypeRules configMaps{{"", "configmaps"}, "ConfigMap"};
  const TypeRules deployments{{"apps", "deployments"}, "Deployment", false, true, true};
  const TypeRules crds{
      {"apiextensions.k8s.io", "customresourcedefinitions"}, "CustomResourceDefinition", false, true, true};
  const TypeRules webhooks{{"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
                           "ValidatingWebhookConfiguration",
                           false,
                           true,
                           true};
  const std::vector<std::pair<TypeRules, std::string>> creations = {
      {namespaces, "009-create-namespace-app"},      {crds, "010-create-crd"},
      {deployments, "072-create-deployment"},        {namespaces, "090-create-namespace-bye"},
      {deployments, "097-create-deployment-target"}, {webhooks, "098-create-webhook-configuration"}};
  for (const auto& [rules, name] : creations)
    EXPECT_EQ(anonymous(created(rules, recordedRequest(name))), anonymous(recordedAnswer(name))) << name;
  Json held = recordedRequest("091-create-configmap-with-finalizer");
  held["metadata"]["namespace"] = "bye";  // from the path
  EXPECT_EQ(anonymous(created(configMaps, held)),
            anonymous(recordedAnswer("091-create-configmap-with-finalizer")));
}

TEST(Defaults, OfTheRecordedDeploymentOf136HaveNoNullTimestamp) {
  TypeRules deployments{{"apps", "deployments"}, "Deployment", false, true, true};
  deployments.writesNullTimestamps = false;
  const Json recorded = answerOf136("072-create-deployment");
  Json sent = recordedRequest("072-create-deployment");
  EXPECT_EQ(anonymous(created(deployments, sent)), anonymous(recorded));
  sent["spec"]["template"]["metadata"]["creationTimestamp"] = nullptr;  // as kubectl writes it
  EXPECT_EQ(anonymous(created(deployments, sent)), anonymous(recorded));
  EXPECT_EQ(completeOnUpdate(deployments, recorded, recorded), recorded);
}

TEST(Defaults, OfAnApiServiceWithoutAServiceAreThatItIsAvailable) {
  const Json recorded = recordedReview("29-create-apiservices-apiserver")["object"];
  Json sent = recorded;
  sent.erase("status");
  Json stored = created({{"apiregistration.k8s.io", "apiservices"}, "APIService"}, sent);
  EXPECT_EQ(stored["status"]["conditions"][0]["lastTransitionTime"], "2026-11-21T02:46:55Z");
  stored["status"]["conditions"][0]["lastTransitionTime"] =
      recorded["status"]["conditions"][0]["lastTransitionTime"];
  EXPECT_EQ(anonymous(stored), anonymous(recorded));
}

TEST(Defaults, OfAClaimProtectIt) {
  const Json recorded = storyObject("deadlock", 13);
  Json sent = {{"kind", "PersistentVolumeClaim"},
               {"apiVersion", "v1"},
               {"metadata", recorded["metadata"]},
               {"spec", recorded["spec"]}};
  sent["metadata"].erase("finalizers");
  sent["spec"].erase("volumeMode");
  EXPECT_EQ(anonymous(created({{"", "persistentvolumeclaims"}, "PersistentVolumeClaim"}, sent)),
            anonymous(recorded));
}

TEST(Defaults, OfAVolumeProtectIt) {
  const Json sent = {{"kind", "PersistentVolume"},
                     {"apiVersion", "v1"},
                     {"metadata", {{"name", "pv"}}},
                     {"spec", {{"hostPath", {{"path", "/x"}}}}}};
  const Json stored = created({{"", "persistentvolumes"}, "PersistentVolume"}, sent);
  EXPECT_EQ(stored["metadata"]["finalizers"], Json::array({"kubernetes.io/pv-protection"}));
  EXPECT_EQ(stored["status"]["phase"], "Pending");
}

TEST(Defaults, OfAnUpdateChangeNothingThatIsFilledInAlready) {
  const Json stored = recordedAnswer("072-create-deployment");
  EXPECT_EQ(completeOnUpdate({{"apps", "deployments"}, "Deployment"}, stored, stored), stored);
  const Json crd = recordedAnswer("011-get-crd-established");
  EXPECT_EQ(
      completeOnUpdate({{"apiextensions.k8s.io", "customresourcedefinitions"}, "CustomResourceDefinition"},
                       crd, crd),
      crd);
}

TEST(Defaults, PullByTag) {
  const auto policy = [](const char* image) {
    const Json pod = {{"metadata", {{"name", "p"}}},
                      {"spec", {{"containers", Json::array({{{"name", "c"}, {"image", image}}})}}}};
    return created({{"", "pods"}, "Pod"}, pod)["spec"]["containers"][0]["imagePullPolicy"];
  };
  EXPECT_EQ(policy("x.invalid/x:1"), "IfNotPresent");
  EXPECT_EQ(policy("x.invalid/x:latest"), "Always");
  EXPECT_EQ(policy("x.invalid:5000/x"), "Always");
  EXPECT_EQ(policy("x@sha256:0a"), "IfNotPresent");
}

TEST(Defaults, SortPodsByQualityOfService) {
  const auto quality = [](const Json& resources) {
    const Json container = {{"name", "c"}, {"image", "i:1"}, {"resources", resources}};
    const Json pod = {{"metadata", {{"name", "p"}}}, {"spec", {{"containers", Json::array({container})}}}};
    return created({{"", "pods"}, "Pod"}, pod)["status"]["qosClass"];
  };
  EXPECT_EQ(quality(Json::object()), "BestEffort");
  EXPECT_EQ(quality({{"requests", {{"cpu", "1"}}}}), "Burstable");
  EXPECT_EQ(quality({{"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}}), "Guaranteed");
}

TEST(Defaults, OfASecretEncodeItsText) {
  const Json secret = created({{"", "secrets"}, "Secret"},
                              {{"metadata", {{"name", "s"}}}, {"stringData", {{"user", "admin"}}}});
  EXPECT_EQ(secret["data"], (Json{{"user", "YWRtaW4="}}));
  EXPECT_EQ(secret["type"], "Opaque");
  EXPECT_FALSE(secret.contains("stringData"));
}

TEST(Defaults, OfAServiceGiveItAnAddressForLife) {
  const Json stored =
      created({{"", "services"}, "Service"}, {{"metadata", {{"name", "s"}, {"namespace", "app"}}},
                                              {"spec", {{"ports", Json::array({{{"port", 80}}})}}}});
  EXPECT_EQ(stored["spec"]["clusterIP"], "10.96.0.7");
  EXPECT_EQ(stored["spec"]["ports"][0], (Json{{"port", 80}, {"protocol", "TCP"}, {"targetPort", 80}}));
  Json applied = stored;
  applied["spec"].erase("clusterIP");
  applied["spec"].erase("clusterIPs");
  EXPECT_EQ(completeOnUpdate({{"", "services"}, "Service"}, stored, applied), stored);

  const Json headless = created({{"", "services"}, "Service"}, {{"spec", {{"clusterIP", "None"}}}});
  EXPECT_EQ(headless["spec"]["clusterIPs"], Json::array({"None"}));
  const Json external = created({{"", "services"}, "Service"},
                                {{"spec", {{"type", "ExternalName"}, {"externalName", "x.invalid"}}}});
  EXPECT_FALSE(external["spec"].contains("clusterIP"));
}

TEST(Defaults, AddressesAreThoseOfTheServiceNetwork) {
  EXPECT_EQ(clusterIpOf("app", "s"), clusterIpOf("app", "s"));
  EXPECT_NE(clusterIpOf("app", "s"), clusterIpOf("app", "s", 1));
  EXPECT_TRUE(clusterIpOf("app", "s").starts_with("10.96."));
}

TEST(Defaults, OfOtherWorkloadsAreThoseOfAppsV1) {
  const Json podTemplate = {{"spec", {{"containers", Json::array({{{"name", "c"}, {"image", "i:1"}}})}}}};
  const Json sent = {{"metadata", {{"name", "w"}}}, {"spec", {{"template", podTemplate}}}};
  const Json replicaSet = created({{"apps", "replicasets"}, "ReplicaSet"}, sent);
  EXPECT_EQ(replicaSet["spec"]["replicas"], 1);
  EXPECT_EQ(replicaSet["status"], (Json{{"replicas", 0}}));
  const Json statefulSet = created({{"apps", "statefulsets"}, "StatefulSet"}, sent);
  EXPECT_EQ(statefulSet["spec"]["podManagementPolicy"], "OrderedReady");
  EXPECT_EQ(statefulSet["spec"]["updateStrategy"],
            Json::parse(R"({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})"));
  const Json daemonSet = created({{"apps", "daemonsets"}, "DaemonSet"}, sent);
  EXPECT_EQ(
      daemonSet["spec"]["updateStrategy"],
      Json::parse(R"({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}})"));
  for (const Json& workload : {replicaSet, statefulSet, daemonSet})
    EXPECT_EQ(workload["spec"]["template"]["spec"],
              recordedAnswer("097-create-deployment-target")["spec"]["template"]["spec"].patch(
                  Json::parse(R"([{"op": "replace", "path": "/containers/0/image", "value": "i:1"}])")));
}

TEST(Defaults, OfABindingNameTheGroup) {
  const Json binding = created({{"rbac.authorization.k8s.io", "rolebindings"}, "RoleBinding"},
                               Json::parse(R"({"roleRef": {"kind": "Role", "name": "r"}, "subjects":
                                 [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}]})"));
  EXPECT_EQ(binding["roleRef"]["apiGroup"], "rbac.authorization.k8s.io");
  EXPECT_EQ(binding["subjects"][0]["apiGroup"], "rbac.authorization.k8s.io");
  EXPECT_FALSE(binding["subjects"][1].contains("apiGroup"));
}

TEST(Defaults, LeaveAloneWhatHasTheWrongType) {
  const std::vector<kube::GroupResource> types = {
      {"", "namespaces"},
      {"", "pods"},
      {"apps", "deployments"},
      {"apps", "statefulsets"},
      {"apps", "daemonsets"},
      {"", "services"},
      {"", "secrets"},
      {"", "persistentvolumeclaims"},
      {"apiextensions.k8s.io", "customresourcedefinitions"},
      {"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
      {"rbac.authorization.k8s.io", "clusterrolebindings"}};
  for (const char* text :
       {"7", "[]", "{}", R"({"metadata": 1, "spec": [], "stringData": 3, "webhooks": {}, "roleRef": 1})",
        R"({"spec": {"template": 1, "strategy": "x", "ports": [1, {"port": "a"}], "conversion": [],
            "names": 4, "containers": [{"resources": 1, "livenessProbe": 2, "env": [{"valueFrom": 1}]}],
            "volumes": [{"secret": 1}], "tolerations": 1, "versions": [{"storage": 1}, 2],
            "updateStrategy": {"rollingUpdate": 1}, "volumeClaimTemplates": [{"metadata": 1}]}})"}) {
    for (const kube::GroupResource& type : types) {
      const Json object = completeOnCreate({type, ""}, Json::parse(text), noAddress);
      completeOnUpdate({type, ""}, object, Json::parse(text));
    }
  }
}

// As Kubernetes' source has them; nothing of these types was recorded.
TEST(Defaults, OfWhatInstallManifestsHoldAreKubernetesOwn) {
  const auto made = [](const kube::GroupResource& type, const char* text) {
    return completeOnCreate({type, ""}, Json::parse(text), noAddress);
  };
  EXPECT_EQ(made({"scheduling.k8s.io", "priorityclasses"}, R"({"value":1})"),
            Json::parse(R"({"value":1,"preemptionPolicy":"PreemptLowerPriority"})"));
  EXPECT_EQ(made({"storage.k8s.io", "storageclasses"}, R"({"reclaimPolicy":"Retain"})"),
            Json::parse(R"({"reclaimPolicy":"Retain","volumeBindingMode":"Immediate"})"));
  const kube::GroupResource policies{"networking.k8s.io", "networkpolicies"};
  EXPECT_EQ(made(policies, R"({"spec":{}})")["spec"]["policyTypes"], Json::parse(R"(["Ingress"])"));
  EXPECT_EQ(made(policies, R"({"spec":{"egress":[{}]}})")["spec"]["policyTypes"],
            Json::parse(R"(["Ingress","Egress"])"));
  EXPECT_EQ(made({"batch", "cronjobs"}, R"({"spec":{"suspend":true}})")["spec"],
            Json::parse(R"({"suspend":true,"concurrencyPolicy":"Allow","successfulJobsHistoryLimit":3,
                            "failedJobsHistoryLimit":1})"));
}

}  // namespace
}  // namespace lastout::simulator
