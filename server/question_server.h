// QuestionServer: serves /metrics, /graph, /why, /livez and /readyz to people and Prometheus. Answers from a
// copy of the view, so that a request blocks the watches and reviews only while it copies. With
// DeletionPolicies, /why also reads the object from the API server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/known_cluster.h"
#include "net/http_server.h"
#include "server/controllers/lease.h"
#include "server/metrics.h"
#include "server/protection_snapshot.h"
#include "server/review/authorization.h"
#include "server/runtime/log.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct QuestionServerOptions {
  // At a loopback address it is plain HTTP, and nobody has to say who asks. Anywhere else it is TLS, and
  // every answer but /livez and /readyz takes a token. Its `plain` is set by this.
  net::HttpServerOptions http;
  AuthorizationOptions authorization;  // its `log` is set by this, too
};

using ProtectionsOf =
    std::function<CurrentProtections(const kube::ResourceType& type, const kube::ObjectKey& object)>;

// What it answers from; all of it outlives the QuestionServer.
struct QuestionSources {
  const LiveView& view;
  const Metrics& metrics;
  std::function<Health()> health;         // called by any thread; must not wait for anything
  std::function<GaugeValues()> standing;  // called by any thread
  std::function<WallTime()> clock;        // called by any thread
  LogSink log;
  // Returns what DeletionPolicies say to a DELETE of the object. Called by any thread; may read the object
  // from the API server. Empty: there are no policies.
  ProtectionsOf protections;
};

// A copy of what is known now, to read without holding the view's lock. Its `now` is not set.
admission::KnownCluster copyOf(const LiveView& view);

// The answer to GET /graph?<query> and GET /why?<query>: 200; 400 with what is wrong with the query; 404 when
// there is no such object. `now`: what time it is. `protections`: as of QuestionSources.
net::HttpResponse graphAnswer(const LiveView& view, std::string_view query);
net::HttpResponse whyAnswer(const LiveView& view, std::string_view query, WallTime now,
                            const ProtectionsOf& protections = {});

// /livez and /readyz, which answer anybody, on whatever port, where requests are read: `health` must not wait
// for anything.
std::vector<net::HttpRoute> healthRoutes(std::function<Health()> health);

class QuestionServer {
 public:
  // Listens, and answers from now on. Fails as HttpServer::open().
  static kube::Result<std::unique_ptr<QuestionServer>> open(const std::shared_ptr<client::Access>& access,
                                                            const QuestionServerOptions& options,
                                                            QuestionSources sources);
  ~QuestionServer();  // as stop(0)
  QuestionServer(const QuestionServer&) = delete;
  QuestionServer& operator=(const QuestionServer&) = delete;

  int port() const { return http_->port(); }
  std::string url() const;  // without a path
  // As HttpServer::use(); at a loopback address there is nothing to use it for.
  kube::Result<void> use(const net::TlsIdentity& identity);
  void stop(std::chrono::milliseconds grace);

 private:
  QuestionServer(const std::shared_ptr<client::Access>& access, const QuestionServerOptions& options,
                 QuestionSources sources);
  std::vector<net::HttpRoute> routes();
  net::HttpRoute route(const std::string& path, net::HttpHandler handler);
  // Returns the refusal of the request; nullopt: it may be answered.
  std::optional<net::HttpResponse> refusal(const net::HttpRequest& request);

  const QuestionSources sources_;
  net::HttpServerOptions httpOptions_;
  Authorization authorization_;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace lastout::server
