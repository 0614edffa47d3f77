#include "server/controllers/replayed_deletions.h"

#include <utility>

#include "admission/delete_when_free.h"
#include "server/controllers/annotation_events.h"
#include "server/runtime/lack_of_right.h"

namespace lastout::server {

using protection::ReplayPlan;

std::string withReplayGrant(std::string problem) {
  if (isLackOfRight(problem, {"get", "list", "watch", "delete"}))
    problem +=
        "; the ClusterRole lastout-replays-deletions grants get, list, watch and delete to what is "
        "aggregated to it";
  return problem;
}

bool ReplayedDeletions::upsert(kube::Object object) {
  object.content = {};
  const kube::MutexLock lock(mutex_);
  if (!admission::annotatedBy(object.meta)) {
    annotated_.erase(object.key);
    return false;
  }
  Annotated& known = annotated_[object.key];
  if (known.object.meta.uid != object.meta.uid) known = {};
  known.object = std::move(object);
  return true;
}

void ReplayedDeletions::remove(const kube::ObjectKey& key, std::string_view uid) {
  const kube::MutexLock lock(mutex_);
  const auto found = annotated_.find(key);
  if (found != annotated_.end() && found->second.object.meta.uid == uid) annotated_.erase(found);
}

void ReplayedDeletions::forget(const kube::GroupResource& type) {
  const kube::MutexLock lock(mutex_);
  std::erase_if(annotated_, [&](const auto& one) { return one.first.type == type; });
}

std::vector<kube::ObjectKey> ReplayedDeletions::all() const {
  const kube::MutexLock lock(mutex_);
  std::vector<kube::ObjectKey> keys;
  keys.reserve(annotated_.size());
  for (const auto& [key, known] : annotated_) keys.push_back(key);
  return keys;
}

std::vector<kube::ObjectKey> ReplayedDeletions::waiting() const {
  const kube::MutexLock lock(mutex_);
  std::vector<kube::ObjectKey> keys;
  for (const auto& [key, known] : annotated_)
    if (known.waits) keys.push_back(key);
  return keys;
}

std::optional<kube::Object> ReplayedDeletions::find(const kube::ObjectKey& key) const {
  const kube::MutexLock lock(mutex_);
  const auto found = annotated_.find(key);
  return found == annotated_.end() ? std::nullopt : std::optional(found->second.object);
}

ReplayPlan ReplayedDeletions::planFor(const kube::Object& object,
                                      std::optional<bool> annotationsCount) const {
  const auto annotated = admission::annotatedBy(object.meta);
  if (!annotated) return {};
  const std::chrono::sys_seconds now = options_.clock();
  protection::ReplayFacts facts;
  facts.isAsked = true;
  facts.isGuarded = options_.isGuarded(object.key);
  if (annotationsCount) facts.doubt = doubtOf(*annotated, {annotationsCount, now});
  facts.until = admission::askedUntil(*annotated, now).value_or(0);
  facts.now = now.time_since_epoch().count();
  facts.isListed = options_.isListed(object);
  return planReplay(facts);
}

Settled ReplayedDeletions::settle(const kube::ObjectKey& key) {
  const auto type = options_.findType(key.type);
  const std::optional<kube::Object> object = find(key);
  if (!type || !object || !options_.mayAct()) return {};
  const ReplayPlan plan = planFor(*object, options_.annotationsCount());
  if (plan.action != ReplayPlan::Action::Delete) return follow(*object, plan);
  return execute(*type, *object);
}

Settled ReplayedDeletions::follow(const kube::Object& object, const ReplayPlan& plan) {
  {
    const kube::MutexLock lock(mutex_);
    if (const auto known = annotated_.find(object.key); known != annotated_.end())
      known->second.waits = plan.action == ReplayPlan::Action::Wait;
  }
  if (plan.action == ReplayPlan::Action::Wait) tell(object, Kind::Recorded);
  if (plan.action == ReplayPlan::Action::Ignore)
    if (const auto annotated = admission::annotatedBy(object.meta))
      tell(object, Kind::Ignored, doubtOf(*annotated, {false, options_.clock()}));
  return {"", plan.lookAgain};
}

// By the object and the admission policy as the API server has them now: whoever takes the annotation away
// meanwhile changes the version.
Settled ReplayedDeletions::execute(const kube::ResourceType& type, const kube::Object& object) {
  const auto read = client_.get(type, object.key);
  if (!read) return heldUp(object, withReplayGrant(read.error().why));
  if (!*read) {
    remove(object.key, object.meta.uid);
    return {};
  }
  const kube::Object& now = **read;
  if (!upsert(now)) return {};
  const auto count = options_.confirmAnnotationsCount();
  if (!count) return heldUp(now, count.error());
  const ReplayPlan plan = planFor(now, *count);
  if (plan.action != ReplayPlan::Action::Delete) return follow(now, plan);
  if (!options_.mayAct()) return {};
  const auto deleted = client_.remove(type, now.key, now.meta.uid, now.meta.resourceVersion);
  if (!deleted) return heldUp(now, withReplayGrant(deleted.error().why));
  if (*deleted) tell(now, Kind::Deleted);
  remove(now.key, now.meta.uid);
  return {};
}

// What is cut off when it may act no longer is no problem.
Settled ReplayedDeletions::heldUp(const kube::Object& object, const std::string& problem) {
  if (!options_.mayAct()) return {};
  {
    const kube::MutexLock lock(mutex_);
    if (const auto known = annotated_.find(object.key); known != annotated_.end())
      known->second.waits = false;
  }
  tell(object, Kind::Refused, problem);
  return {problem, {}};
}

// The same once. What is deleted a watch may have told of already.
void ReplayedDeletions::tell(const kube::Object& object, Kind kind, const std::string& why) {
  const std::string words = std::string(toString(kind)) + why;
  {
    const kube::MutexLock lock(mutex_);
    const auto known = annotated_.find(object.key);
    if (known != annotated_.end() && std::exchange(known->second.told, words) == words) return;
  }
  options_.told(object, {kind, deletionBy(object.key, object.meta.uid), {}, {}, why});
}

}  // namespace lastout::server
