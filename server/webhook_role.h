// WebhookRole: the part of lastout that API servers call: the listener and the review handler. It writes only
// Events and, for deletions that it denies, the status of CriticalServices; it deletes nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/locks.h"
#include "net/http_server.h"
#include "server/review/review_handler.h"
#include "server/shared_parts.h"
#include "server/webhook/review_paths.h"

namespace lastout::server {

// Its functions may be called by any thread; stop() by one at a time.
class WebhookRole {
 public:
  // Returns whether the current webhook configuration sends reviews to that path.
  using AsksAt = std::function<bool(const std::string& path)>;

  // Listens and answers from now on. The path for reviews is the one of the certificate's key, and any that
  // `asksAt` knows. Fails when the address cannot be had, or the identity is unusable.
  static kube::Result<std::unique_ptr<WebhookRole>> open(const SharedParts& parts, AsksAt asksAt);
  ~WebhookRole() { stop(std::chrono::milliseconds(0)); }
  WebhookRole(const WebhookRole&) = delete;
  WebhookRole& operator=(const WebhookRole&) = delete;

  int port() const { return http_->port(); }
  // As HttpServer::use(); reviews are answered at these paths, if they are secret.
  kube::Result<void> use(const net::TlsIdentity& identity, const std::vector<std::string>& paths);
  // As HttpServer::stop().
  void stop(std::chrono::milliseconds grace);

 private:
  WebhookRole(const SharedParts& parts, AsksAt asksAt);
  kube::Result<void> listen(const SharedParts& parts);
  void usePaths(const std::vector<std::string>& paths);
  bool isReviewPath(const std::string& path) const;

  const AsksAt asksAt_;
  const bool isPathSecret_;
  const std::string name_;  // in answers to probes
  ReviewHandler reviewHandler_;
  mutable kube::Mutex mutex_;
  ReviewPaths paths_ LASTOUT_GUARDED_BY(mutex_);
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace lastout::server
