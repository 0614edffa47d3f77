#include "server/put_off_store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "admission/put_off.h"
#include "client/fetch.h"
#include "client/value_picker.h"
#include "client/writes.h"
#include "criticalservice/put_off.h"
#include "kube/quoting.h"
#include "kube/text_at.h"

namespace lastout::server {
namespace {

using criticalservice::PutOff;
using criticalservice::PutOffs;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMostServiceBytes = size_t{4} << 20;
constexpr size_t kMostUntold = 1'000;
constexpr size_t kMostToWaitFor = 32;  // CriticalServices that are to be written
constexpr int kMostConflictsInARow = 5;
constexpr milliseconds kUntoldPause{100};
constexpr milliseconds kLongestRest{60'000};
constexpr size_t kLongestUser = 1'024;  // bytes; as the CRD has it

bool asksTheSame(const PutOff& a, const PutOff& b) {
  return a.propagationPolicy == b.propagationPolicy && a.owners == b.owners;
}

std::string serviceName(const std::string& service) { return "criticalservices.lastout.dev/" + service; }

}  // namespace

const Controllers& usualControllers() {
  static const Controllers kUsers{
      "system:kube-controller-manager",  // where its controllers have no accounts of their own
      "system:serviceaccount:kube-system:generic-garbage-collector",
      "system:serviceaccount:kube-system:namespace-controller",
      "system:serviceaccount:open-cluster-management-agent:klusterlet-work-sa",
  };
  return kUsers;
}

PutOffStore::PutOffStore(const std::shared_ptr<client::Access>& access, const LiveView& view,
                         PutOffStoreOptions options)
    : view_(view),
      options_(std::move(options)),
      server_(access->newServer()),
      backoff_(options_.backoff, options_.random()),
      problems_(options_.log, "deletions that were put off: cannot be remembered: ",
                "deletions that were put off: remembered again") {}

PutOffStore::~PutOffStore() { stop(); }

void PutOffStore::start() {
  hasEnded_ = false;
  thread_ = std::thread([this] { run(); });
}

void PutOffStore::finish(milliseconds grace) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  const TimePoint now = steady_clock::now();
  stopBy_ = now + grace;
  for (auto& [service, changes] : waiting_) changes.notBefore = std::min(changes.notBefore, now);
  changed_.notify_all();
  changed_.wait_until(lock, stopBy_, [this] { return hasEnded_; });
}

void PutOffStore::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    stopBy_ = {};
  }
  changed_.notify_all();
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

bool PutOffStore::isOfController(const PutOff& deletion) const {
  return options_.controllers.contains(deletion.requestedBy);
}

// That deletion, or one that is wanted whoever owns the object; and it will be carried out.
bool PutOffStore::remembers(criticalservice::Replay replay, const PutOffs& putOffs,
                            const PutOff& deletion) const {
  return std::ranges::any_of(putOffs.deletions, [&](const PutOff& known) {
    if (known.object != deletion.object || known.uid != deletion.uid) return false;
    if (!admission::isPutOff(replay, isOfController(known))) return false;
    return !isOfController(known) || (isOfController(deletion) && asksTheSame(known, deletion));
  });
}

void PutOffStore::add(Deletions& deletions, const PutOff& deletion) const {
  const auto [known, isNew] = deletions.try_emplace(deletion.uid, deletion);
  if (!isNew && (isOfController(known->second) || !isOfController(deletion))) known->second = deletion;
}

PutOffStore::Places PutOffStore::placesFor(const PutOff& deletion) const {
  Places places;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    for (const uint32_t number : view.remembering(deletion.object)) {
      const criticalservice::CriticalService& service = view.guards().service(number);
      if (admission::isPutOff(service.replay, isOfController(deletion)))
        places[service.meta.name] = remembers(service.replay, service.putOff, deletion);
    }
  });
  return places;
}

// With the lock held. What is about to be forgotten is to be remembered anew.
std::set<std::string> PutOffStore::missing(const Places& places, const std::string& uid) const {
  std::set<std::string> services;
  for (const auto& [service, isThere] : places) {
    const auto found = waiting_.find(service);
    const bool isForgotten = (found != waiting_.end() && found->second.forgotten.contains(uid)) ||
                             (writing_ == service && underWay_.forgotten.contains(uid));
    if (!isThere || isForgotten) services.insert(service);
  }
  return services;
}

// Most denials are a person's, which nobody remembers.
PutOffStore::Takers PutOffStore::takersOf(const kube::ObjectKey& object, bool byController) const {
  Takers takers = Takers::None;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    const bool isTaken = std::ranges::any_of(view.remembering(object), [&](uint32_t number) {
      return admission::isPutOff(view.guards().service(number).replay, byController);
    });
    if (isTaken)
      takers = Takers::Some;
    else if (view.guards().stakes(object).empty())
      takers = Takers::Unknown;
  });
  return takers;
}

// The watch shows another object of that name, whose deletion is not to be forgotten for this.
bool PutOffStore::isAnother(const PutOff& deletion) const {
  bool isAnother = false;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    const auto object = view.graph().find(deletion.object);
    isAnother = object && !view.graph().hasUid(*object, deletion.uid);
  });
  return isAnother;
}

// A person who insists on a version means the object as it is. lastout itself does so, too.
void PutOffStore::remember(const admission::Review& review, TimePoint deadline) {
  const admission::Deletion& asked = review.deletion;
  if (review.dryRun || asked.isTerminating || asked.uid.empty()) return;
  const bool byController = options_.controllers.contains(review.user);
  if (asked.insistsOnVersion && !byController) return;
  const Takers takers = takersOf(review.object, byController);
  if (takers == Takers::None) return;
  PutOff deletion{review.object,
                  asked.uid,
                  asked.policy,
                  kube::atMost(review.user, kLongestUser),
                  options_.clock().time_since_epoch().count(),
                  asked.owners};
  const bool isHeld = criticalservice::fitIn(deletion);
  const Places places = placesFor(deletion);
  const bool comesLater = places.empty() && takers == Takers::Unknown;
  if ((places.empty() && !comesLater) || isAnother(deletion)) return;
  if (!isHeld) return tellDropped(deletion, places.empty() ? "" : places.begin()->first);
  std::unique_lock lock(mutex_);
  const std::set<std::string> services = missing(places, deletion.uid);
  if (services.empty() && !comesLater) return;
  if (stopping_ || (comesLater && unplaced_.size() >= kMostUntold)) return tellDropped(deletion, {});
  if (comesLater) unplaced_.push_back({deletion, steady_clock::now() + options_.untoldFor});
  place(deletion, services);
  changed_.notify_all();
  if (comesLater || waiting_.size() > kMostToWaitFor) return;
  changed_.wait_until(lock, std::min(deadline, steady_clock::now() + options_.longest),
                      [&] { return stopping_ || !isWaiting(services, deletion.uid); });
}

void PutOffStore::forget(const std::string& service, const PutOff& deletion) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || waiting() >= kMostWaiting) return;  // whoever asks for it asks again
    changesOf(service).forgotten.insert_or_assign(deletion.uid, deletion);
  }
  changed_.notify_all();
}

// With the lock held, as the next ones.
PutOffStore::Changes& PutOffStore::changesOf(const std::string& service) {
  const auto found = waiting_.find(service);
  if (found != waiting_.end()) return found->second;
  Changes changes;
  changes.notBefore = steady_clock::now();
  return waiting_.emplace(service, std::move(changes)).first->second;
}

size_t PutOffStore::waiting() const {
  size_t waiting = 0;
  for (const auto& [name, changes] : waiting_) waiting += changes.size();
  return waiting;
}

void PutOffStore::place(const PutOff& deletion, const std::set<std::string>& services) {
  const size_t already = waiting();
  for (const std::string& service : services) {
    if (already >= kMostWaiting)
      tellDropped(deletion, service);
    else
      add(changesOf(service).remembered, deletion);
  }
}

bool PutOffStore::isWaiting(const std::set<std::string>& services, const std::string& uid) const {
  return std::ranges::any_of(services, [&](const std::string& service) {
    const auto found = waiting_.find(service);
    const bool isNext = found != waiting_.end() && found->second.has(uid);
    return (isNext && found->second.notBefore <= steady_clock::now()) ||
           (writing_ == service && underWay_.has(uid));
  });
}

std::map<std::string, PutOffStore::Changes>::iterator PutOffStore::firstToWrite() {
  return std::ranges::min_element(waiting_, {}, [](const auto& one) { return one.second.notBefore; });
}

// The view is not asked while the lock is held: who reads the view may ask for it.
void PutOffStore::placeUntold(std::unique_lock<std::mutex>& lock) {
  std::vector<Unplaced> all = std::exchange(unplaced_, {});
  if (all.empty()) return;
  lock.unlock();
  const TimePoint now = steady_clock::now();
  std::vector<Places> places;
  std::vector<Unplaced> left;
  for (const Unplaced& one : all) {
    places.push_back(placesFor(one.deletion));
    const bool isUnknown = takersOf(one.deletion.object, isOfController(one.deletion)) == Takers::Unknown;
    if (!places.back().empty() || !isUnknown) continue;
    if (now < one.until)
      left.push_back(one);
    else
      tellDropped(one.deletion, {});
  }
  lock.lock();
  for (size_t i = 0; i < all.size(); ++i) place(all[i].deletion, missing(places[i], all[i].deletion.uid));
  unplaced_.insert(unplaced_.end(), left.begin(), left.end());
}

// What could not be written is written again, beside what came since.
void PutOffStore::takeBack(const std::string& service, Changes changes) {
  Changes& now = changesOf(service);
  now.forgotten.merge(changes.forgotten);
  changes.remembered.merge(now.remembered);
  for (const auto& [uid, deletion] : now.remembered) add(changes.remembered, deletion);
  now.remembered = std::move(changes.remembered);
}

// With the lock held, as the next. When it is to end, what can be written in time is.
bool PutOffStore::goesOn() {
  if (!stopping_) return true;
  const auto first = firstToWrite();
  return first != waiting_.end() && steady_clock::now() < stopBy_ && first->second.notBefore < stopBy_;
}

void PutOffStore::dropAll() {
  for (const auto& [service, changes] : waiting_) {
    for (const auto& [uid, deletion] : changes.remembered) tellDropped(deletion, service);
  }
  for (const Unplaced& one : unplaced_) tellDropped(one.deletion, {});
}

void PutOffStore::tellDropped(const PutOff& deletion, const std::string& service) const {
  options_.told({PutOffNews::Kind::Dropped, deletion, service, {}, {}});
}

void PutOffStore::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    placeUntold(lock);
    if (!goesOn()) break;
    const auto first = firstToWrite();
    const TimePoint now = steady_clock::now();
    TimePoint until = now + (unplaced_.empty() ? kLongestRest : kUntoldPause);
    if (first != waiting_.end()) until = std::min(until, first->second.notBefore);
    if (until > now) {
      changed_.wait_until(lock, stopping_ ? std::min(until, stopBy_) : until);
      continue;
    }
    writing_ = first->first;
    underWay_ = std::move(first->second);
    waiting_.erase(first);
    lock.unlock();
    Written written = write(writing_, underWay_);
    if (written == Written::Done) backoff_.reset();
    conflicts_ = written == Written::Conflict ? conflicts_ + 1 : 0;
    if (conflicts_ > kMostConflictsInARow) written = Written::Later;
    lock.lock();
    if (written != Written::Done) takeBack(writing_, std::move(underWay_));
    if (written != Written::Done && written != Written::Conflict)
      waiting_[writing_].notBefore = steady_clock::now() + backoff_.next();
    writing_.clear();
    underWay_ = {};
    changed_.notify_all();
  }
  dropAll();
  hasEnded_ = true;
  changed_.notify_all();
}

// What the CriticalService remembers is read as it is now, so that nothing is lost that another lastout
// wrote. Of what is too large altogether half is tried, and half of that, down to the count of what was
// dropped.
PutOffStore::Written PutOffStore::write(const std::string& service, const Changes& changes) {
  const auto type = view_.find(criticalservice::criticalServiceType());
  if (!type) {
    const bool isGone = view_.knowledge(criticalservice::criticalServiceType()) == graph::Knowledge::Absent;
    return isGone ? Written::Done : Written::Later;
  }
  client::ApiRequest request;
  request.target = client::objectPath(*type, "", service);
  const auto object = ask(service, request);
  if (!object) return object.error();
  const PutOffs standing = criticalservice::readPutOffs(*object);
  for (size_t most = criticalservice::kMostPutOff;;) {
    const Outcome wanted = outcomeOf(changes, *object, most);
    if (wanted.putOffs == standing) {
      problems_.note("");
      return Written::Done;
    }
    const Written written = patch(request.target, service, *object, wanted);
    if (written != Written::TooLarge || most == 0) return written;
    most = std::min(most, wanted.putOffs.deletions.size()) / 2;
  }
}

// Nothing new beside so many.
PutOffStore::Outcome PutOffStore::outcomeOf(const Changes& changes, const kube::Value& object,
                                            size_t most) const {
  const criticalservice::Replay replay = criticalservice::readReplay(object);
  Outcome wanted{criticalservice::readPutOffs(object), {}};
  std::erase_if(wanted.putOffs.deletions, [&](const PutOff& deletion) {
    const auto forgotten = changes.forgotten.find(deletion.uid);
    return forgotten != changes.forgotten.end() && forgotten->second == deletion;
  });
  for (const auto& [uid, deletion] : changes.remembered) {
    if (remembers(replay, wanted.putOffs, deletion)) continue;
    const bool isRemembered = criticalservice::add(wanted.putOffs, deletion, most);
    wanted.news.push_back({isRemembered ? PutOffNews::Kind::Remembered : PutOffNews::Kind::Dropped,
                           deletion,
                           kube::textAt(object, {"metadata", "name"}),
                           kube::textAt(object, {"metadata", "uid"}),
                           {}});
  }
  return wanted;
}

PutOffStore::Written PutOffStore::patch(const std::string& path, const std::string& service,
                                        const kube::Value& object, const Outcome& wanted) {
  client::ApiRequest request = client::mergePatch(
      path + "/status",
      {{"metadata", {{"resourceVersion", kube::textAt(object, {"metadata", "resourceVersion"})}}},
       {"status", criticalservice::patchOf(wanted.putOffs)}});
  const auto written = ask(service, request);
  if (!written) return written.error();
  if (criticalservice::readPutOffs(*written) != wanted.putOffs) {
    problems_.note(serviceName(service) + " does not keep them: its CRD is of an older lastout");
    return Written::Later;
  }
  problems_.note("");
  for (const PutOffNews& one : wanted.news) options_.told(one);
  return Written::Done;
}

// What the API server answers with: the CriticalService. Fails with what to do about its refusal.
tl::expected<kube::Value, PutOffStore::Written> PutOffStore::ask(const std::string& service,
                                                                 client::ApiRequest request) {
  request.patience = options_.patience;
  const auto later = [&](const std::string& problem) {
    problems_.note(serviceName(service) + ": " + problem);
    return tl::unexpected(Written::Later);
  };
  const auto whole = client::fetch(*server_, request, kMostServiceBytes);
  if (!whole) return later(whole.error().message);
  const int status = whole->answer.status;
  if (status == 409) return tl::unexpected(Written::Conflict);
  if (status != 200) {
    const client::ServerStatus refusal = client::statusOfAnswer(*whole);
    // It is gone, and guards nothing any more.
    if (status == 404 && client::isAboutObject(refusal, service)) return tl::unexpected(Written::Done);
    const auto failed = later(toString(refusal));
    return client::isTooLarge(refusal) ? tl::unexpected(Written::TooLarge) : failed;
  }
  auto object = client::pickValue(whole->body, client::Pick::All, {});
  if (!object) return later(object.error().message);
  return std::move(*object);
}

}  // namespace lastout::server
