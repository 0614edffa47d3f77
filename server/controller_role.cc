#include "server/controller_role.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "criticalservice/critical_service.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "server/controllers/dependency_standing.h"
#include "server/review/confirmed_verdict.h"
#include "server/webhook/policy_entries.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLetGoPatience{5'000};  // for all CriticalServices, before a work goes
constexpr std::chrono::milliseconds kPathPause{2'000};  // for listeners to see the Secret that has a new path
constexpr std::chrono::milliseconds kConfirmPatience{3'500};  // for all that one deferred deletion rests on

}  // namespace

ControllerRole::ControllerRole(const SharedParts& parts)
    : parts_(parts),
      options_(parts.options),
      lease_(parts.access, leaseOptions()),
      keeper_(makeKeeper()),
      probe_(makeProbe()),
      status_(parts.access, parts.view, statusOptions()),
      runner_(parts.access, parts.view, runnerOptions()),
      works_(parts.access, parts.view, worksOptions()),
      holder_(parts.access, parts.view, parts.reads, parts.services, holderOptions()),
      policyTypes_(parts.access, parts.view, parts.policies, parts.rights, lister()),
      policyKeeper_(makePolicyKeeper()),
      profileKeeper_(makeProfileKeeper()),
      heldPolicyController_(makeHeldPolicyController()),
      labelledPolicyController_(makeLabelledPolicyController()),
      replayedDeletions_(makeReplayedDeletions()),
      renewal_(options_.probe.period) {}

// As deploy/ installs it, other replicas review DELETEs, with an account of their own.
std::string ControllerRole::lister() const {
  const std::string& home = options_.view.ownNamespace;
  return options_.roles.webhook || home.empty() ? "" : userInfoOf(home, kWebhookAccount);
}

// Whoever holds it writes for all; a lastout that does not know the cluster leaves it to others.
LeaseHolderOptions ControllerRole::leaseOptions() {
  LeaseHolderOptions lease = options_.lease;
  lease.identity = options_.identity;
  lease.clock = options_.clock;
  lease.random = options_.random;
  lease.log = options_.log;
  lease.mayHold = [this] { return parts_.health().isReady(); };
  lease.taken = [this] { taken(); };
  lease.probes = [this] { return probesText(); };
  return lease;
}

std::string ControllerRole::probesText() const {
  constexpr size_t kMostAddresses = 50;
  kube::Json told = kube::Json::object();
  for (const ProbeStanding& one : probe_ ? probe_->standings() : std::vector<ProbeStanding>()) {
    if (told.size() == kMostAddresses) break;
    told[one.address] =
        std::string(toString(one.result)) + (one.why.empty() ? "" : ": " + kube::printable(one.why));
  }
  return told.dump();
}

std::unique_ptr<HeldPolicyController> ControllerRole::makeHeldPolicyController() {
  if (!options_.holdsPolicies || options_.reviews.auditOnly) return nullptr;
  return std::make_unique<HeldPolicyController>(parts_, [this] { return lease_.holds(); });
}

std::unique_ptr<LabelledPolicyController> ControllerRole::makeLabelledPolicyController() {
  if (!options_.labelsPolicies || options_.reviews.auditOnly) return nullptr;
  return std::make_unique<LabelledPolicyController>(parts_, [this] { return lease_.holds(); });
}

// As of deferred deletions.
std::unique_ptr<ReplayedDeletionController> ControllerRole::makeReplayedDeletions() {
  if (options_.replayedTypes.empty() || options_.reviews.auditOnly) return nullptr;
  return std::make_unique<ReplayedDeletionController>(parts_,
                                                      [this] { return lease_.holds() && isAskedAboutAll(); });
}

std::optional<std::string> ControllerRole::labelProblemOf(const protection::DeletionPolicy& policy) const {
  if (!policy.labels) return std::nullopt;
  if (labelledPolicyController_) return labelledPolicyController_->problemOf(policy);
  return "lastout serve runs without --label-policies: its users label the objects";
}

std::optional<std::string> ControllerRole::holdProblemOf(const protection::DeletionPolicy& policy) const {
  if (!policy.hold) return std::nullopt;
  if (heldPolicyController_) return heldPolicyController_->problemOf(policy);
  return "lastout serve runs without --hold-policies (holdsPolicies of the chart): it sets no finalizer, and "
         "the DELETE of a protected object that has none is denied";
}

std::unique_ptr<PolicyKeeper> ControllerRole::makePolicyKeeper() {
  if (options_.reviews.auditOnly) return nullptr;
  PolicyKeeperOptions keeping;
  keeping.mode = options_.policies;
  keeping.mayWrite = [this] { return lease_.holds(); };
  keeping.areNone = [this] { return parts_.policies.areNone(); };
  keeping.webhookAsks = [this](const std::string& /*policy*/) { return isAskedAboutAll(); };
  keeping.labelProblem = [this](const protection::DeletionPolicy& policy) { return labelProblemOf(policy); };
  keeping.holdProblem = [this](const protection::DeletionPolicy& policy) { return holdProblemOf(policy); };
  keeping.unknownTypes = [this](const protection::DeletionPolicy& policy) {
    return policyTypes_.unknownTo(policy);
  };
  keeping.unreadableTypes = [this](const protection::DeletionPolicy& policy) {
    return policyTypes_.unreadableOf(policy);
  };
  keeping.written = [this](const kube::ObjectMeta& policy, const nlohmann::json& before,
                           const nlohmann::json& after) {
    for (Event& event : eventsOfPolicy(policy.name, policy.uid, before, after))
      parts_.events.tell(std::move(event));
  };
  keeping.clock = [clock = options_.clock] { return std::chrono::floor<std::chrono::seconds>(clock()); };
  keeping.watcher = options_.watcher;
  keeping.random = options_.random;
  keeping.log = options_.log;
  return std::make_unique<PolicyKeeper>(parts_.access, std::move(keeping));
}

std::unique_ptr<ProfileKeeper> ControllerRole::makeProfileKeeper() {
  if (options_.keptPolicies.empty()) return nullptr;
  ProfileKeeperOptions keeping;
  keeping.policies = options_.keptPolicies;
  keeping.mayWrite = [this] { return lease_.holds(); };
  keeping.watcher = options_.watcher;
  keeping.random = options_.random;
  keeping.log = options_.log;
  return std::make_unique<ProfileKeeper>(parts_.access, std::move(keeping));
}

void ControllerRole::taken() {
  {
    const kube::MutexLock lock(pathMutex_);
    renewal_.taken(steady_clock::now());
  }
  if (policyKeeper_) policyKeeper_->reconsider();
  if (profileKeeper_) profileKeeper_->reconsider();
  if (heldPolicyController_) heldPolicyController_->wake();
  if (labelledPolicyController_) labelledPolicyController_->wake();
  if (replayedDeletions_) replayedDeletions_->reconsider();
  if (keeper_) keeper_->reconsider();
  status_.reconsider();
  runner_.reconsider(true);
  works_.reconsider();
  holder_.reconsider();
}

std::unique_ptr<WebhookKeeper> ControllerRole::makeKeeper() {
  if (!options_.webhook) return nullptr;
  WebhookConfiguration configuration;
  configuration.address = *options_.webhook;
  configuration.address.reviewPath = reviewPathOf(options_.http.identity.privateKey);
  configuration.ownNamespace = parts_.view.ownNamespace();
  configuration.labels = options_.ownLabels;
  configuration.auditOnly = options_.reviews.auditOnly;
  configuration.scope = options_.webhookScope;
  WebhookKeeperOptions keeping;
  keeping.watcher = options_.watcher;
  keeping.random = options_.random;
  keeping.log = options_.log;
  keeping.restored = [this](std::chrono::milliseconds unguarded) {
    parts_.metrics.countRestored(unguarded);
    options_.restored(unguarded);
    tellOfWebhook("Restored", "it was changed, and is put back; for " + std::to_string(unguarded.count()) +
                                  " ms it did not ask for all that it should");
  };
  keeping.mayWrite = [this] { return lease_.holds(); };
  return std::make_unique<WebhookKeeper>(parts_.access, std::move(configuration), std::move(keeping));
}

std::unique_ptr<WebhookProbe> ControllerRole::makeProbe() {
  if (!keeper_ || options_.reviews.auditOnly) return nullptr;
  WebhookProbeOptions probe;
  probe.configuration = [this] { return keeper_->inForce(); };
  probe.times = options_.probe;
  probe.random = options_.random();
  probe.counted = [this](ProbeResult result) { parts_.metrics.count(result); };
  probe.answered = [this](const ProbeAnswer& answer) {
    const kube::MutexLock lock(pathMutex_);
    renewal_.answered(answer);
  };
  probe.changed = [this](const ProbeStanding& standing) { tellOf(standing); };
  probe.log = options_.log;
  return std::make_unique<WebhookProbe>(parts_.access, std::move(probe));
}

StatusWriterOptions ControllerRole::statusOptions() {
  StatusWriterOptions status;
  status.mayWrite = [this] { return lease_.holds(); };
  status.enforcement = [this](const criticalservice::CriticalService& service,
                              const admission::ClusterView& view) { return enforcement(service, view); };
  status.holdProblem = [this](const criticalservice::CriticalService& service) {
    return holder_.problemOf(service.provider);
  };
  status.written = [this](const std::string& name, const std::string& uid, const nlohmann::json& before,
                          const nlohmann::json& after) {
    for (Event& event : eventsOf(name, uid, before, after)) parts_.events.tell(std::move(event));
  };
  status.clock = [clock = options_.clock] { return std::chrono::floor<std::chrono::seconds>(clock()); };
  status.random = options_.random;
  status.backoff = options_.watcher.reflector.backoff;
  status.log = options_.log;
  status.failed = [this] { parts_.metrics.countStatusFailure(); };
  return status;
}

// The webhook role records what it denied; this one runs it, after it has confirmed by itself that it may go.
DeferredDeletionRunnerOptions ControllerRole::runnerOptions() {
  DeferredDeletionRunnerOptions runner;
  runner.requesters = options_.requesters;
  runner.annotationsCount = [this] { return parts_.annotationPolicy.isEnforced(); };
  runner.confirmAnnotationsCount = [this] { return parts_.annotationPolicy.look(); };
  runner.clock = [clock = options_.clock] { return std::chrono::floor<std::chrono::seconds>(clock()); };
  runner.mayAct = [this] { return lease_.holds() && isAskedAboutAll() && !options_.reviews.auditOnly; };
  runner.confirm = [this](const kube::ObjectKey& object) {
    return isConfirmedToGo(parts_.view, parts_.reads, parts_.services, object,
                           steady_clock::now() + kConfirmPatience);
  };
  runner.forget = [this](const std::string& service, const criticalservice::DeferredDeletion& deletion) {
    parts_.deferredDeletions.forget(service, deletion);
  };
  runner.random = options_.random;
  runner.told = parts_.tellOf;
  return runner;
}

bool ControllerRole::isAskedAboutAll() const { return !keeper_ || keeper_->asksAboutAll().value_or(false); }

WorkFinalizerControllerOptions ControllerRole::worksOptions() {
  WorkFinalizerControllerOptions works;
  works.mayKeep = [this] { return mayHoldAnything(); };
  works.refused = [this] { return runner_.refused(); };
  works.persons = [this, clock = options_.clock] {
    return PersonsDeletions{
        [this](const std::string& user) { return options_.requesters.isPersonThatCounts(user); },
        {parts_.annotationPolicy.isEnforced(), std::chrono::floor<std::chrono::seconds>(clock())}};
  };
  works.services = [this] { return parts_.services.read(steady_clock::now() + kLetGoPatience); };
  works.mayAct = [this] { return lease_.holds(); };
  works.random = options_.random;
  works.log = options_.log;
  works.told = [this](Event event) { parts_.events.tell(std::move(event)); };
  return works;
}

HeldProviderControllerOptions ControllerRole::holderOptions() {
  HeldProviderControllerOptions holder;
  holder.mayHold = [this] { return mayHoldAnything(); };
  holder.mayAct = [this] { return lease_.holds(); };
  holder.random = options_.random;
  holder.log = options_.log;
  return holder;
}

// Where it does not deny, and where there can be no CriticalService, it lets go of what it kept or held.
bool ControllerRole::mayHoldAnything() const {
  return !options_.reviews.auditOnly &&
         parts_.view.knowledge(criticalservice::criticalServiceType()) != graph::Knowledge::Absent;
}

void ControllerRole::listensAt(const std::string& url) {
  const bool isNamed =
      options_.webhook && (!options_.webhook->url.empty() || !options_.webhook->serviceName.empty());
  if (keeper_ && !isNamed) keeper_->setUrl(url);
}

void ControllerRole::start() {
  if (keeper_) keeper_->start();
  if (probe_) probe_->start();
  status_.start();
  runner_.start();
  works_.start();
  holder_.start();
  if (policyKeeper_) policyKeeper_->start();
  if (profileKeeper_) profileKeeper_->start();
  if (heldPolicyController_) heldPolicyController_->start();
  if (labelledPolicyController_) labelledPolicyController_->start();
  if (replayedDeletions_) replayedDeletions_->start();
  lease_.start();
}

void ControllerRole::end() {
  runner_.stop();
  works_.end();
  holder_.end();
  if (heldPolicyController_) heldPolicyController_->end();
  if (labelledPolicyController_) labelledPolicyController_->end();
  if (replayedDeletions_) replayedDeletions_->end();
}

// While the strict mode of a policy counts, which the labels are taken away by.
void ControllerRole::cleanUp(std::chrono::milliseconds patience) {
  if (labelledPolicyController_) labelledPolicyController_->cleanUp(patience);
  if (policyKeeper_) policyKeeper_->withdraw();
}

void ControllerRole::stop() {
  works_.stop();
  holder_.stop();
  policyTypes_.stop();
  if (policyKeeper_) policyKeeper_->stop();
  if (profileKeeper_) profileKeeper_->stop();
  if (heldPolicyController_) heldPolicyController_->stop();
  if (labelledPolicyController_) labelledPolicyController_->stop();
  if (replayedDeletions_) replayedDeletions_->stop();
  status_.stop();
  lease_.stop();
  if (probe_) probe_->stop();
  if (keeper_) keeper_->stop();
}

void ControllerRole::told() {
  runner_.reconsider();
  works_.reconsider();
  holder_.reconsider();
}

void ControllerRole::toldOfPolicies() {
  if (heldPolicyController_) heldPolicyController_->wake();
  if (labelledPolicyController_) labelledPolicyController_->wake();
}

void ControllerRole::reconsider(bool knowsCertificate) {
  if (keeper_) {
    followPath();
    renewPath();
    if (knowsCertificate) declareWebhook();
  }
  if (probe_) probe_->reconsider();
  status_.reconsider();
  runner_.reconsider(true);
  works_.reconsider();
  holder_.reconsider();
  if (policyKeeper_) policyKeeper_->reconsider();
  if (profileKeeper_) profileKeeper_->reconsider();
  if (heldPolicyController_) heldPolicyController_->wake();
  if (labelledPolicyController_) labelledPolicyController_->wake();
  if (replayedDeletions_) replayedDeletions_->reconsider();
  lease_.reconsider();
}

// What CriticalServices guard is to be asked about, once all of them are known and what providers need was
// read: what stands there may ask about more until then. Without the CRD of CriticalServices there can be
// none. An account that may not read DeletionPolicies guards CriticalServices as long as it takes away
// nothing that policies have reviewed.
void ControllerRole::declareWebhook() {
  const LiveView& live = parts_.view;
  const graph::Knowledge knowledge = live.knowledge(criticalservice::criticalServiceType());
  const bool mayWriteWithout = parts_.policies.isForbidden() && keeper_->asksForPolicies() == false;
  if ((!parts_.policies.isKnown() && !mayWriteWithout) || parts_.policies.isReadingListers()) return;
  const std::shared_ptr<const PolicySet> policies = parts_.policies.policies();
  if (knowledge == graph::Knowledge::Absent && policies->all().empty()) return keeper_->retire();
  if (!graph::believable(knowledge) || !live.hasReadDependencies()) return;
  ReviewedObjects objects;
  objects.policies = policyEntriesNow(*policies);
  live.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    const graph::Graph& graph = view.graph();
    if (const auto home = graph.find(kube::namespaceKey(live.ownNamespace())))
      objects.ownNamespaceUid = graph.uid(*home);
    for (const criticalservice::CriticalService* service : view.services())
      objects.add(*service, types, view.guards().dependencies(view.guards().find(service->meta.name)),
                  live.ownNamespace());
  });
  keeper_->setObjects(std::move(objects));
}

// Of the types as they are now: the locks of both views are not held at once.
std::vector<WebhookEntry> ControllerRole::policyEntriesNow(const PolicySet& policies) const {
  if (policies.all().empty()) return {};
  kube::ResourceMap types;
  parts_.view.inspect(
      [&](const admission::ClusterView& /*view*/, const kube::ResourceMap& known) { types = known; });
  std::vector<WebhookEntry> entries;
  parts_.policies.inspect([&](const protection::FactIndex& facts) {
    entries = policyEntries(policies.all(), options_.policies, types, facts, parts_.view.ownNamespace());
  });
  return entries;
}

void ControllerRole::trust(const std::string& authorities) {
  if (keeper_) keeper_->setAuthorities(authorities);
}

// Nothing is asked at any path before the first is known.
void ControllerRole::usePaths(const std::vector<std::string>& paths) {
  if (!keeper_) return;
  {
    const kube::MutexLock lock(pathMutex_);
    const bool isFirst = paths_.empty();
    const bool isNew = isFirst || paths_.front() != paths.front();
    paths_ = paths;
    if (!isNew) return;
    newPathAt_ = isFirst ? TimePoint() : steady_clock::now() + kPathPause;
  }
  followPath();
}

void ControllerRole::followPath() {
  std::string path;
  {
    const kube::MutexLock lock(pathMutex_);
    if (!newPathAt_ || steady_clock::now() < *newPathAt_) return;
    newPathAt_.reset();
    path = paths_.front();
  }
  keeper_->setReviewPath(path);
}

// By the holder of the Lease, as each renewal is one of all.
void ControllerRole::renewPath() {
  if (parts_.certificates == nullptr || !probe_ || !lease_.holds()) return;
  const std::string inForce = keeper_->pathInForce();
  const auto configuration = keeper_->inForce();
  const bool isProven = configuration && probe_->isProvenFor(configuration->fingerprint);
  const kube::MutexLock lock(pathMutex_);
  if (const auto cause = renewal_.due(steady_clock::now())) {
    renewal_.renewed(steady_clock::now());
    if (parts_.certificates->renewPath())
      options_.log(Level::Info, std::string(toString(*cause)) + ": reviews get another path");
    return;
  }
  if (paths_.size() > 1 && isProven && inForce == paths_.front()) parts_.certificates->leaveFormerPath();
}

// By whoever holds the view's lock.
WebhookEnforcement ControllerRole::enforcement(const criticalservice::CriticalService& service,
                                               const admission::ClusterView& view) const {
  EnforcementFacts facts;
  facts.auditOnly = options_.reviews.auditOnly;
  facts.keepsWebhook = keeper_ != nullptr;
  facts.ownNamespace = parts_.view.ownNamespace();
  // Which CRDs to guard depends on what is built in alone.
  facts.wanted.add(service, kube::ResourceMap::builtIn(),
                   view.guards().dependencies(view.guards().find(service.meta.name)), facts.ownNamespace);
  const DependencyStanding dependencies = dependencyStanding(view, service);
  if (!dependencies.known) facts.undecided = dependencies.message;
  if (keeper_) facts.asksAbout = keeper_->asksAbout(facts.wanted);
  if (probe_) facts.probed = probe_->enforcementFor(facts.wanted);
  return enforcementOf(facts, service);
}

void ControllerRole::addTo(GaugeValues& now) const {
  if (keeper_) now.webhookInForce = keeper_->isInForce().value_or(false);
  if (probe_) now.probes = probe_->standings();
  if (policyKeeper_) {
    const PolicyKeeper::Problems problems = policyKeeper_->problems();
    now.problems["deletion-policy"] = problems.policiesNotEnforced;
    now.problems["binding"] = problems.bindingsWithoutPolicy;
  }
  now.leads = lease_.holds();
  now.keptWorks = works_.kept();
}

void ControllerRole::tellOf(const ProbeStanding& probe) const {
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
void ControllerRole::tellOfWebhook(const char* reason, const std::string& message) const {
  if (!lease_.holds()) return;
  parts_.events.tell(eventAbout(kube::kAdmissionRegistrationApiVersion, "ValidatingWebhookConfiguration",
                                WebhookConfiguration().name, keeper_->uid(), true, reason, message));
}

}  // namespace lastout::server
