// The types that are served before any CRD was created: preinstalledTypes.
#include "kube/builtin_types.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kube/encoding.h"
#include "kube/names.h"
#include "kube/parse.h"
#include "kube/well_known.h"
#include "simulator/own_crds.h"
#include "simulator/served_type.h"

namespace lastout::simulator {
namespace {

std::vector<std::string> verbsOf(unsigned traits) {
  if ((traits & kube::CreateOnly) != 0) return {"create"};
  std::vector<std::string> verbs = {"create", "delete", "deletecollection", "get",
                                    "list",   "patch",  "update",           "watch"};
  if ((traits & kube::NoCollection) != 0) std::erase(verbs, "deletecollection");
  return verbs;
}

std::vector<Subresource> subresourcesOf(unsigned traits, bool isScaled, const std::string& kind) {
  std::vector<Subresource> all;
  if ((traits & kube::HasApproval) != 0) all.push_back({"approval", kind, {"get", "patch", "update"}});
  if ((traits & kube::HasFinalize) != 0) all.push_back({"finalize", kind, {"update"}});
  if (isScaled) all.push_back({"scale", "Scale", {"get", "patch", "update"}});
  if ((traits & kube::HasStatus) != 0) all.push_back({"status", kind, {"get", "patch", "update"}});
  return all;
}

std::string_view storedVersionOf(const kube::KnownType& known, kube::KubernetesVersion kubernetes) {
  const bool isOwn = known.storedVersion.empty() || !kube::servesOtherVersion(known, kubernetes);
  return isOwn ? known.version : known.storedVersion;
}

ServedType builtInType(const kube::KnownType& known, kube::KubernetesVersion kubernetes) {
  ServedType type;
  type.type = {std::string(known.group), std::string(known.resource)};
  type.version = known.version;
  type.kind = known.kind;
  type.listKind = type.kind + "List";
  type.singular = kube::lowerCase(known.kind);
  for (const std::string_view name : known.shortNames) {
    if (!name.empty()) type.shortNames.emplace_back(name);
  }
  if ((known.traits & kube::InAll) != 0) type.categories = {"all"};
  if ((known.traits & kube::InApiExtensions) != 0) type.categories = {"api-extensions"};
  type.namespaced = known.namespaced;
  type.builtIn = true;
  type.tracksGeneration =
      (known.traits & kube::HasGeneration) != 0 ||
      ((known.traits & kube::HasGenerationOfPods) != 0 && kube::countsGenerationsOfPods(kubernetes));
  type.writesNullTimestamps = kube::writesNullTimestamps(kubernetes);
  type.relaxesServiceNames = type.type == kube::kServices && kube::relaxesServiceNames(kubernetes);
  type.verbs = verbsOf(known.traits);
  const kube::WorkloadType* workload = kube::findWorkloadType(type.type);
  const bool isScaled = workload != nullptr && workload->hasReplicas;
  type.subresources = subresourcesOf(known.traits, isScaled, type.kind);
  if (isScaled) type.scale = {".spec.replicas", ".status.replicas", ""};
  if ((known.traits & kube::CreateOnly) == 0) {
    const std::string_view stored = storedVersionOf(known, kubernetes);
    type.storageVersionHash = storageVersionHash(known.group, stored, known.kind);
  }
  return type;
}

// Open Cluster Management's CRDs: no columns, and nothing here needs their schemas.
Json workCrd(std::string_view plural, std::string_view kind, std::string_view scope) {
  Json version = {
      {"name", "v1"},
      {"served", true},
      {"storage", true},
      {"schema",
       {{"openAPIV3Schema",
         {{"type", "object"},
          {"properties",
           {{"spec", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}},
            {"status", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}},
      {"subresources", {{"status", Json::object()}}}};
  return {{"metadata", {{"name", std::string(plural) + "." + std::string(kube::kWorkGroup)}}},
          {"spec",
           {{"group", kube::kWorkGroup},
            {"names", {{"plural", plural}, {"kind", kind}}},
            {"scope", scope},
            {"versions", Json::array({std::move(version)})}}}};
}

// The CRDs that are compiled in; a test reads the same texts.
std::vector<Json> lastoutCrds() {
  std::vector<Json> crds;
  for (const kube::CompiledText& one : ownCrds()) {
    if (const auto documents = kube::parseYaml(one.text, one.file); documents && !documents->empty())
      crds.push_back(kube::toSortedJson(documents->front()));
  }
  return crds;
}

}  // namespace

std::vector<ServedType> preinstalledTypes(kube::KubernetesVersion kubernetes) {
  std::vector<ServedType> types;
  for (const kube::KnownType& known : kube::builtInTypes()) {
    if ((known.traits & kube::NotServed) != 0) continue;
    types.push_back(builtInType(known, kubernetes));
    if (known.otherVersion.empty() || !kube::servesOtherVersion(known, kubernetes)) continue;
    types.push_back(types.back());
    types.back().version = known.otherVersion;
  }
  std::vector<Json> crds = lastoutCrds();
  crds.push_back(workCrd("manifestworks", "ManifestWork", "Namespaced"));
  crds.push_back(workCrd("appliedmanifestworks", "AppliedManifestWork", "Cluster"));
  for (const Json& crd : crds) {
    auto versions = servedTypesOf(crd);
    if (versions) std::ranges::move(*versions, std::back_inserter(types));
  }
  return types;
}

std::string storageVersionHash(std::string_view group, std::string_view version, std::string_view kind) {
  std::string text(group);
  text.append("/").append(version).append("/").append(kind);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return kube::toBase64({reinterpret_cast<const char*>(digest.data()), 8});
}

}  // namespace lastout::simulator
