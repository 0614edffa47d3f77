#include "client/watcher.h"

#include <utility>

#include "client/api_server.h"
#include "client/cluster_uid.h"
#include "kube/encoding.h"

namespace lastout::client {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMostRefusal = size_t{64} << 10;  // of a body that says why not
constexpr int kOk = 200;

TimePoint clockNow() { return std::chrono::steady_clock::now(); }

ServerStatus notUnderstood(const kube::Error& error) { return {kOk, "", error.message, std::nullopt}; }
ServerStatus cutOff(std::string why) { return {0, "", std::move(why), std::nullopt}; }

}  // namespace

Watcher::Watcher(std::unique_ptr<ApiServer> server, WatchedType type, WatcherOptions options,
                 ReflectorHandlers handlers)
    : server_(std::move(server)),
      type_(std::move(type)),
      options_(std::move(options)),
      reflector_(options_.reflector, options_.random, std::move(handlers)) {}

Watcher::~Watcher() { stop(); }

void Watcher::start() { thread_ = std::thread(&Watcher::run, this); }

void Watcher::stop() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyAll();
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

void Watcher::hurry() {
  {
    const kube::MutexLock lock(mutex_);
    hurry_ = true;
  }
  changed_.notifyAll();
}

SyncStatus Watcher::knowledge() const {
  const kube::MutexLock lock(mutex_);
  return knowledge_;
}

void Watcher::run() {
  while (goesOn()) {
    if (isHurried()) reflector_.hurry();
    const Next next = reflector_.next(clockNow());
    if (const auto* page = std::get_if<ListPage>(&next)) list(*page);
    if (const auto* from = std::get_if<WatchFrom>(&next)) watch(*from);
    if (const auto* until = std::get_if<WaitUntil>(&next)) wait(until->when);
    publish();
  }
}

void Watcher::list(const ListPage& page) {
  if (page.continueToken.empty() && !isSameCluster()) return;
  ListStream stream(type_.content,
                    [&](StreamedObject object) { reflector_.item(std::move(object), clockNow()); });
  std::string query = pageQuery(page.limit, page.continueToken);
  if (!page.resourceVersion.empty())
    query += "&resourceVersion=" + kube::percentEncoded(page.resourceVersion);
  ApiRequest request;
  request.target = target(query);
  if (type_.content == Content::Metadata) request.accept = kAcceptMetadataList;
  request.patience = options_.listPatience;
  if (const auto failure = ask(request, [&](std::string_view piece) { return stream.push(piece); }))
    return fail(*failure);
  const kube::Result<ListEnd> end = stream.finish();
  if (!end) return fail(notUnderstood(end.error()));
  reflector_.endOfPage(end->resourceVersion, end->continueToken, clockNow());
}

void Watcher::watch(const WatchFrom& from) {
  WatchStream stream(type_.content,
                     [&](WatchEvent event) { reflector_.event(std::move(event), clockNow()); });
  ApiRequest request;
  request.target = target(
      "watch=true&allowWatchBookmarks=true&resourceVersion=" + kube::percentEncoded(from.resourceVersion) +
      "&timeoutSeconds=" + std::to_string(from.timeout.count()));
  if (type_.content == Content::Metadata) request.accept = kAcceptMetadata;
  request.patience = options_.reflector.stallAfter + milliseconds(100);  // so that it counts as a stall
  bool begun = false;
  const auto failure = ask(request, [&](std::string_view piece) -> kube::Result<void> {
    if (!std::exchange(begun, true) && !isSameCluster()) return {};
    reflector_.watchBegan(clockNow());
    return stream.push(piece);
  });
  // Where an event was the end of it already, the Reflector takes no notice of what follows.
  if (failure) return fail(*failure);
  if (const auto whole = stream.finish(); !whole) return fail(cutOff(whole.error().message));
  reflector_.ended(clockNow());
}

void Watcher::wait(TimePoint until) {
  kube::MutexLock lock(mutex_);
  changed_.waitUntil(lock, until, [this]() LASTOUT_REQUIRES(mutex_) { return stopping_ || hurry_; });
}

// Asked after a watch has begun, not before: whoever answers by then is whom the watch is from, or has come
// since, which is found out too early. False: the Reflector has taken it for a failure.
bool Watcher::isSameCluster() {
  const auto cluster = clusterUid(*server_);
  if (cluster) return reflector_.answeredBy(*cluster, clockNow());
  fail(cluster.error());
  return false;
}

// Passes the body of a successful answer to `push`. Returns how the request failed; nullopt: `push` got the
// whole answer.
std::optional<ServerStatus> Watcher::ask(const ApiRequest& request, const Push& push) {
  std::optional<ServerStatus> problem;
  std::string refusal;
  const auto take = [&](int status, std::string_view piece) {
    if (status != kOk) {
      refusal += piece.substr(0, kMostRefusal - refusal.size());
      return refusal.size() < kMostRefusal;
    }
    if (clockNow() >= reflector_.stallsAt()) {
      problem = cutOff("nothing whole came for too long");
      return false;
    }
    if (const auto pushed = push(piece); !pushed) problem = notUnderstood(pushed.error());
    publish();
    if (!goesOn()) problem = cutOff("it was stopped");
    return !problem && reflector_.isUnderWay();
  };
  const kube::Result<ApiAnswer> answer = server_->exchange(request, take);
  if (problem) return problem;
  if (!answer) return cutOff(answer.error().message);
  if (answer->status == kOk) return std::nullopt;
  ServerStatus status = statusOfAnswer(answer->status, refusal);
  if (!status.retryAfter) status.retryAfter = answer->retryAfter;
  return status;
}

std::string Watcher::target(const std::string& query) const {
  return type_.path + "?" + (type_.selectors.empty() ? "" : type_.selectors + "&") + query;
}

// Between two requests, or two pieces of an answer. False: stop.
bool Watcher::goesOn() {
  const kube::MutexLock lock(mutex_);
  return !stopping_;
}

// A request that was under way when it was wished for may have come too early: so only between two of them.
bool Watcher::isHurried() {
  const kube::MutexLock lock(mutex_);
  return std::exchange(hurry_, false);
}

// That a request was stopped is nobody's failure.
void Watcher::fail(const ServerStatus& status) {
  if (goesOn()) reflector_.failed(status, clockNow());
}

void Watcher::publish() {
  const kube::MutexLock lock(mutex_);
  knowledge_ = reflector_.knowledge();
}

}  // namespace lastout::client
