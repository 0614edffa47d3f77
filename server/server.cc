#include "server/server.h"

#include <set>
#include <utility>
#include <vector>

#include "admission/log_limiter.h"
#include "client/connection.h"
#include "criticalservice/critical_service.h"
#include "manifestwork/manifest_work.h"
#include "server/dependency_standing.h"
#include "server/sentinel.h"
#include "tls/certificates.h"

namespace lastout::server {
namespace {

constexpr std::chrono::milliseconds kLetGoPatience{5'000};  // for all CriticalServices, before a work goes

// Whether a type is built in, and has no CRD to guard, is the same in every cluster.
const kube::ResourceMap& builtInTypes() {
  static const kube::ResourceMap kTypes = kube::ResourceMap::builtIn();
  return kTypes;
}

LiveViewOptions viewOptions(const ServerOptions& options,
                            std::function<void(const admission::Weakening&)> weakened) {
  LiveViewOptions view = options.view;
  view.log = options.log;
  view.weakened = std::move(weakened);
  if (options.lease) view.alsoFollowed = {manifestwork::appliedManifestWorkType()};
  return view;
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
      reads_(access_, view_, [this](const ConfirmingReads::Done& read) { metrics_.count(read); }),
      services_(access_, view_),
      rights_(access_),
      reviews_(view_, reads_, services_, rights_, reviewsOptions(),
               [this](const Verdict& verdict) {
                 metrics_.count(verdict);
                 options_.verdict(verdict);
               }),
      identity_(options_.http.identity),
      watches_(access_, view_, watchesOptions(options_, metrics_, [this] {
                 if (DeferredDeletionRunner* carrier = startedCarrier_) carrier->reconsider();
                 if (WorkKeeper* works = startedWorks_) works->reconsider();
                 if (ProviderHolder* holder = startedHolder_) holder->reconsider();
               })) {}

ReviewsOptions Server::reviewsOptions() {
  ReviewsOptions reviews = options_.reviews;
  reviews.personsCount = options_.lease && options_.requesters.personsCount;
  reviews.denied = [this](const admission::Review& review, TimePoint deadline) {
    DeferredDeletionStore* deferredDeletions = startedDeferredDeletions_;
    return deferredDeletions == nullptr ? std::string() : deferredDeletions->remember(review, deadline);
  };
  return reviews;
}

Server::~Server() { stop(std::chrono::milliseconds(0)); }

kube::Result<std::unique_ptr<Server>> Server::open(std::shared_ptr<client::Access> access,
                                                   ServerOptions options) {
  std::unique_ptr<Server> server(new Server(std::move(access), std::move(options)));
  if (auto listening = server->listen(); !listening) return tl::unexpected(std::move(listening.error()));
  server->holdLease();
  server->keepWebhook();
  server->probeWebhook();
  if (auto listening = server->listenForQuestions(); !listening)
    return tl::unexpected(std::move(listening.error()));
  server->shareCertificate();
  server->writeStatus();
  server->deferDeletions();
  server->keepWorks();
  server->holdProviders();
  server->watches_.observe([raw = server.get()] { raw->reconsider(); });
  if (server->lease_) server->lease_->start();
  server->watches_.start();
  return server;
}

kube::Result<void> Server::listen() {
  std::vector<admission::HttpRoute> routes;
  const auto review = [this](const admission::HttpRequest& request) { return reviews_.answer(request); };
  const auto knows = [this](const std::string& path) { return isReviewPath(path); };
  for (const char* below : {"", "/"})
    routes.push_back(
        {"POST", std::string(kReviewPath) + below, "application/json", review, false, false, knows});
  routes.push_back({"POST", std::string(kProbePath), "application/json", answerProbe});
  for (admission::HttpRoute& route : healthRoutes([this] { return health(); }))
    routes.push_back(std::move(route));
  auto http = admission::HttpServer::open(
      options_.http, std::move(routes),
      admission::limited(
          [this](const admission::HttpEvent& event) { options_.log(Level::Warning, toString(event)); }, {}));
  if (!http) return tl::unexpected(std::move(http.error()));
  http_ = std::move(*http);
  noteValidity(options_.http.identity.certificate);
  return {};
}

// The path is secret: a request to another one does not come from an API server.
bool Server::isReviewPath(const std::string& path) const {
  if (!options_.webhook) return path == kReviewPath;
  const WebhookKeeper* keeper = startedKeeper_;
  return keeper != nullptr && keeper->asksAt(path);
}

kube::Result<void> Server::listenForQuestions() {
  if (!options_.answers) return {};
  auto answers = Answers::open(
      access_, *options_.answers,
      {view_, metrics_, [this] { return health(); }, [this] { return standing(); }, options_.log});
  if (!answers) return tl::unexpected(std::move(answers.error()));
  answers_ = std::move(*answers);
  return {};
}

void Server::keepWebhook() {
  if (!options_.webhook) return;
  WebhookConfiguration configuration;
  configuration.address = *options_.webhook;
  if (configuration.address.url.empty() && configuration.address.serviceName.empty())
    configuration.address.url =
        toString(client::ServerAddress{true, options_.http.address, static_cast<uint16_t>(port()), ""});
  configuration.address.reviewPath = reviewPathOf(identity_.privateKey);
  configuration.ownNamespace = view_.ownNamespace();
  configuration.auditOnly = options_.reviews.auditOnly;
  configuration.scope = options_.webhookScope;
  WebhookKeeperOptions keeping;
  keeping.watcher = options_.watcher;
  keeping.random = options_.random;
  keeping.log = options_.log;
  keeping.restored = [this](std::chrono::milliseconds unguarded) {
    metrics_.countRestored(unguarded);
    options_.restored(unguarded);
    tellOfWebhook("Restored", "it was changed, and is put back; for " + std::to_string(unguarded.count()) +
                                  " ms it did not ask for all that it should");
  };
  keeping.mayWrite = [this] { return !lease_ || lease_->holds(); };
  keeper_ = std::make_unique<WebhookKeeper>(access_, std::move(configuration), std::move(keeping));
  keeper_->start();
  startedKeeper_ = keeper_.get();
}

void Server::probeWebhook() {
  if (!keeper_ || options_.reviews.auditOnly) return;
  WebhookProbeOptions probe;
  probe.configuration = [this] { return keeper_->inForce(); };
  probe.times = options_.probe;
  probe.random = options_.random();
  probe.counted = [this](ProbeResult result) { metrics_.count(result); };
  probe.changed = [this](const ProbeStanding& standing) { tellOf(standing); };
  probe.log = options_.log;
  probe_ = std::make_unique<WebhookProbe>(access_, std::move(probe));
  probe_->start();
  startedProbe_ = probe_.get();
}

void Server::tellOf(const ProbeStanding& probe) const {
  const std::string server = "the API server at " + probe.address;
  switch (probe.result) {
    case ProbeResult::Allowed:
      tellOfWebhook("ProbeAllowed", server + " does not go by it: what is guarded can be deleted there");
      return options_.log(
          Level::Error,
          server + " does not ask lastout: it allowed a probe, and would let guarded objects go");
    case ProbeResult::Failed:
      return options_.log(Level::Warning, "whether " + server + " asks lastout is not known: " + probe.why);
    case ProbeResult::Denied:
      return options_.log(Level::Info, server + " asks lastout, by the webhook configuration that stands");
    case ProbeResult::Outdated:
    case ProbeResult::None:
      break;
  }
}

// The other replicas see the same, and leave it to the holder of the Lease to tell.
void Server::tellOfWebhook(const char* reason, const std::string& message) const {
  if (!lease_ || !lease_->holds()) return;
  events_->tell({"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration",
                 WebhookConfiguration().name, keeper_->uid(), true, reason, message});
}

void Server::shareCertificate() {
  if (!options_.certificates) return;
  CertificateSecretOptions certificates = *options_.certificates;
  certificates.watcher = options_.watcher;
  certificates.random = options_.random;
  certificates.log = options_.log;
  certificates.use = [this](const SharedCertificate& shared) {
    const std::lock_guard lock(identityMutex_);
    auto used = replaceIdentity({shared.certificate, shared.key, identity_.clientCa});
    if (used) trust(shared.authorities);
    return used;
  };
  certificates_ = std::make_unique<CertificateSecret>(access_, std::move(certificates));
  certificates_->start();
  startedCertificates_ = certificates_.get();
}

void Server::reconsider() {
  declareWebhook();
  if (probe_) probe_->reconsider();
  if (status_) status_->reconsider();
  if (carrier_) carrier_->reconsider(true);
  if (works_) works_->reconsider();
  if (holder_) holder_->reconsider();
  if (lease_) lease_->reconsider();
}

// What CriticalServices guard is to be asked about, once all of them are known and what providers need was
// read: what stands there may ask about more until then. Without the CRD of CriticalServices there can be
// none.
void Server::declareWebhook() {
  if (!keeper_ || (certificates_ && !certificates_->isKnown())) return;
  const graph::Knowledge knowledge = view_.knowledge(criticalservice::criticalServiceType());
  if (knowledge == graph::Knowledge::Absent) return keeper_->retire();
  if (!admission::believable(knowledge) || !view_.hasReadDependencies()) return;
  ReviewedObjects objects;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    const graph::Graph& graph = view.graph();
    if (const auto home = graph.find({{"", "namespaces"}, "", view_.ownNamespace()}))
      objects.ownNamespaceUid = graph.uid(*home);
    for (const criticalservice::CriticalService* service : view.services())
      objects.add(*service, types, view.guards().dependencies(view.guards().find(service->meta.name)),
                  view_.ownNamespace());
  });
  keeper_->setObjects(std::move(objects));
}

// Whoever holds it writes for all; a lastout that does not know the cluster leaves it to others.
void Server::holdLease() {
  if (!options_.lease) return;
  LeaseHolderOptions lease = *options_.lease;
  lease.random = options_.random;
  lease.log = options_.log;
  lease.mayHold = [this] { return isReady(); };
  lease.taken = [this] {
    if (keeper_) keeper_->reconsider();
    if (status_) status_->reconsider();
    if (DeferredDeletionRunner* carrier = startedCarrier_) carrier->reconsider(true);
    if (WorkKeeper* works = startedWorks_) works->reconsider();
    if (ProviderHolder* holder = startedHolder_) holder->reconsider();
  };
  EventWriterOptions events;
  events.instance = lease.identity;
  events.clock = [clock = lease.clock] { return std::chrono::floor<std::chrono::seconds>(clock()); };
  events.log = options_.log;
  lease_ = std::make_unique<LeaseHolder>(access_, std::move(lease));
  startedLease_ = lease_.get();
  events_ = std::make_unique<EventWriter>(access_, std::move(events));
  events_->start();
}

void Server::writeStatus() {
  if (!lease_) return;
  StatusWriterOptions status;
  status.mayWrite = [this] { return lease_->holds(); };
  status.enforcement = [this](const criticalservice::CriticalService& service,
                              const admission::ClusterView& view) { return enforcement(service, view); };
  status.holdProblem = [this](const criticalservice::CriticalService& service) {
    const ProviderHolder* holder = startedHolder_;
    return holder == nullptr ? std::string() : holder->problemOf(service.provider);
  };
  status.written = [this](const std::string& name, const std::string& uid, const nlohmann::json& before,
                          const nlohmann::json& after) {
    for (Event& event : eventsOf(name, uid, before, after)) events_->tell(std::move(event));
  };
  status.clock = [clock = options_.lease->clock] {
    return std::chrono::floor<std::chrono::seconds>(clock());
  };
  status.random = options_.random;
  status.backoff = options_.watcher.reflector.backoff;
  status.log = options_.log;
  status.failed = [this] { metrics_.countStatusFailure(); };
  status_ = std::make_unique<StatusWriter>(access_, view_, std::move(status));
  status_->start();
}

// Every replica remembers what it denied; the holder of the Lease carries it out.
void Server::deferDeletions() {
  if (!lease_) return;
  annotationPolicy_ =
      std::make_unique<AdmissionPolicy>(access_, std::string(kDeleteWhenFreePolicy), options_.log);
  annotationPolicy_->start();
  DeferredDeletionStoreOptions store;
  store.requesters = options_.requesters;
  store.annotationsCount = [this] { return annotationPolicy_->isEnforced().value_or(false); };
  store.clock = [clock = options_.lease->clock] { return std::chrono::floor<std::chrono::seconds>(clock()); };
  store.random = options_.random;
  store.backoff = options_.watcher.reflector.backoff;
  store.log = options_.log;
  store.told = [this](const DeferredDeletionEvent& news) { tellOf(news); };
  deferredDeletions_ = std::make_unique<DeferredDeletionStore>(access_, view_, std::move(store));
  deferredDeletions_->start();
  startedDeferredDeletions_ = deferredDeletions_.get();
  DeferredDeletionRunnerOptions carrier;
  carrier.requesters = options_.requesters;
  carrier.annotationsCount = [this] { return annotationPolicy_->isEnforced(); };
  carrier.confirmAnnotationsCount = [this] { return annotationPolicy_->look(); };
  carrier.clock = [clock = options_.lease->clock] {
    return std::chrono::floor<std::chrono::seconds>(clock());
  };
  carrier.mayAct = [this] {
    const bool isAsked = !keeper_ || keeper_->asksAboutAll().value_or(false);
    return lease_->holds() && isAsked && !options_.reviews.auditOnly;
  };
  carrier.forget = [this](const std::string& service, const criticalservice::DeferredDeletion& deletion) {
    deferredDeletions_->forget(service, deletion);
  };
  carrier.random = options_.random;
  carrier.told = [this](const DeferredDeletionEvent& news) { tellOf(news); };
  carrier_ = std::make_unique<DeferredDeletionRunner>(access_, view_, std::move(carrier));
  carrier_->start();
  startedCarrier_ = carrier_.get();
}

// Where it does not deny, and where there can be no CriticalService, it lets go of what it kept or held.
bool Server::mayHoldAnything() const {
  return !options_.reviews.auditOnly &&
         view_.knowledge(criticalservice::criticalServiceType()) != graph::Knowledge::Absent;
}

void Server::keepWorks() {
  if (!lease_) return;
  WorkKeeperOptions works;
  works.mayKeep = [this] { return mayHoldAnything(); };
  works.refused = [this] { return carrier_->refused(); };
  works.services = [this] { return services_.read(std::chrono::steady_clock::now() + kLetGoPatience); };
  works.mayAct = [this] { return lease_->holds(); };
  works.random = options_.random;
  works.log = options_.log;
  works.told = [this](Event event) { events_->tell(std::move(event)); };
  works_ = std::make_unique<WorkKeeper>(access_, view_, std::move(works));
  works_->start();
  startedWorks_ = works_.get();
}

void Server::holdProviders() {
  if (!lease_) return;
  ProviderHolderOptions holder;
  holder.mayHold = [this] { return mayHoldAnything(); };
  holder.mayAct = [this] { return lease_->holds(); };
  holder.random = options_.random;
  holder.log = options_.log;
  holder_ = std::make_unique<ProviderHolder>(access_, view_, reads_, services_, std::move(holder));
  holder_->start();
  startedHolder_ = holder_.get();
}

void Server::tellOf(const DeferredDeletionEvent& news) {
  metrics_.count(news.kind);
  Event event = eventOf(news);
  options_.log(event.warning ? Level::Warning : Level::Info,
               event.message + (news.holder.empty() ? "" : " (" + event.kind + " " + news.holder + ")"));
  if (!event.uid.empty()) events_->tell(std::move(event));
}

// Each replica sees it; the holder of the Lease tells it, and counts it.
void Server::tellOf(const admission::Weakening& news) {
  const LeaseHolder* lease = startedLease_;
  if (options_.lease && (lease == nullptr || !lease->holds())) return;
  metrics_.count(news.kind);
  Event event = eventOf(news);
  options_.log(Level::Warning, event.message + " (CriticalService " + news.service + ")");
  if (lease != nullptr) events_->tell(std::move(event));
}

// By whoever holds the view's lock.
Enforcement Server::enforcement(const criticalservice::CriticalService& service,
                                const admission::ClusterView& view) const {
  EnforcementFacts facts;
  facts.auditOnly = options_.reviews.auditOnly;
  facts.keepsWebhook = keeper_ != nullptr;
  facts.ownNamespace = view_.ownNamespace();
  facts.wanted.add(service, builtInTypes(), view.guards().dependencies(view.guards().find(service.meta.name)),
                   facts.ownNamespace);
  const DependencyStanding dependencies = dependencyStanding(view, service);
  if (!dependencies.known) facts.undecided = dependencies.message;
  if (keeper_) facts.asksAbout = keeper_->asksAbout(facts.wanted);
  if (probe_) facts.probed = probe_->enforcementFor(facts.wanted);
  return enforcementOf(facts, service);
}

Health Server::health() const {
  const CertificateSecret* certificates = startedCertificates_;
  return {view_.isReady(), !options_.certificates || (certificates != nullptr && certificates->isKnown()),
          isEnding_};
}

bool Server::isReady() const { return health().isReady(); }

Standing Server::standing() const {
  Standing now;
  now.types = view_.standings();
  now.health = health();
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& /*types*/) {
    now.leftOutDependencies = view.leftOutDependencies();
  });
  if (const WebhookKeeper* keeper = startedKeeper_) now.webhookInForce = keeper->isInForce().value_or(false);
  if (const LeaseHolder* lease = startedLease_) now.leads = lease->holds();
  if (const WorkKeeper* works = startedWorks_) now.keptWorks = works->kept();
  if (const int64_t until = certificateUntil_; until != 0) now.certificateUntil = until;
  if (const WebhookProbe* probe = startedProbe_) now.probes = probe->standings();
  return now;
}

void Server::noteValidity(const std::string& certificate) {
  const auto validity = tls::validityOf(certificate);
  certificateUntil_ = validity ? validity->until : 0;
}

kube::Result<void> Server::use(const admission::TlsIdentity& identity) {
  const std::lock_guard lock(identityMutex_);
  return replaceIdentity(identity);
}

kube::Result<void> Server::useClientAuthority(const std::string& authorities) {
  const std::lock_guard lock(identityMutex_);
  return replaceIdentity({identity_.certificate, identity_.privateKey, authorities});
}

kube::Result<void> Server::replaceIdentity(const admission::TlsIdentity& identity) {
  if (auto used = http_->use(identity); !used) return used;
  noteValidity(identity.certificate);
  identity_ = identity;
  if (keeper_) keeper_->setReviewPath(reviewPathOf(identity.privateKey));
  return answers_ ? answers_->use(identity) : kube::Result<void>();
}

bool Server::isTrusted(const std::string& authorities) const {
  return !keeper_ || keeper_->names(authorities);
}

void Server::trust(const std::string& authorities) {
  if (keeper_) keeper_->setAuthorities(authorities);
}

void Server::stop(std::chrono::milliseconds grace) {
  if (std::exchange(stopped_, true)) return;
  if (http_) http_->stop(grace);
  if (deferredDeletions_) deferredDeletions_->finish(grace);
  access_->stop();
  if (carrier_) carrier_->stop();
  if (works_) works_->end();
  if (holder_) holder_->end();
  reads_.stop();  // these two may be waiting for them
  services_.stop();
  rights_.stop();
  if (works_) works_->stop();
  if (holder_) holder_->stop();
  if (deferredDeletions_) deferredDeletions_->stop();
  if (annotationPolicy_) annotationPolicy_->stop();
  if (status_) status_->stop();
  if (events_) events_->stop();
  if (lease_) lease_->stop();
  if (answers_) answers_->stop(std::chrono::milliseconds(0));
  watches_.stop();
  if (certificates_) certificates_->stop();
  if (probe_) probe_->stop();
  if (keeper_) keeper_->stop();
}

}  // namespace lastout::server
