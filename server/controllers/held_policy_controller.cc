#include "server/controllers/held_policy_controller.h"

#include <set>
#include <utility>

#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/hold_finalizers.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

// Why not all objects of a type are known; empty: they are.
std::string whyNotKnown(const client::SyncStatus& knowledge) {
  switch (knowledge.state) {
    case client::SyncStatus::State::Synced:
      return "";
    case client::SyncStatus::State::Stale:
      return knowledge.listed ? "" : "its objects are not known yet";  // what ends something reads once more
    case client::SyncStatus::State::NeverSynced:
      return "its objects are not known yet";
    case client::SyncStatus::State::Forbidden:
    case client::SyncStatus::State::NotServed:
      return knowledge.why;
  }
  return "";
}

}  // namespace

HeldPolicyController::HeldPolicyController(const SharedParts& parts, std::function<bool()> leads)
    : parts_(parts),
      server_(newControllerServer(*parts.access)),
      worker_(workerOptions(std::move(leads))),
      patience_(worker_.patience()),
      client_(*server_, patience_),
      reconciler_(objects_, client_, reconcilerOptions()),
      controller_(controllerOptions()),
      watches_(parts.access, watchesOptions()) {}

WorkerOptions HeldPolicyController::workerOptions(std::function<bool()> leads) {
  WorkerOptions worker;
  worker.mayAct = std::move(leads);
  worker.pass = [this]() -> std::optional<TimePoint> {
    if (!look()) return std::nullopt;  // wake() comes each second
    return controller_.pass(steady_clock::now(), [this] { return worker_.goesOn(); });
  };
  worker.looksOn = [this] {
    look();
    controller_.forget();
  };
  return worker;
}

HeldObjectReconcilerOptions HeldPolicyController::reconcilerOptions() const {
  HeldObjectReconcilerOptions options;
  options.findType = [this](const kube::GroupResource& type) { return parts_.view.find(type); };
  options.clock = [clock = parts_.options.clock] {
    return std::chrono::floor<std::chrono::seconds>(clock()).time_since_epoch().count();
  };
  options.mayAct = [this] { return worker_.goesOn(); };
  options.tell = [this](const kube::Object& object, const protection::HoldEvent& event) {
    parts_.events.tell(eventAbout(object, event.isWarning, event.reason, event.message));
  };
  options.count = [this](HeldOutcome outcome) { parts_.metrics.count(outcome); };
  options.log = parts_.options.log;
  return options;
}

ControllerOptions HeldPolicyController::controllerOptions() {
  ControllerOptions options;
  options.subject = "held objects";
  options.all = [this] { return objects_.all(); };
  options.settle = [this](const kube::ObjectKey& key) { return reconciler_.settle(key); };
  options.isStopping = [this] { return worker_.isStopping(); };
  options.random = parts_.options.random();
  options.log = parts_.options.log;
  return options;
}

void HeldPolicyController::stop() {
  worker_.stop([this] { server_->stop(); });
  watches_.stop();
}

std::string HeldPolicyController::problemOf(const protection::DeletionPolicy& policy) const {
  for (const protection::Selection& selection : policy.objects) {
    for (const protection::ResourcePattern& pattern : selection.resources) {
      const kube::GroupResource type{pattern.group, pattern.resource};
      std::string why = objects_.whyNotKnown(type);
      if (why.empty()) why = reconciler_.problemOf(type);
      if (!why.empty()) return toString(type) + ": " + why;
    }
  }
  return "";
}

void HeldPolicyController::changed(const HeldObjects::Changed& objects) {
  if (objects.empty()) return;
  controller_.wake(objects);
  worker_.wake();
}

// Many policies may have changed at once: they are looked at together. Returns false while nothing may be
// done.
bool HeldPolicyController::look() {
  const bool isKnown = usePolicies();
  std::set<kube::GroupResource> wanted = objects_.wanted();
  wanted.insert(kube::kValidatingAdmissionPolicies);
  watches_.follow(wanted);
  return isKnown;
}

// Before all policies are known, one that is not known yet may hold what another one lets go. Returns false
// then.
bool HeldPolicyController::usePolicies() {
  if (!parts_.policies.isKnown()) return false;
  std::shared_ptr<const PolicySet> policies = parts_.policies.policies();
  if (policies == used_) return true;
  controller_.wake(objects_.setPolicies(policies->all(), parts_.policies.unclearFinalizers()));
  used_ = std::move(policies);
  return true;
}

TypeWatchesOptions HeldPolicyController::watchesOptions() {
  TypeWatchesOptions watches;
  watches.findType = [this](const kube::GroupResource& type) { return parts_.view.find(type); };
  watches.content = client::Content::Whole;
  watches.watcher = parts_.options.watcher;
  watches.random = parts_.options.random;
  watches.handlersOf = [this](const kube::ResourceType& type) { return handlersOf(type); };
  watches.unserved = [this](const kube::GroupResource& type) { toldOfUnserved(type); };
  return watches;
}

void HeldPolicyController::toldOfUnserved(const kube::GroupResource& type) {
  if (type == kube::kValidatingAdmissionPolicies) return;
  const std::string why = whyUnserved(type);
  changed(why.empty() ? objects_.forget(type) : objects_.know(type, why));
}

// Empty: its CRD is gone, and so is all of the type.
std::string HeldPolicyController::whyUnserved(const kube::GroupResource& type) const {
  if (parts_.view.isAbsent(type)) return "";
  const std::optional<std::string> gap = parts_.view.gapIn(type.group);
  return gap ? "what its group serves is not known: " + *gap : "it is not served";
}

client::ReflectorHandlers HeldPolicyController::handlersOf(const kube::ResourceType& type) {
  if (type.type == kube::kValidatingAdmissionPolicies) return handlersOfAdmissionPolicies();
  client::ReflectorHandlers handlers;
  handlers.upsert = [this, type](client::StreamedObject streamed) {
    changed(objects_.upsert(client::toObject(std::move(streamed), type)));
  };
  handlers.remove = [this, type](const client::Removed& removed) {
    changed(objects_.remove({type.type, removed.namespaceName, removed.name}, removed.uid));
  };
  handlers.knowledge = [this, type](const client::SyncStatus& knowledge) {
    changed(objects_.know(type.type, whyNotKnown(knowledge)));
  };
  return handlers;
}

client::ReflectorHandlers HeldPolicyController::handlersOfAdmissionPolicies() {
  client::ReflectorHandlers handlers;
  handlers.upsert = [this](const client::StreamedObject& streamed) {
    if (protection::policyOfMade(streamed.meta.name).empty()) return;
    protection::HoldFinalizers former;
    protection::addOfAdmissionPolicy(streamed.content, former);
    changed(objects_.knowFormer(former));
  };
  handlers.remove = [](const client::Removed& /*removed*/) {};
  handlers.knowledge = [](const client::SyncStatus& /*knowledge*/) {};
  return handlers;
}

}  // namespace lastout::server
