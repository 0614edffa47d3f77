// PolicyKeeper: keeps the API server's ValidatingAdmissionPolicies as the DeletionPolicies want them
// (protection/admission_plan.h), puts back what somebody else changes or deletes, and writes the policies'
// status. It has a Worker, and no Controller: the plan is of all policies, what they have made and what
// nobody wants any more at once.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/access.h"
#include "client/watcher.h"
#include "kube/locks.h"
#include "protection/admission_plan.h"
#include "protection/placement.h"
#include "protection/policy_status.h"
#include "server/runtime/log.h"
#include "server/runtime/pausing_api_server.h"
#include "server/runtime/worker.h"

namespace lastout::server {

struct PolicyKeeperOptions {
  // Webhook: of no policy anything but the guard of its force annotation is to run in API servers, and what
  // else stands there goes.
  protection::PolicyMode mode = protection::PolicyMode::ApiServer;
  std::function<bool()> mayWrite;  // this process holds the Lease
  // API servers ask lastout about what the policy needs the webhook for.
  std::function<bool(const std::string& policy)> webhookAsks = [](const std::string&) { return false; };
  // There is no CRD of DeletionPolicies (any more), so there are none.
  std::function<bool()> areNone = [] { return false; };
  // Why the labels that the policy keeps are not written; empty: they are; nullopt: it keeps none.
  std::function<std::optional<std::string>(const protection::DeletionPolicy& policy)> labelProblem =
      [](const protection::DeletionPolicy&) { return std::nullopt; };
  // Why the objects that the policy holds get no finalizer; empty: they get it; nullopt: it holds none.
  std::function<std::optional<std::string>(const protection::DeletionPolicy& policy)> holdProblem =
      [](const protection::DeletionPolicy&) { return std::nullopt; };
  // Which types and fields the policy names that the cluster does not have; empty: none is known to be
  // missing; nullopt: it cannot be told now. Called by the thread alone. May be empty: nobody compares them.
  std::function<std::optional<std::string>(const protection::DeletionPolicy& policy)> unknownTypes = {};
  // Which types the policy seeks in Namespaces and behind CRDs that lastout may not list, as the two above.
  std::function<std::optional<std::string>(const protection::DeletionPolicy& policy)> unreadableTypes = {};
  // A status was written in the place of `before`; called by the thread.
  std::function<void(const kube::ObjectMeta& policy, const nlohmann::json& before,
                     const nlohmann::json& after)>
      written = [](const kube::ObjectMeta&, const nlohmann::json&, const nlohmann::json&) {};
  std::function<std::chrono::sys_seconds()> clock;
  client::WatcherOptions watcher;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  std::chrono::milliseconds patience{5'000};       // for one answer
  LogSink log;
};

// Its functions may be called by any thread; start() and stop() by one at a time.
class PolicyKeeper {
 public:
  PolicyKeeper(const std::shared_ptr<client::Access>& access, PolicyKeeperOptions options);
  ~PolicyKeeper() { stop(); }
  PolicyKeeper(const PolicyKeeper&) = delete;
  PolicyKeeper& operator=(const PolicyKeeper&) = delete;

  void start();  // once
  // lastout ends in an orderly way: deletes what was made of policies with cleanupOnShutdown. Nothing is kept
  // after it. Before stop() alone.
  void withdraw();
  void stop();                           // for good; what stands stays
  void reconsider() { worker_.wake(); }  // mayWrite() or webhookAsks() may have changed
  // By what it follows: DeletionPolicies without Enforced=True, and lastout's own bindings, shipped ones
  // among them, that name no ValidatingAdmissionPolicy of lastout's.
  struct Problems {
    size_t policiesNotEnforced = 0;
    size_t bindingsWithoutPolicy = 0;
  };
  Problems problems();

 private:
  // The three types that are followed, in this order.
  enum Followed : uint8_t { Policies, AdmissionPolicies, Bindings };

  struct Seen {
    kube::ObjectMeta meta;
    kube::Value content;
  };
  struct Type {
    client::SyncStatus::State state = client::SyncStatus::State::NeverSynced;
    std::map<std::string, Seen, std::less<>> objects;  // by name
  };
  // A policy of this pass.
  struct Kept {
    kube::ObjectMeta meta;
    nlohmann::json status;
    // The policy as it stands, or a former form of it; nullopt: none is known.
    std::optional<protection::UnderstoodForm> understood;
    std::string problem;  // why the policy as it stands cannot be read
  };
  // A status as it was written, and the version that it was written to.
  struct Written {
    std::string resourceVersion;
    nlohmann::json status;
  };

  std::unique_ptr<client::Watcher> watcherOf(client::Access& access, Followed type);
  // Returns when the next is due; nullopt: when something changes.
  std::optional<TimePoint> pass();
  void lookAgainAfter(std::chrono::milliseconds pause);
  bool goesOn() const { return isWithdrawing_ ? options_.mayWrite() : worker_.goesOn(); }
  bool knowsAll(bool areNone) LASTOUT_REQUIRES(mutex_);
  // One of the API server's two types is in that state.
  bool isIn(client::SyncStatus::State state);
  // Returns why force does not count for the objects of a policy that is understood; empty: it does, or the
  // policy has none.
  std::string whyForceDoesNotCount(const Kept& kept);
  // Returns the policies that are there; nullopt: it is not known which, and nothing may be written.
  std::optional<std::vector<Kept>> policies();
  // Reads them from the API server: no later pass makes up for a write that ends in a conflict, as the watch
  // had not told of the last one yet.
  void readPoliciesAgain();
  Kept keptOf(const std::string& name, const Seen& seen) const;
  std::vector<protection::StandingAdmissionPolicy> standing();
  void execute(const std::vector<Kept>& kept);
  void execute(const protection::AdmissionPolicyAction& action);
  void noteForbidden(const std::vector<protection::DeletionPolicy>& policies);
  void noteProblems();
  std::string send(const client::ApiRequest& request);
  void writeStatus(const Kept& kept);
  std::chrono::sys_seconds storedSince(const Kept& kept);
  protection::PolicyStanding standingOf(const Kept& kept);

  const PolicyKeeperOptions options_;
  const std::unique_ptr<PausingApiServer> server_;
  ProblemLog problems_;                                           // of the thread, as the next seven
  std::map<std::string, std::string> writeProblems_;              // by policy
  std::map<std::string, std::string> guardProblems_;              // of the guard of force alone, by policy
  std::set<std::string> changing_;                                // policies with something left to write
  std::map<std::string, std::chrono::sys_seconds> storedSince_;   // by policy
  std::map<std::string, protection::UnderstoodForm> understood_;  // by uid: the last form
  // By policy. An API server with an older CRD drops what that does not know: the same is not written again.
  std::map<std::string, Written> written_;

  bool isWithdrawing_ = false;
  std::optional<TimePoint> lookAgainAt_;  // of the thread: the first that this pass came to

  mutable kube::Mutex mutex_;
  std::map<Followed, Type> types_ LASTOUT_GUARDED_BY(mutex_);
  Worker worker_;
  std::vector<std::unique_ptr<client::Watcher>> watchers_;
};

}  // namespace lastout::server
