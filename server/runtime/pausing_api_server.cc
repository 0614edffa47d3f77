#include "server/runtime/pausing_api_server.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace lastout::server {
namespace {

constexpr size_t kMostKeptBytes = size_t{4} << 10;  // of a Status, whose message is for people
constexpr std::string_view kStatusSubresource = "/status";

// Returns true if the path ends with the status of an object: below its version stand "<types>/<name>", or
// "namespaces/<namespace>/<types>/<name>". An object may be called "status", too.
bool isOfStatus(std::string_view path) {
  const auto slashes = std::ranges::count(path, '/');
  const auto ofVersion = path.starts_with("/api/") ? 2 : 3;  // "/api/v1", "/apis/apps/v1"
  return path.ends_with(kStatusSubresource) && (slashes - ofVersion) % 2 == 1;
}

// Returns the name of the object in the body; "": it has none, or none yet.
std::string nameIn(const std::string& body) {
  const auto object = nlohmann::json::parse(body, nullptr, false);
  const nlohmann::json::json_pointer name("/metadata/name");
  return object.is_object() && object.contains(name) && object[name].is_string()
             ? object[name].get<std::string>()
             : std::string();
}

// Returns what identifies the object of a request: its path without the query, as its status is one with it;
// for a creation the collection and what is created.
std::string objectOf(const client::ApiRequest& request) {
  std::string_view path = request.target;
  path = path.substr(0, path.find('?'));
  if (isOfStatus(path)) path.remove_suffix(kStatusSubresource.size());
  if (request.method != "POST") return std::string(path);
  return std::string(path) + "#" + nameIn(request.body);
}

}  // namespace

kube::Result<client::ApiAnswer> PausingApiServer::exchange(const client::ApiRequest& request,
                                                           const Take& take) {
  const std::string object = objectOf(request);
  if (const auto refusal = refusalOf(object)) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(refusal->until - now_());
    if (take(refusal->status, "") && !refusal->body.empty()) take(refusal->status, refusal->body);
    return client::ApiAnswer{refusal->status, std::max(left, std::chrono::seconds(0))};
  }
  std::string body;
  auto answer = server_->exchange(request, [&](int status, std::string_view piece) {
    if (status >= 400 && body.size() <= kMostKeptBytes) body += piece;
    return take(status, piece);
  });
  if (answer) {
    if (const auto pause = client::retryPauseOf(*answer); pause > std::chrono::seconds(0))
      keep(object,
           {answer->status, body.size() > kMostKeptBytes ? std::string() : std::move(body), now_() + pause});
  }
  return answer;
}

std::optional<PausingApiServer::Refusal> PausingApiServer::refusalOf(const std::string& object) {
  const auto now = now_();
  const kube::MutexLock lock(mutex_);
  if (!remembers_) return std::nullopt;
  const auto found = refusals_.find(object);
  if (found == refusals_.end()) return std::nullopt;
  if (now < found->second.until) return found->second;
  refusals_.erase(found);
  return std::nullopt;
}

void PausingApiServer::keep(const std::string& object, Refusal refusal) {
  const auto now = now_();
  const kube::MutexLock lock(mutex_);
  if (refusals_.size() >= kMostObjects)
    std::erase_if(refusals_, [&](const auto& one) { return one.second.until <= now; });
  if (refusals_.size() < kMostObjects || refusals_.contains(object))
    refusals_.insert_or_assign(object, std::move(refusal));
}

void PausingApiServer::answerNothingFromMemory() {
  const kube::MutexLock lock(mutex_);
  remembers_ = false;
}

std::unique_ptr<PausingApiServer> newControllerServer(client::Access& access) {
  return std::make_unique<PausingApiServer>(access.newServer());
}

}  // namespace lastout::server
