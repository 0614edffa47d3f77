#include "client/cluster_uid.h"

#include <chrono>
#include <optional>
#include <utility>

#include "client/api_server.h"
#include "client/metadata_stream.h"

namespace lastout::client {
namespace {

constexpr std::chrono::milliseconds kPatienceWithOne{8'000};
constexpr size_t kMostClusterBytes = size_t{256} << 10;
constexpr int kFound = 200;

ServerStatus unknownCluster(const std::string& why, std::optional<std::chrono::seconds> retryAfter = {}) {
  return {0, "", "namespace kube-system, which tells one cluster from another, cannot be read: " + why,
          retryAfter};
}

}  // namespace

tl::expected<std::string, ServerStatus> clusterUid(ApiServer& server) {
  ApiRequest request;
  request.target = kClusterPath;
  request.accept = kAcceptMetadata;
  request.patience = kPatienceWithOne;
  const auto whole = fetch(server, request, kMostClusterBytes);
  if (!whole) return tl::unexpected(unknownCluster(whole.error().message));
  const int code = whole->answer.status;
  if (code != kFound) {
    if (!isTransient(code)) return {};
    const ServerStatus status = statusOfAnswer(*whole);
    return tl::unexpected(
        unknownCluster(toString(status), status.retryAfter ? status.retryAfter : whole->answer.retryAfter));
  }
  auto object = decodeObject(whole->body, Content::Metadata);
  if (!object) return tl::unexpected(unknownCluster(object.error().message));
  return std::move(object->meta.uid);
}

}  // namespace lastout::client
