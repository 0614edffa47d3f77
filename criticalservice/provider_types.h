// Which types can be a provider: those that run something, and whose DELETE the API server lets a webhook
// decide.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/resource_map.h"

namespace lastout::criticalservice {

// Why an object of this type can never be a provider, as the end of a sentence that begins with the type
// ("run nothing that ..."); nothing when it can. Built-in types that keep Pods running can, and every type
// that is not built in, installed or not: only its authors know what it runs
// (docs/decisions/provider-types.md).
std::optional<std::string> whyNoProvider(const kube::GroupResource& type, const kube::ResourceMap& types);

// Whether what a provider of this type runs outlives its termination, so that a finalizer may keep it
// (spec.enforcement: Hold).
bool canBeHeld(const kube::GroupResource& type);
std::vector<kube::GroupResource> typesThatCanBeHeld();
// The same in words: "deployments.apps, statefulsets.apps and daemonsets.apps".
inline constexpr std::string_view kHeldTypes = "deployments.apps, statefulsets.apps and daemonsets.apps";

}  // namespace lastout::criticalservice
