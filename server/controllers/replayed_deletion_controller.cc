#include "server/controllers/replayed_deletion_controller.h"

#include <utility>

#include "server/controllers/deferred_deletion_entries.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

// What other rules deny is asked for again more and more rarely.
constexpr client::BackoffLimits kReplayBackoff{std::chrono::milliseconds(1'000),
                                               std::chrono::milliseconds(300'000)};

}  // namespace

ReplayedDeletionController::ReplayedDeletionController(const SharedParts& parts, std::function<bool()> mayAct)
    : parts_(parts),
      server_(newControllerServer(*parts.access)),
      worker_(workerOptions(std::move(mayAct))),
      patience_(worker_.patience()),
      client_(*server_, patience_),
      deletions_(client_, deletionsOptions()),
      controller_(controllerOptions()),
      watches_(parts.access, watchesOptions()) {}

WorkerOptions ReplayedDeletionController::workerOptions(std::function<bool()> mayAct) {
  WorkerOptions worker;
  worker.mayAct = std::move(mayAct);
  worker.pass = [this] {
    watches_.follow(parts_.options.replayedTypes);
    return controller_.pass(steady_clock::now(), [this] { return worker_.goesOn(); });
  };
  worker.looksOn = [this] {
    watches_.follow(parts_.options.replayedTypes);
    controller_.forget();
  };
  return worker;
}

ReplayedDeletionsOptions ReplayedDeletionController::deletionsOptions() {
  ReplayedDeletionsOptions options;
  options.findType = [this](const kube::GroupResource& type) { return parts_.view.find(type); };
  options.clock = [clock = parts_.options.clock] {
    return std::chrono::floor<std::chrono::seconds>(clock());
  };
  options.mayAct = [this] { return worker_.goesOn(); };
  options.annotationsCount = [this] { return parts_.annotationPolicy.isEnforced(); };
  options.confirmAnnotationsCount = [this] { return parts_.annotationPolicy.look(); };
  options.isGuarded = [this](const kube::ObjectKey& object) { return isGuarded(object); };
  options.isListed = [this](const kube::Object& object) { return isListed(object); };
  options.told = [this](const kube::Object& object, const DeferredDeletionEvent& news) {
    tell(object, news);
  };
  return options;
}

ControllerOptions ReplayedDeletionController::controllerOptions() {
  ControllerOptions options;
  options.subject = "deletions by annotation";
  options.all = [this] { return deletions_.all(); };
  options.settle = [this](const kube::ObjectKey& key) { return deletions_.settle(key); };
  options.backoff = kReplayBackoff;
  options.random = parts_.options.random();
  options.log = parts_.options.log;
  return options;
}

TypeWatchesOptions ReplayedDeletionController::watchesOptions() {
  TypeWatchesOptions watches;
  watches.findType = [this](const kube::GroupResource& type) { return parts_.view.find(type); };
  watches.watcher = parts_.options.watcher;
  watches.random = parts_.options.random;
  watches.handlersOf = [this](const kube::ResourceType& type) { return handlersOf(type); };
  watches.unserved = [this](const kube::GroupResource& type) { deletions_.forget(type); };
  return watches;
}

client::ReflectorHandlers ReplayedDeletionController::handlersOf(const kube::ResourceType& type) {
  const std::string subject = "deletions by annotation of " + toString(type.type) + ": ";
  return {[this, type](client::StreamedObject streamed) {
            kube::Object object = client::toObject(std::move(streamed), type);
            const kube::ObjectKey key = object.key;
            if (!deletions_.upsert(std::move(object))) return;
            controller_.wake({key});
            worker_.wake();
          },
          [this, type](const client::Removed& removed) {
            deletions_.remove({type.type, removed.namespaceName, removed.name}, removed.uid);
          },
          [problems = ProblemLog(parts_.options.log, subject, subject + "followed again")](
              const client::SyncStatus& knowledge) mutable {
            problems.note(withReplayGrant(knowledge.problem()));
          }};
}

void ReplayedDeletionController::reconsider() {
  controller_.wake(deletions_.waiting());
  worker_.wake();
}

// As far as policies are not known, it is.
bool ReplayedDeletionController::isListed(const kube::Object& object) const {
  if (!parts_.policies.isKnown()) return true;
  const protection::Request request = protection::deletionOf(object);
  const std::shared_ptr<const PolicySet> policies = parts_.policies.policies();
  bool isListed = true;
  parts_.policies.inspect([&](const protection::FactIndex& facts) {
    isListed = protection::isListed(policies->about(object.key.type), request, facts);
  });
  return isListed;
}

bool ReplayedDeletionController::isGuarded(const kube::ObjectKey& object) const {
  bool isGuarded = true;
  parts_.view.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& /*types*/) {
    isGuarded = guardOfAnnotated(view, object) != nullptr;
  });
  return isGuarded;
}

// About the object itself: no CriticalService has to do with it.
void ReplayedDeletionController::tell(const kube::Object& object, const DeferredDeletionEvent& news) {
  parts_.metrics.count(news.kind);
  Event event = eventOf(news);
  const bool isProblem = news.kind == DeferredDeletionEvent::Kind::Refused;  // which the controller logs
  if (!isProblem) parts_.options.log(event.warning ? Level::Warning : Level::Info, event.message);
  Event about = eventAbout(object, event.warning, std::move(event.reason), std::move(event.message));
  about.subject = std::move(event.subject);
  parts_.events.tell(std::move(about));
}

void ReplayedDeletionController::stop() {
  worker_.stop([this] { server_->stop(); });
  watches_.stop();
}

}  // namespace lastout::server
