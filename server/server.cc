#include "server/server.h"

#include <chrono>
#include <utility>

#include "client/connection.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "server/protection_snapshot.h"
#include "server/webhook/webhook_entries.h"
#include "tls/certificates.h"

namespace lastout::server {
namespace {

constexpr std::chrono::seconds kPatienceOfAnswers{5};  // for the API server, of one question

LiveViewOptions viewOptions(const ServerOptions& options,
                            std::function<void(const admission::Weakening&)> weakened) {
  LiveViewOptions view = options.view;
  view.log = options.log;
  view.weakened = std::move(weakened);
  view.alsoFollowed = {manifestwork::appliedManifestWorkType()};
  return view;
}

std::function<std::chrono::sys_seconds()> secondsOf(const ServerOptions& options) {
  return [clock = options.clock] { return std::chrono::floor<std::chrono::seconds>(clock()); };
}

EventWriterOptions eventOptions(const ServerOptions& options) {
  EventWriterOptions events;
  events.instance = options.identity;
  events.clock = secondsOf(options);
  events.log = options.log;
  return events;
}

DeferredDeletionStoreOptions storeOptions(const ServerOptions& options,
                                          const AdmissionPolicy& annotationPolicy,
                                          std::function<void(const DeferredDeletionEvent&)> told) {
  DeferredDeletionStoreOptions store;
  store.requesters = options.requesters;
  store.annotationsCount = [&annotationPolicy] { return annotationPolicy.isEnforced().value_or(false); };
  store.replayedTypes = options.replayedTypes;
  store.clock = secondsOf(options);
  store.random = options.random;
  store.backoff = options.watcher.reflector.backoff;
  store.log = options.log;
  store.told = std::move(told);
  return store;
}

PolicyClustersOptions clusterOptions(const ServerOptions& options) {
  PolicyClustersOptions clusters;
  clusters.backoff = options.watcher.reflector.backoff;
  clusters.random = options.random;
  clusters.log = options.log;
  return clusters;
}

PolicyViewOptions policyOptions(const ServerOptions& options, const PolicyClusters& clusters,
                                decltype(PolicyViewOptions::inVain) inVain) {
  return {options.view.allowedAge, options.log, std::move(inVain), &clusters,
          unaskedNamespaces(options.view.ownNamespace)};
}

PolicyWatchesOptions policyWatchesOptions(const ServerOptions& options, std::function<void()> told) {
  return {options.watcher, options.random, options.log, std::move(told)};
}

WatchesOptions watchesOptions(const ServerOptions& options, Metrics& metrics, std::function<void()> told) {
  WatchesOptions watches;
  watches.watcher = options.watcher;
  watches.random = options.random;
  watches.log = options.log;
  watches.told = std::move(told);
  watches.interrupted = [&metrics](const kube::GroupResource& type) { metrics.countInterruption(type); };
  return watches;
}

}  // namespace

Server::Server(std::shared_ptr<client::Access> access, ServerOptions options)
    : access_(std::move(access)),
      options_(std::move(options)),
      metrics_(options_.version),
      view_(viewOptions(options_, [this](const admission::Weakening& news) { tellOf(news); })),
      policyClusters_(options_.policyClusters, clusterOptions(options_)),
      policies_(view_, policyOptions(options_, policyClusters_,
                                     [this](const kube::ObjectMeta& policy, const std::string& lister,
                                            const std::string& why) { tellOf(policy, lister, why); })),
      policyReviewer_(access_, view_, policies_, options_.policies),
      reads_(access_, view_, [this](const ConfirmingReads::Done& read) { metrics_.count(read); }),
      services_(access_, view_),
      rights_(access_),
      events_(access_, eventOptions(options_)),
      annotationPolicy_(access_, kDeleteWhenFreePolicy, options_.log),
      deferredDeletions_(access_, view_,
                         storeOptions(options_, annotationPolicy_,
                                      [this](const DeferredDeletionEvent& news) { tellOf(news); })),
      paths_({reviewPathOf(options_.http.identity.privateKey)}),
      identity_(options_.http.identity),
      policyWatches_(access_, view_, policies_,
                     policyWatchesOptions(options_,
                                          [this] {
                                            if (controller_) controller_->toldOfPolicies();
                                          })),
      watches_(access_, view_, watchesOptions(options_, metrics_, [this] {
                 if (controller_) controller_->told();
               })) {
  noteValidity(identity_.certificate);
}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

kube::Result<std::unique_ptr<Server>> Server::open(std::shared_ptr<client::Access> access,
                                                   ServerOptions options) {
  std::unique_ptr<Server> server(new Server(std::move(access), std::move(options)));
  if (auto built = server->build(); !built) return tl::unexpected(std::move(built.error()));
  server->start();
  return server;
}

SharedParts Server::parts() {
  return {access_,
          options_,
          metrics_,
          view_,
          reads_,
          services_,
          rights_,
          events_,
          annotationPolicy_,
          deferredDeletions_,
          policies_,
          policyReviewer_,
          certificates_.get(),
          [this] { return health(); },
          [this](const DeferredDeletionEvent& news) { tellOf(news); }};
}

// What answers may be asked at once, and asks for what was made before it.
kube::Result<void> Server::build() {
  certificates_ = makeCertificates();
  if (options_.roles.controller) controller_ = std::make_unique<ControllerRole>(parts());
  events_.start();
  annotationPolicy_.start();
  deferredDeletions_.start();
  if (options_.roles.webhook) {
    if (auto answering = answerReviews(); !answering) return answering;
  }
  return answerQuestions();
}

void Server::start() {
  if (certificates_) certificates_->start();
  if (controller_) controller_->start();
  policyClusters_.observe([this] { policyWatches_.reconsider(); });
  policyClusters_.start();
  policyWatches_.start();
  watches_.observe([this] {
    policyWatches_.reconsider();
    if (controller_) controller_->reconsider(knowsCertificate());
  });
  watches_.start();
}

std::unique_ptr<CertificateSecret> Server::makeCertificates() {
  if (!options_.certificates) return nullptr;
  CertificateSecretOptions certificates = *options_.certificates;
  certificates.renews = options_.roles.controller;
  certificates.labels = options_.ownLabels;
  certificates.watcher = options_.watcher;
  certificates.random = options_.random;
  certificates.log = options_.log;
  certificates.use = [this](const SharedCertificate& shared) {
    const kube::MutexLock lock(identityMutex_);
    auto used = replaceIdentity({shared.certificate, shared.key, identity_.clientCa}, reviewPathsOf(shared));
    if (used) trust(shared.authorities);
    return used;
  };
  return std::make_unique<CertificateSecret>(access_, std::move(certificates));
}

kube::Result<void> Server::answerReviews() {
  auto webhook = WebhookRole::open(
      parts(), [this](const std::string& path) { return controller_ && controller_->asksAt(path); });
  if (!webhook) return tl::unexpected(std::move(webhook.error()));
  webhook_ = std::move(*webhook);
  if (controller_)
    controller_->listensAt(
        toString(client::ServerAddress{true, options_.http.address, static_cast<uint16_t>(port()), ""}));
  return {};
}

kube::Result<void> Server::answerQuestions() {
  if (!options_.answers) return {};
  auto answers = QuestionServer::open(access_, *options_.answers,
                                      {view_, metrics_, [this] { return health(); },
                                       [this] { return standing(); }, options_.clock, options_.log,
                                       [this](const kube::ResourceType& type, const kube::ObjectKey& object) {
                                         return protectionsOf(type, object);
                                       }});
  if (!answers) return tl::unexpected(std::move(answers.error()));
  questionServer_ = std::move(*answers);
  return {};
}

CurrentProtections Server::protectionsOf(const kube::ResourceType& type, const kube::ObjectKey& object) {
  const TimePoint deadline = std::chrono::steady_clock::now() + kPatienceOfAnswers;
  auto told = currentProtections(access_, view_, policies_, type, object, deadline);
  if (told) return std::move(*told);
  return {{protectionUnknown(object, "the object cannot be read: " + kube::printable(told.error().message))},
          std::nullopt};
}

void Server::tellOf(const DeferredDeletionEvent& news) {
  metrics_.count(news.kind);
  Event event = eventOf(news);
  options_.log(
      event.warning ? Level::Warning : Level::Info,
      event.message + (news.regarding.empty() ? "" : " (" + event.kind + " " + news.regarding + ")"));
  if (!event.uid.empty()) events_.tell(std::move(event));
}

// Each process sees it; the holder of the Lease tells it, and counts it.
void Server::tellOf(const admission::Weakening& news) {
  if (!controller_ || !controller_->leads()) return;
  metrics_.count(news.kind);
  Event event = eventOf(news);
  options_.log(Level::Warning, event.message + " (CriticalService " + news.service + ")");
  events_.tell(std::move(event));
}

// It stands as long as the object: each process with the controller role says it, whoever holds the Lease.
void Server::tellOf(const kube::ObjectMeta& policy, const std::string& lister, const std::string& why) {
  if (!controller_) return;
  events_.tell(eventAbout(kube::kLastoutApiVersion, protection::kPolicyKind, policy.name, policy.uid, true,
                          "NotProtected", lister + " " + why, lister));
}

Health Server::health() const {
  const bool knowsPolicies = policies_.isKnown() || policies_.isForbidden();
  return {view_.isReady() && knowsPolicies, knowsCertificate(), isEnding_};
}

GaugeValues Server::standing() const {
  GaugeValues now;
  now.types = view_.standings();
  now.health = health();
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& /*types*/) {
    now.leftOutDependencies = view.leftOutDependencies();
  });
  if (const int64_t until = certificateUntil_; until != 0) now.certificateUntil = until;
  now.problems["admission-policy"] = annotationPolicy_.isEnforced().value_or(true) ? 0 : 1;
  if (controller_) controller_->addTo(now);
  return now;
}

void Server::noteValidity(const std::string& certificate) {
  const auto validity = tls::validityOf(certificate);
  certificateUntil_ = validity ? validity->until : 0;
}

kube::Result<void> Server::use(const net::TlsIdentity& identity) {
  const kube::MutexLock lock(identityMutex_);
  return replaceIdentity(identity, {reviewPathOf(identity.privateKey)});
}

kube::Result<void> Server::useClientAuthority(const std::string& authorities) {
  const kube::MutexLock lock(identityMutex_);
  return replaceIdentity({identity_.certificate, identity_.privateKey, authorities}, paths_);
}

kube::Result<void> Server::replaceIdentity(const net::TlsIdentity& identity, std::vector<std::string> paths) {
  if (webhook_) {
    if (auto used = webhook_->use(identity, paths); !used) return used;
  }
  if (questionServer_) {
    if (auto used = questionServer_->use(identity); !used) return used;
  }
  noteValidity(identity.certificate);
  identity_ = identity;
  if (controller_) controller_->usePaths(paths);
  paths_ = std::move(paths);
  return {};
}

bool Server::isTrusted(const std::string& authorities) const {
  return !controller_ || controller_->names(authorities);
}

void Server::trust(const std::string& authorities) {
  if (controller_) controller_->trust(authorities);
}

void Server::cleanUp(std::chrono::milliseconds patience) {
  if (controller_ && !stopped_) controller_->cleanUp(patience);
}

void Server::stop(std::chrono::milliseconds grace) {
  if (std::exchange(stopped_, true)) return;
  if (webhook_) webhook_->stop(grace);
  deferredDeletions_.finish(grace);
  access_->stop();
  if (controller_) controller_->end();
  reads_.stop();  // these may be waited for
  services_.stop();
  policyReviewer_.stop();
  policyClusters_.stop();
  rights_.stop();
  if (controller_) controller_->stop();
  deferredDeletions_.stop();
  annotationPolicy_.stop();
  events_.stop();
  if (questionServer_) questionServer_->stop(std::chrono::milliseconds(0));
  watches_.stop();
  policyWatches_.stop();
  if (certificates_) certificates_->stop();
}

}  // namespace lastout::server
