// apply, removeObject: an object as it should be, written once, with care for whoever else writes it; and
// which there are.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::client {

enum class Applied : uint8_t { Created, Updated, Unchanged };

// Creates the object, or gives the one of that name its spec and, beside those that it has, its labels and
// annotations: of the very object and version that was read, and once more when somebody else was faster.
// `isTrial`: the server says what it would do, and does nothing. Fails with the server's words, also for one
// that is being deleted, and where its type is not served.
kube::Result<Applied> apply(ApiServer& server, const kube::ResourceType& type, const nlohmann::json& object,
                            bool isTrial);

// Deletes the very object that was read. False: there is none. Fails as apply() does.
kube::Result<bool> removeObject(ApiServer& server, const kube::ResourceType& type,
                                const std::string& namespaceName, const std::string& name, bool isTrial);

// The names of the cluster-scoped objects with that label. Fails as apply() does.
kube::Result<std::vector<std::string>> namesWithLabel(ApiServer& server, const kube::ResourceType& type,
                                                      const std::string& label, const std::string& value);

}  // namespace lastout::client
