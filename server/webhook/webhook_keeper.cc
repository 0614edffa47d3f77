#include "server/webhook/webhook_keeper.h"

#include <algorithm>
#include <utility>

#include "client/api_server.h"
#include "client/value_picker.h"
#include "client/writes.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"
#include "server/watch/object_watch.h"
#include "server/webhook/webhook_entries.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// After a write, until the watch tells of it.
constexpr milliseconds kPatience{1'000};
// A watch that resumes tells first of what it missed.
constexpr milliseconds kCatchingUp{1'000};

const std::string& resourceVersionOf(const kube::Value& object) {
  return kube::textAt(object, {"metadata", "resourceVersion"});
}

const std::string& uidOf(const kube::Value& object) { return kube::textAt(object, {"metadata", "uid"}); }

}  // namespace

WebhookKeeper::WebhookKeeper(const std::shared_ptr<client::Access>& access,
                             WebhookConfiguration configuration, WebhookKeeperOptions options)
    : options_(std::move(options)),
      server_(newControllerServer(*access)),
      backoff_(options_.watcher.reflector.backoff, options_.random()),
      restoring_(options_.restoring, options_.random()),
      problems_(options_.log, "the webhook configuration cannot be written: ",
                "the webhook configuration can be written again"),
      configuration_(std::move(configuration)),
      loop_([this] { step(); }, milliseconds(0)),
      watcher_(watchOf(*access,
                       {client::collectionPath(kube::kValidatingWebhookConfigurations), configuration_.name,
                        "webhook configuration", options_.log,
                        [this](std::optional<kube::Value> object) { told(std::move(object)); },
                        [this](const client::SyncStatus& knowledge) { know(knowledge); }},
                       forOneMore(options_.watcher, options_.random))) {}

WebhookKeeper::~WebhookKeeper() { stop(); }

void WebhookKeeper::start() {
  {
    const kube::MutexLock lock(mutex_);
    awaySince_ = steady_clock::now();
  }
  loop_.wake();
  loop_.start();
  watcher_.start();
}

void WebhookKeeper::stop() {
  loop_.stop([this] {
    server_->stop();
    watcher_.stop();
  });
}

void WebhookKeeper::setObjects(ReviewedObjects objects) {
  declare(DesiredState::Standing, std::move(objects));
}

void WebhookKeeper::setAuthorities(const std::string& authorities) {
  {
    const kube::MutexLock lock(mutex_);
    if (authorities == configuration_.address.authorities) return;
    configuration_.address.authorities = authorities;
    made_.reset();
    compare();
  }
  loop_.wake();
}

void WebhookKeeper::setUrl(const std::string& url) {
  const kube::MutexLock lock(mutex_);
  configuration_.address.url = url;
  made_.reset();
}

void WebhookKeeper::setReviewPath(const std::string& path) {
  {
    const kube::MutexLock lock(mutex_);
    if (path == ownPath_) return;
    ownPath_ = path;
    compare();
  }
  loop_.wake();
}

bool WebhookKeeper::asksAt(std::string_view path) const {
  const kube::MutexLock lock(mutex_);
  if (path == configuration_.address.reviewPath || path == askedAt_) return true;
  if (isSecretPath(path) && path == ownPath_) return true;
  return formerPaths_.has(path, steady_clock::now());
}

void WebhookKeeper::replace(std::string& path, const std::string& by) {
  formerPaths_.leave(std::exchange(path, by), steady_clock::now());
  made_.reset();
}

void WebhookKeeper::wantPath(const std::string& path) {
  if (configuration_.address.reviewPath != path) replace(configuration_.address.reviewPath, path);
}

// The path that was set is written by the process that writes, or where none stands; any other process asks
// where the standing configuration does.
void WebhookKeeper::adoptPath() {
  const bool isAsked = isSecretPath(askedAt_);
  if (isSecretPath(ownPath_) && (mayWrite() || !isAsked))
    wantPath(ownPath_);
  else if (isAsked)
    wantPath(askedAt_);
}

bool WebhookKeeper::names(const std::string& authorities) const {
  const kube::MutexLock lock(mutex_);
  return isBelieved() && isSettled() && standing_ && namesAuthorities(*standing_, authorities);
}

void WebhookKeeper::retire() { declare(DesiredState::Gone, {}); }

void WebhookKeeper::declare(DesiredState desiredState, ReviewedObjects objects) {
  {
    const kube::MutexLock lock(mutex_);
    if (desiredState == desiredState_ && objects == configuration_.objects) return;
    const TimePoint now = steady_clock::now();
    if (desiredState == desiredState_ && writeNotBefore_ <= now) writeNotBefore_ = now + options_.batch;
    configuration_.objects = std::move(objects);
    made_.reset();
    desiredState_ = desiredState;
    restoreNotBefore_ = {};
    if (desiredState == DesiredState::Gone) {
      stood_.reset();
      wrongSince_.reset();
      lostAt_.reset();
    }
    compare();
  }
  loop_.wake();
}

void WebhookKeeper::reconsider() {
  {
    const kube::MutexLock lock(mutex_);
    compare();
  }
  loop_.wake();
}

// A server that was away for so long may have come back without the configuration.
bool WebhookKeeper::isBelieved() const {
  if (!knowledge_.listed) return false;
  return follows() || steady_clock::now() - awaySince_ <= options_.watcher.reflector.outage;
}

// When what is seen to have changed may have.
WebhookKeeper::TimePoint WebhookKeeper::changedSince(TimePoint now) const {
  return follows() && now - followsSince_ > kCatchingUp ? now : awaySince_;
}

std::optional<bool> WebhookKeeper::isInForce() const {
  const kube::MutexLock lock(mutex_);
  if (!isBelieved()) return std::nullopt;
  return desiredState_ == DesiredState::Standing && isRight_;
}

std::optional<bool> WebhookKeeper::asksAbout(const ReviewedObjects& wanted) const {
  const kube::MutexLock lock(mutex_);
  if (!isBelieved()) return std::nullopt;
  return asked_.covers(wanted);
}

// That nothing is certain looks like that nothing is asked about.
std::optional<bool> WebhookKeeper::asksAboutAll() const {
  const kube::MutexLock lock(mutex_);
  if (!isBelieved()) return std::nullopt;
  return desiredState_ == DesiredState::Standing &&
         (isRight_ ||
          (!(asked_.deleted.empty() && asked_.policies.empty()) && asked_.covers(configuration_.objects)));
}

std::optional<bool> WebhookKeeper::asksForPolicies() const {
  const kube::MutexLock lock(mutex_);
  if (!isBelieved() || !isSettled()) return std::nullopt;
  return std::ranges::any_of(declared_.webhooks, [](const nlohmann::json& webhook) {
    const auto name = webhook.find("name");
    return name != webhook.end() && name->is_string() && isNameForPolicies(name->get<std::string>());
  });
}

std::optional<ProbedConfiguration> WebhookKeeper::inForce() const {
  const kube::MutexLock lock(mutex_);
  if (!isBelieved() || desiredState_ != DesiredState::Standing || !isRight_ || !made_) return std::nullopt;
  return ProbedConfiguration{made_->fingerprint, configuration_.objects, rightSince_, made_->scope};
}

std::string WebhookKeeper::pathInForce() const {
  const kube::MutexLock lock(mutex_);
  return isBelieved() && desiredState_ == DesiredState::Standing && isRight_ ? askedAt_ : "";
}

void WebhookKeeper::told(std::optional<kube::Value> object) {
  DeclaredWebhooks declared = object ? declaredIn(*object) : DeclaredWebhooks();
  {
    const kube::MutexLock lock(mutex_);
    standing_ = std::move(object);
    declared_ = std::move(declared);
    if (const std::string path = standing_ ? reviewPathIn(*standing_) : ""; path != askedAt_)
      replace(askedAt_, path);
    compare();
  }
  loop_.wake();
}

void WebhookKeeper::know(const client::SyncStatus& knowledge) {
  {
    const kube::MutexLock lock(mutex_);
    const bool followed = follows();
    const bool isNews = knowledge.listed != knowledge_.listed;
    if (!knowledge.listed) written_.clear();
    knowledge_ = knowledge;
    if (follows() != followed) (followed ? awaySince_ : followsSince_) = steady_clock::now();
    if (isNews) compare();
  }
  loop_.wake();
}

std::string WebhookKeeper::uid() const {
  const kube::MutexLock lock(mutex_);
  return standing_ ? uidOf(*standing_) : "";
}

// While it is written, and until the watch has told of that, nobody knows what stands.
bool WebhookKeeper::isSettled() const {
  return !isWriting_ && !(standing_ && client::isOlder(resourceVersionOf(*standing_), written_));
}

const MadeWebhooks& WebhookKeeper::made() {
  if (!made_) made_ = makeWebhooks(configuration_);
  return *made_;
}

bool WebhookKeeper::isAsItShould() {
  if (!isSettled()) return false;
  if (desiredState_ == DesiredState::Gone) return knowledge_.listed && !standing_;
  return desiredState_ == DesiredState::Standing && standing_ && declared_ == made().declared &&
         hasLabels(*standing_, configuration_.labels);
}

// After any change. Unguarded is what asks neither for what it should nor for what it should before.
void WebhookKeeper::compare() {
  ++changes_;
  adoptPath();
  widenWithoutConditions();
  const bool wasRight = std::exchange(isRight_, isAsItShould());
  if (isRight_ && !wasRight) rightSince_ = steady_clock::now();
  const bool asksForFormer = isSettled() && standing_ && stood_ && declared_ == *stood_;
  noteAsked(asksForFormer);
  if (desiredState_ != DesiredState::Standing || !isSettled()) return;
  if (!stood_ || isRight_ || asksForFormer)
    wrongSince_.reset();
  else if (!wrongSince_)
    wrongSince_ = changedSince(steady_clock::now());
  if (mayWrite()) countLoss();
  if (isRight_) stood_ = made().declared;
}

// An API server without matchConditions (before Kubernetes 1.28, or with their feature gate off) drops them
// from what was written; the rest would ask about whole types of objects, and no comparison would ever be
// right.
void WebhookKeeper::widenWithoutConditions() {
  if (desiredState_ != DesiredState::Standing || configuration_.scope == WebhookScope::Types || !standing_ ||
      !isSettled())
    return;
  if (written_.empty() || resourceVersionOf(*standing_) != written_) return;
  if (!lacksConditions(declared_, made().declared)) return;
  configuration_.scope = WebhookScope::Types;
  made_.reset();
  stood_.reset();  // the API server dropped what is missing; nobody took it away
  options_.log(Level::Warning,
               "the API server knows no matchConditions (on by default since Kubernetes 1.28): the webhook "
               "configuration asks "
               "about all objects of the guarded objects' types, as with --webhook-scope types");
}

// While it is written, it asks about what it asks about before and after.
void WebhookKeeper::noteAsked(bool asksForFormer) {
  const bool isGone = !standing_ || desiredState_ == DesiredState::Gone;
  if (isRight_ && !isGone)
    asked_ = configuration_.objects;
  else if (isGone || (isSettled() && !asksForFormer))
    asked_ = {};
}

// Only by who writes: to others a change of the holder's may look like somebody else's. What was begun to be
// counted is told, whoever writes by then.
void WebhookKeeper::countLoss() {
  if (!lostAt_) lostAt_ = wrongSince_;
}

// Two that keep putting back what the other wrote do it ever more seldom.
bool WebhookKeeper::mayRestore(TimePoint now) {
  if (now < restoreNotBefore_) return false;
  if (now >= calmAt_) restoring_.reset();
  restoreNotBefore_ = now + restoring_.next();
  calmAt_ = now + options_.calmAfter;
  return true;
}

// What stands there is compared whenever it, or what is wished, has changed; a write is believed when the
// watch tells of it.
void WebhookKeeper::step() {
  kube::MutexLock lock(mutex_);
  if (awaitsNews()) return loop_.wakeAt(*newsBy_);
  const TimePoint now = steady_clock::now();
  if (isRight_ && lostAt_) {
    const auto unguarded = std::chrono::duration_cast<milliseconds>(now - *lostAt_);
    lostAt_.reset();
    lock.unlock();
    options_.restored(unguarded);
    return loop_.wake();
  }
  if (!knowledge_.listed || desiredState_ == DesiredState::Unknown || isRight_ || !mayWrite()) return;
  countLoss();  // as adoptPath(): it may write since the last comparison
  if (lostAt_ && !mayRestore(now)) return loop_.wakeAt(restoreNotBefore_);
  if (!lostAt_ && now < writeNotBefore_) return loop_.wakeAt(writeNotBefore_);
  adoptPath();
  const Write write = nextWrite();
  lock.unlock();
  const auto version = send(write.request);
  problems_.note(version ? "" : version.error());
  lock.lock();
  noteWritten(write, version);
  loop_.wakeAt(*newsBy_);
}

// Whether the watch is still to tell of the last write.
bool WebhookKeeper::awaitsNews() {
  if (!newsBy_) return false;
  const bool isNews = changes_ > changesBefore_ + 1 && isSettled();
  if (!isNews && steady_clock::now() < *newsBy_) return true;
  newsBy_.reset();
  if (isSettled()) return false;
  written_.clear();  // the watch is far behind, or the cluster counts versions from the start again
  compare();
  return false;
}

// From now on, until noteWritten(), nobody knows what stands.
WebhookKeeper::Write WebhookKeeper::nextWrite() {
  const std::string version = standing_ ? resourceVersionOf(*standing_) : "";
  Write write;
  if (desiredState_ == DesiredState::Gone) {
    write.request = client::deletion(
        client::objectPath({kube::kValidatingWebhookConfigurations, "", configuration_.name}),
        uidOf(*standing_), version);
  } else {
    write.declared = made().declared;
    write.request =
        client::creationOrPatch(client::collectionPath(kube::kValidatingWebhookConfigurations),
                                toJson(configuration_.name, *write.declared, configuration_.labels, version));
  }
  isWriting_ = true;
  asked_ = asked_.common(configuration_.objects);
  compare();
  changesBefore_ = changes_;
  return write;
}

// `version`: what send() returned.
void WebhookKeeper::noteWritten(const Write& write, const tl::expected<std::string, std::string>& version) {
  if (version) backoff_.reset();
  newsBy_ = steady_clock::now() + (version ? kPatience : backoff_.next());
  isWriting_ = false;
  if (version && !version->empty() && write.declared) {
    written_ = *version;
    if (stood_) stood_ = *write.declared;
  }
  compare();
}

// The version of what was written; "": of nothing, as somebody was faster, which is no failure: the watch
// will tell. Fails with why not, for the log.
tl::expected<std::string, std::string> WebhookKeeper::send(const client::ApiRequest& request) {
  const auto whole = ObjectClient(*server_).ask(request);
  if (!whole) {
    const NotDone& refusal = whole.error();
    if (isConflict(refusal) || (refusal.code == 404 && request.method != "POST")) return "";
    return tl::unexpected(refusal.why);
  }
  const auto object = client::pickValue(whole->body, client::Pick::Object, {});
  return object ? resourceVersionOf(*object) : "";
}

}  // namespace lastout::server
