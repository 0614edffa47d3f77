// readMetadata: one object's metadata, as the API server has it now.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "client/api_server.h"
#include "kube/object.h"
#include "kube/resource_map.h"

namespace lastout::client {

// Nothing: it is not there. `namespaceName` counts for namespaced types alone. Fails with what the server
// said, or with why it did not answer within `patience`.
tl::expected<std::optional<kube::ObjectMeta>, std::string> readMetadata(ApiServer& server,
                                                                        const kube::ResourceType& type,
                                                                        std::string_view namespaceName,
                                                                        std::string_view name,
                                                                        std::chrono::milliseconds patience);

}  // namespace lastout::client
