// ResourceMap: kind <-> resource, scope and short names, of the built-in types and of every CRD that was added.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

struct ResourceType {
  GroupResource type;                     // {"apps", "deployments"}
  std::string kind;                       // "Deployment"
  std::string version;                    // preferred version, "v1"
  std::string singular;                   // "deployment"
  std::vector<std::string> shortNames;    // "deploy"
  bool namespaced = true;
  bool builtIn = false;                   // false: defined by a CRD
};

class ResourceMap {
 public:
  // Kubernetes' built-in types, ManifestWork, AppliedManifestWork and CriticalService.
  static ResourceMap builtIn();

  // Adds or replaces a type. A later CRD of the same group/resource replaces an earlier one.
  void add(ResourceType type);
  // Adds what a CustomResourceDefinition (its whole document) defines.
  Result<ResourceType> addCrd(const Value& crd, std::string_view file);

  const ResourceType* find(const GroupResource& type) const;
  const ResourceType* findKind(std::string_view group, std::string_view kind) const;
  // Any word a person uses: "deployments", "deployment", "deploy", "Deployment", each with or without ".apps". A word
  // without a group prefers built-in types; an ambiguous one fails and lists the candidates; an unknown one fails and
  // names the nearest known. "CustomResourceDefinition" means customresourcedefinitions.apiextensions.k8s.io.
  Result<const ResourceType*> resolve(std::string_view word) const;

  const std::vector<ResourceType>& types() const { return types_; }

 private:
  std::vector<ResourceType> types_;
};

}  // namespace lastout::kube
