// fetch: an exchange whose whole answer is wanted, and the paths that requests go to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "client/api_server.h"
#include "client/status.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::client {

struct WholeAnswer {
  ApiAnswer answer;
  std::string body;
};

// Fails as exchange() does, and on a body of more than `mostBytes`.
kube::Result<WholeAnswer> fetch(ApiServer& server, const ApiRequest& request,
                                size_t mostBytes = size_t{8} << 20);

// Of an answer that is no success.
ServerStatus statusOfAnswer(const WholeAnswer& whole);

// "/api/v1/pods", "/apis/apps/v1/namespaces/shop/deployments": without a namespace, those of all.
std::string collectionPath(const kube::ResourceType& type, std::string_view namespaceName = {});
// "/apis/apps/v1/namespaces/shop/deployments/web"; `namespaceName` is empty for cluster-scoped types.
std::string objectPath(const kube::ResourceType& type, std::string_view namespaceName, std::string_view name);
// The same of types that lastout knows by itself (kube::ResourceMap::builtIn()): no other may be given.
std::string collectionPath(const kube::GroupResource& builtIn, std::string_view namespaceName = {});
std::string objectPath(const kube::ObjectKey& ofBuiltIn);

}  // namespace lastout::client
