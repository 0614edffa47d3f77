// ServedType: one type in one version, as the embedded API server serves it. TypeRegistry: all of them, built
// in and defined by CustomResourceDefinitions.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/crd.h"
#include "kube/kubernetes_version.h"
#include "kube/object_key.h"
#include "kube/resource_map.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// What stands behind /<name>/<subresource>.
struct Subresource {
  std::string name;  // "status", "scale", "finalize"
  std::string kind;  // of its bodies: the type's own, or "Scale"
  std::vector<std::string> verbs;
};

struct ServedType {
  kube::GroupResource type;  // {"apps", "deployments"}
  std::string version;       // "v1"
  std::string kind;          // "Deployment"
  std::string listKind;      // "DeploymentList"
  std::string singular;      // "deployment"
  std::vector<std::string> shortNames;
  std::vector<std::string> categories;  // "all"
  bool namespaced = true;
  bool builtIn = false;               // false: defined by a CRD, as ManifestWork and CriticalService are
  bool tracksGeneration = false;      // metadata.generation counts the changes of spec
  bool writesNullTimestamps = false;  // kube::writesNullTimestamps(), of what is within such objects
  bool relaxesServiceNames = false;   // kube::relaxesServiceNames(), where it is Services
  std::vector<std::string> verbs;     // "create", "get", ...
  std::vector<Subresource> subresources;
  std::optional<kube::ScalePaths> scale;  // as simulator/json_path.h reads them
  std::string storageVersionHash;         // empty for what is not stored: reviews
  std::vector<kube::PrinterColumn>
      columns;  // of a CRD; empty: Age alone. Built-in types: simulator/builtin_columns.h
  Json schema;  // of a CRD: openAPIV3Schema; null: anything goes, nothing is dropped

  std::string apiVersion() const;  // "apps/v1", "v1"
  bool allows(std::string_view verb) const;
  const Subresource* subresource(std::string_view name) const;  // nullptr: not served
};

using ServedTypePointer = std::shared_ptr<const ServedType>;

// The versions that a CRD, as kube/crd.h reads it, says are served, the preferred one first; there may be
// none. Reads spec alone, and fails with 422 and all causes as the API server refuses such a CRD. Conversion:
// versions differ by apiVersion alone, whatever strategy the CRD names.
ApiResult<std::vector<ServedType>> servedTypesOf(const Json& document);
// Returns what else the API server refuses in a CRD that is written: in its schemas, which are no structural
// ones, and in its columns.
std::vector<StatusCause> definitionProblems(const Json& document);

// The types that are there before any CRD was created, in the order in which /apis names their groups; the
// ones that CRDs define, ManifestWork, AppliedManifestWork and CriticalService, come last.
std::vector<ServedType> preinstalledTypes(kube::KubernetesVersion kubernetes);

// The first 8 bytes of the SHA-256 of "<group>/<version>/<kind>" in base64 (rest/004 to 007, 012).
std::string storageVersionHash(std::string_view group, std::string_view version, std::string_view kind);

struct ServedGroup {
  std::string name;                   // "" is the core group
  std::vector<std::string> versions;  // the preferred one first
};

// Not for use by several threads at once, except that any number may read while nobody changes it. What it
// hands out stays as it is, also when the type is removed.
class TypeRegistry {
 public:
  // With preinstalledTypes().
  explicit TypeRegistry(kube::KubernetesVersion kubernetes = kube::kNewestKubernetes);

  kube::KubernetesVersion kubernetes() const { return kubernetes_; }

  // nullptr when it is not served.
  ServedTypePointer find(std::string_view group, std::string_view version, std::string_view resource) const;
  ServedTypePointer findPreferred(const kube::GroupResource& type) const;

  // In the order of /apis, the core group first.
  std::vector<ServedGroup> groups() const;
  std::vector<ServedTypePointer> typesOf(std::string_view group, std::string_view version) const;  // by name

  // Serves what a CRD defines, in place of what an earlier one of the same name defined. Fails as
  // servedTypesOf() does, and with 409 when takenName() has something to say.
  ApiResult<void> put(const Json& crd);
  // What was served of it; built-in types stay.
  std::vector<ServedTypePointer> remove(const kube::GroupResource& type);

  // The groups and versions of API servers that do not answer: groups() has them, and they have no types.
  void setUnanswered(std::set<std::pair<std::string, std::string>> versions) {
    unanswered_ = std::move(versions);
  }
  bool isBuiltInGroup(std::string_view group) const {
    return std::ranges::find(builtInGroups_, group) != builtInGroups_.end();
  }
  bool isUnanswered(const std::string& group, const std::string& version) const {
    return unanswered_.contains({group, version});
  }

  // Why a CRD's names cannot be accepted: reason ("PluralConflict") and message of its condition
  // NamesAccepted.
  std::optional<StatusCause> takenName(const Json& crd) const;

  // The same, and these besides where nothing of their name is served.
  TypeRegistry with(const std::vector<ServedTypePointer>& others) const;

  // The same types by their preferred versions, for whoever only needs kind <-> resource. Pointers into it
  // are valid until the next remove().
  const kube::ResourceMap& resources() const { return resources_; }

 private:
  struct Key {
    std::string_view group;  // of the value
    std::string_view version;
    std::string_view resource;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  };

  void add(std::vector<ServedType> versions);
  std::optional<StatusCause> takenName(const ServedType& wanted) const;

  kube::KubernetesVersion kubernetes_;
  std::map<Key, ServedTypePointer> byKey_;
  std::vector<std::string> builtInGroups_;  // in the order of /apis
  kube::ResourceMap resources_;
  std::set<std::pair<std::string, std::string>> unanswered_;
};

}  // namespace lastout::simulator
