// Discovery: which groups, versions and types there are (rest/001 to 007, 012).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/kubernetes_version.h"
#include "simulator/json.h"
#include "simulator/served_type.h"

namespace lastout::simulator {

// "v1.36.0+lastout"
std::string gitVersion(kube::KubernetesVersion kubernetes);
// /version
Json versionInfo(kube::KubernetesVersion kubernetes);

// /api. `serverAddress` is where clients reach this server: "127.0.0.1:6443".
Json coreVersions(std::string_view serverAddress);

// /apis, and /apis/<group>: nothing for the core group and for one that is not served.
Json groupList(const TypeRegistry& types);
std::optional<Json> groupOf(const TypeRegistry& types, std::string_view group);

// Returns /api/v1 (the group is "") or /apis/<group>/<version>; nullopt: it is not served.
std::optional<Json> resourceList(const TypeRegistry& types, std::string_view group, std::string_view version);

}  // namespace lastout::simulator
