#include "server/controllers/held_object_reconciler.h"

#include <array>
#include <utility>

#include "kube/messages.h"
#include "protection/evaluate.h"
#include "server/runtime/lack_of_right.h"

namespace lastout::server {
namespace {

using protection::HoldPlan;

// What has changed meanwhile is told by a watch; it is looked at again should that be late.
constexpr std::chrono::milliseconds kAfterConflict{1'000};
constexpr size_t kMostRemembered = 10'000;             // objects of which something is remembered
constexpr const char* kForceIgnored = "ForceIgnored";  // reasons of Events
constexpr const char* kStatusRejected = "StatusRejected";
constexpr size_t kLongestRefusal = 500;  // bytes of what the API server says

// The API server will not take it next time, either: the schema of the type does not allow it, or it is too
// long.
bool isUnacceptable(const NotDone& refusal) {
  return refusal.code == 400 || refusal.code == 413 || refusal.code == 422;
}

// The patch as it is each time that it is planned.
std::string withoutTimes(nlohmann::json patch) {
  const auto status = patch.find("status");
  if (status == patch.end() || !status->contains("conditions")) return patch.dump();
  for (nlohmann::json& condition : (*status)["conditions"]) condition.erase("lastTransitionTime");
  return patch.dump();
}

// A plan that ends something, or awaits a report, rests on what is true now, not on what a watch has told.
bool restsOnTheObject(const HoldPlan& plan) {
  return plan.deleteItself || !plan.deleteChildren.empty() || plan.awaitedWord || plan.removeFinalizer;
}

// The same of its children.
bool restsOnItsChildren(const HoldPlan& plan) {
  return plan.deleteItself || plan.asksOutside || plan.removeFinalizer;
}

std::string withHoldGrant(std::string problem) {
  if (isLackOfRight(problem, {"get", "list", "patch", "delete"}))
    problem += "; the ClusterRole lastout-holds-policies grants that to what is aggregated to it";
  return problem;
}

}  // namespace

std::string_view toString(HeldOutcome outcome) {
  static constexpr std::array<std::string_view, 6> kNames{"blocked", "pending", "cascading",
                                                          "begun",   "let-go",  "forced"};
  return kNames[static_cast<size_t>(outcome)];
}

Settled HeldObjectReconciler::settle(const kube::ObjectKey& key) {
  const auto type = options_.findType(key.type);
  std::optional<HeldObject> held = type ? objects_.find(key) : std::nullopt;
  if (!held) return {};
  HoldPlan plan = planFor(*held);
  // What was read may let the object go, which rests on its children, too.
  for (bool isRead = false, hasListed = false;
       (restsOnTheObject(plan) && !isRead) || (restsOnItsChildren(plan) && !hasListed);) {
    isRead = true;
    hasListed = restsOnItsChildren(plan);
    auto read = readAgain(key, *type, hasListed);
    if (!read) return {withHoldGrant(read.error().why), {}};
    if (!*read) return {};
    held = std::move(*read);
    plan = planFor(*held);
  }
  const auto done = execute(*held, *type, plan);
  if (!done && isConflict(done.error())) return {"", kAfterConflict};
  if (!done) return {withHoldGrant(done.error().why), plan.lookAgain};
  return {"", plan.lookAgain};
}

HoldPlan HeldObjectReconciler::planFor(const HeldObject& held) const {
  const kube::Object& object = held.object;
  const protection::Request request = protection::deletionOf(object);
  protection::HoldFacts facts;
  facts.key = object.key;
  facts.kind = object.kind;
  facts.meta = &object.meta;
  facts.content = &object.content;
  facts.releasable = held.releasable;
  if (!held.policy) return planRelease(facts);
  facts.protectedBy = protection::protectionOf(*held.policy, request);
  facts.children = held.children;
  facts.childrenUnknown = held.childrenUnknown;
  const auto& force = held.policy->hold->force;
  if (force && force->key.holds(object.meta))
    if (std::string doubt = guards_.problemOf(*held.policy); !doubt.empty())
      facts.forceDoubt = std::move(doubt);
  facts.now = options_.clock();
  const auto awaited = awaited_.find(object.meta.uid);
  if (awaited != awaited_.end()) facts.awaited = std::chrono::seconds(facts.now - awaited->second);
  return planHold(*held.policy, facts);
}

// nullopt: it is gone, or is another one. Children are listed wherever they may lie, once for each step that
// cannot be taken back: a watch may be late by any time.
RequestResult<std::optional<HeldObject>> HeldObjectReconciler::readAgain(const kube::ObjectKey& key,
                                                                         const kube::ResourceType& type,
                                                                         bool withChildren) const {
  auto object = client_.get(type, key);
  if (!object) return tl::unexpected(object.error());
  if (!*object) return std::nullopt;
  std::optional<HeldObject> held = objects_.find(kube::Object(**object));
  if (!held || !held->policy || !withChildren) return held;
  std::vector<kube::Object> listed;
  for (const auto& [childType, mayBeElsewhere] : protection::typesOfChildren(*held->policy)) {
    const auto served = options_.findType(childType);
    if (!served) continue;  // HeldObjects knows whether there can be any
    auto children = client_.list(*served, mayBeElsewhere ? "" : key.namespaceName, client::Content::Whole);
    if (!children) return tl::unexpected(children.error());
    std::move(children->begin(), children->end(), std::back_inserter(listed));
  }
  return objects_.find(std::move(**object), listed);
}

RequestResult<void> HeldObjectReconciler::execute(HeldObject& held, const kube::ResourceType& type,
                                                  const HoldPlan& plan) {
  if (!options_.mayAct()) return {};
  if (plan.addFinalizer || (!plan.release.empty() && !plan.removeFinalizer)) {
    auto set = setFinalizers(held, type, plan);
    const kube::MutexLock lock(mutex_);
    if (set)
      problems_.erase(type.type);
    else if (!isConflict(set.error()))
      problems_[type.type] = withHoldGrant(set.error().why);
    return set;
  }
  bool isNews = true;
  if (!plan.statusPatch.is_null()) {
    auto patched = patchStatus(held, type, plan);
    if (!patched && !isUnacceptable(patched.error())) return patched;
    if (patched)
      rejected_.erase(held.object.meta.uid);
    else
      isNews = noteRejected(held, plan, patched.error());
  }
  if (isNews || plan.removeFinalizer) report(held, plan);
  if (plan.deleteItself) {
    const auto deleted = client_.remove(type, held.object.key, held.object.meta.uid);
    if (!deleted) return tl::unexpected(deleted.error());
    options_.tell(held.object, plan.begun);
    options_.count(HeldOutcome::Begun);
    options_.log(Level::Warning, toString(held.object.key) + ": " + plan.begun.message);
  }
  auto children = deleteChildren(plan);
  if (!children) return children;
  noteAwaited(held.object.meta.uid, plan);
  if (!plan.removeFinalizer || !options_.mayAct()) return {};
  auto removed = setFinalizers(held, type, plan);
  if (!removed) return removed;
  rejected_.erase(held.object.meta.uid);
  options_.count(plan.isForced ? HeldOutcome::Forced : HeldOutcome::LetGo);
  options_.log(plan.isForced ? Level::Warning : Level::Info,
               toString(held.object.key) + " is let go" + (plan.isForced ? ", by force" : ""));
  return {};
}

// A type without a status of its own has it in the object.
RequestResult<void> HeldObjectReconciler::patchStatus(HeldObject& held, const kube::ResourceType& type,
                                                      const HoldPlan& plan) const {
  auto patched = client_.patch(type, held.object.meta, plan.statusPatch, "status");
  if (patched && !*patched) patched = client_.patch(type, held.object.meta, plan.statusPatch);
  if (!patched) return tl::unexpected(patched.error());
  if (*patched) held.object.meta = std::move((*patched)->meta);
  return {};
}

// Nobody is served by an object that stays since it cannot say why. Returns false if the same status was
// rejected before.
bool HeldObjectReconciler::noteRejected(const HeldObject& held, const HoldPlan& plan,
                                        const NotDone& refusal) {
  const kube::Object& object = held.object;
  if (rejected_.size() >= kMostRemembered) rejected_.clear();  // they are told once more
  std::string status = withoutTimes(plan.statusPatch);
  std::string& former = rejected_[object.meta.uid];
  if (former == status) return false;
  former = std::move(status);
  const std::string message = "Its status cannot say how its deletion stands, which goes on: " +
                              kube::atMost(refusal.why, kLongestRefusal) +
                              "; let spec.hold.status of DeletionPolicy " + held.policy->meta.name +
                              " have fields and phases that the type's schema allows";
  options_.tell(object, {true, kStatusRejected, message});
  options_.log(Level::Warning, toString(object.key) + ": " + message);
  return true;
}

RequestResult<void> HeldObjectReconciler::setFinalizers(const HeldObject& held,
                                                        const kube::ResourceType& type,
                                                        const HoldPlan& plan) const {
  std::vector<std::string> finalizers = held.object.meta.finalizers;
  std::string released;
  for (const std::string& one : plan.release) {
    std::erase(finalizers, one);
    released += (released.empty() ? "" : " and ") + one;
  }
  if (plan.addFinalizer) finalizers.push_back(held.policy->hold->finalizer);
  if (plan.removeFinalizer) std::erase(finalizers, held.policy->hold->finalizer);
  const auto patched = client_.setFinalizers(type, held.object.meta, finalizers);
  if (!patched) return tl::unexpected(patched.error());
  if (!plan.removeFinalizer && !released.empty())
    options_.log(Level::Info, toString(held.object.key) + " is not held by " + released + " any more");
  return {};
}

// One that cannot be deleted does not keep the others.
RequestResult<void> HeldObjectReconciler::deleteChildren(const HoldPlan& plan) const {
  RequestResult<void> all;
  for (const protection::HeldChild& child : plan.deleteChildren) {
    if (!options_.mayAct()) break;
    const auto type = options_.findType(child.key.type);
    if (!type) continue;
    const auto deleted = client_.remove(*type, child.key, child.uid);
    if (!deleted && !isConflict(deleted.error()) && all)
      all = tl::unexpected(
          NotDone{deleted.error().code, toString(child.key) + " cannot be deleted: " + deleted.error().why});
  }
  return all;
}

void HeldObjectReconciler::noteAwaited(const std::string& uid, const HoldPlan& plan) {
  if (plan.awaitedWord && awaited_.size() >= kMostRemembered && !awaited_.contains(uid))
    awaited_.clear();  // they wait once more
  if (plan.awaitedWord)
    awaited_.try_emplace(uid, options_.clock());
  else
    awaited_.erase(uid);
}

std::string HeldObjectReconciler::problemOf(const kube::GroupResource& type) const {
  const kube::MutexLock lock(mutex_);
  const auto found = problems_.find(type);
  return found == problems_.end() ? "" : found->second;
}

void HeldObjectReconciler::reportIgnored(const kube::Object& object, const std::string& why) {
  if (why.empty()) {
    ignored_.erase(object.meta.uid);
    return;
  }
  if (ignored_.size() >= kMostRemembered) ignored_.clear();  // they are told once more
  std::string& told = ignored_[object.meta.uid];
  if (told == why) return;
  told = why;
  options_.tell(object, {true, kForceIgnored, why});
  options_.log(Level::Warning, toString(object.key) + ": " + why);
}

void HeldObjectReconciler::report(const HeldObject& held, const HoldPlan& plan) {
  reportIgnored(held.object, plan.ignoredForce);
  const protection::HoldWords& words = held.policy->hold->words;
  for (const protection::HoldEvent& event : plan.events) {
    options_.tell(held.object, event);
    if (event.reason == words.event) options_.count(HeldOutcome::Blocked);
    if (event.reason == words.isPending) options_.count(HeldOutcome::Pending);
    if (event.reason == words.isCascading) options_.count(HeldOutcome::Cascading);
  }
}

}  // namespace lastout::server
