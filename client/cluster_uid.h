// clusterUid: which cluster answers at an address: by this one cluster is told from another that has come to
// the same address, with objects and versions of its own.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "client/api_server.h"
#include "client/status.h"

namespace lastout::client {

// Where it is asked for: a namespace that every cluster has, that nobody can delete, and whose uid stays.
inline constexpr const char* kClusterPath = "/api/v1/namespaces/kube-system";

// The uid of namespace kube-system, as it is now, past all caches. Empty: it is not to be had there (404), or
// not by us (403 and the like); so one such cluster cannot be told from another. Fails with why there was no
// answer within 8 seconds, in words that name the namespace, and with code 0: what it was wanted for may be
// tried again.
tl::expected<std::string, ServerStatus> clusterUid(ApiServer& server);

}  // namespace lastout::client
