// ControllerRole: the part of lastout that writes to the cluster. Only the process that holds the Lease acts:
// it runs deferred deletions, keeps works, holds providers and the objects of policies, and writes the status
// of CriticalServices and the webhook configuration. Every process with this role probes the API servers.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/locks.h"
#include "server/controllers/deferred_deletion_runner.h"
#include "server/controllers/held_policy_controller.h"
#include "server/controllers/held_provider_controller.h"
#include "server/controllers/labelled_policy_controller.h"
#include "server/controllers/lease_holder.h"
#include "server/controllers/policy_keeper.h"
#include "server/controllers/profile_keeper.h"
#include "server/controllers/replayed_deletion_controller.h"
#include "server/controllers/status_writer.h"
#include "server/controllers/webhook_enforcement.h"
#include "server/controllers/work_finalizer_controller.h"
#include "server/shared_parts.h"
#include "server/watch/policy_types.h"
#include "server/webhook/review_paths.h"
#include "server/webhook/reviewed_objects.h"
#include "server/webhook/webhook_keeper.h"
#include "server/webhook/webhook_probe.h"

namespace lastout::server {

// Its functions may be called by any thread; start(), end() and stop() by one at a time.
class ControllerRole {
 public:
  explicit ControllerRole(const SharedParts& parts);
  ControllerRole(const ControllerRole&) = delete;
  ControllerRole& operator=(const ControllerRole&) = delete;

  // API servers reach the listener at this URL; where the options name another, or a Service, that one
  // counts. Before start() alone.
  void listensAt(const std::string& url);
  void start();  // once
  void end();    // nothing more is begun; waits for nothing but deletions that are being sent
  void stop();   // for good, after end(); gives the Lease back
  // lastout ends in an orderly way: takes away what policies with cleanupOnShutdown want to go then, labels
  // for at most so long. Before end() alone.
  void cleanUp(std::chrono::milliseconds patience);
  void told();            // a watch has told something
  void toldOfPolicies();  // the same of deletion policies
  // Time has passed. To be called each second. `knowsCertificate`: the one that the webhook configuration is
  // to trust is known.
  void reconsider(bool knowsCertificate);

  // Return what WebhookKeeper returns. If others keep the webhook configuration, asksAt() returns false, and
  // names() true.
  bool asksAt(const std::string& path) const { return keeper_ && keeper_->asksAt(path); }
  bool names(const std::string& authorities) const { return !keeper_ || keeper_->names(authorities); }
  void trust(const std::string& authorities);
  // Sets the paths for reviews, the newest first. Waits until other listeners have seen the same Secret
  // before it writes the newest path to the webhook configuration, and drops the former path once all API
  // servers use the newest.
  void usePaths(const std::vector<std::string>& paths);
  bool leads() const { return lease_.holds(); }
  void addTo(GaugeValues& now) const;  // never waits for an API server

 private:
  LeaseHolderOptions leaseOptions();
  std::string probesText() const;
  std::string lister() const;
  StatusWriterOptions statusOptions();
  DeferredDeletionRunnerOptions runnerOptions();
  WorkFinalizerControllerOptions worksOptions();
  HeldProviderControllerOptions holderOptions();
  std::unique_ptr<WebhookKeeper> makeKeeper();
  std::unique_ptr<WebhookProbe> makeProbe();
  std::unique_ptr<HeldPolicyController> makeHeldPolicyController();
  std::unique_ptr<LabelledPolicyController> makeLabelledPolicyController();
  std::unique_ptr<ReplayedDeletionController> makeReplayedDeletions();
  std::unique_ptr<PolicyKeeper> makePolicyKeeper();
  std::unique_ptr<ProfileKeeper> makeProfileKeeper();
  std::optional<std::string> labelProblemOf(const protection::DeletionPolicy& policy) const;
  std::optional<std::string> holdProblemOf(const protection::DeletionPolicy& policy) const;
  void taken();
  void declareWebhook();
  std::vector<WebhookEntry> policyEntriesNow(const PolicySet& policies) const;
  void followPath();
  void renewPath();
  bool mayHoldAnything() const;
  bool isAskedAboutAll() const;
  WebhookEnforcement enforcement(const criticalservice::CriticalService& service,
                                 const admission::ClusterView& view) const;
  void tellOf(const ProbeStanding& probe) const;
  void tellOfWebhook(const char* reason, const std::string& message) const;

  const SharedParts parts_;
  const ServerOptions& options_;
  LeaseHolder lease_;
  const std::unique_ptr<WebhookKeeper> keeper_;  // null: others keep the webhook configuration
  const std::unique_ptr<WebhookProbe> probe_;    // null: it is not tried whether API servers ask
  StatusWriter status_;
  DeferredDeletionRunner runner_;
  WorkFinalizerController works_;
  HeldProviderController holder_;
  PolicyTypes policyTypes_;
  const std::unique_ptr<PolicyKeeper> policyKeeper_;                  // null: it only watches
  const std::unique_ptr<ProfileKeeper> profileKeeper_;                // null: there are no keptPolicies
  const std::unique_ptr<HeldPolicyController> heldPolicyController_;  // null: it holds nothing for policies
  const std::unique_ptr<LabelledPolicyController> labelledPolicyController_;  // null: it writes no labels
  const std::unique_ptr<ReplayedDeletionController> replayedDeletions_;  // null: there are no replayedTypes
  kube::Mutex pathMutex_;
  std::vector<std::string> paths_ LASTOUT_GUARDED_BY(pathMutex_);
  // From when on the newest is to be asked at; nullopt: it is already.
  std::optional<TimePoint> newPathAt_ LASTOUT_GUARDED_BY(pathMutex_);
  PathRenewal renewal_ LASTOUT_GUARDED_BY(pathMutex_);
};

}  // namespace lastout::server
