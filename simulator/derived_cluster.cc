#include "simulator/derived_cluster.h"

#include <algorithm>
#include <utility>

#include "kube/well_known.h"
#include "simulator/json.h"
#include "simulator/metadata.h"

namespace lastout::simulator {
namespace {

constexpr const char* kRootCertificatesMeaning =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such "
    "as "
    "the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
    "Kubernetes clusters.";

std::string joinedSorted(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

StatusCondition discoveryFailure(const std::vector<std::string>& undiscovered) {
  if (undiscovered.empty())
    return {"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
            "All resources successfully discovered"};
  return {"NamespaceDeletionDiscoveryFailure", true, "DiscoveryFailed",
          "Discovery failed for some groups, " + std::to_string(undiscovered.size()) +
              " failing: unable to retrieve the complete list of server APIs: " + joinedSorted(undiscovered)};
}

StatusCondition contentFailure(const std::vector<std::string>& failures) {
  if (failures.empty())
    return {"NamespaceDeletionContentFailure", false, "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization"};
  return {"NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
          "Failed to delete all resource types, " + std::to_string(failures.size()) +
              " remaining: " + joinedSorted(failures)};
}

StatusCondition contentRemaining(const std::vector<NamespaceContent::Resources>& remaining) {
  std::vector<std::string> texts;
  for (const auto& [type, count] : remaining) {
    if (count > 0)
      texts.push_back(type.resource + "." + type.group + " has " + std::to_string(count) +
                      " resource instances");
  }
  if (texts.empty())
    return {"NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"};
  return {"NamespaceContentRemaining", true, "SomeResourcesRemain",
          "Some resources are remaining: " + joinedSorted(std::move(texts))};
}

StatusCondition finalizersRemaining(const std::vector<NamespaceContent::Finalizer>& finalizers) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : finalizers) {
    if (count > 0) texts.push_back(name + " in " + std::to_string(count) + " resource instances");
  }
  if (texts.empty())
    return {"NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
            "All content-preserving finalizers finished"};
  return {"NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
          "Some content in the namespace has finalizers remaining: " + joinedSorted(std::move(texts))};
}

Json withCrdCondition(Json crd, const StatusCondition& condition, std::string_view now) {
  if (Json* status = objectIn(crd, "status")) setCondition((*status)["conditions"], condition, now);
  return crd;
}

}  // namespace

Json defaultServiceAccount(std::string_view namespaceName) {
  return {{"kind", "ServiceAccount"},
          {"apiVersion", "v1"},
          {"metadata", {{"name", "default"}, {"namespace", namespaceName}}}};
}

Json rootCertificates(std::string_view namespaceName, std::string_view certificates) {
  return {{"kind", "ConfigMap"},
          {"apiVersion", "v1"},
          {"metadata",
           {{"name", kube::kRootCaConfigMap},
            {"namespace", namespaceName},
            {"annotations", Json::object({{"kubernetes.io/description", kRootCertificatesMeaning}})}}},
          {"data", Json::object({{"ca.crt", certificates}})}};
}

Json terminatingNamespace(Json object, const NamespaceContent& content, std::string_view now) {
  Json* status = objectIn(object, "status");
  if (status == nullptr) return object;
  (*status)["phase"] = "Terminating";
  for (const StatusCondition& condition :
       {discoveryFailure(content.undiscovered),
        StatusCondition{"NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
                        "All legacy kube types successfully parsed"},
        contentFailure(content.failures), contentRemaining(content.remaining),
        finalizersRemaining(content.finalizers)})
    setCondition((*status)["conditions"], condition, now);
  return object;
}

Json finalizedNamespace(Json object) {
  Json* spec = objectIn(object, "spec");
  Json* finalizers = spec == nullptr ? nullptr : listIn(*spec, "finalizers");
  if (finalizers == nullptr) return object;
  Json kept = Json::array();
  for (Json& finalizer : *finalizers) {
    if (finalizer != kube::kNamespaceSpecFinalizer) kept.push_back(std::move(finalizer));
  }
  *finalizers = std::move(kept);
  dropEmpty(*spec, {"finalizers"});
  return object;
}

Json acceptedCrd(Json crd, std::string_view now) {
  if (Json* status = objectIn(crd, "status")) {
    if (const Json* names = at(crd, {"spec", "names"})) (*status)["acceptedNames"] = *names;
  }
  crd = withCrdCondition(std::move(crd), {"NamesAccepted", true, "NoConflicts", "no conflicts found"}, now);
  return withCrdCondition(std::move(crd),
                          {"Established", false, "Installing", "the initial names have been accepted"}, now);
}

Json crdWithTakenName(Json crd, const StatusCause& taken, std::string_view now) {
  crd = withCrdCondition(std::move(crd), {"NamesAccepted", false, taken.reason, taken.message}, now);
  return withCrdCondition(std::move(crd), {"Established", false, "NotAccepted", "not all names are accepted"},
                          now);
}

Json establishedCrd(Json crd, std::string_view now) {
  return withCrdCondition(
      std::move(crd), {"Established", true, "InitialNamesAccepted", "the initial names have been accepted"},
      now);
}

Json crdInCleanup(Json crd, std::string_view now) {
  return withCrdCondition(
      std::move(crd),
      {"Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"}, now);
}

Json crdAfterCleanup(Json crd, std::string_view now) {
  std::vector<std::string> finalizers = finalizersOf(crd);
  std::erase(finalizers, kube::kCrdCleanupFinalizer);
  crd = setFinalizers(std::move(crd), finalizers);
  return withCrdCondition(std::move(crd),
                          {"Terminating", false, "InstanceDeletionCompleted", "removed all instances"}, now);
}

Json apiServiceOf(std::string_view group, std::string_view version) {
  return {
      {"kind", "APIService"},
      {"apiVersion", kube::kApiRegistrationApiVersion},
      {"metadata",
       {{"name", std::string(version) + "." + std::string(group)},
        {"labels", Json::object({{"kube-aggregator.kubernetes.io/automanaged", "true"}})}}},
      {"spec",
       {{"group", group}, {"version", version}, {"groupPriorityMinimum", 1000}, {"versionPriority", 100}}}};
}

namespace {

// The port of a Service; nullptr: it has no such port.
const Json* portNumbered(const Json& service, int64_t number) {
  const Json* ports = at(service, {"spec", "ports"});
  if (ports == nullptr || !ports->is_array()) return nullptr;
  const auto found = std::ranges::find_if(*ports, [number](const Json& port) {
    const Json* its = at(port, {"port"});
    return its != nullptr && *its == number;
  });
  return found == ports->end() ? nullptr : &*found;
}

StatusCondition availability(const Json& apiService, const Json* service, bool hasReadyPod) {
  constexpr int64_t kHttps = 443;
  const std::string which = "service/" + std::string(stringAt(apiService, {"spec", "service", "name"})) +
                            " in \"" + std::string(stringAt(apiService, {"spec", "service", "namespace"})) +
                            "\"";
  if (service == nullptr) return {"Available", false, "ServiceNotFound", which + " is not present"};
  const std::string_view type = stringAt(*service, {"spec", "type"});
  const Json* given = at(apiService, {"spec", "service", "port"});
  const int64_t number = given != nullptr && given->is_number_integer() ? given->get<int64_t>() : kHttps;
  const Json* port = portNumbered(*service, number);
  const bool isOfCluster = type.empty() || type == "ClusterIP";
  if (port == nullptr && isOfCluster)
    return {"Available", false, "ServicePortError",
            which + " is not listening on port " + std::to_string(number)};
  const Json* selector = at(*service, {"spec", "selector"});
  const bool selects = selector != nullptr && selector->is_object() && !selector->empty();
  if (selects && isOfCluster && !hasReadyPod)
    return {"Available", false, "MissingEndpoints",
            "endpoints for " + which + " have no addresses with port name \"" +
                std::string(port == nullptr ? "" : stringAt(*port, {"name"})) + "\""};
  return {"Available", true, "Passed", "all checks passed"};
}

}  // namespace

Json observedApiService(Json apiService, const Json* service, bool hasReadyPod, std::string_view now) {
  const StatusCondition condition = availability(apiService, service, hasReadyPod);
  if (Json* status = objectIn(apiService, "status")) setCondition((*status)["conditions"], condition, now);
  return apiService;
}

}  // namespace lastout::simulator
