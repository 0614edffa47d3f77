// Which types can be a provider: those that run something (of built-in types kube::workloadTypes()), and
// whose DELETE the API server lets a webhook decide. And which can be listed as what a provider needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/resource_map.h"

namespace lastout::criticalservice {

// Returns why an object of this type can never be a provider, as the end of a sentence that begins with the
// type ("run nothing that ..."); nullopt: it can. Built-in types that keep Pods running can, and every type
// that is not built in, installed or not: only its authors know what it runs
// (docs/decisions/provider-types.md).
std::optional<std::string> whyNoProvider(const kube::GroupResource& type, const kube::ResourceMap& types);
// Returns true if objects name one of the resource by the kind that is `written` (empty: by any whose regular
// plural is the resource), where `known` is its kind.
bool isNamedByKind(std::string_view resource, std::string_view written, std::string_view known);
// Returns false for types whose objects are not stored, such as reviews.
bool hasObjects(const kube::GroupResource& type);
// The same as whyNoProvider() of a provider that a Reference criterion is about: it need not run anything.
std::optional<std::string> whyNotNamed(const kube::GroupResource& type);

// Why an object of this type cannot be listed in spec.guard.dependencies, as the end of a sentence that
// begins with the object; nullopt: it can. Of built-in types those can that a provider may need in order to
// work; every type that is not built in can. What the cluster makes and takes away by itself cannot: keeping
// a Pod, a Node or a Lease would break what makes it.
std::optional<std::string> whyNoDependency(const kube::GroupResource& type, const kube::ResourceMap& types);

// Whether what a provider of this type runs outlives its termination, so that a finalizer may keep it
// (spec.enforcement: Hold).
bool canBeHeld(const kube::GroupResource& type);
std::vector<kube::GroupResource> typesThatCanBeHeld();
// The same in words: "deployments.apps, statefulsets.apps and daemonsets.apps".
std::string heldTypesInWords();

}  // namespace lastout::criticalservice
