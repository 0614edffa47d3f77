// The columns of types that are stored, and that nothing acts on: storedTypeColumns.
#include "kube/well_known.h"
#include "simulator/builtin_columns.h"
#include "simulator/column_words.h"

namespace lastout::simulator {
namespace {

std::string yesOrNo(const Json* value) { return value != nullptr && *value == true ? "true" : "false"; }

// "Deployment/web"
std::string kindAndName(const Json* reference) {
  if (reference == nullptr) return "<none>";
  return std::string(stringAt(*reference, {"kind"})) + "/" + std::string(stringAt(*reference, {"name"}));
}

// Roles and their bindings.

Json boundRole(const Json& binding, int64_t) { return kindAndName(at(binding, {"roleRef"})); }
std::string subjectsOf(const Json& binding, std::string_view kind) {
  return joined(at(binding, {"subjects"}), "", [kind](const Json& subject) -> std::string {
    if (stringAt(subject, {"kind"}) != kind) return "";
    const std::string name(stringAt(subject, {"name"}));
    return kind == "ServiceAccount" ? std::string(stringAt(subject, {"namespace"})) + "/" + name : name;
  });
}
Json boundUsers(const Json& binding, int64_t) { return subjectsOf(binding, "User"); }
Json boundGroups(const Json& binding, int64_t) { return subjectsOf(binding, "Group"); }
Json boundAccounts(const Json& binding, int64_t) { return subjectsOf(binding, "ServiceAccount"); }
constexpr BuiltInColumn kBindings[] = {{"Name", "string", nameCell},
                                       {"Role", "string", boundRole},
                                       {"Age", "string", ageCell},
                                       {"Users", "string", boundUsers, true},
                                       {"Groups", "string", boundGroups, true},
                                       {"ServiceAccounts", "string", boundAccounts, true}};
constexpr BuiltInColumn kRoles[] = {{"Name", "string", nameCell}, {"Created At", "date", createdCell}};

// What bounds and scales.

Json leastAvailable(const Json& budget, int64_t) {
  return wordOf(at(budget, {"spec", "minAvailable"}), "N/A");
}
Json mostUnavailable(const Json& budget, int64_t) {
  return wordOf(at(budget, {"spec", "maxUnavailable"}), "N/A");
}
Json allowedDisruptions(const Json& budget, int64_t) {
  return integerAt(budget, {"status", "disruptionsAllowed"});
}
constexpr BuiltInColumn kBudgets[] = {{"Name", "string", nameCell},
                                      {"Min Available", "string", leastAvailable},
                                      {"Max Unavailable", "string", mostUnavailable},
                                      {"Allowed Disruptions", "integer", allowedDisruptions},
                                      {"Age", "string", ageCell}};

Json scaledObject(const Json& scaler, int64_t) { return kindAndName(at(scaler, {"spec", "scaleTargetRef"})); }
// Nothing is measured here.
Json scalerTargets(const Json& scaler, int64_t) {
  return joined(at(scaler, {"spec", "metrics"}), "<none>", [](const Json& metric) -> std::string {
    const std::string name(stringAt(metric, {"resource", "name"}));
    if (name.empty()) return "<unknown>";
    const std::string share = wordOf(at(metric, {"resource", "target", "averageUtilization"}), "");
    const std::string value = wordOf(at(metric, {"resource", "target", "averageValue"}), "<auto>");
    return name + ": <unknown>/" + (share.empty() ? value : share + "%");
  });
}
Json fewestPods(const Json& scaler, int64_t) {
  return wordOf(at(scaler, {"spec", "minReplicas"}), "<unset>");
}
Json mostPods(const Json& scaler, int64_t) { return integerAt(scaler, {"spec", "maxReplicas"}); }
Json currentPods(const Json& scaler, int64_t) { return integerAt(scaler, {"status", "currentReplicas"}); }
constexpr BuiltInColumn kScalers[] = {{"Name", "string", nameCell},
                                      {"Reference", "string", scaledObject},
                                      {"Targets", "string", scalerTargets},
                                      {"MinPods", "string", fewestPods},
                                      {"MaxPods", "string", mostPods},
                                      {"Replicas", "string", currentPods},
                                      {"Age", "string", ageCell}};

Json rcDesired(const Json& controller, int64_t) { return integerAt(controller, {"spec", "replicas"}, 1); }
Json rcCurrent(const Json& controller, int64_t) { return integerAt(controller, {"status", "replicas"}); }
Json rcReady(const Json& controller, int64_t) { return integerAt(controller, {"status", "readyReplicas"}); }
constexpr BuiltInColumn kReplicationControllers[] = {{"Name", "string", nameCell},
                                                     {"Desired", "integer", rcDesired},
                                                     {"Current", "integer", rcCurrent},
                                                     {"Ready", "integer", rcReady},
                                                     {"Age", "string", ageCell},
                                                     {"Containers", "string", containerNames, true},
                                                     {"Images", "string", containerImages, true}};

// The network.

Json endpointAddresses(const Json& endpoints, int64_t) {
  return joined(at(endpoints, {"subsets"}), "<none>", [](const Json& subset) {
    const Json* ports = at(subset, {"ports"});
    const bool hasPort = ports != nullptr && ports->is_array() && !ports->empty();
    const std::string port = hasPort ? wordOf(at(ports->front(), {"port"}), "") : "";
    return joined(at(subset, {"addresses"}), "", [&port](const Json& address) {
      return std::string(stringAt(address, {"ip"})) + (port.empty() ? "" : ":" + port);
    });
  });
}
constexpr BuiltInColumn kEndpoints[] = {
    {"Name", "string", nameCell}, {"Endpoints", "string", endpointAddresses}, {"Age", "string", ageCell}};

Json addressType(const Json& slice, int64_t) { return stringAt(slice, {"addressType"}); }
Json slicePorts(const Json& slice, int64_t) {
  return joined(at(slice, {"ports"}), "<unset>",
                [](const Json& port) { return wordOf(at(port, {"port"}), "*"); });
}
Json sliceAddresses(const Json& slice, int64_t) {
  return joined(at(slice, {"endpoints"}), "<unset>", [](const Json& endpoint) {
    return joined(at(endpoint, {"addresses"}), "", [](const Json& address) { return wordOf(&address, ""); });
  });
}
constexpr BuiltInColumn kSlices[] = {{"Name", "string", nameCell},
                                     {"AddressType", "string", addressType},
                                     {"Ports", "string", slicePorts},
                                     {"Endpoints", "string", sliceAddresses},
                                     {"Age", "string", ageCell}};

Json classController(const Json& type, int64_t) { return stringAt(type, {"spec", "controller"}); }
Json classParameters(const Json& type, int64_t) {
  const Json* parameters = at(type, {"spec", "parameters"});
  if (parameters == nullptr) return "<none>";
  const std::string group(stringAt(*parameters, {"apiGroup"}));
  return std::string(stringAt(*parameters, {"kind"})) + (group.empty() ? "" : "." + group) + "/" +
         std::string(stringAt(*parameters, {"name"}));
}
constexpr BuiltInColumn kIngressClasses[] = {{"Name", "string", nameCell},
                                             {"Controller", "string", classController},
                                             {"Parameters", "string", classParameters},
                                             {"Age", "string", ageCell}};

// What the API server is told.

Json serviceOfApi(const Json& api, int64_t) {
  const Json* service = at(api, {"spec", "service"});
  if (service == nullptr || service->is_null()) return "Local";
  return std::string(stringAt(*service, {"namespace"})) + "/" + std::string(stringAt(*service, {"name"}));
}
Json isAvailable(const Json& api, int64_t) {
  const Json* status = at(api, {"status"});
  const Json* condition = status == nullptr ? nullptr : findCondition(*status, "Available");
  if (condition == nullptr) return "Unknown";
  if (stringAt(*condition, {"status"}) == "True") return "True";
  return std::string(stringAt(*condition, {"status"})) + " (" +
         std::string(stringAt(*condition, {"reason"})) + ")";
}
constexpr BuiltInColumn kApiServices[] = {{"Name", "string", nameCell},
                                          {"Service", "string", serviceOfApi},
                                          {"Available", "string", isAvailable},
                                          {"Age", "string", ageCell}};

Json validationCount(const Json& policy, int64_t) { return sizeAt(policy, {"spec", "validations"}); }
Json mutationCount(const Json& policy, int64_t) { return sizeAt(policy, {"spec", "mutations"}); }
Json kindOfParameters(const Json& policy, int64_t) {
  const Json* kind = at(policy, {"spec", "paramKind"});
  if (kind == nullptr || kind->is_null()) return "<unset>";
  return std::string(stringAt(*kind, {"apiVersion"})) + "/" + std::string(stringAt(*kind, {"kind"}));
}
constexpr BuiltInColumn kValidatingPolicies[] = {{"Name", "string", nameCell},
                                                 {"Validations", "integer", validationCount},
                                                 {"ParamKind", "string", kindOfParameters},
                                                 {"Age", "string", ageCell}};
constexpr BuiltInColumn kMutatingPolicies[] = {{"Name", "string", nameCell},
                                               {"Mutations", "integer", mutationCount},
                                               {"ParamKind", "string", kindOfParameters},
                                               {"Age", "string", ageCell}};

Json boundPolicy(const Json& binding, int64_t) { return stringAt(binding, {"spec", "policyName"}); }
Json boundParameters(const Json& binding, int64_t) {
  return textOr(stringAt(binding, {"spec", "paramRef", "name"}), "<unset>");
}
constexpr BuiltInColumn kPolicyBindings[] = {{"Name", "string", nameCell},
                                             {"PolicyName", "string", boundPolicy},
                                             {"ParamRef", "string", boundParameters},
                                             {"Age", "string", ageCell}};

Json runtimeHandler(const Json& runtime, int64_t) { return stringAt(runtime, {"handler"}); }
constexpr BuiltInColumn kRuntimeClasses[] = {
    {"Name", "string", nameCell}, {"Handler", "string", runtimeHandler}, {"Age", "string", ageCell}};

// Storage.

Json attachRequired(const Json& driver, int64_t) { return yesOrNo(at(driver, {"spec", "attachRequired"})); }
Json podInfo(const Json& driver, int64_t) { return yesOrNo(at(driver, {"spec", "podInfoOnMount"})); }
Json driverModes(const Json& driver, int64_t) {
  return joined(at(driver, {"spec", "volumeLifecycleModes"}), "<unset>",
                [](const Json& mode) { return wordOf(&mode, ""); });
}
constexpr BuiltInColumn kDrivers[] = {{"Name", "string", nameCell},
                                      {"AttachRequired", "boolean", attachRequired},
                                      {"PodInfoOnMount", "boolean", podInfo},
                                      {"Modes", "string", driverModes},
                                      {"Age", "string", ageCell}};

Json attacher(const Json& attachment, int64_t) { return stringAt(attachment, {"spec", "attacher"}); }
Json attachedVolume(const Json& attachment, int64_t) {
  return stringAt(attachment, {"spec", "source", "persistentVolumeName"});
}
Json attachedNode(const Json& attachment, int64_t) { return stringAt(attachment, {"spec", "nodeName"}); }
Json attached(const Json& attachment, int64_t) { return yesOrNo(at(attachment, {"status", "attached"})); }
constexpr BuiltInColumn kAttachments[] = {{"Name", "string", nameCell},      {"Attacher", "string", attacher},
                                          {"PV", "string", attachedVolume},  {"Node", "string", attachedNode},
                                          {"Attached", "boolean", attached}, {"Age", "string", ageCell}};

Json driverName(const Json& type, int64_t) { return stringAt(type, {"driverName"}); }
constexpr BuiltInColumn kAttributesClasses[] = {
    {"Name", "string", nameCell}, {"DriverName", "string", driverName}, {"Age", "string", ageCell}};

constexpr BuiltInColumn kPlain[] = {{"Name", "string", nameCell}, {"Age", "string", ageCell}};

struct NamedColumns {
  std::string_view group;
  std::string_view resource;
  std::span<const BuiltInColumn> columns;
};

constexpr NamedColumns kStored[] = {
    {"", "endpoints", kEndpoints},
    {"", "replicationcontrollers", kReplicationControllers},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies", kMutatingPolicies},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings", kPolicyBindings},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies", kValidatingPolicies},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings", kPolicyBindings},
    {"apiregistration.k8s.io", "apiservices", kApiServices},
    {"autoscaling", "horizontalpodautoscalers", kScalers},
    {"discovery.k8s.io", "endpointslices", kSlices},
    {"networking.k8s.io", "ingressclasses", kIngressClasses},
    {"node.k8s.io", "runtimeclasses", kRuntimeClasses},
    {"policy", "poddisruptionbudgets", kBudgets},
    {"rbac.authorization.k8s.io", "clusterrolebindings", kBindings},
    {"rbac.authorization.k8s.io", "clusterroles", kRoles},
    {"rbac.authorization.k8s.io", "rolebindings", kBindings},
    {"rbac.authorization.k8s.io", "roles", kRoles},
    {"storage.k8s.io", "csidrivers", kDrivers},
    {"storage.k8s.io", "volumeattachments", kAttachments},
    {"storage.k8s.io", "volumeattributesclasses", kAttributesClasses},
};

}  // namespace

std::span<const BuiltInColumn> storedTypeColumns(const kube::GroupResource& type) {
  for (const NamedColumns& known : kStored) {
    if (known.group == type.group && known.resource == type.resource) return known.columns;
  }
  return kPlain;
}

}  // namespace lastout::simulator
