#include "simulator/defaults.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kube/encoding.h"
#include "kube/well_known.h"
#include "simulator/json.h"
#include "simulator/rbac.h"
#include "simulator/spec_defaults.h"

namespace lastout::simulator {
namespace {

// --- workloads

void fillDeployment(Json& spec) {
  setDefault(spec, "replicas", 1);
  setDefault(spec, "revisionHistoryLimit", 10);
  setDefault(spec, "progressDeadlineSeconds", 600);
  Json* strategy = objectIn(spec, "strategy");
  if (strategy == nullptr) return;
  setDefault(*strategy, "type", "RollingUpdate");
  if (stringAt(*strategy, {"type"}) != "RollingUpdate") return;
  Json* rolling = objectIn(*strategy, "rollingUpdate");
  if (rolling == nullptr) return;
  setDefault(*rolling, "maxUnavailable", "25%");
  setDefault(*rolling, "maxSurge", "25%");
}

void fillStatefulSet(Json& spec) {
  setDefault(spec, "replicas", 1);
  setDefault(spec, "serviceName", "");
  setDefault(spec, "podManagementPolicy", "OrderedReady");
  setDefault(spec, "revisionHistoryLimit", 10);
  Json* strategy = objectIn(spec, "updateStrategy");
  if (strategy != nullptr) {
    setDefault(*strategy, "type", "RollingUpdate");
    if (stringAt(*strategy, {"type"}) == "RollingUpdate") {
      if (Json* rolling = objectIn(*strategy, "rollingUpdate")) setDefault(*rolling, "partition", 0);
    }
  }
  forEachObject(spec, "volumeClaimTemplates", [](Json& claim) {
    setDefault(claim, "kind", "PersistentVolumeClaim");
    setDefault(claim, "apiVersion", "v1");
    if (Json* metadata = objectIn(claim, "metadata")) (*metadata)["creationTimestamp"] = nullptr;
    if (Json* claimSpec = objectIn(claim, "spec")) setDefault(*claimSpec, "volumeMode", "Filesystem");
    claim["status"] = {{"phase", "Pending"}};
  });
}

void fillDaemonSet(Json& spec) {
  setDefault(spec, "revisionHistoryLimit", 10);
  Json* strategy = objectIn(spec, "updateStrategy");
  if (strategy == nullptr) return;
  setDefault(*strategy, "type", "RollingUpdate");
  if (stringAt(*strategy, {"type"}) != "RollingUpdate") return;
  Json* rolling = objectIn(*strategy, "rollingUpdate");
  if (rolling == nullptr) return;
  setDefault(*rolling, "maxUnavailable", 1);
  setDefault(*rolling, "maxSurge", 0);
}

template <void (*fillSpec)(Json&)>
void fillWorkload(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return;
  fillSpec(*spec);
  if (Json* podTemplate = objectIn(*spec, "template")) fillPodTemplate(*podTemplate);
}

void fillReplicas(Json& spec) { setDefault(spec, "replicas", 1); }

// --- everything else

void fillNamespace(Json& object) {
  Json* metadata = objectIn(object, "metadata");
  if (metadata == nullptr) return;
  const std::string name(stringAt(*metadata, {"name"}));
  Json* labels = objectIn(*metadata, "labels");
  if (labels != nullptr && !name.empty()) (*labels)[kube::kNamespaceNameLabel] = name;
  objectIn(object, "spec");
}

void fillPodObject(Json& object) {
  if (Json* spec = objectIn(object, "spec")) {
    fillPodSpec(*spec);
    setDefault(*spec, "enableServiceLinks", true);
  }
}

std::string lowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

void fillCrd(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return;
  if (Json* conversion = objectIn(*spec, "conversion")) setDefault(*conversion, "strategy", "None");
  Json* names = objectIn(*spec, "names");
  if (names == nullptr) return;
  const std::string kind(stringAt(*names, {"kind"}));
  if (kind.empty()) return;
  setDefault(*names, "singular", lowerCase(kind));
  setDefault(*names, "listKind", kind + "List");
}

void fillWebhooks(Json& object) {
  forEachObject(object, "webhooks", [](Json& webhook) {
    setDefault(webhook, "failurePolicy", "Fail");
    setDefault(webhook, "matchPolicy", "Equivalent");
    setDefault(webhook, "namespaceSelector", Json::object());
    setDefault(webhook, "objectSelector", Json::object());
    setDefault(webhook, "timeoutSeconds", 10);
    forEachObject(webhook, "rules", [](Json& rule) { setDefault(rule, "scope", "*"); });
    const auto client = webhook.find("clientConfig");
    if (client == webhook.end() || !client->is_object()) return;
    const auto service = client->find("service");
    if (service != client->end()) setDefault(*service, "port", 443);
  });
}

void fillMutatingWebhooks(Json& object) {
  fillWebhooks(object);
  forEachObject(object, "webhooks",
                [](Json& webhook) { setDefault(webhook, "reinvocationPolicy", "Never"); });
}

void fillMatchResources(Json& spec, const char* key) {
  setDefault(spec[key], "matchPolicy", "Equivalent");
  setDefault(spec[key], "namespaceSelector", Json::object());
  setDefault(spec[key], "objectSelector", Json::object());
  for (const char* rules : {"resourceRules", "excludeResourceRules"})
    forEachObject(spec[key], rules, [](Json& rule) { setDefault(rule, "scope", "*"); });
}

void fillPolicy(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return;
  setDefault(*spec, "failurePolicy", "Fail");
  if (const auto given = spec->find("matchConstraints"); given != spec->end() && given->is_object())
    fillMatchResources(*spec, "matchConstraints");
}

void fillPolicyBinding(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return;
  if (const auto given = spec->find("matchResources"); given != spec->end() && given->is_object())
    fillMatchResources(*spec, "matchResources");
}

// stringData is for writing only: it becomes data.
void fillSecret(Json& object) {
  if (!object.is_object()) return;
  setDefault(object, "type", "Opaque");
  const auto given = object.find("stringData");
  if (given == object.end()) return;
  const Json texts = *given;
  object.erase(given);
  if (!texts.is_object() || texts.empty()) return;
  Json* data = objectIn(object, "data");
  if (data == nullptr) return;
  for (const auto& [key, text] : texts.items()) {
    if (text.is_string()) (*data)[key] = kube::toBase64(text.get_ref<const std::string&>());
  }
}

void fillClaim(Json& object) {
  if (Json* spec = objectIn(object, "spec")) {
    setDefault(*spec, "volumeMode", "Filesystem");
    setDefault(*spec, "resources", Json::object());
  }
}

void fillCronJob(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return;
  setDefault(*spec, "concurrencyPolicy", "Allow");
  setDefault(*spec, "suspend", false);
  setDefault(*spec, "successfulJobsHistoryLimit", 3);
  setDefault(*spec, "failedJobsHistoryLimit", 1);
}

void fillNetworkPolicy(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return;
  Json types = Json::array({"Ingress"});
  if (const Json* egress = at(*spec, {"egress"}); egress != nullptr && !egress->empty())
    types.push_back("Egress");
  setDefault(*spec, "policyTypes", std::move(types));
}

void fillPriorityClass(Json& object) { setDefault(object, "preemptionPolicy", "PreemptLowerPriority"); }

void fillStorageClass(Json& object) {
  setDefault(object, "reclaimPolicy", "Delete");
  setDefault(object, "volumeBindingMode", "Immediate");
}

void fillRole(Json& object) { setDefault(object, "rules", nullptr); }

void fillBinding(Json& object) {
  if (Json* role = objectIn(object, "roleRef")) setDefault(*role, "apiGroup", kube::kRbacGroup);
  forEachObject(object, "subjects", [](Json& subject) {
    const std::string_view kind = stringAt(subject, {"kind"});
    if (kind == "User" || kind == "Group") setDefault(subject, "apiGroup", kube::kRbacGroup);
  });
}

// --- what a create adds

// At the end of the list, unless it is there.
void addText(Json& object, const std::string& key, std::string_view text) {
  if (!object.is_object()) return;
  Json& list = object[key];
  if (list.is_null()) list = Json::array();
  if (list.is_array() && std::find(list.begin(), list.end(), Json(text)) == list.end()) list.push_back(text);
}

Json beginNamespace(Json& object) {
  if (Json* spec = objectIn(object, "spec")) addText(*spec, "finalizers", kube::kNamespaceSpecFinalizer);
  return {{"phase", "Active"}};
}

Json beginPod(Json& object) {
  Json* spec = objectIn(object, "spec");
  if (spec == nullptr) return {{"phase", "Pending"}};
  fillPod(*spec);
  return {{"phase", "Pending"}, {"qosClass", qosClassOf(*spec)}};
}

Json beginClaim(Json& object) {
  if (Json* metadata = objectIn(object, "metadata"))
    addText(*metadata, "finalizers", kube::kPvcProtectionFinalizer);
  return {{"phase", "Pending"}};
}

Json beginVolume(Json& object) {
  if (Json* metadata = objectIn(object, "metadata"))
    addText(*metadata, "finalizers", kube::kPvProtectionFinalizer);
  return {{"phase", "Pending"}};
}

Json beginCrd(Json& object) {
  Json stored = Json::array();
  if (Json* spec = objectIn(object, "spec")) {
    forEachObject(*spec, "versions", [&stored](const Json& version) {
      const Json* isStored = at(version, {"storage"});
      if (isStored != nullptr && *isStored == true) stored.push_back(stringAt(version, {"name"}));
    });
  }
  return {{"conditions", nullptr},
          {"acceptedNames", {{"plural", ""}, {"kind", ""}}},
          {"storedVersions", std::move(stored)}};
}

// An APIService without a service is served by the API server itself. Recorded in admission/29.
Json beginApiService(Json& object) {
  if (at(object, {"spec", "service"}) != nullptr) return Json::object();
  const std::string_view now = stringAt(object, {"metadata", "creationTimestamp"});
  return {{"conditions", Json::array({conditionJson(
                             {"Available", true, "Local", "Local APIServices are always available"}, now)})}};
}

Json beginDisruptionBudget(Json& /*object*/) {
  return {{"disruptionsAllowed", 0}, {"currentHealthy", 0}, {"desiredHealthy", 0}, {"expectedPods", 0}};
}

Json beginDaemonSet(Json& /*object*/) {
  return {{"currentNumberScheduled", 0},
          {"numberMisscheduled", 0},
          {"desiredNumberScheduled", 0},
          {"numberReady", 0}};
}

Json beginEmpty(Json& /*object*/) { return Json::object(); }
Json beginReplicaSet(Json& /*object*/) { return {{"replicas", 0}}; }
Json beginStatefulSet(Json& /*object*/) { return {{"replicas", 0}, {"availableReplicas", 0}}; }
Json beginService(Json& /*object*/) { return {{"loadBalancer", Json::object()}}; }

// A type's defaults, and what its status begins with; nullptr: none.
struct TypeDefaults {
  void (*fill)(Json& object) = nullptr;
  Json (*begin)(Json& object) = nullptr;
};

TypeDefaults defaultsOf(const kube::GroupResource& type) {
  static const std::map<kube::GroupResource, TypeDefaults> kTypes = {
      {kube::kCustomResourceDefinitions, {fillCrd, beginCrd}},
      {kube::kApiServices, {nullptr, beginApiService}},
      {kube::kClusterRoleBindings, {fillBinding, nullptr}},
      {kube::kClusterRoles, {fillRole, nullptr}},
      {kube::kCronJobs, {fillCronJob, beginEmpty}},
      {kube::kDaemonSets, {fillWorkload<fillDaemonSet>, beginDaemonSet}},
      {kube::kDeployments, {fillWorkload<fillDeployment>, beginEmpty}},
      {kube::kMutatingWebhookConfigurations, {fillMutatingWebhooks, nullptr}},
      {kube::kNamespaces, {fillNamespace, beginNamespace}},
      {{"networking.k8s.io", "networkpolicies"}, {fillNetworkPolicy, nullptr}},
      {kube::kPersistentVolumeClaims, {fillClaim, beginClaim}},
      {kube::kPersistentVolumes, {nullptr, beginVolume}},
      {kube::kPodDisruptionBudgets, {nullptr, beginDisruptionBudget}},
      {kube::kPods, {fillPodObject, beginPod}},
      {{"scheduling.k8s.io", "priorityclasses"}, {fillPriorityClass, nullptr}},
      {kube::kReplicaSets, {fillWorkload<fillReplicas>, beginReplicaSet}},
      {kube::kRoleBindings, {fillBinding, nullptr}},
      {kube::kRoles, {fillRole, nullptr}},
      {kube::kSecrets, {fillSecret, nullptr}},
      {kube::kServices, {fillService, beginService}},
      {kube::kStatefulSets, {fillWorkload<fillStatefulSet>, beginStatefulSet}},
      {{"storage.k8s.io", "storageclasses"}, {fillStorageClass, nullptr}},
      {kube::kValidatingAdmissionPolicies, {fillPolicy, beginEmpty}},
      {kube::kValidatingAdmissionPolicyBindings, {fillPolicyBinding, nullptr}},
      {kube::kValidatingWebhookConfigurations, {fillWebhooks, nullptr}},
  };
  const auto found = kTypes.find(type);
  return found == kTypes.end() ? TypeDefaults{} : found->second;
}

// Of Pod templates, and templates of claims, which have no time of their own.
void dropNullTimestamps(Json& part) {
  if (!part.is_structured()) return;
  for (auto& [key, inner] : part.items()) {
    if (key == "metadata" && at(inner, {"creationTimestamp"}) != nullptr &&
        inner["creationTimestamp"].is_null())
      inner.erase("creationTimestamp");
    dropNullTimestamps(inner);
  }
}

}  // namespace

Json completeOnCreate(const TypeRules& rules, Json object, const ClusterIpSource& clusterIp) {
  if (!object.is_object()) return object;
  const TypeDefaults defaults = defaultsOf(rules.type);
  if (defaults.fill != nullptr) defaults.fill(object);
  if (!rules.writesNullTimestamps && object.contains("spec")) dropNullTimestamps(object["spec"]);
  if (defaults.begin != nullptr) object["status"] = defaults.begin(object);
  if (defaults.fill == fillService) allocateService(object, clusterIp);
  return object;
}

Json completeOnUpdate(const TypeRules& rules, const Json& old, Json object) {
  if (!object.is_object()) return object;
  const TypeDefaults defaults = defaultsOf(rules.type);
  if (defaults.fill == fillService) keepAllocated(old, object);
  if (defaults.fill != nullptr) defaults.fill(object);
  if (!rules.writesNullTimestamps && object.contains("spec")) dropNullTimestamps(object["spec"]);
  return object;
}

std::string clusterIpOf(std::string_view namespaceName, std::string_view name, uint32_t attempt) {
  const std::string key =
      std::string(namespaceName) + "/" + std::string(name) + "/" + std::to_string(attempt);
  // Not the network's own address, nor the one of the Service "kubernetes", nor broadcast.
  const uint64_t host = 2 + kube::stableHash(key) % (65536 - 3);
  return "10.96." + std::to_string(host / 256) + "." + std::to_string(host % 256);
}

}  // namespace lastout::simulator
