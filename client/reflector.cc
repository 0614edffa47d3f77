#include "client/reflector.h"

#include <algorithm>
#include <utility>

#include "client/api_server.h"
#include "kube/status_reason.h"

namespace lastout::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kShortBackoff{20};  // the first wait for a state that passes

constexpr const char* kAnotherCluster = "another cluster answers at its address";

constexpr int kInvalidAnswer = 200;  // of an answer that breaks the protocol, though its status is 200
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kServerErrors = 500;

bool isDecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view withoutLeadingZeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

ServerStatus misbehaved(const std::string& what) {
  return {kInvalidAnswer, "", "the API server cannot be followed: " + what, std::nullopt};
}

std::string reason(const ServerStatus& status) {
  return status.code >= 300 ? toString(status) : status.message;
}

// After such a failure of a watch the next one may begin where it stopped.
bool mayResume(const ServerStatus& status) {
  if (isExpired(status) || status.isBehind) return false;
  return status.code == 0 || status.code == kUnauthorized || status.code == kForbidden ||
         status.code == kube::kTooManyRequests || status.code >= kServerErrors;
}

// Namespaces' names hold no slash.
std::string keyOf(const kube::ObjectMeta& meta) { return meta.namespaceName + "/" + meta.name; }

Removed removed(const std::string& key, std::string uid) {
  const size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1), std::move(uid)};
}

}  // namespace

bool isOlder(std::string_view version, std::string_view than) {
  if (!isDecimal(version) || !isDecimal(than)) return false;
  version = withoutLeadingZeros(version);
  than = withoutLeadingZeros(than);
  return version.size() != than.size() ? version.size() < than.size() : version < than;
}

Reflector::Reflector(ReflectorOptions options, RandomFraction random, ReflectorHandlers handlers)
    : options_(options),
      random_(std::move(random)),
      handlers_(std::move(handlers)),
      backoff_(options.backoff, random_),
      shortBackoff_({std::min(kShortBackoff, options.backoff.first), options.backoff.most}, random_) {}

Next Reflector::next(TimePoint now) {
  if (notBefore_ && now < *notBefore_) return WaitUntil{*notBefore_};
  notBefore_.reset();
  if (now - heardAt_ >= options_.outage) {
    historyDoubted_ = true;
    listNext();
  }
  underWay_ = true;
  askedAt_ = now;
  watchingSince_.reset();
  progressed_ = false;
  if (phase_ == Phase::Watch) {
    const double factor = 1 + random_();
    return WatchFrom{
        resumeFrom_,
        seconds(static_cast<int64_t>(factor * std::chrono::duration<double>(options_.watchFor).count()))};
  }
  const size_t limit = inPages_ ? options_.page : 0;
  if (!continueToken_.empty()) return ListPage{"", continueToken_, limit};
  ++listNumber_;
  listBegan_ = now;
  listVersion_.clear();
  return ListPage{fromCache_ ? "0" : "", "", limit};
}

bool Reflector::answeredBy(const std::string& cluster, TimePoint now) {
  if (!underWay_) return false;
  if (cluster.empty()) return true;
  const bool isAnother = !cluster_.empty() && cluster != cluster_;
  if (isAnother && phase_ == Phase::Watch) {
    knowledge_.listed = false;
    failed(misbehaved(kAnotherCluster), now);
    return false;
  }
  cluster_ = cluster;
  if (!isAnother) return true;
  historyDoubted_ = true;
  if (std::exchange(knowledge_.listed, false)) setKnowledge(SyncStatus::State::NeverSynced, kAnotherCluster);
  return true;
}

bool Reflector::item(StreamedObject object, TimePoint now) {
  if (!underWay_ || phase_ != Phase::List) return false;
  noteHeard(now);
  fromCache_ = false;
  const auto known = known_.find(keyOf(object.meta));
  if (known != known_.end()) {
    const std::string& version = known->second.version;
    const bool twice = known->second.listNumber == listNumber_;  // pages of different versions may overlap
    const bool same = object.meta.resourceVersion == version && object.meta.uid == known->second.uid;
    if (twice && isOlder(object.meta.resourceVersion, version)) return true;
    known->second.listNumber = listNumber_;
    if (same && (twice || !historyDoubted_)) return true;
  }
  upsert(std::move(object));
  return true;
}

void Reflector::endOfPage(const std::string& resourceVersion, const std::string& continueToken,
                          TimePoint now) {
  if (!underWay_ || phase_ != Phase::List) return;
  noteHeard(now);
  // Where later pages are of a later version, a watch from the first one's tells some changes again, and no
  // harm is done.
  if (listVersion_.empty()) listVersion_ = resourceVersion;
  if (listVersion_.empty() || listVersion_ == "0")
    return failed(misbehaved("its list has no resourceVersion"), now);
  if (!continueToken.empty()) {
    if (continueToken == continueToken_)
      return failed(misbehaved("it gave the same continue token twice"), now);
    continueToken_ = continueToken;
    underWay_ = false;
    return;
  }
  for (auto known = known_.begin(); known != known_.end();) {
    const auto here = known++;
    if (here->second.listNumber != listNumber_) remove(here);
  }
  shortBackoff_.reset();
  fromCache_ = false;
  inPages_ = true;
  historyDoubted_ = false;
  continueToken_.clear();
  resumeFrom_ = listVersion_;
  phase_ = Phase::Watch;
  underWay_ = false;
  knowledge_ = {SyncStatus::State::Stale, true, listBegan_, "", std::move(knowledge_.unread)};
  handlers_.knowledge(knowledge_);
}

void Reflector::watchBegan(TimePoint now) {
  if (!underWay_ || phase_ != Phase::Watch || watchingSince_) return;
  watchingSince_ = now;
  setKnowledge(SyncStatus::State::Synced, "");
}

bool Reflector::event(WatchEvent event, TimePoint now) {
  if (!underWay_ || phase_ != Phase::Watch) return false;
  watchBegan(now);
  if (event.type == EventType::Error) {
    if (event.status.code == 0) event.status.code = kServerErrors;
    failed(event.status, now);
    return false;
  }
  const std::string version = event.object.meta.resourceVersion;
  if (event.type == EventType::Bookmark || isNews(event)) {
    // A server tells events in their order. What it tells too late may be followed by what it does not tell,
    // and by its version alone it cannot be told from what was overtaken by a removal.
    if (isOlder(version, resumeFrom_)) {
      failed(misbehaved("it told version " + version + " after version " + resumeFrom_), now);
      return false;
    }
    if (event.type == EventType::Deleted)
      remove(known_.find(keyOf(event.object.meta)));
    else if (event.type != EventType::Bookmark)
      upsert(std::move(event.object));
  }
  advance(version);
  noteHeard(now);
  return true;
}

// What is older than what is known of that object, or the same, was told twice.
bool Reflector::isNews(const WatchEvent& event) const {
  const bool deleted = event.type == EventType::Deleted;
  const kube::ObjectMeta& meta = event.object.meta;
  const auto known = known_.find(keyOf(meta));
  if (known == known_.end()) return !deleted;
  if (isOlder(meta.resourceVersion, known->second.version)) return false;
  return deleted || meta.resourceVersion != known->second.version || meta.uid != known->second.uid;
}

void Reflector::advance(const std::string& version) {
  if (version.empty() || version == resumeFrom_ || isOlder(version, resumeFrom_)) return;
  resumeFrom_ = version;
  progressed_ = true;
}

void Reflector::ended(TimePoint now) {
  if (!underWay_) return;
  if (phase_ == Phase::List) return failed(misbehaved("its list stopped before its end"), now);
  watchBegan(now);
  underWay_ = false;
  if (progressed_ || isSteady(now)) {
    noteHeard(now);
    resetBackoff();
    setKnowledge(SyncStatus::State::Stale, "");
  } else {
    setKnowledge(SyncStatus::State::Stale, "the API server ended the watch as soon as it had begun");
    backOff({}, now);
  }
}

bool Reflector::isSteady(TimePoint now) const {
  return watchingSince_ && now - *watchingSince_ >= options_.steady;
}

void Reflector::failed(const ServerStatus& status, TimePoint now) {
  if (!underWay_) return;
  underWay_ = false;
  if (phase_ == Phase::List)
    listFailed(status);
  else
    watchFailed(status, now);
  backOff(status, now);
}

// After a 429 the list goes on with the page that it stopped at. After any other failure it begins again: the
// rest might be from another history.
void Reflector::listFailed(const ServerStatus& status) {
  if (isExpired(status) && !continueToken_.empty()) inPages_ = false;
  if (status.code != kube::kTooManyRequests) listNext();
  if (status.code == kForbidden)
    setKnowledge(SyncStatus::State::Forbidden, reason(status));
  else if (status.code == kNotFound)
    setKnowledge(SyncStatus::State::NotServed, reason(status));
  else
    setKnowledge(knowledge_.listed ? SyncStatus::State::Stale : SyncStatus::State::NeverSynced,
                 reason(status));
}

void Reflector::watchFailed(const ServerStatus& status, TimePoint now) {
  const bool cutOff = status.code == 0;
  const bool stalled = cutOff && now >= stallsAt();
  if (isSteady(now) || (cutOff && progressed_)) resetBackoff();
  // A stalled watch does not show that the server still has the history that we know: a server that was set
  // back would be silent, too, until it reaches our version again.
  if (isSteady(now) && !stalled) heardAt_ = now;
  historyDoubted_ = historyDoubted_ || status.code == kInvalidAnswer || status.isBehind;
  if (!mayResume(status)) listNext();
  const bool isForbidden = status.code == kForbidden;
  const bool isNotServed = status.code == kNotFound;
  setKnowledge(isForbidden   ? SyncStatus::State::Forbidden
               : isNotServed ? SyncStatus::State::NotServed
                             : SyncStatus::State::Stale,
               reason(status));
}

void Reflector::listNext() {
  phase_ = Phase::List;
  underWay_ = false;
  continueToken_.clear();
}

void Reflector::backOff(const ServerStatus& status, TimePoint now) {
  if (isBetweenStates(status)) {
    notBefore_ = now + shortBackoff_.next();
    return;
  }
  const milliseconds requested = retryPauseOf({status.code, status.retryAfter});
  notBefore_ = now + std::max(backoff_.next(), requested);
}

void Reflector::resetBackoff() {
  backoff_.reset();
  shortBackoff_.reset();
}

void Reflector::hurry() {
  notBefore_.reset();
  resetBackoff();
}

void Reflector::upsert(StreamedObject object) {
  const auto [known, isNew] = known_.try_emplace(keyOf(object.meta));
  if (!isNew && known->second.uid != object.meta.uid)
    handlers_.remove(removed(known->first, std::move(known->second.uid)));
  known->second = {object.meta.resourceVersion, object.meta.uid, listNumber_};
  const bool isUnread = !object.unread.empty();
  noteUnread(known->first, isUnread ? whyUnread(object) : "");
  if (!isUnread)
    handlers_.upsert(std::move(object));
  else if (handlers_.unread && !object.meta.name.empty())
    handlers_.unread(std::move(object));
}

// Empty: it can be read, or is gone. Tells of the last of those that cannot, which has a name if one has.
void Reflector::noteUnread(const std::string& key, std::string why) {
  if (why.empty())
    unread_.erase(key);
  else
    unread_[key] = std::move(why);
  std::string last = unread_.empty() ? "" : unread_.rbegin()->second;
  if (last == knowledge_.unread) return;
  knowledge_.unread = std::move(last);
  handlers_.knowledge(knowledge_);
}

void Reflector::remove(KnownObjects::iterator known) {
  const Removed object = removed(known->first, std::move(known->second.uid));
  const std::string key = known->first;
  known_.erase(known);
  if (!object.name.empty()) handlers_.remove(object);
  noteUnread(key, "");
}

void Reflector::noteHeard(TimePoint now) {
  heardAt_ = now;
  if (knowledge_.state == SyncStatus::State::Synced) knowledge_.asOf = now;
}

void Reflector::setKnowledge(SyncStatus::State state, std::string why) {
  if (state == knowledge_.state && why == knowledge_.why) return;
  knowledge_.state = state;
  knowledge_.why = std::move(why);
  handlers_.knowledge(knowledge_);
}

}  // namespace lastout::client
