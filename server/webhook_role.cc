#include "server/webhook_role.h"

#include <utility>
#include <vector>

#include "kube/encoding.h"
#include "net/log_limiter.h"
#include "server/question_server.h"
#include "server/webhook/sentinel.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

// Hexadecimal digits that no other process has, as good as certainly.
std::string nameOfProcess(const client::RandomFraction& random) {
  std::string name;
  for (int i = 0; i < 16; ++i)
    name += kube::kHexDigits[static_cast<size_t>(random() * 16) % kube::kHexDigits.size()];
  return name;
}

ReviewHandlerOptions reviewHandlerOptions(const SharedParts& parts) {
  ReviewHandlerOptions reviews = parts.options.reviews;
  reviews.policies = &parts.policyReviews;
  reviews.personsCount = parts.options.requesters.personsCount;
  reviews.deferredDeletions = &parts.deferredDeletions;
  return reviews;
}

}  // namespace

WebhookRole::WebhookRole(const SharedParts& parts, AsksAt asksAt)
    : asksAt_(std::move(asksAt)),
      isPathSecret_(parts.options.webhook.has_value()),
      name_(nameOfProcess(parts.options.random())),
      reviewHandler_(parts.view, parts.reads, parts.services, parts.rights, reviewHandlerOptions(parts),
                     [&metrics = parts.metrics, verdict = parts.options.verdict](const ReviewResult& given) {
                       metrics.count(given);
                       verdict(given);
                     }) {}

kube::Result<std::unique_ptr<WebhookRole>> WebhookRole::open(const SharedParts& parts, AsksAt asksAt) {
  std::unique_ptr<WebhookRole> role(new WebhookRole(parts, std::move(asksAt)));
  if (auto listening = role->listen(parts); !listening) return tl::unexpected(std::move(listening.error()));
  return role;
}

kube::Result<void> WebhookRole::listen(const SharedParts& parts) {
  usePaths({reviewPathOf(parts.options.http.identity.privateKey)});
  std::vector<net::HttpRoute> routes;
  const auto review = [this](const net::HttpRequest& request) { return reviewHandler_.answer(request); };
  const auto knows = [this](const std::string& path) { return isReviewPath(path); };
  for (const char* below : {"", "/"})
    routes.push_back(
        {"POST", std::string(kReviewPath) + below, "application/json", review, false, false, knows});
  routes.push_back({"POST", std::string(kProbePath), "application/json",
                    [this](const net::HttpRequest& request) { return answerProbe(request, name_); }});
  for (net::HttpRoute& route : healthRoutes(parts.health)) routes.push_back(std::move(route));
  const auto log = [log = parts.options.log](const net::HttpEvent& event) {
    log(Level::Warning, toString(event));
  };
  auto http = net::HttpServer::open(parts.options.http, std::move(routes), net::limited(log, {}));
  if (!http) return tl::unexpected(std::move(http.error()));
  http_ = std::move(*http);
  return {};
}

kube::Result<void> WebhookRole::use(const net::TlsIdentity& identity, const std::vector<std::string>& paths) {
  if (auto used = http_->use(identity); !used) return used;
  usePaths(paths);
  return {};
}

void WebhookRole::usePaths(const std::vector<std::string>& paths) {
  const kube::MutexLock lock(mutex_);
  paths_.use(paths, std::chrono::steady_clock::now());
}

// The path is secret: a request to another one does not come from an API server.
bool WebhookRole::isReviewPath(const std::string& path) const {
  if (!isPathSecret_) return path == kReviewPath;
  if (asksAt_(path)) return true;
  const kube::MutexLock lock(mutex_);
  return paths_.has(path, std::chrono::steady_clock::now());
}

void WebhookRole::stop(std::chrono::milliseconds grace) {
  if (http_) http_->stop(grace);
}

}  // namespace lastout::server
