#include "simulator/derived_workloads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "kube/encoding.h"
#include "kube/well_known.h"
#include "simulator/defaults.h"
#include "simulator/json.h"
#include "simulator/metadata.h"

namespace lastout::simulator {
namespace {

constexpr const char* kRevision = "deployment.kubernetes.io/revision";
constexpr const char* kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
constexpr const char* kMaxReplicas = "deployment.kubernetes.io/max-replicas";
constexpr const char* kTemplateHash = "pod-template-hash";

// Annotations of a Deployment that its ReplicaSets do not get.
bool isOwnAnnotation(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kOwn = {"kubectl.kubernetes.io/last-applied-configuration",
                                                           kRevision,
                                                           "deployment.kubernetes.io/revision-history",
                                                           kDesiredReplicas,
                                                           kMaxReplicas,
                                                           "deprecated.deployment.rollback.to"};
  return std::ranges::find(kOwn, name) != kOwn.end();
}

// A number of Pods, or a share of all ("25%"), which is rounded up or down.
int64_t countOf(const Json* value, int64_t total, bool roundUp) {
  if (value == nullptr) return 0;
  if (value->is_number_integer()) return std::max<int64_t>(integerAt(*value, {}), 0);
  const std::string_view text = stringAt(*value, {});
  int64_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end + 1 != text.data() + text.size() || *end != '%') return 0;
  if (percent < 0 || percent > 100) return 0;
  return (total * percent + (roundUp ? 99 : 0)) / 100;
}

int64_t wantedReplicas(const Json& workload) {
  return std::clamp<int64_t>(integerAt(workload, {"spec", "replicas"}, 1), 0, INT32_MAX);
}

bool isRolling(const Json& deployment) {
  return stringAt(deployment, {"spec", "strategy", "type"}) == "RollingUpdate";
}

int64_t maxSurge(const Json& deployment) {
  if (!isRolling(deployment)) return 0;
  return countOf(at(deployment, {"spec", "strategy", "rollingUpdate", "maxSurge"}),
                 wantedReplicas(deployment), true);
}

int64_t maxUnavailable(const Json& deployment) {
  const int64_t wanted = wantedReplicas(deployment);
  if (!isRolling(deployment) || wanted == 0) return 0;
  const int64_t count =
      countOf(at(deployment, {"spec", "strategy", "rollingUpdate", "maxUnavailable"}), wanted, false);
  // Something has to give, or no roll-out would ever begin.
  return std::min(count == 0 && maxSurge(deployment) == 0 ? 1 : count, wanted);
}

Json templateOf(const Json& workload) {
  const Json* podTemplate = at(workload, {"spec", "template"});
  return podTemplate == nullptr ? Json::object() : *podTemplate;
}

void annotateReplicaSet(const Json& deployment, Json& annotations) {
  const Json* own = at(deployment, {"metadata", "annotations"});
  if (own != nullptr && own->is_object()) {
    for (const auto& [name, value] : own->items()) {
      if (!isOwnAnnotation(name)) annotations[name] = value;
    }
  }
  const int64_t wanted = wantedReplicas(deployment);
  annotations[kDesiredReplicas] = std::to_string(wanted);
  annotations[kMaxReplicas] = std::to_string(wanted + maxSurge(deployment));
}

// --- Deployment conditions

// Conditions of a Deployment say, in addition, when they were looked at last. One with a new status or reason
// moves to the end; one with neither stays as it is.
void setDeploymentCondition(Json& status, const StatusCondition& condition, std::string_view now,
                            bool again) {
  if (!status["conditions"].is_array()) status["conditions"] = Json::array();
  Json wanted = conditionJson(condition, now);
  wanted["lastUpdateTime"] = now;
  if (const Json* present = findCondition(status, condition.type)) {
    const bool sameStatus = stringAt(*present, {"status"}) == stringAt(wanted, {"status"});
    if (!again && sameStatus && stringAt(*present, {"reason"}) == condition.reason) return;
    if (sameStatus) copyKey(*present, wanted, "lastTransitionTime");
  }
  Json& conditions = status["conditions"];
  Json kept = Json::array();
  for (Json& other : conditions) {
    if (stringAt(other, {"type"}) != condition.type) kept.push_back(std::move(other));
  }
  kept.push_back(std::move(wanted));
  conditions = std::move(kept);
}

void noteAvailability(const Json& deployment, const ReplicaCounts& counts, std::string_view now,
                      Json& status) {
  const bool available = counts.available >= wantedReplicas(deployment) - maxUnavailable(deployment);
  const StatusCondition condition = available
                                        ? StatusCondition{"Available", true, "MinimumReplicasAvailable",
                                                          "Deployment has minimum availability."}
                                        : StatusCondition{"Available", false, "MinimumReplicasUnavailable",
                                                          "Deployment does not have minimum availability."};
  setDeploymentCondition(status, condition, now, false);
}

void noteProgress(const Json& deployment, std::string_view replicaSet, const ReplicaCounts& counts,
                  std::string_view now, Json& status) {
  const std::string name = "ReplicaSet \"" + std::string(replicaSet) + "\"";
  const Json* before = findCondition(status, "Progressing");
  if (before != nullptr && stringAt(*before, {"reason"}) == "NewReplicaSetAvailable" &&
      counts.replicas == counts.updated)
    return;  // no roll-out is under way
  const int64_t wanted = wantedReplicas(deployment);
  if (counts.updated == wanted && counts.replicas == wanted && counts.available == wanted) {
    setDeploymentCondition(
        status, {"Progressing", true, "NewReplicaSetAvailable", name + " has successfully progressed."}, now,
        false);
    return;
  }
  const int64_t updatedBefore = integerAt(deployment, {"status", "updatedReplicas"});
  const int64_t oldBefore = integerAt(deployment, {"status", "replicas"}) - updatedBefore;
  const bool progressed = counts.updated > updatedBefore || counts.replicas - counts.updated < oldBefore ||
                          counts.ready > integerAt(deployment, {"status", "readyReplicas"}) ||
                          counts.available > integerAt(deployment, {"status", "availableReplicas"});
  if (!progressed) return;
  setDeploymentCondition(status, {"Progressing", true, "ReplicaSetUpdated", name + " is progressing."}, now,
                         true);
}

// --- Pods

// A Pod from a workload's template, controlled by the workload, in its namespace.
Json podFromTemplate(const Json& workload) {
  const Json podTemplate = templateOf(workload);
  Json metadata = Json::object();
  for (const char* key : {"labels", "annotations", "finalizers"}) {
    if (const Json* from = at(podTemplate, {"metadata"})) copyKey(*from, metadata, key);
  }
  metadata["generateName"] = std::string(stringAt(workload, {"metadata", "name"})) + "-";
  metadata["namespace"] = stringAt(workload, {"metadata", "namespace"});
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}};
  const Json* spec = at(podTemplate, {"spec"});
  pod["spec"] = spec == nullptr ? Json::object() : *spec;
  return addOwner(std::move(pod), controllerReference(workload));
}

void label(Json& pod, const std::string& name, std::string_view value) {
  Json* labels = objectIn(pod["metadata"], "labels");
  if (labels != nullptr) (*labels)[name] = value;
}

Json existsToleration(const char* key, const char* effect) {
  return {{"key", key}, {"operator", "Exists"}, {"effect", effect}};
}

// Only the node whose Pod it is to be.
Json nodeAffinity(std::string_view node) {
  const Json field = {{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
  const Json term = {{"matchFields", Json::array({field})}};
  const Json required = {{"nodeSelectorTerms", Json::array({term})}};
  return {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", required}}}};
}

Json withStatus(Json object, Json status) {
  if (object.is_object()) object["status"] = std::move(status);
  return object;
}

void observe(const Json& workload, Json& status) {
  setUnlessZero(status, "observedGeneration", integerAt(workload, {"metadata", "generation"}));
}

}  // namespace

Json replicaSetOf(const Json& deployment, std::string_view name, int64_t revision) {
  const std::string hash(name.substr(name.rfind('-') + 1));
  Json podTemplate = templateOf(deployment);
  if (Json* metadata = objectIn(podTemplate, "metadata")) {
    if (Json* labels = objectIn(*metadata, "labels")) (*labels)[kTemplateHash] = hash;
  }
  const Json* selected = at(deployment, {"spec", "selector"});
  Json selector = selected == nullptr ? Json::object() : *selected;
  if (Json* labels = objectIn(selector, "matchLabels")) (*labels)[kTemplateHash] = hash;
  Json annotations = Json::object();
  annotateReplicaSet(deployment, annotations);
  annotations[kRevision] = std::to_string(revision);
  Json metadata = {{"name", name},
                   {"namespace", stringAt(deployment, {"metadata", "namespace"})},
                   {"annotations", std::move(annotations)}};
  if (const Json* labels = at(podTemplate, {"metadata", "labels"})) metadata["labels"] = *labels;
  Json spec = {{"replicas", wantedReplicas(deployment)},
               {"selector", std::move(selector)},
               {"template", std::move(podTemplate)}};
  setUnlessZero(spec, "minReadySeconds", integerAt(deployment, {"spec", "minReadySeconds"}));
  Json replicaSet = {{"apiVersion", kube::kAppsApiVersion},
                     {"kind", "ReplicaSet"},
                     {"metadata", std::move(metadata)},
                     {"spec", std::move(spec)}};
  return addOwner(std::move(replicaSet), controllerReference(deployment));
}

Json followingReplicaSet(const Json& deployment, Json replicaSet) {
  Json* metadata = objectIn(replicaSet, "metadata");
  Json* annotations = metadata == nullptr ? nullptr : objectIn(*metadata, "annotations");
  if (annotations != nullptr) annotateReplicaSet(deployment, *annotations);
  if (Json* spec = objectIn(replicaSet, "spec")) (*spec)["replicas"] = wantedReplicas(deployment);
  return replicaSet;
}

Json withNewReplicaSet(Json deployment, std::string_view replicaSet, int64_t revision, std::string_view now) {
  Json* metadata = objectIn(deployment, "metadata");
  Json* annotations = metadata == nullptr ? nullptr : objectIn(*metadata, "annotations");
  if (annotations != nullptr) (*annotations)[kRevision] = std::to_string(revision);
  if (Json* status = objectIn(deployment, "status"))
    setDeploymentCondition(*status,
                           {"Progressing", true, "NewReplicaSetCreated",
                            "Created new replica set \"" + std::string(replicaSet) + "\""},
                           now, false);
  return deployment;
}

Json observedDeployment(Json deployment, std::string_view replicaSet, const ReplicaCounts& counts,
                        std::string_view now) {
  Json status = Json::object();
  observe(deployment, status);
  setUnlessZero(status, "replicas", counts.replicas);
  setUnlessZero(status, "updatedReplicas", counts.updated);
  setUnlessZero(status, "readyReplicas", counts.ready);
  setUnlessZero(status, "availableReplicas", counts.available);
  setUnlessZero(status, "unavailableReplicas",
                std::max<int64_t>(wantedReplicas(deployment) - counts.available, 0));
  if (counts.terminating) status["terminatingReplicas"] = *counts.terminating;
  if (const Json* before = at(deployment, {"status"})) copyKey(*before, status, "conditions");
  noteAvailability(deployment, counts, now, status);
  noteProgress(deployment, replicaSet, counts, now, status);
  return withStatus(std::move(deployment), std::move(status));
}

Json observedReplicaSet(Json replicaSet, const ReplicaCounts& counts) {
  Json status = {{"replicas", counts.replicas}};
  observe(replicaSet, status);
  setUnlessZero(status, "fullyLabeledReplicas", counts.replicas);
  if (counts.terminating) status["terminatingReplicas"] = *counts.terminating;
  setUnlessZero(status, "readyReplicas", counts.ready);
  setUnlessZero(status, "availableReplicas", counts.available);
  return withStatus(std::move(replicaSet), std::move(status));
}

Json observedStatefulSet(Json statefulSet, std::string_view revision, const ReplicaCounts& counts) {
  Json status = {{"replicas", counts.replicas},
                 {"availableReplicas", counts.available},
                 {"collisionCount", 0},
                 {"currentRevision", revision},
                 {"updateRevision", revision}};
  observe(statefulSet, status);
  setUnlessZero(status, "readyReplicas", counts.ready);
  setUnlessZero(status, "currentReplicas", counts.updated);
  setUnlessZero(status, "updatedReplicas", counts.updated);
  return withStatus(std::move(statefulSet), std::move(status));
}

Json observedDaemonSet(Json daemonSet, int64_t nodes, const ReplicaCounts& counts) {
  Json status = {{"currentNumberScheduled", counts.replicas},
                 {"numberMisscheduled", 0},
                 {"desiredNumberScheduled", nodes},
                 {"numberReady", counts.ready}};
  observe(daemonSet, status);
  setUnlessZero(status, "updatedNumberScheduled", counts.updated);
  setUnlessZero(status, "numberAvailable", counts.available);
  setUnlessZero(status, "numberUnavailable", std::max<int64_t>(nodes - counts.available, 0));
  return withStatus(std::move(daemonSet), std::move(status));
}

Json podOfReplicaSet(const Json& replicaSet) { return podFromTemplate(replicaSet); }

Json podOfStatefulSet(const Json& statefulSet, int64_t ordinal, std::string_view revision) {
  Json pod = podFromTemplate(statefulSet);
  const std::string name =
      std::string(stringAt(statefulSet, {"metadata", "name"})) + "-" + std::to_string(ordinal);
  pod["metadata"]["name"] = name;
  label(pod, "controller-revision-hash", revision);
  label(pod, "statefulset.kubernetes.io/pod-name", name);
  if (pod["spec"].is_object()) {
    pod["spec"]["hostname"] = name;
    pod["spec"]["subdomain"] = stringAt(statefulSet, {"spec", "serviceName"});
    dropEmpty(pod["spec"], {"subdomain"});
  }
  return pod;
}

Json podOfDaemonSet(const Json& daemonSet, std::string_view node, std::string_view revision) {
  Json pod = podFromTemplate(daemonSet);
  label(pod, "controller-revision-hash", revision);
  label(pod, "pod-template-generation", "1");
  Json& spec = pod["spec"];
  if (!spec.is_object()) return pod;
  spec["affinity"] = nodeAffinity(node);
  setDefault(spec, "tolerations", Json::array());
  Json* tolerations = listIn(spec, "tolerations");
  if (tolerations == nullptr) return pod;
  for (const char* key : {"not-ready", "unreachable"})
    tolerations->push_back(existsToleration(("node.kubernetes.io/" + std::string(key)).c_str(), "NoExecute"));
  for (const char* key : {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"})
    tolerations->push_back(
        existsToleration(("node.kubernetes.io/" + std::string(key)).c_str(), "NoSchedule"));
  return pod;
}

namespace {

// Conditions of a Pod also have lastProbeTime, and empty words are left out.
void setPodCondition(Json& status, const StatusCondition& condition, std::string_view now) {
  Json& entry = setCondition(status["conditions"], condition, now);
  entry["lastProbeTime"] = nullptr;
  dropEmpty(entry, {"reason", "message"});
}

std::string containerNames(const Json& pod) {
  std::string names;
  const Json* containers = at(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return names;
  for (const Json& container : *containers)
    names += (names.empty() ? "" : " ") + std::string(stringAt(container, {"name"}));
  return names;
}

// One entry for each container, in `state`.
Json containerStatuses(const Json& pod, const Json& state, bool ready) {
  Json statuses = Json::array();
  const Json* containers = at(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return statuses;
  for (const Json& container : *containers)
    statuses.push_back({{"name", stringAt(container, {"name"})},
                        {"state", state},
                        {"lastState", Json::object()},
                        {"ready", ready},
                        {"restartCount", 0},
                        {"image", stringAt(container, {"image"})},
                        {"imageID", ""}});
  return statuses;
}

bool hasEnded(const Json& status) {
  const Json* containers = at(status, {"containerStatuses"});
  return containers != nullptr && containers->is_array() && !containers->empty() &&
         at(containers->front(), {"state", "terminated"}) != nullptr;
}

}  // namespace

std::string podIpOf(std::string_view uid) {
  const uint64_t host =
      2 + kube::stableHash(uid) % (65536 - 3);  // not the network's own address, nor broadcast
  return "10.244." + std::to_string(host / 256) + "." + std::to_string(host % 256);
}

Json readyPod(Json pod, std::string_view now) {
  Json* status = objectIn(pod, "status");
  if (status == nullptr || stringAt(*status, {"phase"}) == "Running") return pod;
  const std::string address = podIpOf(stringAt(pod, {"metadata", "uid"}));
  (*status)["phase"] = "Running";
  const Json before = *status;
  (*status)["conditions"] = Json::array();
  for (const char* type : {"Ready", "ContainersReady", "PodScheduled"}) {
    if (const Json* known = findCondition(before, type)) (*status)["conditions"].push_back(*known);
    setPodCondition(*status, {type, true, "", ""}, now);
  }
  setDefault(*status, "startTime", now);
  (*status)["podIP"] = address;
  (*status)["podIPs"] = Json::array({Json::object({{"ip", address}})});
  const Json running = {{"running", {{"startedAt", now}}}};
  (*status)["containerStatuses"] = containerStatuses(pod, running, true);
  return pod;
}

Json stoppedPod(Json pod, std::string_view now) {
  Json* status = objectIn(pod, "status");
  if (status == nullptr || hasEnded(*status)) return pod;
  const std::string message = "containers with unready status: [" + containerNames(pod) + "]";
  for (const char* type : {"Ready", "ContainersReady"})
    setPodCondition(*status, {type, false, "ContainersNotReady", message}, now);
  const std::string started(stringAt(*status, {"startTime"}));
  const Json ended = {{"exitCode", 0},
                      {"reason", "Completed"},
                      {"startedAt", started.empty() ? Json(nullptr) : Json(started)},
                      {"finishedAt", now}};
  (*status)["containerStatuses"] = containerStatuses(pod, {{"terminated", ended}}, false);
  return pod;
}

}  // namespace lastout::simulator
