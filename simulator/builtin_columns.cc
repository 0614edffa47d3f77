#include "simulator/builtin_columns.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kube/well_known.h"
#include "simulator/column_words.h"
#include "simulator/json.h"
#include "simulator/metadata.h"
#include "simulator/table.h"

namespace lastout::simulator {
namespace {

// Pods.

// The first container that says why it waits or has ended.
std::string containerReason(const Json& pod) {
  const Json* containers = at(pod, {"status", "containerStatuses"});
  if (containers == nullptr || !containers->is_array()) return "";
  for (const Json& container : *containers) {
    for (const std::string_view state : {"waiting", "terminated"}) {
      const std::string_view reason = stringAt(container, {"state", state, "reason"});
      if (!reason.empty()) return std::string(reason);
    }
  }
  return "";
}

Json podReady(const Json& pod, int64_t) {
  int64_t ready = 0;
  const Json* containers = at(pod, {"status", "containerStatuses"});
  if (containers != nullptr && containers->is_array()) {
    for (const Json& container : *containers) {
      const Json* flag = at(container, {"ready"});
      ready += flag != nullptr && *flag == true ? 1 : 0;
    }
  }
  return ratio(ready, static_cast<int64_t>(sizeAt(pod, {"spec", "containers"})));
}

Json podStatus(const Json& pod, int64_t) {
  if (isTerminating(pod)) return "Terminating";
  const std::string reason = containerReason(pod);
  if (!reason.empty()) return reason;
  return textOr(stringAt(pod, {"status", "reason"}), stringAt(pod, {"status", "phase"}));
}

Json podRestarts(const Json& pod, int64_t) {
  int64_t restarts = 0;
  const Json* containers = at(pod, {"status", "containerStatuses"});
  if (containers != nullptr && containers->is_array()) {
    for (const Json& container : *containers) {
      restarts += std::clamp<int64_t>(integerAt(container, {"restartCount"}), 0, 1'000'000);
    }
  }
  return std::to_string(restarts);
}

Json podAddress(const Json& pod, int64_t) { return textOr(stringAt(pod, {"status", "podIP"}), "<none>"); }
Json podNode(const Json& pod, int64_t) { return textOr(stringAt(pod, {"spec", "nodeName"}), "<none>"); }

constexpr BuiltInColumn kPods[] = {
    {"Name", "string", nameCell},        {"Ready", "string", podReady}, {"Status", "string", podStatus},
    {"Restarts", "string", podRestarts}, {"Age", "string", ageCell},    {"IP", "string", podAddress, true},
    {"Node", "string", podNode, true},
};

// Workloads.

Json readyOfReplicas(const Json& workload, int64_t) {
  return ratio(integerAt(workload, {"status", "readyReplicas"}),
               integerAt(workload, {"spec", "replicas"}, 1));
}
Json desiredReplicas(const Json& workload, int64_t) { return integerAt(workload, {"spec", "replicas"}, 1); }
template <const char* kKey>
Json statusNumber(const Json& workload, int64_t) {
  return integerAt(workload, {"status", kKey});
}

constexpr char kReplicas[] = "replicas";
constexpr char kReadyReplicas[] = "readyReplicas";
constexpr char kUpdatedReplicas[] = "updatedReplicas";
constexpr char kAvailableReplicas[] = "availableReplicas";
constexpr char kDesiredScheduled[] = "desiredNumberScheduled";
constexpr char kCurrentScheduled[] = "currentNumberScheduled";
constexpr char kNumberReady[] = "numberReady";
constexpr char kUpdatedScheduled[] = "updatedNumberScheduled";
constexpr char kNumberAvailable[] = "numberAvailable";

constexpr BuiltInColumn kDeployments[] = {
    {"Name", "string", nameCell},
    {"Ready", "string", readyOfReplicas},
    {"Up-to-date", "integer", statusNumber<kUpdatedReplicas>},
    {"Available", "integer", statusNumber<kAvailableReplicas>},
    {"Age", "string", ageCell},
    {"Containers", "string", containerNames, true},
    {"Images", "string", containerImages, true},
    {"Selector", "string", selectorLabels, true},
};

constexpr BuiltInColumn kReplicaSets[] = {
    {"Name", "string", nameCell},
    {"Desired", "integer", desiredReplicas},
    {"Current", "integer", statusNumber<kReplicas>},
    {"Ready", "integer", statusNumber<kReadyReplicas>},
    {"Age", "string", ageCell},
    {"Containers", "string", containerNames, true},
    {"Images", "string", containerImages, true},
    {"Selector", "string", selectorLabels, true},
};

constexpr BuiltInColumn kStatefulSets[] = {
    {"Name", "string", nameCell},
    {"Ready", "string", readyOfReplicas},
    {"Age", "string", ageCell},
    {"Containers", "string", containerNames, true},
    {"Images", "string", containerImages, true},
};

Json nodeSelector(const Json& workload, int64_t) {
  return pairsOf(at(workload, {"spec", "template", "spec", "nodeSelector"}));
}

constexpr BuiltInColumn kDaemonSets[] = {
    {"Name", "string", nameCell},
    {"Desired", "integer", statusNumber<kDesiredScheduled>},
    {"Current", "integer", statusNumber<kCurrentScheduled>},
    {"Ready", "integer", statusNumber<kNumberReady>},
    {"Up-to-date", "integer", statusNumber<kUpdatedScheduled>},
    {"Available", "integer", statusNumber<kNumberAvailable>},
    {"Node Selector", "string", nodeSelector},
    {"Age", "string", ageCell},
    {"Containers", "string", containerNames, true},
    {"Images", "string", containerImages, true},
    {"Selector", "string", selectorLabels, true},
};

// The rest, by name.

Json serviceType(const Json& service, int64_t) {
  return textOr(stringAt(service, {"spec", "type"}), "ClusterIP");
}
Json serviceAddress(const Json& service, int64_t) {
  return textOr(stringAt(service, {"spec", "clusterIP"}), "<none>");
}
Json serviceExternal(const Json& service, int64_t) {
  if (stringAt(service, {"spec", "type"}) == "ExternalName")
    return textOr(stringAt(service, {"spec", "externalName"}), "<none>");
  return joined(at(service, {"spec", "externalIPs"}), "<none>",
                [](const Json& ip) { return wordOf(&ip, ""); });
}
Json servicePorts(const Json& service, int64_t) {
  return joined(at(service, {"spec", "ports"}), "<none>", [](const Json& port) {
    const std::string nodePort = wordOf(at(port, {"nodePort"}), "");
    return wordOf(at(port, {"port"}), "") + (nodePort.empty() || nodePort == "0" ? "" : ":" + nodePort) +
           "/" + textOr(stringAt(port, {"protocol"}), "TCP");
  });
}
Json serviceSelector(const Json& service, int64_t) { return pairsOf(at(service, {"spec", "selector"})); }

constexpr BuiltInColumn kServices[] = {
    {"Name", "string", nameCell},
    {"Type", "string", serviceType},
    {"Cluster-IP", "string", serviceAddress},
    {"External-IP", "string", serviceExternal},
    {"Port(s)", "string", servicePorts},
    {"Age", "string", ageCell},
    {"Selector", "string", serviceSelector, true},
};

Json phaseCell(const Json& object, int64_t) { return stringAt(object, {"status", "phase"}); }
constexpr BuiltInColumn kNamespaces[] = {
    {"Name", "string", nameCell}, {"Status", "string", phaseCell}, {"Age", "string", ageCell}};

Json configMapData(const Json& map, int64_t) { return sizeAt(map, {"data"}) + sizeAt(map, {"binaryData"}); }
constexpr BuiltInColumn kConfigMaps[] = {
    {"Name", "string", nameCell}, {"Data", "integer", configMapData}, {"Age", "string", ageCell}};

Json secretType(const Json& secret, int64_t) { return textOr(stringAt(secret, {"type"}), "Opaque"); }
Json secretData(const Json& secret, int64_t) { return sizeAt(secret, {"data"}); }
constexpr BuiltInColumn kSecrets[] = {{"Name", "string", nameCell},
                                      {"Type", "string", secretType},
                                      {"Data", "integer", secretData},
                                      {"Age", "string", ageCell}};

Json accountSecrets(const Json& account, int64_t) { return sizeAt(account, {"secrets"}); }
constexpr BuiltInColumn kServiceAccounts[] = {
    {"Name", "string", nameCell}, {"Secrets", "integer", accountSecrets}, {"Age", "string", ageCell}};

Json terminatingOrPhase(const Json& object, int64_t now) {
  return isTerminating(object) ? Json("Terminating") : phaseCell(object, now);
}
// "RWO,ROX"
std::string accessModes(const Json* modes) {
  return joined(modes, "", [](const Json& mode) -> std::string {
    const std::string word = wordOf(&mode, "");
    if (word == "ReadWriteOnce") return "RWO";
    if (word == "ReadOnlyMany") return "ROX";
    if (word == "ReadWriteMany") return "RWX";
    return word == "ReadWriteOncePod" ? "RWOP" : "";
  });
}
Json claimVolume(const Json& claim, int64_t) { return stringAt(claim, {"spec", "volumeName"}); }
Json claimCapacity(const Json& claim, int64_t) {
  return wordOf(at(claim, {"status", "capacity", "storage"}), "");
}
Json claimAccess(const Json& claim, int64_t) { return accessModes(at(claim, {"status", "accessModes"})); }
Json storageClass(const Json& object, int64_t) { return stringAt(object, {"spec", "storageClassName"}); }
Json volumeMode(const Json& object, int64_t) {
  return textOr(stringAt(object, {"spec", "volumeMode"}), "<unset>");
}
constexpr BuiltInColumn kClaims[] = {{"Name", "string", nameCell},
                                     {"Status", "string", terminatingOrPhase},
                                     {"Volume", "string", claimVolume},
                                     {"Capacity", "string", claimCapacity},
                                     {"Access Modes", "string", claimAccess},
                                     {"StorageClass", "string", storageClass},
                                     {"Age", "string", ageCell},
                                     {"VolumeMode", "string", volumeMode, true}};

Json volumeCapacity(const Json& volume, int64_t) {
  return wordOf(at(volume, {"spec", "capacity", "storage"}), "");
}
Json volumeAccess(const Json& volume, int64_t) { return accessModes(at(volume, {"spec", "accessModes"})); }
Json volumePolicy(const Json& volume, int64_t) {
  return stringAt(volume, {"spec", "persistentVolumeReclaimPolicy"});
}
Json volumeClaim(const Json& volume, int64_t) {
  const std::string name(stringAt(volume, {"spec", "claimRef", "name"}));
  return name.empty() ? "" : std::string(stringAt(volume, {"spec", "claimRef", "namespace"})) + "/" + name;
}
constexpr BuiltInColumn kVolumes[] = {{"Name", "string", nameCell},
                                      {"Capacity", "string", volumeCapacity},
                                      {"Access Modes", "string", volumeAccess},
                                      {"Reclaim Policy", "string", volumePolicy},
                                      {"Status", "string", terminatingOrPhase},
                                      {"Claim", "string", volumeClaim},
                                      {"StorageClass", "string", storageClass},
                                      {"Age", "string", ageCell},
                                      {"VolumeMode", "string", volumeMode, true}};

Json lastSeen(const Json& event, int64_t now) {
  for (const std::string_view key : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    if (const auto time = stringAt(event, {key}); !time.empty()) return ageOf(time, now);
  }
  return "<unknown>";
}
Json eventType(const Json& event, int64_t) { return stringAt(event, {"type"}); }
Json eventReason(const Json& event, int64_t) { return stringAt(event, {"reason"}); }
Json eventMessage(const Json& event, int64_t) { return stringAt(event, {"message"}); }
Json eventObject(const Json& event, int64_t) {
  std::string kind(stringAt(event, {"involvedObject", "kind"}));
  std::ranges::transform(kind, kind.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return kind + "/" + std::string(stringAt(event, {"involvedObject", "name"}));
}
constexpr BuiltInColumn kEvents[] = {{"Last Seen", "string", lastSeen},   {"Type", "string", eventType},
                                     {"Reason", "string", eventReason},   {"Object", "string", eventObject},
                                     {"Message", "string", eventMessage}, {"Name", "string", nameCell, true}};

constexpr BuiltInColumn kDefinitions[] = {{"Name", "string", nameCell}, {"Created At", "date", createdCell}};

Json leaseHolder(const Json& lease, int64_t) { return stringAt(lease, {"spec", "holderIdentity"}); }
constexpr BuiltInColumn kLeases[] = {
    {"Name", "string", nameCell}, {"Holder", "string", leaseHolder}, {"Age", "string", ageCell}};

Json webhookCount(const Json& configuration, int64_t) { return sizeAt(configuration, {"webhooks"}); }
constexpr BuiltInColumn kWebhooks[] = {
    {"Name", "string", nameCell}, {"Webhooks", "integer", webhookCount}, {"Age", "string", ageCell}};

Json policySelector(const Json& policy, int64_t) {
  return selectorWords(at(policy, {"spec", "podSelector"}), "<none>");
}
constexpr BuiltInColumn kNetworkPolicies[] = {
    {"Name", "string", nameCell}, {"Pod-Selector", "string", policySelector}, {"Age", "string", ageCell}};

std::string timeAgo(std::string_view time, int64_t now) {
  return time.empty() ? "<none>" : std::string(ageOf(time, now));
}
Json cronSchedule(const Json& job, int64_t) { return stringAt(job, {"spec", "schedule"}); }
Json cronZone(const Json& job, int64_t) { return textOr(stringAt(job, {"spec", "timeZone"}), "<none>"); }
Json cronSuspended(const Json& job, int64_t) {
  const Json* suspend = at(job, {"spec", "suspend"});
  return suspend != nullptr && *suspend == true ? "True" : "False";
}
Json cronActive(const Json& job, int64_t) { return sizeAt(job, {"status", "active"}); }
Json cronLast(const Json& job, int64_t now) {
  return timeAgo(stringAt(job, {"status", "lastScheduleTime"}), now);
}
constexpr BuiltInColumn kCronJobs[] = {
    {"Name", "string", nameCell},      {"Schedule", "string", cronSchedule},
    {"Timezone", "string", cronZone},  {"Suspend", "boolean", cronSuspended},
    {"Active", "integer", cronActive}, {"Last Schedule", "string", cronLast},
    {"Age", "string", ageCell}};

Json jobStatus(const Json& job, int64_t) {
  const Json* conditions = at(job, {"status", "conditions"});
  if (conditions != nullptr && conditions->is_array()) {
    for (const Json& condition : *conditions) {
      if (stringAt(condition, {"status"}) != "True") continue;
      const std::string_view type = stringAt(condition, {"type"});
      if (type == "Complete" || type == "Failed" || type == "Suspended") return type;
    }
  }
  return "Running";
}
Json jobCompletions(const Json& job, int64_t) {
  return ratio(integerAt(job, {"status", "succeeded"}), integerAt(job, {"spec", "completions"}, 1));
}
Json jobDuration(const Json& job, int64_t now) {
  const std::string_view start = stringAt(job, {"status", "startTime"});
  return start.empty() ? Json("") : Json(ageOf(start, now));
}
constexpr BuiltInColumn kJobs[] = {{"Name", "string", nameCell},
                                   {"Status", "string", jobStatus},
                                   {"Completions", "string", jobCompletions},
                                   {"Duration", "string", jobDuration},
                                   {"Age", "string", ageCell}};

Json ingressClass(const Json& ingress, int64_t) {
  return textOr(stringAt(ingress, {"spec", "ingressClassName"}), "<none>");
}
Json ingressHosts(const Json& ingress, int64_t) {
  return joined(at(ingress, {"spec", "rules"}), "*",
                [](const Json& rule) { return std::string(stringAt(rule, {"host"})); });
}
Json ingressAddress(const Json& ingress, int64_t) {
  return joined(at(ingress, {"status", "loadBalancer", "ingress"}), "",
                [](const Json& one) { return textOr(stringAt(one, {"ip"}), stringAt(one, {"hostname"})); });
}
Json ingressPorts(const Json& ingress, int64_t) {
  return sizeAt(ingress, {"spec", "tls"}) > 0 ? "80, 443" : "80";
}
constexpr BuiltInColumn kIngresses[] = {
    {"Name", "string", nameCell},      {"Class", "string", ingressClass},
    {"Hosts", "string", ingressHosts}, {"Address", "string", ingressAddress},
    {"Ports", "string", ingressPorts}, {"Age", "string", ageCell}};

Json provisioner(const Json& storage, int64_t) { return stringAt(storage, {"provisioner"}); }
Json reclaimPolicy(const Json& storage, int64_t) {
  return textOr(stringAt(storage, {"reclaimPolicy"}), "Delete");
}
Json bindingMode(const Json& storage, int64_t) {
  return textOr(stringAt(storage, {"volumeBindingMode"}), "Immediate");
}
Json allowsExpansion(const Json& storage, int64_t) {
  const Json* allows = at(storage, {"allowVolumeExpansion"});
  return allows != nullptr && *allows == true;
}
constexpr BuiltInColumn kStorageClasses[] = {{"Name", "string", nameCell},
                                             {"Provisioner", "string", provisioner},
                                             {"ReclaimPolicy", "string", reclaimPolicy},
                                             {"VolumeBindingMode", "string", bindingMode},
                                             {"AllowVolumeExpansion", "string", allowsExpansion},
                                             {"Age", "string", ageCell}};

Json priorityValue(const Json& priority, int64_t) { return integerAt(priority, {"value"}); }
Json isGlobalDefault(const Json& priority, int64_t) {
  const Json* global = at(priority, {"globalDefault"});
  return global != nullptr && *global == true;
}
Json preemption(const Json& priority, int64_t) {
  return textOr(stringAt(priority, {"preemptionPolicy"}), "PreemptLowerPriority");
}
constexpr BuiltInColumn kPriorityClasses[] = {{"Name", "string", nameCell},
                                              {"Value", "integer", priorityValue},
                                              {"Global-Default", "boolean", isGlobalDefault},
                                              {"Age", "string", ageCell},
                                              {"PreemptionPolicy", "string", preemption}};

// Types that nothing else here names.
const kube::GroupResource kIngressType{"networking.k8s.io", "ingresses"};
const kube::GroupResource kNetworkPolicyType{"networking.k8s.io", "networkpolicies"};
const kube::GroupResource kPriorityClassType{"scheduling.k8s.io", "priorityclasses"};
const kube::GroupResource kStorageClassType{"storage.k8s.io", "storageclasses"};

struct TypeColumns {
  const kube::GroupResource* type;
  std::span<const BuiltInColumn> columns;
};

constexpr TypeColumns kTypes[] = {
    {&kube::kPods, kPods},
    {&kube::kServices, kServices},
    {&kube::kNamespaces, kNamespaces},
    {&kube::kConfigMaps, kConfigMaps},
    {&kube::kSecrets, kSecrets},
    {&kube::kServiceAccounts, kServiceAccounts},
    {&kube::kPersistentVolumeClaims, kClaims},
    {&kube::kPersistentVolumes, kVolumes},
    {&kube::kEvents, kEvents},
    {&kube::kDeployments, kDeployments},
    {&kube::kReplicaSets, kReplicaSets},
    {&kube::kStatefulSets, kStatefulSets},
    {&kube::kDaemonSets, kDaemonSets},
    {&kube::kCustomResourceDefinitions, kDefinitions},
    {&kube::kLeases, kLeases},
    {&kube::kCronJobs, kCronJobs},
    {&kube::kJobs, kJobs},
    {&kIngressType, kIngresses},
    {&kNetworkPolicyType, kNetworkPolicies},
    {&kPriorityClassType, kPriorityClasses},
    {&kStorageClassType, kStorageClasses},
    {&kube::kValidatingWebhookConfigurations, kWebhooks},
    {&kube::kMutatingWebhookConfigurations, kWebhooks},
};

}  // namespace

std::span<const BuiltInColumn> builtInColumns(const kube::GroupResource& type) {
  for (const TypeColumns& known : kTypes) {
    if (*known.type == type) return known.columns;
  }
  return storedTypeColumns(type);
}

}  // namespace lastout::simulator
