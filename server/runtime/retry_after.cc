#include "server/runtime/retry_after.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lastout::server {
namespace {

constexpr size_t kMostKeptBytes = size_t{4} << 10;  // of a Status, whose message is for people
constexpr std::string_view kStatusSubresource = "/status";

// Returns the path without the query: of the object, whose status is one with it, or of the collection.
std::string objectOf(std::string_view target) {
  target = target.substr(0, target.find('?'));
  if (target.ends_with(kStatusSubresource)) target.remove_suffix(kStatusSubresource.size());
  return std::string(target);
}

}  // namespace

kube::Result<client::ApiAnswer> RetryAfterServer::exchange(const client::ApiRequest& request,
                                                           const Take& take) {
  const std::string object = objectOf(request.target);
  if (const auto refusal = refusalOf(object)) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(refusal->until - now_());
    if (take(refusal->status, "") && !refusal->body.empty()) take(refusal->status, refusal->body);
    return client::ApiAnswer{refusal->status, std::max(left, std::chrono::seconds(0))};
  }
  std::string body;
  auto answer = server_->exchange(request, [&](int status, std::string_view piece) {
    if (status >= 400) body += piece.substr(0, kMostKeptBytes - body.size());
    return take(status, piece);
  });
  if (answer) {
    if (const auto pause = client::retryPauseOf(*answer); pause > std::chrono::seconds(0))
      keep(object, {answer->status, std::move(body), now_() + pause});
  }
  return answer;
}

std::optional<RetryAfterServer::Refusal> RetryAfterServer::refusalOf(const std::string& object) {
  const auto now = now_();
  const kube::MutexLock lock(mutex_);
  const auto found = refusals_.find(object);
  if (found == refusals_.end()) return std::nullopt;
  if (now < found->second.until) return found->second;
  refusals_.erase(found);
  return std::nullopt;
}

void RetryAfterServer::keep(const std::string& object, Refusal refusal) {
  const auto now = now_();
  const kube::MutexLock lock(mutex_);
  if (refusals_.size() >= kMostObjects)
    std::erase_if(refusals_, [&](const auto& one) { return one.second.until <= now; });
  if (refusals_.size() < kMostObjects || refusals_.contains(object))
    refusals_.insert_or_assign(object, std::move(refusal));
}

std::unique_ptr<client::ApiServer> newControllerServer(client::Access& access) {
  return std::make_unique<RetryAfterServer>(access.newServer());
}

}  // namespace lastout::server
