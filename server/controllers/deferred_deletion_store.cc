#include "server/controllers/deferred_deletion_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "admission/deferral.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/deferred_deletion.h"
#include "kube/messages.h"
#include "manifestwork/manifest_work.h"
#include "server/controllers/deferred_deletion_entries.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
namespace {

using criticalservice::DeferredDeletion;
using criticalservice::DeferredDeletions;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMostUntold = 1'000;
constexpr size_t kMostToWaitFor = 32;  // CriticalServices that are to be written
constexpr int kMostConflictsInARow = 5;
constexpr milliseconds kUntoldPause{100};
constexpr milliseconds kLongestRest{60'000};
constexpr size_t kLongestUser = 1'024;  // bytes; as the CRD has it
constexpr std::string_view kNotProven =
    "; lastout cannot prove who asks, and so does not delete it later: ask again once it may go";

bool asksTheSame(const DeferredDeletion& a, const DeferredDeletion& b) {
  return a.propagationPolicy == b.propagationPolicy && a.owners == b.owners;
}

}  // namespace

const ControllerUsers& usualControllers() {
  static const ControllerUsers kUsers{
      "system:kube-controller-manager",  // where its controllers have no accounts of their own
      "system:serviceaccount:kube-system:generic-garbage-collector",
      "system:serviceaccount:kube-system:namespace-controller",
      std::string(manifestwork::kAgentUser),
  };
  return kUsers;
}

DeferredDeletionStore::DeferredDeletionStore(const std::shared_ptr<client::Access>& access,
                                             const LiveView& view, DeferredDeletionStoreOptions options)
    : view_(view),
      options_(std::move(options)),
      server_(newControllerServer(*access)),
      backoff_(options_.backoff, options_.random()),
      problems_(options_.log, "deletions that were deferred: cannot be recorded: ",
                "deletions that were deferred: recorded again"),
      loop_([this] { round(); }, milliseconds(0)) {}

DeferredDeletionStore::~DeferredDeletionStore() { stop(); }

void DeferredDeletionStore::start() {
  {
    const kube::MutexLock lock(mutex_);
    hasEnded_ = false;
  }
  loop_.wake();
  loop_.start();
}

void DeferredDeletionStore::finish(milliseconds grace) {
  kube::MutexLock lock(mutex_);
  stopping_ = true;
  const TimePoint now = steady_clock::now();
  stopBy_ = now + grace;
  for (auto& [service, changes] : waiting_) changes.notBefore = std::min(changes.notBefore, now);
  changed_.notifyAll();
  loop_.wake();
  changed_.waitUntil(lock, stopBy_, [this]() LASTOUT_REQUIRES(mutex_) { return hasEnded_; });
}

void DeferredDeletionStore::stop() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
    stopBy_ = {};
  }
  changed_.notifyAll();
  if (!loop_.stop([this] { server_->stop(); })) return;
  placeUntold();  // so that what is not recorded is told with the CriticalService
  giveUpUnwritten();
}

bool DeferredDeletionStore::isOfController(const DeferredDeletion& deletion) const {
  return options_.requesters.isController(deletion.requestedBy);
}

// Returns true if the status records that deletion, or one that counts whoever owns the object, and lastout
// will run it.
bool DeferredDeletionStore::isRecordedIn(criticalservice::DeferralMode deferral,
                                         const DeferredDeletions& deferredDeletions,
                                         const DeferredDeletion& deletion) const {
  return std::ranges::any_of(deferredDeletions.deletions, [&](const DeferredDeletion& known) {
    if (known.object != deletion.object || known.uid != deletion.uid) return false;
    if (!admission::isDeferred(deferral, isOfController(known))) return false;
    if (options_.requesters.isPersonThatCounts(known.requestedBy)) return true;
    return isOfController(known) && isOfController(deletion) && asksTheSame(known, deletion);
  });
}

void DeferredDeletionStore::add(Deletions& deletions, const DeferredDeletion& deletion) const {
  const auto [known, isNew] = deletions.try_emplace(deletion.uid, deletion);
  if (!isNew && (isOfController(known->second) || !isOfController(deletion))) known->second = deletion;
}

DeferredDeletionStore::Places DeferredDeletionStore::placesFor(const DeferredDeletion& deletion) const {
  Places places;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    for (const uint32_t number : view.servicesRecording(deletion.object)) {
      const criticalservice::CriticalService& service = view.guards().service(number);
      if (admission::isDeferred(service.deferral, isOfController(deletion)))
        places[service.meta.name] = isRecordedIn(service.deferral, service.deferredDeletions, deletion);
    }
  });
  return places;
}

// An entry that is about to be deleted from a status counts as missing there.
std::set<std::string> DeferredDeletionStore::missing(const Places& places, const std::string& uid) const {
  std::set<std::string> services;
  for (const auto& [service, isThere] : places) {
    const auto found = waiting_.find(service);
    const bool isForgotten =
        (found != waiting_.end() && found->second.forgotten.contains(uid)) ||
        (writing_ && writing_->service == service && writing_->changes.forgotten.contains(uid));
    if (!isThere || isForgotten) services.insert(service);
  }
  return services;
}

// Most denials are a person's, which no CriticalService records.
DeferredDeletionStore::DeferringServices DeferredDeletionStore::deferringServicesOf(
    const kube::ObjectKey& object, bool byController) const {
  DeferringServices deferringServices = DeferringServices::None;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    const bool isTaken = std::ranges::any_of(view.servicesRecording(object), [&](uint32_t number) {
      return admission::isDeferred(view.guards().service(number).deferral, byController);
    });
    if (isTaken)
      deferringServices = DeferringServices::Some;
    else if (view.guards().guardEntries(object).empty())
      deferringServices = DeferringServices::Unknown;
  });
  return deferringServices;
}

// The watch shows another object of that name, whose deletion is not to be forgotten for this.
bool DeferredDeletionStore::isAnother(const DeferredDeletion& deletion) const {
  bool isAnother = false;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    const auto object = view.graph().find(deletion.object);
    isAnother = object && !view.graph().hasUid(*object, deletion.uid);
  });
  return isAnother;
}

// A person who insists on a version means the object as it is. lastout itself does so, too.
std::string DeferredDeletionStore::recordAndAdvise(const admission::Review& review, TimePoint deadline) {
  const admission::Deletion& asked = review.deletion;
  if (asked.isTerminating || asked.uid.empty()) return {};
  const bool byController = options_.requesters.isController(review.user);
  if (asked.insistsOnVersion && !byController) return {};
  const DeferringServices deferringServices = deferringServicesOf(review.object, byController);
  const bool counts = options_.requesters.counts(review.user, !asked.owners.empty());
  if (deferringServices == DeferringServices::None || !counts) return adviceFor(review, deferringServices);
  if (!review.dryRun) record(review, deadline, deferringServices);
  return {};
}

// Returns the advice for a denial that is not recorded.
std::string DeferredDeletionStore::adviceFor(const admission::Review& review,
                                             DeferringServices deferringServices) const {
  bool isSeen = false;
  if (options_.annotationsCount() && !usualControllers().contains(review.user)) {
    view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
      const auto object = view.graph().find(review.object);
      isSeen = object && view.graph().hasUid(*object, review.deletion.uid) &&
               guardOfAnnotated(view, review.object) != nullptr;
    });
  }
  std::string advice =
      isSeen ? admission::annotateAdvice(review.object, review.deletion.uid, options_.clock()) : "";
  if (!advice.empty()) return advice;
  return deferringServices == DeferringServices::Some ? std::string(kNotProven) : std::string();
}

std::string DeferredDeletionStore::adviceToReplay(const admission::Review& review) const {
  const bool isReplayed = options_.replayedTypes.contains(review.object.type) && options_.annotationsCount();
  if (!isReplayed || review.deletion.isTerminating || usualControllers().contains(review.user)) return "";
  return admission::annotateAdvice(review.object, review.deletion.uid, options_.clock());
}

void DeferredDeletionStore::record(const admission::Review& review, TimePoint deadline,
                                   DeferringServices deferringServices) {
  const admission::Deletion& asked = review.deletion;
  DeferredDeletion deletion{review.object,
                            asked.uid,
                            asked.policy,
                            kube::atMost(review.user, kLongestUser),
                            options_.clock().time_since_epoch().count(),
                            asked.owners};
  const bool isHeld = criticalservice::fitIn(deletion);
  const Places places = placesFor(deletion);
  const bool comesLater = places.empty() && deferringServices == DeferringServices::Unknown;
  if ((places.empty() && !comesLater) || isAnother(deletion)) return;
  if (!isHeld) return tellNotRecorded(deletion, places.empty() ? "" : places.begin()->first);
  kube::MutexLock lock(mutex_);
  const std::set<std::string> services = missing(places, deletion.uid);
  if (services.empty() && !comesLater) return;
  if (stopping_ || (comesLater && unplaced_.size() >= kMostUntold)) return tellNotRecorded(deletion, {});
  if (comesLater) unplaced_.push_back({deletion, steady_clock::now() + options_.untoldFor});
  place(deletion, services);
  loop_.wake();
  if (comesLater || waiting_.size() > kMostToWaitFor) return;
  changed_.waitUntil(
      lock, std::min(deadline, steady_clock::now() + options_.longest),
      [&]() LASTOUT_REQUIRES(mutex_) { return stopping_ || !isWaiting(services, deletion.uid); });
}

void DeferredDeletionStore::forget(const std::string& service, const DeferredDeletion& deletion) {
  {
    const kube::MutexLock lock(mutex_);
    if (stopping_ || waiting() >= kMostWaiting) return;  // whoever asks for it asks again
    changesOf(service).forgotten.insert_or_assign(deletion.uid, deletion);
  }
  loop_.wake();
}

DeferredDeletionStore::Changes& DeferredDeletionStore::changesOf(const std::string& service) {
  const auto found = waiting_.find(service);
  if (found != waiting_.end()) return found->second;
  Changes changes;
  changes.notBefore = steady_clock::now();
  return waiting_.emplace(service, std::move(changes)).first->second;
}

size_t DeferredDeletionStore::waiting() const {
  size_t waiting = 0;
  for (const auto& [name, changes] : waiting_) waiting += changes.size();
  return waiting;
}

void DeferredDeletionStore::place(const DeferredDeletion& deletion, const std::set<std::string>& services) {
  const size_t already = waiting();
  for (const std::string& service : services) {
    if (already >= kMostWaiting)
      tellNotRecorded(deletion, service);
    else
      add(changesOf(service).recorded, deletion);
  }
}

bool DeferredDeletionStore::isWaiting(const std::set<std::string>& services, const std::string& uid) const {
  return std::ranges::any_of(services, [&](const std::string& service) LASTOUT_REQUIRES(mutex_) {
    const auto found = waiting_.find(service);
    const bool isNext = found != waiting_.end() && found->second.has(uid);
    return (isNext && found->second.notBefore <= steady_clock::now()) ||
           (writing_ && writing_->service == service && writing_->changes.has(uid));
  });
}

std::map<std::string, DeferredDeletionStore::Changes>::iterator DeferredDeletionStore::firstToWrite() {
  return std::ranges::min_element(waiting_, {}, [](const auto& one) { return one.second.notBefore; });
}

// The view is not asked while the lock is held: who reads the view may ask for it.
void DeferredDeletionStore::placeUntold() {
  kube::MutexLock lock(mutex_);
  const std::vector<Unplaced> all = std::exchange(unplaced_, {});
  lock.unlock();
  if (all.empty()) return;
  const TimePoint now = steady_clock::now();
  std::vector<Places> places;
  std::vector<Unplaced> left;
  for (const Unplaced& one : all) {
    places.push_back(placesFor(one.deletion));
    const bool isUnknown =
        deferringServicesOf(one.deletion.object, isOfController(one.deletion)) == DeferringServices::Unknown;
    if (!places.back().empty() || !isUnknown) continue;
    if (now < one.until)
      left.push_back(one);
    else
      tellNotRecorded(one.deletion, {});
  }
  lock.lock();
  for (size_t i = 0; i < all.size(); ++i) place(all[i].deletion, missing(places[i], all[i].deletion.uid));
  unplaced_.insert(unplaced_.end(), left.begin(), left.end());
}

// What could not be written is written again, beside what came since.
void DeferredDeletionStore::restoreChanges(const std::string& service, Changes changes) {
  Changes& now = changesOf(service);
  now.forgotten.merge(changes.forgotten);
  changes.recorded.merge(now.recorded);
  for (const auto& [uid, deletion] : now.recorded) add(changes.recorded, deletion);
  now.recorded = std::move(changes.recorded);
}

// When it is to end, what can be written in time is.
bool DeferredDeletionStore::goesOn() {
  if (!stopping_) return true;
  const auto first = firstToWrite();
  return first != waiting_.end() && steady_clock::now() < stopBy_ && first->second.notBefore < stopBy_;
}

void DeferredDeletionStore::giveUpUnwritten() {
  const kube::MutexLock lock(mutex_);
  for (const auto& [service, changes] : std::exchange(waiting_, {})) {
    for (const auto& [uid, deletion] : changes.recorded) tellNotRecorded(deletion, service);
  }
  for (const Unplaced& one : std::exchange(unplaced_, {})) tellNotRecorded(one.deletion, {});
  hasEnded_ = true;
  changed_.notifyAll();
}

void DeferredDeletionStore::tellNotRecorded(const DeferredDeletion& deletion,
                                            const std::string& service) const {
  options_.told({DeferredDeletionEvent::Kind::NotRecorded, deletion, service, {}, {}});
}

void DeferredDeletionStore::round() {
  placeUntold();
  if (const auto due = writeFirst())
    loop_.wakeAt(*due);
  else
    giveUpUnwritten();
}

// Writes to the CriticalService that is first, where that may be. Returns when the next may be; nullopt: it
// is to end.
std::optional<TimePoint> DeferredDeletionStore::writeFirst() {
  kube::MutexLock lock(mutex_);
  if (!goesOn()) return std::nullopt;
  const auto first = firstToWrite();
  const TimePoint now = steady_clock::now();
  TimePoint until = now + (unplaced_.empty() ? kLongestRest : kUntoldPause);
  if (first != waiting_.end()) until = std::min(until, first->second.notBefore);
  if (until > now) return stopping_ ? std::min(until, stopBy_) : until;
  const auto writing = std::make_shared<Writing>(Writing{first->first, std::move(first->second)});
  writing_ = writing;
  waiting_.erase(first);
  lock.unlock();
  Written written = write(writing->service, writing->changes);
  if (written == Written::Done) backoff_.reset();
  conflicts_ = written == Written::Conflict ? conflicts_ + 1 : 0;
  if (conflicts_ > kMostConflictsInARow) written = Written::Later;
  lock.lock();
  if (written != Written::Done) restoreChanges(writing->service, std::move(writing->changes));
  if (written != Written::Done && written != Written::Conflict)
    waiting_[writing->service].notBefore = steady_clock::now() + backoff_.next();
  writing_.reset();
  changed_.notifyAll();
  return now;
}

}  // namespace lastout::server
