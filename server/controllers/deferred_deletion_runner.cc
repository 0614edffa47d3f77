#include "server/controllers/deferred_deletion_runner.h"

#include <algorithm>
#include <set>

#include "admission/deferral.h"
#include "client/status.h"
#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/well_known.h"
#include "server/runtime/lack_of_right.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"
#include "server/watch/provider_absence.h"

namespace lastout::server {
namespace {

using control::Fate;
using criticalservice::DeferredDeletion;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMostWaiting = 1'000;     // deletions that are to be sent; others are looked at again
constexpr milliseconds kPause{20};         // between two looks, whatever changes
constexpr milliseconds kToldPause{5'000};  // for the watch to tell what the API server has said
constexpr milliseconds kConflictPause{20};
constexpr int kMostConflicts = 5;  // before it is slower

std::string withAdvice(std::string problem) {
  if (isLackOfRight(problem, {"delete", "get"}))
    problem +=
        "; the ClusterRole lastout-carries-out, or one with the label "
        "lastout.dev/aggregate-to-carries-out: \"true\", grants that";
  return problem;
}

// lastout's verdict has turned once more; reviews log that.
bool isOwnDenial(const client::ServerStatus& refusal) {
  const std::string& message = refusal.message;
  return message.starts_with("admission webhook \"") &&
         message.find(".lastout.dev\" denied the request") != std::string::npos;
}

bool isDefinite(int code) { return code >= 400 && !client::isTransient(code); }

}  // namespace

DeferredDeletionRunner::DeferredDeletionRunner(const std::shared_ptr<client::Access>& access,
                                               const LiveView& view, DeferredDeletionRunnerOptions options)
    : view_(view),
      options_(std::move(options)),
      server_(newControllerServer(*access)),
      objects_(*server_, view, options_.patience),
      random_(options_.random()),
      senders_(options_.senders, kMostWaiting),
      loop_([this] { pass(); }, kPause) {}

DeferredDeletionRunner::~DeferredDeletionRunner() { stop(); }

void DeferredDeletionRunner::start() { loop_.start(); }

void DeferredDeletionRunner::stop() {
  loop_.stop([this] { server_->stop(); });
  senders_.stop();
}

void DeferredDeletionRunner::reconsider(bool always) {
  if (always || isAnythingDeferred_.load(std::memory_order_relaxed)) loop_.wake();
}

void DeferredDeletionRunner::pass() {
  if (!options_.mayAct() || !view_.isReady()) return;
  const AnnotationsNow annotations = annotationsNow();
  std::vector<DeferredDeletionEvent> news;
  view_.inspectWorks([&](const ViewOfWorks& works) {
    news = annotationEvents_.look(works.view, annotations);
    const std::vector<Entry> entries = deferredDeletionEntriesIn(works, options_.requesters, annotations);
    isAnythingDeferred_ = !entries.empty();
    std::set<std::string> uids;
    for (const Entry& entry : entries) uids.insert(entry.deletion.uid);
    const kube::MutexLock lock(mutex_);
    std::erase_if(tracked_, [&](const auto& tracked) {
      return !tracked.second.isUnderWay && !uids.contains(tracked.first);
    });
    consider(entries, works.view, steady_clock::now());
  });
  for (const DeferredDeletionEvent& one : news) options_.told(one);
}

AnnotationsNow DeferredDeletionRunner::annotationsNow() const {
  return {options_.annotationsCount(), options_.clock()};
}

// Within LiveView::inspectWorks().
void DeferredDeletionRunner::consider(const std::vector<Entry>& entries, const admission::ClusterView& view,
                                      TimePoint now) {
  const ProgressOf progress = [this](const std::string& uid) LASTOUT_REQUIRES(mutex_) {
    const auto found = tracked_.find(uid);
    return found == tracked_.end() ? nullptr : &found->second;
  };
  const SeenDeletions seen(entries, view, progress, now);
  for (size_t i = 0; i < entries.size(); ++i) {
    TrackedDeletion& tracked = trackedOf(entries[i].deletion.uid);
    tracked.isLeftAlone = !entries[i].isWanted && !entries[i].neededBy;
    if (tracked.isUnderWay) continue;
    if (!seen.isGone(i) && !entries[i].isRevoked && !tracked.waits && !seen.isAllowed(i)) {
      tracked.notBefore = {};  // once its verdict turns, at once
      tracked.backoff.reset();
      tracked.refusals = 0;
    }
    if (now < tracked.notBefore) continue;
    const Job job = jobOf(seen, entries, i);
    if (job == Job::None) continue;
    tracked.isUnderWay = senders_.add([this, entry = entries[i], job] { execute(entry, job); });
  }
}

DeferredDeletionRunner::TrackedDeletion& DeferredDeletionRunner::trackedOf(const std::string& uid) {
  const auto found = tracked_.find(uid);
  if (found != tracked_.end()) return found->second;
  const auto random = [this]() LASTOUT_REQUIRES(mutex_) { return random_(); };
  return tracked_.emplace(uid, TrackedDeletion(client::Backoff(options_.again, random))).first->second;
}

// Uses the view alone; false if nobody wants lastout to run this deletion.
bool DeferredDeletionRunner::mayGo(const Entry& entry) const {
  if (!entry.isWanted || !options_.mayAct()) return false;
  bool isAllowed = false;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    isAllowed = view.decide(entry.deletion.object).allowed;
  });
  return isAllowed;
}

// By a sender's thread.
void DeferredDeletionRunner::execute(const Entry& entry, Job job) {
  if (entry.isRevoked) return forget(entry);
  const bool mayGo = this->mayGo(entry);
  if (job == Job::Delete && !mayGo) return notNow(entry);
  const auto object = objects_.read(entry);
  if (!object) {
    if (mayGo && isLackOfRight(object.error(), {"get"})) countRefusal(entry);
    return postpone(entry, false, mayGo ? withAdvice(object.error()) : "");
  }
  const FateAsRead read = fateAsRead(
      *object,
      [&]() -> tl::expected<bool, std::string> {
        if (!mayGo) return false;
        return isStillWanted(entry, *object);
      },
      [&] { return options_.confirm(entry.deletion.object); });
  if (read.fate == Fate::Forget) {
    if (object->isThere && entry.isWanted) tell(entry, DeferredDeletionEvent::Kind::TakenBack);
    return forget(entry);
  }
  if (read.fate == Fate::Wait) {
    if (mayGo && read.waits) countRefusal(entry);
    return postpone(entry, read.waits, mayGo ? read.problem : "");
  }
  // All of that took its time; and whoever is not asked by the API server must not send it.
  if (!this->mayGo(entry)) return notNow(entry);
  send(entry, object->resourceVersion);
}

// Whoever takes an annotation or an entry away, or does not want any to be run, takes the deletion
// back, also while it waits to be sent. Fails with why that cannot be told.
tl::expected<bool, std::string> DeferredDeletionRunner::isStillWanted(const Entry& entry,
                                                                      const OwnedObject& object) {
  if (entry.neededBy && !isGone(*server_, view_, *entry.neededBy, options_.patience)) return false;
  if (!entry.annotation.empty()) {
    if (object.annotation != entry.annotation || entry.until <= options_.clock().time_since_epoch().count())
      return false;
    return options_.confirmAnnotationsCount().map_error(withAdvice);
  }
  if (!entry.work.empty()) return isStillDeferredByWork(entry);
  for (const Entry::StatusEntry& statusEntry : entry.statusEntries) {
    if (!statusEntry.isWanted || statusEntry.deletion != entry.deletion) continue;
    const auto service = readRecordingService(*server_, view_, statusEntry.service, options_.patience);
    if (!service) return tl::unexpected(withAdvice(service.error()));
    if (!*service) continue;
    const auto now = criticalservice::readDeferredDeletions(**service).deletions;
    if (admission::isDeferred(criticalservice::readDeferralMode(**service), entry.byController) &&
        std::ranges::find(now, entry.deletion) != now.end())
      return true;
  }
  return false;
}

tl::expected<bool, std::string> DeferredDeletionRunner::isStillDeferredByWork(const Entry& entry) {
  bool isLeft = false;
  std::vector<std::string> guards;
  view_.inspectWorks([&](const ViewOfWorks& works) {
    const auto left = deferredDeletionsOf(works);
    const auto isIt = [&](const DeferredDeletionOfWork& one) { return one.deletion == entry.deletion; };
    isLeft = std::ranges::any_of(left, isIt);
    for (const uint32_t number : works.view.servicesRecording(entry.deletion.object))
      guards.push_back(works.view.guards().service(number).meta.name);
  });
  bool isGuarded = false;
  for (const std::string& guard : guards) {
    const auto service = readRecordingService(*server_, view_, guard, options_.patience);
    if (!service) return tl::unexpected(withAdvice(service.error()));
    isGuarded = isGuarded || *service;
    if (*service && admission::isDeferred(criticalservice::readDeferralMode(**service), true)) return isLeft;
  }
  return isLeft && !isGuarded;
}

void DeferredDeletionRunner::send(const Entry& entry, const std::string& resourceVersion) {
  const auto type = view_.find(entry.deletion.object.type);
  if (!type) return postpone(entry, false, "");
  const DeferredDeletion& deletion = entry.deletion;
  const auto sent = ObjectClient(*server_, options_.patience)
                        .ask(client::deletion(
                            client::objectPath(*type, deletion.object.namespaceName, deletion.object.name),
                            deletion.uid, resourceVersion, deletion.propagationPolicy));
  const NotDone refusal = sent ? NotDone() : sent.error();
  if (isConflict(refusal)) return conflict(entry, refusal.why);
  if (!sent && refusal.code != 404) {
    const bool isOwn = isOwnDenial(refusal.refusal);
    if (isDefinite(refusal.code) && !isOwn) countRefusal(entry);
    return postpone(entry, false, isOwn ? "" : withAdvice(refusal.why));
  }
  if (sent) tell(entry, DeferredDeletionEvent::Kind::Deleted);
  noteDone(entry);
}

// It has changed since it was looked at; or that is what somebody's webhook says.
void DeferredDeletionRunner::conflict(const Entry& entry, const std::string& problem) {
  {
    const kube::MutexLock lock(mutex_);
    TrackedDeletion& tracked = trackedOf(entry.deletion.uid);
    if (++tracked.conflicts <= kMostConflicts) {
      tracked.isUnderWay = false;
      tracked.notBefore = steady_clock::now() + kConflictPause;
      loop_.wakeAt(tracked.notBefore);
      return;
    }
  }
  postpone(entry, false, problem);
}

// Its verdict, or what is needed to act, has changed while it waited: nothing was done, and nobody refused.
void DeferredDeletionRunner::notNow(const Entry& entry) {
  {
    const kube::MutexLock lock(mutex_);
    trackedOf(entry.deletion.uid).isUnderWay = false;
  }
  loop_.wake();
}

void DeferredDeletionRunner::countRefusal(const Entry& entry) {
  const kube::MutexLock lock(mutex_);
  ++trackedOf(entry.deletion.uid).refusals;
}

std::set<std::string> DeferredDeletionRunner::refused() {
  std::set<std::string> uids;
  const kube::MutexLock lock(mutex_);
  for (const auto& [uid, tracked] : tracked_) {
    if (tracked.isLeftAlone || tracked.refusals >= kMostRefusals) uids.insert(uid);
  }
  return uids;
}

// There is nothing left to delete, or nobody wants it.
void DeferredDeletionRunner::forget(const Entry& entry) {
  for (const Entry::StatusEntry& statusEntry : entry.statusEntries)
    options_.forget(statusEntry.service, statusEntry.deletion);
  noteDone(entry);
}

// What goes after it may go now; of what nobody follows no watch tells.
void DeferredDeletionRunner::noteDone(const Entry& entry) {
  {
    const kube::MutexLock lock(mutex_);
    TrackedDeletion& tracked = trackedOf(entry.deletion.uid);
    tracked.isUnderWay = false;
    tracked.isDone = true;
    tracked.conflicts = 0;
    tracked.notBefore = steady_clock::now() + kToldPause;
  }
  loop_.wake();
}

void DeferredDeletionRunner::postpone(const Entry& entry, bool waits, const std::string& problem) {
  if (loop_.isStopping()) return;  // what was cut off is no problem
  {
    const kube::MutexLock lock(mutex_);
    TrackedDeletion& tracked = trackedOf(entry.deletion.uid);
    tracked.isUnderWay = false;
    tracked.isDone = false;
    tracked.conflicts = 0;
    tracked.waits = waits;
    tracked.notBefore = steady_clock::now() + tracked.backoff.next();
    loop_.wakeAt(tracked.notBefore);
  }
  if (!problem.empty()) tell(entry, DeferredDeletionEvent::Kind::Refused, problem);
}

// The same once.
void DeferredDeletionRunner::tell(const Entry& entry, DeferredDeletionEvent::Kind kind,
                                  const std::string& why) {
  {
    const kube::MutexLock lock(mutex_);
    TrackedDeletion& tracked = trackedOf(entry.deletion.uid);
    const std::string told = std::string(toString(kind)) + why;
    if (tracked.told == told) return;
    tracked.told = told;
  }
  if (!entry.work.empty()) return options_.told({kind, entry.deletion, entry.work, entry.workUid, why, true});
  if (!entry.annotation.empty())
    return options_.told({kind, entry.deletion, entry.guard, entry.guardUid, why});
  const Entry::StatusEntry& statusEntry = entry.statusEntries.front();
  options_.told({kind, entry.deletion, statusEntry.service, statusEntry.uid, why});
}

}  // namespace lastout::server
