// FaultWorld: an embedded cluster, one lastout or more beside it, each behind a FaultyApi of its own, and a
// Judge.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/certificates.h"
#include "simulator/embedded_cluster.h"
#include "simulator/webhook_client.h"
#include "tests/faults/judge.h"
#include "tests/faults/replica.h"

namespace lastout::testing {

// Whether each lastout has both roles, or one of them, and runs within the test or on its own.
enum class Processes : uint8_t { OfBothRoles, OfOneRole, OfOneRoleOnTheirOwn };

class FaultWorld {
 public:
  // The seed is that of the cluster's names. Nothing serves yet. With one role each there are so many
  // replicas of each role: those with the webhook role come first.
  explicit FaultWorld(size_t replicas = 1, uint64_t seed = 1, Processes processes = Processes::OfBothRoles);
  ~FaultWorld();
  FaultWorld(const FaultWorld&) = delete;
  FaultWorld& operator=(const FaultWorld&) = delete;

  Replica& replica(size_t number = 0) { return *replicas_.at(number); }
  size_t replicas() const { return replicas_.size(); }
  // Each replica, whatever its role: it serves from now on; it ends at once; its way to the API server is
  // so, or is well again.
  void serve();
  void kill();
  void waitUntilReady();
  void set(const Faults& faults);
  void calm() { set({}); }

  // What an admin asks the API server for, not by way of a FaultyApi. By any thread.
  simulator::ExchangeResponse ask(const std::string& method, const std::string& path,
                                  const simulator::Json& body = nullptr);
  simulator::Json get(const std::string& path);  // null: it is not there
  bool isThere(const std::string& path) { return !get(path).is_null(); }
  // Asks until it is there; lastout may not answer about it yet.
  void create(const std::string& collection, const simulator::Json& object);
  void patch(const std::string& path, const simulator::Json& merged);

  // DELETEs that lastout was asked about on behalf of controllers, and denied: the uids of the objects. Those
  // that it asked for itself: the uid that it insisted on, and the path; "" where it insisted on none.
  std::set<std::string> deferredDeletions();
  std::map<std::string, std::string> deletedByLastout();

  // Of those that it asked for itself, what nobody else had asked for before, whoever that is and whatever
  // came of it: the object as it was named, and the uid.
  std::vector<std::string> unasked();

  // Likewise, on behalf of a person whose CriticalService wants that.
  void noteDeferredDeletion(const std::string& uid);

  // Who holds lastout's Lease; empty: nobody has yet.
  std::string holder();
  Replica& leader();                              // the same, once one of them does
  Replica& otherThan(const Replica& controller);  // another that has the controller role
  // The Lease is deleted, or somebody else takes it for a second: whoever held it acts no more before it has
  // it again.
  void deleteTheLease();
  void takeTheLease();

  static simulator::Json named(const std::string& apiVersion, const std::string& kind,
                               const std::string& name);
  // The objects of the story.
  static simulator::Json definition();
  static simulator::Json provider();  // without its namespace, app
  static simulator::Json instance(const std::string& name);
  static simulator::Json service();
  // The story: a Deployment that finalizes CoolResources, their CRD, so many of them, and the
  // CriticalService.
  void createStory(int instances = 1);
  void createDefinition();
  void createInstance(const std::string& name);
  void createService();
  // Until lastout has reported the CriticalService as enforced, and each that serves knows it.
  void waitUntilGuarded();
  // What to delete: paths, with the instances.
  static std::vector<std::string> storyPaths(int instances = 1);
  // By a client for each, at once, in this order, again and again, until it is gone.
  void deleteAll(const std::vector<std::string>& paths);
  // The same; meanwhile `trouble` is done, by the calling thread, over and over.
  void deleteAll(const std::vector<std::string>& paths, const std::function<void()>& trouble);
  // Reviews DELETEs of the path over and over, as dry runs, while `change` is done by the calling thread.
  void reviewWhile(const std::string& path, const std::function<void()>& change);
  // Until one more review has denied, or allowed.
  void waitUntilDenied();
  void waitUntilAllowed();
  // What people do when the provider went although it was needed.
  void finalizeByHand();
  // The message of the answer to one DELETE.
  std::string refusalOf(const std::string& path);
  // Each DELETE of the path is refused, at last with a message that matches. It is asked again, since on a
  // busy machine lastout may not have heard yet what just happened, and refuses for another reason.
  void expectRefused(const std::string& path, const ::testing::Matcher<std::string>& message);
  // Another webhook than lastout's denies every such operation ("DELETE") on the resource, whoever asks,
  // until its configuration is deleted: kFaultPolicy.
  void denyToAll(const std::string& operation, const kube::GroupResource& type);

  // The API server is gone, and comes back with another history: another cluster is at its address, with
  // objects and versions of its own. `prepare`, which is told the last version of the former one, is done in
  // it before anybody can see it.
  void newHistory(const std::function<void(uint64_t former)>& prepare);
  uint64_t version();  // of the last write
  // Writes what nobody follows until the version is beyond that one.
  void writeBeyond(uint64_t version);
  // How often lastout's webhook configuration was made in the cluster that is there now.
  int configurationsMade() const { return configurationsMade_; }
  // Until the garbage collector has taken something whose owner is not there: what it is to take now that is
  // older than this call, it has taken, too.
  void waitUntilCollected();

  // All clocks on the wall, the API server's and lastout's, but for a lastout that runs on its own.
  void jump(std::chrono::seconds by) { wall_ += by.count(); }
  std::chrono::sys_seconds wallClock() const;

  // Until it holds. Fails the test when that takes minutes; from then on it waits for nothing, so that the
  // failure is told before the test's own time is over.
  void waitUntil(const std::string& what, const std::function<bool()>& holds);
  // lastout's log and verdicts, the last of them; and what each that serves knows now.
  void log(const std::string& line);
  std::string logged();

  // Whether the CRD is a criterion of the service that is created next.
  bool definitionCounts = true;
  // These are for those that run within the test.
  // Each lastout that serves next believes who is said to have asked, as with --client-ca.
  bool personsCount = false;
  // Each lastout that serves next only looks on.
  bool auditOnly = false;
  // Of each lastout that serves next: between two probes of the API server.
  std::chrono::milliseconds probePeriod{60'000};
  // Likewise: after so long it lists anew, whoever answers.
  std::chrono::milliseconds outage{300};
  Judge judge;

 private:
  friend class Replica;
  struct Pki {
    Pki();
    simulator::CertifiedKey authority;
    simulator::CertifiedKey server;  // the API server's
    simulator::CertifiedKey lastout;
    simulator::CertifiedKey newIdentity() const;  // lastout's
  };

  void waitUntil(const std::string& what, const std::function<bool()>& holds,
                 std::chrono::milliseconds longestPause);
  simulator::EmbeddedCluster& cluster();
  void begin();
  void noteAsked(const std::string& body);
  void noteReview(const std::string& body,
                  const tl::expected<simulator::WebhookResponse, std::string>& answer);
  void noteRequest(const simulator::ExchangeRequest& request);
  bool isOfDeletedWork(const std::string& path);

  const Pki pki_;
  const std::chrono::seconds patience_;
  std::atomic<bool> hasFailed_{false};  // something did not come true
  const uint64_t seed_;
  std::atomic<int64_t> wall_{0};
  std::atomic<size_t> calls_{0};
  std::atomic<int> starts_{0};
  std::atomic<int> configurationsMade_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<simulator::EmbeddedCluster>>
      clusters_;  // the last one is there; watches know the others
  std::set<std::string> deferredDeletions_;
  std::map<std::string, std::string> deletedByLastout_;
  std::set<std::pair<kube::ObjectKey, std::string>> asked_;  // with the uid
  std::vector<std::string> unasked_;
  std::vector<std::string> lines_;  // without those that were said just before
  std::vector<std::unique_ptr<Replica>> replicas_;
};

inline constexpr const char* kFaultProvider = "/apis/apps/v1/namespaces/app/deployments/provider";
inline constexpr const char* kFaultService = "/apis/lastout.dev/v1alpha1/criticalservices/guard";
inline constexpr const char* kFaultCrd =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group";
inline constexpr const char* kFaultNamespace = "/api/v1/namespaces/app";
inline constexpr const char* kFaultInstances = "/apis/my.crd.group/v1/coolresources";
inline constexpr const char* kFaultWebhook =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";
inline constexpr const char* kFaultLease = "/apis/coordination.k8s.io/v1/namespaces/lastout/leases/lastout";
inline constexpr const char* kFaultCertificate = "/api/v1/namespaces/lastout/secrets/lastout-tls";
inline constexpr const char* kFaultPolicy =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/policy";

}  // namespace lastout::testing
