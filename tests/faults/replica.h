// Replica: one lastout in a FaultWorld, and its way to the API server.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/access.h"
#include "kube/object_key.h"
#include "server/server.h"
#include "simulator/listener.h"
#include "simulator/webhook_client.h"
#include "tests/faults/faulty_api.h"
#include "tests/faults/lastout_process.h"

namespace lastout::testing {

class FaultWorld;

// How much longer than otherwise things take here.
#ifdef LASTOUT_SANITIZED
inline constexpr int kFaultsSlower = 4;
#else
inline constexpr int kFaultsSlower = 1;
#endif

// As what a lastout runs.
enum class Runs : uint8_t {
  InProcess,  // as a Server of the test's process, all of whose times are short
  OnItsOwn,   // as a process of its own, as in a cluster
};

// For one thread at a time, but for `api` and what says otherwise.
class Replica {
 public:
  Replica(FaultWorld& world, std::string identity, server::Roles roles, Runs runs);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void serve();
  // Its process ends, by SIGKILL where it has one, and says nothing to anybody: its Lease is not given back.
  void kill();
  // It ends by itself, as SIGTERM asks for; a process of its own has to do so without an error.
  void terminate();
  bool isServing() const { return server_ != nullptr || process_ != nullptr; }
  server::Server& server() { return *server_; }  // while it serves InProcess
  // A connection to the API server is refused from now on, and those that there are end; until connect().
  void disconnect();
  void connect();
  // Its process, which is its own, stands still; until resume().
  void suspend();
  void resume();
  bool isSuspended() const { return isSuspended_; }
  // It gets another certificate of the same authority; with one role, all get one of another authority.
  void rotate();
  const server::Roles& roles() const { return roles_; }
  bool runsOnItsOwn() const { return runs_ == Runs::OnItsOwn; }

  // What it says of itself while it serves, wherever it runs.
  bool isReady();
  bool leads();              // it holds the Lease
  bool isAskedAsItShould();  // the webhook configuration that stands asks for all that it should
  bool knowsService(const std::string& name);
  bool believesThereIsNone(const kube::GroupResource& type);  // which it followed before
  std::string standing();                                     // for a person who looks into a failure

  // What it wrote, by any thread: "PATCH /api/v1/…", without queries.
  std::set<std::string> writes();
  // How often it read that path, by any thread.
  size_t reads(const std::string& path);
  // By any thread: as the API server reaches it through lastout's Service.
  tl::expected<simulator::WebhookResponse, std::string> call(const simulator::Webhook& webhook,
                                                             const std::string& body);
  bool wasReached();
  // The API server's next calls are made over new connections.
  void forgetConnections();

  const std::string identity;
  FaultyApi api;

 private:
  std::shared_ptr<client::Access> access() const;
  server::ServerOptions options();
  server::CertificateSecretOptions certificateSecret() const;
  void serveInProcess();
  void serveOnItsOwn();
  std::string kubeconfig() const;
  std::vector<std::string> arguments() const;
  void hear(const std::string& line);
  bool isSplit() const { return !roles_.webhook || !roles_.controller; }
  bool shows(const std::string& series);
  void note(const simulator::ExchangeRequest& request);

  FaultWorld& world_;
  const server::Roles roles_;
  const Runs runs_;
  int port_ = 0;  // of its way to the API server
  std::unique_ptr<simulator::Listener> listener_;
  std::unique_ptr<server::Server> server_;   // null: it does not serve InProcess
  std::unique_ptr<LastoutProcess> process_;  // null: it does not serve OnItsOwn
  bool isSuspended_ = false;
  std::mutex mutex_;
  std::shared_ptr<simulator::WebhookClient> client_;  // guarded by the mutex; null: it was never there
  std::set<std::string> writes_;                      // guarded by the mutex, as the next
  std::map<std::string, size_t> reads_;
};

}  // namespace lastout::testing
