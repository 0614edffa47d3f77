// What `lastout serve` is made of, beside an embedded cluster behind real TLS.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/access.h"
#include "server/review/authorization.h"
#include "server/review/confirming_reads.h"
#include "server/review/review_handler.h"
#include "server/runtime/object_client.h"
#include "server/watch/live_view.h"
#include "server/watch/watches.h"
#include "tests/simulator/wire.h"
#include "tests/support/scripted_server.h"

namespace lastout::testing {

using simulator::Json;

class ServerTest : public WireTest {
 public:
  explicit ServerTest(const server::ReviewHandlerOptions& options = {});
  ~ServerTest() override;

  // Without a connection, as the wire is for lastout's own requests: no watches, of headers Content-Type and
  // Accept alone, and none in the answer.
  WireAnswer ask(const WireRequest& request) override;

  bool isThere(const std::string& path);
  Json get(const std::string& path);  // fails the test when it is not there

  // Opens the listener anew, as serve(), and asks it from now on. Before anything follows the cluster.
  void serveAndConnect(simulator::Handler handler);

  // The story: a Deployment, the CRD of its CoolResources, an instance with its finalizer, and the
  // CriticalService.
  void createStory();
  void createStoryWithoutService();
  void createInstance(const std::string& name, const Json& finalizers);
  void removeFinalizers(const std::string& instance);
  // The story's instance and its CRD go; `until`: on the cluster's clock, by when they are gone.
  void clearTheWay(std::chrono::minutes until = std::chrono::minutes(1));
  void remove(const std::string& path);
  void patch(const std::string& path, const Json& merged);
  static Json criticalService();

  // Follows the cluster from now on, until that type is known as well as that.
  void follow();
  void waitFor(const kube::GroupResource& type, graph::Knowledge knowledge);
  // After clearTheWay(): the watches have told all of it.
  void waitUntilClear();
  static void waitUntil(const std::function<bool()>& holds);

  // The request of a review of a DELETE.
  static Json deletion(const kube::ObjectKey& key, const std::string& user = "jane");
  // The `response` of the answer to the review of a DELETE, or of a write of a CriticalService.
  Json reviewDelete(const kube::ObjectKey& key, const std::string& user = "jane");
  Json reviewUpdate(const kube::ObjectKey& key, const Json& request);  // what else the request has
  Json reviewService(const Json& before, const Json& after, const Json& user = masterUser());
  static Json masterUser() { return {{"username", "jane"}, {"groups", {"system:masters"}}}; }
  std::vector<server::ReviewResult> verdicts();
  // What was told of changes that take something away: the object, and what is lost.
  std::vector<std::string> weakened();

  std::shared_ptr<client::Access> access;
  server::LiveView view{{.ownNamespace = "", .holdsAfter = {}, .weakened = [this](const auto& news) {
                           const std::lock_guard lock(mutex_);
                           weakened_.push_back(toString(news.changed) + ": " + news.message);
                         }}};
  std::unique_ptr<server::ConfirmingReads> reads;
  std::unique_ptr<server::CurrentServices> services;
  std::unique_ptr<server::ObjectRights> rights;
  std::unique_ptr<server::Watches> watches;
  std::unique_ptr<server::ReviewHandler> reviews;

 private:
  void connect();
  Json answer(const Json& request);
  void expectStatusOk(const WireRequest& request);

  server::ReviewHandlerOptions options_;
  std::mutex mutex_;
  std::vector<server::ReviewResult> verdicts_;
  std::vector<std::string> weakened_;
};

// A ServerTest that asks in process, beside a script, in time that passes when somebody waits.
class RequestsTest : public ServerTest {
 public:
  ScriptedServer server{[this](const simulator::ExchangeRequest& request) { return handle(request); }};
  client::TimePoint now{};
  std::function<void()> meanwhile = [] {};  // done whenever somebody has waited
  server::Patience patience{
      [this] { return now; },
      [this](std::chrono::milliseconds pause) {
        now += pause;
        cluster.runUntil(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()));
        meanwhile();
      }};
};

inline const kube::GroupResource kCoolResources{"my.crd.group", "coolresources"};
inline const kube::ObjectKey kProvider{{"apps", "deployments"}, "default", "provider"};
inline const kube::ObjectKey kService{{"lastout.dev", "criticalservices"}, "", "s"};

}  // namespace lastout::testing
