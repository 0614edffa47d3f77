// Discovery: which groups, versions and types there are (rest/001 to 007, 012), and as much OpenAPI as
// kubectl wants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simulator/json.h"
#include "simulator/served_type.h"

namespace lastout::simulator {

// /version: that of a Kubernetes 1.26, "+lastout".
Json versionInfo();

// /api. `serverAddress` is where clients reach this server: "127.0.0.1:6443".
Json coreVersions(std::string_view serverAddress);

// /apis, and /apis/<group>: nothing for the core group and for one that is not served.
Json groupList(const TypeRegistry& types);
std::optional<Json> groupOf(const TypeRegistry& types, std::string_view group);

// Returns /api/v1 (the group is "") or /apis/<group>/<version>; nullopt: it is not served.
std::optional<Json> resourceList(const TypeRegistry& types, std::string_view group, std::string_view version);

// /openapi/v3: where each version's document is.
Json openApiIndex(const TypeRegistry& types);
// /openapi/v3/api/v1, /openapi/v3/apis/<group>/<version>: for each type the PATCH with its query parameters,
// which is how kubectl finds out that this server validates fields itself. There are no schemas, so `kubectl
// explain` has nothing to say.
std::optional<Json> openApiOf(const TypeRegistry& types, std::string_view group, std::string_view version);

// /openapi/v2, a document without paths: as JSON, and as the protobuf message that clients ask for
// (application/com.github.proto-openapi.spec.v2@v1.0+protobuf).
Json openApiV2();
std::string openApiV2Protobuf();

}  // namespace lastout::simulator
