#include "simulator/embedded_cluster.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "kube/messages.h"
#include "simulator/decode.h"
#include "simulator/virtual_clock.h"

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;

constexpr const char* kClockPath = "/lastout/clock";
constexpr std::chrono::seconds kLongestAdvance{60};  // real: until a client is answered
constexpr milliseconds kLongestSleep{200};           // real: until somebody has changed the clock

AccessAttributes accessToClock(const std::string& method) {
  AccessAttributes wanted;
  wanted.verb = method == "PUT" ? "put" : "get";
  wanted.path = kClockPath;
  return wanted;
}

// A role for people to bind; members of system:masters need none.
Json clusterAdmin() {
  return Json::parse(R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
    "metadata": {"name": "cluster-admin"},
    "rules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, {"verbs": ["*"], "nonResourceURLs": ["*"]}]})");
}

Json namespaceNamed(const char* name) {
  return {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
}

}  // namespace

EmbeddedCluster::EmbeddedCluster(EmbeddedOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      clock_(options_.speed),
      plane_(options_.timing, options_.history,
             {options_.wallClock, [this] { return clock_.now(); }, [this] { return random(); },
              options_.stopwatch},
             options_.kubernetes),
      dispatcher_(plane_.webhooks, options_.callWebhook,
                  [this] {
                    const kube::MutexLock lock(plane_.mutex);
                    return plane_.newUid();
                  }),
      admitter_(plane_, dispatcher_, options_.users),
      controllers_(plane_, admitter_),
      api_(plane_, admitter_, options_.users) {
  plane_.certificates = options_.authority;
  if (options_.rbac) options_.users.rbac = &plane_.rbac;
  if (Recorder* recorder = options_.recorder; recorder != nullptr) {
    plane_.observe([this, recorder](const Write& write) { recorder->change(clock_.now(), write); });
    admitter_.observe([this, recorder](const Mutation& mutation, const Admitter::Result& verdict) {
      recorder->review(clock_.now(), mutation, verdict.webhooks, verdict.denial ? &*verdict.denial : nullptr);
    });
  }
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"})
    create("/api/v1/namespaces", namespaceNamed(name));
  if (options_.rbac) create("/apis/rbac.authorization.k8s.io/v1/clusterroles", clusterAdmin());
}

EmbeddedCluster::~EmbeddedCluster() { stop(); }

void EmbeddedCluster::create(const std::string& path, const Json& object) {
  ExchangeRequest request;
  request.method = "POST";
  request.path = path;
  request.body = toText(object);
  request.user = adminUser();
  api_.handle(request);
}

uint64_t EmbeddedCluster::random() {
  const kube::MutexLock lock(randomMutex_);
  return random_();
}

// Nothing is meant to throw; whatever does all the same is the answer of one request.
ExchangeResponse EmbeddedCluster::handle(const ExchangeRequest& request) {
  try {
    if (!request.impersonation.isAsked()) return recorded(request, answer(request));
    auto user = impersonated(options_.users, request.user, request.impersonation);
    if (!user) return recorded(request, answerWith(user.error()));
    ExchangeRequest asThem = request;
    asThem.user = std::move(*user);
    return recorded(asThem, answer(asThem));
  } catch (const std::exception& problem) {
    return answerWith(internalError(kube::printable(problem.what())));
  }
}

ExchangeResponse EmbeddedCluster::answer(const ExchangeRequest& request) {
  return request.path == kClockPath ? handleClock(request) : api_.handle(request);
}

ExchangeResponse EmbeddedCluster::recorded(const ExchangeRequest& request, ExchangeResponse response) {
  if (options_.recorder != nullptr) options_.recorder->client(clock_.now(), request, response);
  return response;
}

// GET tells the time; PUT changes it: {"paused": true}, {"speed": 100}, {"advance": "5s"}, or several.
ExchangeResponse EmbeddedCluster::handleClock(const ExchangeRequest& request) {
  const AccessAttributes wanted = accessToClock(request.method);
  if (!mayDo(options_.users, request.user, wanted))
    return answerWith({403, "Forbidden",
                       "forbidden: User " + kube::inQuotes(request.user.username) + " cannot " + wanted.verb +
                           " path " + kube::inQuotes(wanted.path),
                       nullptr});
  if (request.method == "PUT") {
    const auto body = decodeBody(request.body, request.contentType, "Clock");
    if (!body) return answerWith(body.error());
    const auto change = parseClockChange(*body);
    if (!change) return answerWith(change.error());
    if (change->speed) clock_.setSpeed(*change->speed);
    if (change->paused && *change->paused) clock_.pause();
    if (change->paused && !*change->paused) clock_.resume();
    advance(change->advance);
    plane_.changed.notifyAll();
  } else if (request.method != "GET") {
    return answerWith(methodNotAllowed({"", "clock"}, request.method));
  }
  return answerWith(200, {{"now", std::to_string(clock_.now().count()) + "ms"},
                          {"speed", clock_.speed()},
                          {"paused", clock_.isPaused()}});
}

// Whoever works does it, and all that is due on the way at its own time; it is waited for, but not for ever:
// a webhook may hang.
void EmbeddedCluster::advance(milliseconds by) {
  kube::MutexLock lock(plane_.mutex);
  ahead_ += by;
  if (!thread_.joinable()) {
    lock.unlock();
    while (moveOn()) {
    }
    return;
  }
  plane_.changed.notifyAll();
  plane_.changed.waitFor(lock, kLongestAdvance, [this]() LASTOUT_REQUIRES(plane_.mutex) {
    return ahead_ == milliseconds(0) || stopping_;
  });
}

// Goes on to the next thing that is due, or to the end of what the clock is to be advanced by, and does what
// is due then. False: it is not to be advanced.
bool EmbeddedCluster::moveOn() {
  const std::optional<milliseconds> next = controllers_.nextAt();
  {
    const kube::MutexLock lock(plane_.mutex);
    if (ahead_ == milliseconds(0)) return false;
    const milliseconds step = next ? std::clamp(*next - clock_.now(), milliseconds(0), ahead_) : ahead_;
    ahead_ -= step;
    clock_.advance(step);
  }
  plane_.changed.notifyAll();
  if (controllers_.step(clock_.now())) return true;
  // What is due and cannot be done yet is passed by.
  const kube::MutexLock lock(plane_.mutex);
  const milliseconds least = std::min(ahead_, milliseconds(1));
  ahead_ -= least;
  clock_.advance(least);
  return true;
}

void EmbeddedCluster::runUntil(milliseconds then) {
  while (controllers_.step(then)) {
  }
}

void EmbeddedCluster::start() {
  thread_ = std::thread([this] { work(); });
}

void EmbeddedCluster::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  plane_.changed.notifyAll();
  thread_.join();
}

uint64_t EmbeddedCluster::version() {
  const kube::MutexLock lock(plane_.mutex);
  return plane_.storage.version();
}

void EmbeddedCluster::work() {
  while (!stopping_) {
    if (moveOn()) continue;
    const uint64_t seen = version();
    if (controllers_.step(clock_.now())) continue;
    const std::optional<milliseconds> next = controllers_.nextAt();
    std::chrono::nanoseconds sleep = kLongestSleep;
    if (next) sleep = std::min<std::chrono::nanoseconds>(sleep, clock_.until(*next).value_or(sleep));
    kube::MutexLock lock(plane_.mutex);
    plane_.changed.waitFor(lock, sleep, [&]() LASTOUT_REQUIRES(plane_.mutex) {
      return stopping_ || ahead_ > milliseconds(0) || plane_.storage.version() != seen;
    });
  }
}

}  // namespace lastout::simulator
