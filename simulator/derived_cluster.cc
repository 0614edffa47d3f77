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
           {{"name", "kube-root-ca.crt"},
            {"namespace", namespaceName},
            {"annotations", Json::object({{"kubernetes.io/description", kRootCertificatesMeaning}})}}},
          {"data", Json::object({{"ca.crt", certificates}})}};
}

Json terminatingNamespace(Json object, const NamespaceContent& content, std::string_view now) {
  Json* status = objectIn(object, "status");
  if (status == nullptr) return object;
  (*status)["phase"] = "Terminating";
  for (const StatusCondition& condition :
       {StatusCondition{"NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
                        "All resources successfully discovered"},
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

}  // namespace lastout::simulator
