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

enum Trait : unsigned {
  NoTrait = 0,
  HasStatus = 1,
  HasFinalize = 2,
  HasGeneration = 4,
  CreateOnly = 8,        // a question; its answer is not stored
  NoCollection = 16,     // no deletecollection
  InAll = 32,            // of `kubectl get all`
  InApiExtensions = 64,  // of `kubectl get api-extensions`
};

struct Traits {
  std::string_view group;
  std::string_view resource;
  unsigned traits;
  std::string_view storedVersion = {};  // empty: the one that is served
  std::string_view laterVersion = {};   // of a later Kubernetes, served as well, for today's manifests
};

// What kube::builtInTypes() does not say of the types that are served here (rest/004 to 007).
constexpr Traits kServed[] = {
    {"", "configmaps", NoTrait},
    {"", "endpoints", NoTrait},
    {"", "events", NoTrait},
    {"", "namespaces", HasStatus | HasFinalize | NoCollection},
    {"", "nodes", HasStatus},
    {"", "persistentvolumeclaims", HasStatus},
    {"", "persistentvolumes", HasStatus},
    {"", "pods", HasStatus | InAll},
    {"", "secrets", NoTrait},
    {"", "serviceaccounts", NoTrait},
    {"", "services", HasStatus | InAll},
    {"apiregistration.k8s.io", "apiservices", HasStatus | InApiExtensions},
    {"apps", "daemonsets", HasStatus | HasGeneration | InAll},
    {"apps", "deployments", HasStatus | HasGeneration | InAll},
    {"apps", "replicasets", HasStatus | HasGeneration | InAll},
    {"apps", "statefulsets", HasStatus | HasGeneration | InAll},
    {"authentication.k8s.io", "tokenreviews", CreateOnly},
    {"authorization.k8s.io", "selfsubjectaccessreviews", CreateOnly},
    {"authorization.k8s.io", "selfsubjectrulesreviews", CreateOnly},
    {"authorization.k8s.io", "subjectaccessreviews", CreateOnly},
    {"discovery.k8s.io", "endpointslices", NoTrait},
    {"networking.k8s.io", "networkpolicies", HasGeneration},
    {"policy", "poddisruptionbudgets", HasStatus | HasGeneration},
    {"rbac.authorization.k8s.io", "clusterrolebindings", NoTrait},
    {"rbac.authorization.k8s.io", "clusterroles", NoTrait},
    {"rbac.authorization.k8s.io", "rolebindings", NoTrait},
    {"rbac.authorization.k8s.io", "roles", NoTrait},
    {"admissionregistration.k8s.io", "mutatingwebhookconfigurations", HasGeneration | InApiExtensions},
    {"admissionregistration.k8s.io", "validatingadmissionpolicies",
     HasStatus | HasGeneration | InApiExtensions},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings", HasGeneration | InApiExtensions},
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations", HasGeneration | InApiExtensions},
    {"apiextensions.k8s.io", "customresourcedefinitions", HasStatus | HasGeneration | InApiExtensions,
     "v1beta1"},
    {"coordination.k8s.io", "leases", NoTrait},
    {"flowcontrol.apiserver.k8s.io", "flowschemas", HasStatus | HasGeneration, "v1beta2", "v1"},
    {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", HasStatus | HasGeneration, "v1beta2",
     "v1"},
};

const Traits* traitsOf(const kube::KnownType& known) {
  const auto* const found = std::ranges::find_if(kServed, [&known](const Traits& one) {
    return one.group == known.group && one.resource == known.resource;
  });
  return found == std::end(kServed) ? nullptr : found;
}

std::vector<std::string> verbsOf(unsigned traits) {
  if ((traits & CreateOnly) != 0) return {"create"};
  std::vector<std::string> verbs = {"create", "delete", "deletecollection", "get",
                                    "list",   "patch",  "update",           "watch"};
  if ((traits & NoCollection) != 0) std::erase(verbs, "deletecollection");
  return verbs;
}

std::vector<Subresource> subresourcesOf(unsigned traits, bool isScaled, const std::string& kind) {
  std::vector<Subresource> all;
  if ((traits & HasFinalize) != 0) all.push_back({"finalize", kind, {"update"}});
  if (isScaled) all.push_back({"scale", "Scale", {"get", "patch", "update"}});
  if ((traits & HasStatus) != 0) all.push_back({"status", kind, {"get", "patch", "update"}});
  return all;
}

ServedType builtInType(const kube::KnownType& known, const Traits& own) {
  ServedType type;
  type.type = {std::string(known.group), std::string(known.resource)};
  type.version = known.version;
  type.kind = known.kind;
  type.listKind = type.kind + "List";
  type.singular = kube::lowerCase(known.kind);
  for (const std::string_view name : known.shortNames) {
    if (!name.empty()) type.shortNames.emplace_back(name);
  }
  if ((own.traits & InAll) != 0) type.categories = {"all"};
  if ((own.traits & InApiExtensions) != 0) type.categories = {"api-extensions"};
  type.namespaced = known.namespaced;
  type.builtIn = true;
  type.tracksGeneration = (own.traits & HasGeneration) != 0;
  type.verbs = verbsOf(own.traits);
  const kube::WorkloadType* workload = kube::findWorkloadType(type.type);
  const bool isScaled = workload != nullptr && workload->hasReplicas;
  type.subresources = subresourcesOf(own.traits, isScaled, type.kind);
  if (isScaled) type.scale = {".spec.replicas", ".status.replicas", ""};
  if ((own.traits & CreateOnly) == 0) {
    const std::string_view stored = own.storedVersion.empty() ? known.version : own.storedVersion;
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

std::vector<ServedType> preinstalledTypes() {
  std::vector<ServedType> types;
  for (const kube::KnownType& known : kube::builtInTypes()) {
    const Traits* own = traitsOf(known);
    if (own == nullptr) continue;
    types.push_back(builtInType(known, *own));
    if (own->laterVersion.empty()) continue;
    types.push_back(types.back());
    types.back().version = own->laterVersion;
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
