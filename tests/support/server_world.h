// ServerWorld: lastout's parts beside an embedded cluster behind real TLS, as the tests of server/ need them.
// A test says:
//
//   what the cluster holds       createAll(manifests), createStory(), create()
//   what lastout is told to do   WorldOptions: how it answers reviews, and whether DeletionPolicies count
//   from when on it looks        follow(), followAll()
//   whom it acts as              `access` of the admin, accessWith() of others
//
// A test of all of `lastout serve` takes serverOptions(), changes the roles and what it is about, and opens a
// Server of its own. ScriptedWorld is for code that asks an API server in process, beside a script.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/access.h"
#include "client/backoff.h"
#include "kube/resource_map.h"
#include "server/review/authorization.h"
#include "server/review/confirming_reads.h"
#include "server/review/policy_reviewer.h"
#include "server/review/review_handler.h"
#include "server/runtime/log.h"
#include "server/runtime/object_client.h"
#include "server/server_options.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_view.h"
#include "server/watch/policy_watches.h"
#include "server/watch/watches.h"
#include "tests/simulator/wire.h"
#include "tests/support/manifests.h"
#include "tests/support/scripted_server.h"

namespace lastout::testing {

using simulator::Json;

inline const kube::GroupResource kCoolResources{"my.crd.group", "coolresources"};
inline const kube::ObjectKey kProvider{{"apps", "deployments"}, "default", "provider"};
inline const kube::ObjectKey kService{{"lastout.dev", "criticalservices"}, "", "s"};

inline constexpr const char* kSpaces = "/api/v1/namespaces";
inline constexpr const char* kDefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
inline constexpr const char* kComposites = "/apis/vshn.appcat.vshn.io/v1/xvshnpostgresqls";

// Of all that goes wrong: without it the tests would wait.
inline constexpr client::BackoffLimits kSoonAgain{std::chrono::milliseconds(5),
                                                  std::chrono::milliseconds(20)};
// Draws one half each time.
client::RandomFraction oneHalf();
// Returns a log that nobody reads.
server::LogSink noLog();

struct WorldOptions {
  server::ReviewHandlerOptions reviews = {};
  // Where DeletionPolicies are evaluated; nullopt: there are none.
  std::optional<protection::PolicyMode> policies = {};
  const server::PolicyClusters* policyClusters = nullptr;  // where ancestors may be
};

class ServerWorld : public WireTest {
 public:
  explicit ServerWorld(const WorldOptions& options = {});
  ~ServerWorld() override;

  // --- what the cluster holds

  // Without a connection, as the wire is for lastout's own requests: no watches, of headers Content-Type and
  // Accept alone, and none in the answer.
  WireAnswer ask(const WireRequest& request) override;
  bool isThere(const std::string& path);
  Json get(const std::string& path);  // fails the test when it is not there
  void remove(const std::string& path);
  void patch(const std::string& path, const Json& merged);
  // Every object of the text; their CRDs, where they have some, come before them.
  void createAll(std::string_view manifests);

  // The story: a Deployment, the CRD of its CoolResources, an instance with its finalizer, and the
  // CriticalService.
  void createStory();
  void createStoryWithoutService();
  void createInstance(const std::string& name, const Json& finalizers);
  void removeFinalizers(const std::string& instance);
  // Deletes the story's instance and its CRD, which are gone by `until` on the cluster's clock. Discovery
  // does not name their type any more.
  void clearTheWay(std::chrono::minutes until = std::chrono::minutes(1));
  // The same, but discovery goes on to name the type for as long as the cluster's clock stands still.
  void removeStory(std::chrono::minutes until = std::chrono::minutes(1));
  static Json criticalService();

  // --- who asks it

  // Opens the listener once more, as serve(), and asks it from now on. Before anything follows the cluster.
  void serveAndConnect(simulator::Handler handler);
  // An Access as the admin's, as `change` leaves its connection.
  std::shared_ptr<client::Access> accessWith(
      const std::function<void(client::ConnectionConfig& connection)>& change = [](auto&) {}) const;
  // An Access of a user of tests/simulator/wire.cc.
  std::shared_ptr<client::Access> accessOf(const std::string& token) const;
  // Of a lastout with both roles, a certificate of the `authority`, and this name in the Lease.
  server::ServerOptions serverOptions(const std::string& identity = "me") const;

  // --- what lastout knows of it

  // Follows the cluster from now on, until that type is known as well as that.
  void follow();
  // The same, and the DeletionPolicies, until both are known.
  void followAll();
  void waitFor(const kube::GroupResource& type, graph::Knowledge knowledge);
  // After clearTheWay(): `live` shows neither the type, in its watch and in discovery, nor its CRD. It reads
  // each of the three on its own, so any may lag.
  static void waitUntilClear(const server::LiveView& live);
  void waitUntilClear() { waitUntilClear(view); }
  static void waitUntil(const std::function<bool()>& holds);

  // Creates the DeletionPolicy with that spec, and waits until it is known.
  void apply(std::string_view spec, const std::string& name = "p");
  // The same of the policies of a profile, each as `change` leaves it.
  void applyProfile(
      std::string_view profile, const std::function<void(Json& policy)>& change = [](Json&) {});

  // --- what it answers

  // The request of a review of a DELETE.
  static Json deletion(const kube::ObjectKey& key, const std::string& user = "jane");
  // The `response` of the answer to the review of a DELETE, or of a write of a CriticalService.
  Json reviewDelete(const kube::ObjectKey& key, const std::string& user = "jane");
  Json reviewUpdate(const kube::ObjectKey& key, const Json& request);  // what else the request has
  Json reviewService(const Json& before, const Json& after, const Json& user = masterUser());
  static Json masterUser() { return {{"username", "jane"}, {"groups", {"system:masters"}}}; }
  // The `response` to the review of a DELETE of the object as it stands, once it is `allowed` or not, and,
  // when it is not, the message contains `said`.
  Json deletionOf(const std::string& path, const kube::ObjectKey& key, bool allowed,
                  const std::string& said = "", const Json& more = Json::object());
  std::vector<server::ReviewResult> verdicts();
  // What was told of changes that take something away: the object, and what is lost.
  std::vector<std::string> weakened();

  std::shared_ptr<client::Access> access;
  server::LiveView view{{.ownNamespace = "", .holdsAfter = {}, .weakened = [this](const auto& news) {
                           const std::lock_guard lock(mutex_);
                           weakened_.push_back(toString(news.changed) + ": " + news.message);
                         }}};
  server::PolicyView policies;
  std::unique_ptr<server::PolicyReviewer> policyReviews;  // null, as the next: there are no policies
  std::unique_ptr<server::PolicyWatches> policyWatches;
  std::unique_ptr<server::ConfirmingReads> reads;
  std::unique_ptr<server::CurrentServices> services;
  std::unique_ptr<server::ObjectRights> rights;
  std::unique_ptr<server::Watches> watches;
  std::unique_ptr<server::ReviewHandler> reviews;

 private:
  void connect();
  Json answer(const Json& request);
  void expectStatusOk(const WireRequest& request);
  void createPolicy(const Json& policy);

  WorldOptions options_;
  kube::ResourceMap manifestTypes_ = kube::ResourceMap::builtIn();
  size_t applied_ = 0;  // policies
  std::mutex mutex_;
  std::vector<server::ReviewResult> verdicts_;
  std::vector<std::string> weakened_;
};

// A ServerWorld that asks in process, beside a script, in time that passes when somebody waits.
class ScriptedWorld : public ServerWorld {
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

}  // namespace lastout::testing
