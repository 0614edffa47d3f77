// Server: `lastout serve`: everything that stands beside a real API server, put together of the roles that
// this process has.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "client/access.h"
#include "kube/locks.h"
#include "server/controller_role.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/controllers/event_writer.h"
#include "server/metrics.h"
#include "server/question_server.h"
#include "server/review/confirming_reads.h"
#include "server/review/current_services.h"
#include "server/review/policy_reviewer.h"
#include "server/server_options.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_clusters.h"
#include "server/watch/policy_view.h"
#include "server/watch/policy_watches.h"
#include "server/watch/watches.h"
#include "server/webhook/certificate_secret.h"
#include "server/webhook_role.h"

namespace lastout::server {

class Server {
 public:
  // Follows the cluster, and does what its roles do, from now on. Fails when an address cannot be had, or the
  // identity is unusable.
  static kube::Result<std::unique_ptr<Server>> open(std::shared_ptr<client::Access> access,
                                                    ServerOptions options);
  ~Server();  // as stop(0)
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where reviews are answered; 0 without the webhook role.
  int port() const { return webhook_ ? webhook_->port() : 0; }
  std::string answersUrl() const {
    return questionServer_ ? questionServer_->url() : "";
  }  // "": none are given
  // It knows the cluster well enough to decide, and has the certificate that the API server expects.
  bool isReady() const { return health().isReady(); }
  const LiveView& view() const { return view_; }
  const PolicyView& policies() const { return policies_; }
  Health health() const;  // never waits for anything
  GaugeValues standing() const;

  // As HttpServer::use(), for the answers, too.
  kube::Result<void> use(const net::TlsIdentity& identity);
  // The same; its certificate stays as it is.
  kube::Result<void> useClientAuthority(const std::string& authorities);
  // Who vouches for its certificate from now on, in PEM, for the webhook configuration. API servers learn of
  // it a moment later.
  void trust(const std::string& authorities);
  // Whether API servers are told so by the webhook configuration that stands; true where others keep it.
  bool isTrusted(const std::string& authorities) const;
  // It is ready no more, and goes on with all that it does until stop(): API servers learn to ask others.
  void announceEnd() { isEnding_ = true; }
  // It ends in an orderly way: takes away what deletion policies with cleanupOnShutdown want to go then,
  // labels for at most so long. Before stop() and announceEnd() alone.
  void cleanUp(std::chrono::milliseconds patience);
  // ObjectClient under way are answered; after `grace` what is left is closed.
  void stop(std::chrono::milliseconds grace);

 private:
  Server(std::shared_ptr<client::Access> access, ServerOptions options);
  kube::Result<void> build();
  void start();
  SharedParts parts();
  std::unique_ptr<CertificateSecret> makeCertificates();
  kube::Result<void> answerReviews();
  kube::Result<void> answerQuestions();
  CurrentProtections protectionsOf(const kube::ResourceType& type, const kube::ObjectKey& object);
  kube::Result<void> replaceIdentity(const net::TlsIdentity& identity, std::vector<std::string> paths)
      LASTOUT_REQUIRES(identityMutex_);
  bool knowsCertificate() const { return !certificates_ || certificates_->isKnown(); }
  void tellOf(const DeferredDeletionEvent& news);
  void tellOf(const admission::Weakening& news);
  void tellOf(const kube::ObjectMeta& policy, const std::string& lister, const std::string& why);
  void noteValidity(const std::string& certificate);

  const std::shared_ptr<client::Access> access_;
  const ServerOptions options_;
  Metrics metrics_;
  LiveView view_;
  PolicyClusters policyClusters_;
  PolicyView policies_;
  PolicyReviewer policyReviewer_;
  ConfirmingReads reads_;
  CurrentServices services_;
  ObjectRights rights_;
  EventWriter events_;
  AdmissionPolicy annotationPolicy_;
  DeferredDeletionStore deferredDeletions_;
  kube::Mutex identityMutex_;
  // For reviews, in use, the newest first.
  std::vector<std::string> paths_ LASTOUT_GUARDED_BY(identityMutex_);
  net::TlsIdentity identity_ LASTOUT_GUARDED_BY(identityMutex_);  // in use
  std::atomic<int64_t> certificateUntil_{0};                      // 0: it cannot be told
  // These are made before anything starts that asks for them.
  std::unique_ptr<CertificateSecret> certificates_;  // null: there is no Secret
  std::unique_ptr<ControllerRole> controller_;       // null: it does not have that role, as the next
  std::unique_ptr<WebhookRole> webhook_;
  std::unique_ptr<QuestionServer> questionServer_;  // null: none are given
  PolicyWatches policyWatches_;
  Watches watches_;
  std::atomic<bool> isEnding_{false};
  bool stopped_ = false;
};

}  // namespace lastout::server
