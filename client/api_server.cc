#include "client/api_server.h"

#include <algorithm>
#include <utility>

#include "kube/encoding.h"
#include "kube/invariant.h"
#include "kube/status_reason.h"

namespace lastout::client {

kube::Result<WholeAnswer> fetch(ApiServer& server, const ApiRequest& request, size_t mostBytes) {
  WholeAnswer whole;
  bool fits = true;
  auto answer = server.exchange(request, [&](int, std::string_view piece) {
    fits = piece.size() <= mostBytes - whole.body.size();
    if (fits) whole.body += piece;
    return fits;
  });
  if (!fits) {
    return tl::unexpected(kube::Error{"the answer to " + request.method + " " + request.target +
                                          " is longer than " + std::to_string(mostBytes) + " bytes",
                                      {},
                                      {}});
  }
  if (!answer) return tl::unexpected(std::move(answer.error()));
  whole.answer = *answer;
  return whole;
}

std::chrono::seconds retryPauseOf(const ApiAnswer& answer) {
  const bool mayComeLater = answer.status == kube::kTooManyRequests || answer.status >= 500;
  if (!mayComeLater || !answer.retryAfter) return std::chrono::seconds(0);
  return std::clamp(*answer.retryAfter, std::chrono::seconds(0), kLongestRetryAfter);
}

ServerStatus statusOfAnswer(const WholeAnswer& whole) {
  return statusOfAnswer(whole.answer.status, whole.body);
}

namespace {

const kube::ResourceType& builtInType(const kube::GroupResource& type) {
  const kube::ResourceType* found = kube::ResourceMap::builtIn().find(type);
  LASTOUT_INVARIANT(found != nullptr);
  return *found;
}

}  // namespace

std::string collectionPath(const kube::ResourceType& type, std::string_view namespaceName) {
  std::string path =
      type.type.group.empty() ? "/api/" : "/apis/" + kube::percentEncoded(type.type.group) + "/";
  path += kube::percentEncoded(type.version);
  if (!namespaceName.empty()) path += "/namespaces/" + kube::percentEncoded(namespaceName);
  return path + "/" + kube::percentEncoded(type.type.resource);
}

std::string objectPath(const kube::ResourceType& type, std::string_view namespaceName,
                       std::string_view name) {
  return collectionPath(type, namespaceName) + "/" + kube::percentEncoded(name);
}

std::string collectionPath(const kube::GroupResource& builtIn, std::string_view namespaceName) {
  return collectionPath(builtInType(builtIn), namespaceName);
}

std::string objectPath(const kube::ObjectKey& ofBuiltIn) {
  return objectPath(builtInType(ofBuiltIn.type), ofBuiltIn.namespaceName, ofBuiltIn.name);
}

std::string pageQuery(size_t limit, std::string_view continueToken) {
  std::string query = "limit=" + std::to_string(limit);
  if (!continueToken.empty()) query += "&continue=" + kube::percentEncoded(continueToken);
  return query;
}

}  // namespace lastout::client
