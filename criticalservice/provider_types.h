// Which types can be a provider: those that run something, and whose DELETE the API server lets a webhook
// decide.
#pragma once

#include <optional>
#include <string>

#include "kube/object_key.h"
#include "kube/resource_map.h"

namespace lastout::criticalservice {

// Why an object of this type can never be a provider, as the end of a sentence that begins with the type
// ("run nothing that ..."); nothing when it can. Built-in types that keep Pods running can, and every type
// that is not built in, installed or not: only its authors know what it runs
// (docs/decisions/provider-types.md).
std::optional<std::string> whyNoProvider(const kube::GroupResource& type, const kube::ResourceMap& types);

}  // namespace lastout::criticalservice
