// Server: `lastout serve`: everything that stands beside a real API server and answers it, put together.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "admission/http_server.h"
#include "client/access.h"
#include "server/admission_policy.h"
#include "server/answers.h"
#include "server/certificate_secret.h"
#include "server/confirming_reads.h"
#include "server/deferred_deletion_runner.h"
#include "server/deferred_deletion_store.h"
#include "server/event_writer.h"
#include "server/lease_holder.h"
#include "server/live_view.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/provider_holder.h"
#include "server/reviews.h"
#include "server/status_writer.h"
#include "server/watches.h"
#include "server/webhook_keeper.h"
#include "server/webhook_probe.h"
#include "server/work_keeper.h"

namespace lastout::server {

struct ServerOptions {
  admission::HttpServerOptions http;
  LiveViewOptions view;
  ReviewsOptions reviews;
  // Where the API server finds it; nothing: others keep the webhook configuration. An empty URL without a
  // Service becomes the address that it listens at.
  std::optional<WebhookAddress> webhook;
  WebhookScope webhookScope = WebhookScope::Objects;  // or Types
  // The Secret whose certificate is used instead of the identity in `http`, as soon as it is there. Its
  // members from `watcher` on are filled in here.
  std::optional<CertificateSecretOptions> certificates;
  // Whose holder writes the status of CriticalServices, and Events, carries out what was deferred, keeps
  // works, and holds providers; nothing: this lastout does not, and puts nothing off. Its random and log are
  // the server's.
  std::optional<LeaseHolderOptions> lease;
  Requesters requesters;
  std::optional<AnswersOptions> answers;  // nothing: no metrics and no answers are given
  std::string version;                    // of the program, for the metrics
  // Whether API servers ask it is tried where it keeps the webhook configuration, and does not only watch.
  ProbeTimes probe;
  client::WatcherOptions watcher;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own

  // All of these are called by any thread, and must not wait for long.
  Log log;
  std::function<void(const Verdict& verdict)> verdict;
  std::function<void(std::chrono::milliseconds unguarded)> restored;  // as of WebhookKeeperOptions
};

class Server {
 public:
  // Listens and follows the cluster from now on. Fails when the address cannot be had, or the identity is
  // unusable.
  static kube::Result<std::unique_ptr<Server>> open(std::shared_ptr<client::Access> access,
                                                    ServerOptions options);
  ~Server();  // as stop(0)
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return http_->port(); }
  std::string answersUrl() const { return answers_ ? answers_->url() : ""; }  // "": none are given
  // It knows the cluster well enough to decide, and has the certificate that the API server expects.
  bool isReady() const;
  const LiveView& view() const { return view_; }
  Health health() const;  // never waits for anything
  Standing standing() const;

  // As HttpServer::use(), for the answers, too.
  kube::Result<void> use(const admission::TlsIdentity& identity);
  // Likewise; its certificate stays as it is.
  kube::Result<void> useClientAuthority(const std::string& authorities);
  // Who vouches for its certificate from now on, in PEM, for the webhook configuration. API servers learn of
  // it a moment later.
  void trust(const std::string& authorities);
  // Whether API servers are told so by the webhook configuration that stands; true where others keep it.
  bool isTrusted(const std::string& authorities) const;
  // It is ready no more, and goes on with all that it does until stop(): API servers learn to ask others.
  void announceEnd() { isEnding_ = true; }
  // Requests under way are answered; after `grace` what is left is closed.
  void stop(std::chrono::milliseconds grace);

 private:
  Server(std::shared_ptr<client::Access> access, ServerOptions options);
  ReviewsOptions reviewsOptions();
  kube::Result<void> listen();
  bool isReviewPath(const std::string& path) const;
  kube::Result<void> listenForQuestions();
  void holdLease();
  void keepWebhook();
  void probeWebhook();
  void tellOf(const ProbeStanding& probe) const;
  void tellOfWebhook(const char* reason, const std::string& message) const;
  void shareCertificate();
  kube::Result<void> replaceIdentity(const admission::TlsIdentity& identity);  // with its mutex held
  void reconsider();
  void declareWebhook();
  void writeStatus();
  void deferDeletions();
  void keepWorks();
  void holdProviders();
  bool mayHoldAnything() const;
  void tellOf(const DeferredDeletionEvent& news);
  void tellOf(const admission::Weakening& news);
  Enforcement enforcement(const criticalservice::CriticalService& service,
                          const admission::ClusterView& view) const;
  void noteValidity(const std::string& certificate);

  const std::shared_ptr<client::Access> access_;
  ServerOptions options_;
  Metrics metrics_;
  LiveView view_;
  ConfirmingReads reads_;
  CurrentServices services_;
  ObjectRights rights_;
  Reviews reviews_;
  std::unique_ptr<admission::HttpServer> http_;
  std::unique_ptr<LeaseHolder> lease_;
  std::unique_ptr<EventWriter> events_;
  std::unique_ptr<WebhookKeeper> keeper_;
  std::unique_ptr<WebhookProbe> probe_;
  std::unique_ptr<CertificateSecret> certificates_;
  std::unique_ptr<StatusWriter> status_;
  std::unique_ptr<AdmissionPolicy> annotationPolicy_;
  std::unique_ptr<DeferredDeletionStore> deferredDeletions_;
  std::unique_ptr<DeferredDeletionRunner> carrier_;
  std::unique_ptr<WorkKeeper> works_;
  std::unique_ptr<ProviderHolder> holder_;
  // The same, for questions while they are made.
  std::atomic<const WebhookKeeper*> startedKeeper_{nullptr};
  std::mutex identityMutex_;
  admission::TlsIdentity identity_;  // in use; guarded by the mutex
  std::atomic<const LeaseHolder*> startedLease_{nullptr};
  std::atomic<const WebhookProbe*> startedProbe_{nullptr};
  std::atomic<DeferredDeletionStore*> startedDeferredDeletions_{nullptr};
  std::atomic<DeferredDeletionRunner*> startedCarrier_{nullptr};
  std::atomic<WorkKeeper*> startedWorks_{nullptr};
  std::atomic<ProviderHolder*> startedHolder_{nullptr};
  std::atomic<const CertificateSecret*> startedCertificates_{nullptr};
  std::atomic<int64_t> certificateUntil_{0};  // 0: it cannot be told
  Watches watches_;
  std::unique_ptr<Answers> answers_;
  std::atomic<bool> isEnding_{false};
  bool stopped_ = false;
};

}  // namespace lastout::server
