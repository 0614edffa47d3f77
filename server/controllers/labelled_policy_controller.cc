#include "server/controllers/labelled_policy_controller.h"

#include <set>
#include <utility>

#include "server/runtime/lack_of_right.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {

using std::chrono::steady_clock;

LabelledPolicyController::LabelledPolicyController(const SharedParts& parts, std::function<bool()> leads)
    : parts_(parts),
      leads_(std::move(leads)),
      server_(newControllerServer(*parts.access)),
      worker_(workerOptions()),
      patience_(worker_.patience()),
      client_(*server_, patience_),
      reconciler_(objects_, client_, reconcilerOptions()),
      controller_(controllerOptions()),
      watches_(parts.access, watchesOptions()) {}

WorkerOptions LabelledPolicyController::workerOptions() {
  WorkerOptions worker;
  worker.mayAct = leads_;
  worker.pass = [this] {
    look();
    reconciler_.beginPass();
    return controller_.pass(steady_clock::now(),
                            [this] { return worker_.goesOn() && !reconciler_.hasWrittenEnough(); });
  };
  worker.looksOn = [this] {
    look();
    controller_.forget();
    objects_.leaveCleanUp();
  };
  return worker;
}

// It may act while it cleans up, when its thread has ended.
LabelReconcilerOptions LabelledPolicyController::reconcilerOptions() {
  LabelReconcilerOptions options;
  options.findType = [this](const kube::GroupResource& type) { return parts_.view.find(type); };
  options.now = [] { return steady_clock::now(); };
  options.mayAct = leads_;
  options.tell = [this](const LabelledObject& object, const std::string& reason, const std::string& message) {
    parts_.events.tell(eventAbout(object, true, reason, message));
  };
  options.count = [this](LabelOutcome outcome) { parts_.metrics.count(outcome); };
  options.log = parts_.options.log;
  return options;
}

ControllerOptions LabelledPolicyController::controllerOptions() {
  ControllerOptions options;
  options.subject = "labels";
  options.all = [this] { return objects_.all(); };
  options.settle = [this](const kube::ObjectKey& key) { return reconciler_.settle(key); };
  options.isStopping = [this] { return worker_.isStopping(); };
  options.random = parts_.options.random();
  options.log = parts_.options.log;
  return options;
}

TypeWatchesOptions LabelledPolicyController::watchesOptions() {
  TypeWatchesOptions watches;
  watches.findType = [this](const kube::GroupResource& type) { return parts_.view.find(type); };
  watches.watcher = parts_.options.watcher;
  watches.random = parts_.options.random;
  watches.handlersOf = [this](const kube::ResourceType& type) { return handlersOf(type); };
  watches.unserved = [this](const kube::GroupResource& type) {
    objects_.forget(type);
    know(type, "the API server does not serve " + toString(type) + " now");
  };
  return watches;
}

client::ReflectorHandlers LabelledPolicyController::handlersOf(const kube::ResourceType& type) {
  return {[this, type](client::StreamedObject streamed) {
            changed(objects_.upsert(client::toObject(std::move(streamed), type), steady_clock::now()));
          },
          [this, type](const client::Removed& removed) {
            objects_.remove({type.type, removed.namespaceName, removed.name}, removed.uid);
          },
          [this, type,
           problems = ProblemLog(parts_.options.log, "labels of " + toString(type.type) + ": ",
                                 "labels of " + toString(type.type) + ": followed again")](
              const client::SyncStatus& knowledge) mutable {
            std::string why = knowledge.problem();
            if (isLackOfRight(why, {"list", "watch"}))
              why +=
                  "; the ClusterRole lastout-labels-policies grants get, list, watch and patch to what is "
                  "aggregated to it";
            problems.note(why);
            know(type.type, knowledge.state == client::SyncStatus::State::Synced ? "" : why);
          }};
}

void LabelledPolicyController::know(const kube::GroupResource& type, const std::string& whyNot) {
  const kube::MutexLock lock(mutex_);
  if (whyNot.empty())
    unknown_.erase(type);
  else
    unknown_[type] = whyNot;
}

void LabelledPolicyController::changed(const LabelledObjects::Changed& objects) {
  if (objects.empty()) return;
  controller_.wake(objects);
  worker_.wake();
}

// Many policies may have changed at once: they are looked at together.
void LabelledPolicyController::look() {
  usePolicies();
  watches_.follow(objects_.wanted());
}

// Policies that are not known are not gone.
void LabelledPolicyController::usePolicies() {
  if (!parts_.policies.isKnown()) return;
  std::shared_ptr<const PolicySet> policies = parts_.policies.policies();
  if (policies == used_) return;
  controller_.wake(objects_.setPolicies(policies->all()));
  used_ = std::move(policies);
  std::vector<std::string> conflicts = objects_.conflicts();
  if (conflicts == conflicts_) return;
  for (const std::string& conflict : conflicts) parts_.options.log(Level::Warning, conflict);
  conflicts_ = std::move(conflicts);
}

void LabelledPolicyController::cleanUp(std::chrono::milliseconds patience) {
  worker_.stop([] {});
  server_->answerNothingFromMemory();
  if (!leads_()) return;
  const size_t left = reconciler_.cleanUp(steady_clock::now() + patience);
  if (left > 0)
    parts_.options.log(Level::Warning, "of what policies with cleanupOnShutdown label, " +
                                           std::to_string(left) +
                                           " objects keep their labels: the time was not enough, or they "
                                           "could not be written");
}

void LabelledPolicyController::stop() {
  worker_.stop([this] { server_->stop(); });
  watches_.stop();
}

std::string LabelledPolicyController::problemOf(const protection::DeletionPolicy& policy) const {
  for (const protection::Selection& selection : policy.objects) {
    for (const protection::ResourcePattern& pattern : selection.resources) {
      const kube::GroupResource type{pattern.group, pattern.resource};
      {
        const kube::MutexLock lock(mutex_);
        if (const auto unknown = unknown_.find(type); unknown != unknown_.end()) return unknown->second;
      }
      if (std::string problem = reconciler_.problemOf(type); !problem.empty())
        return toString(type) + ": " + problem;
    }
  }
  return "";
}

}  // namespace lastout::server
