#include "apiserver/embedded_cluster.h"

#include <array>
#include <utility>

#include "apiserver/decode.h"
#include "kube/fields.h"

namespace lastout::apiserver {
namespace {

using std::chrono::milliseconds;

constexpr const char* kClockPath = "/lastout/clock";
constexpr milliseconds kLongestSleep{200};  // real: until somebody has changed the clock

std::chrono::sys_seconds wallClock() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
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
             {wallClock, [this] { return clock_.now(); }, [this] { return random(); }, options_.stopwatch}),
      guard_(options_.guardInside ? std::make_unique<Guard>(plane_) : nullptr),
      reviewer_(plane_.webhooks, options_.callWebhook,
                [this] {
                  const std::scoped_lock lock(plane_.mutex);
                  return plane_.newUid();
                }),
      admitter_(plane_, reviewer_, guard_.get()),
      controllers_(plane_, admitter_),
      api_(plane_, admitter_, options_.users) {
  plane_.certificates = options_.authority;
  if (Recorder* recorder = options_.recorder; recorder != nullptr) {
    plane_.observe([this, recorder](const Write& write) { recorder->change(clock_.now(), write); });
    admitter_.observe([this, recorder](const Mutation& mutation, const ApiError* denial) {
      recorder->review(clock_.now(), mutation, denial);
    });
  }
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/api/v1/namespaces";
    request.body = toText(namespaceNamed(name));
    request.user = adminUser();
    api_.handle(request);
  }
}

EmbeddedCluster::~EmbeddedCluster() { stop(); }

uint64_t EmbeddedCluster::random() {
  const std::scoped_lock lock(randomMutex_);
  return random_();
}

HttpResponse EmbeddedCluster::handle(const HttpRequest& request) {
  if (!request.impersonation.isAsked()) return handleAsUser(request);
  auto user = impersonated(options_.users, request.user, request.impersonation);
  if (!user) return answerWith(user.error());
  HttpRequest asThem = request;
  asThem.user = std::move(*user);
  return handleAsUser(asThem);
}

HttpResponse EmbeddedCluster::handleAsUser(const HttpRequest& request) {
  if (request.path == kClockPath) return handleClock(request);
  HttpResponse response = api_.handle(request);
  if (options_.recorder != nullptr) options_.recorder->client(clock_.now(), request, response);
  return response;
}

// GET tells the time; PUT changes it: {"paused": true}, {"speed": 100}, {"advance": "5s"}, or several.
HttpResponse EmbeddedCluster::handleClock(const HttpRequest& request) {
  if (request.method == "PUT") {
    const auto body = decodeBody(request.body, request.contentType, "Clock");
    if (!body) return answerWith(body.error());
    const Json* speed = at(*body, {"speed"});
    const Json* paused = at(*body, {"paused"});
    const std::string_view advance = stringAt(*body, {"advance"});
    const auto by = advance.empty() ? kube::Result<milliseconds>(0) : kube::parseDuration(advance);
    if (!by || (paused != nullptr && !paused->is_boolean()) ||
        (speed != nullptr && (!speed->is_number() || speed->get<double>() <= 0)))
      return answerWith(badRequest(
          R"(a clock takes {"paused": true or false, "speed": more than 0, "advance": "5s"}, any of them)"));
    if (speed != nullptr) clock_.setSpeed(speed->get<double>());
    if (paused != nullptr && paused->get<bool>()) clock_.pause();
    if (paused != nullptr && !paused->get<bool>()) clock_.resume();
    clock_.advance(*by);
    plane_.changed.notify_all();
  } else if (request.method != "GET") {
    return answerWith(methodNotAllowed({"", "clock"}, request.method));
  }
  return answerWith(200, {{"now", std::to_string(clock_.now().count()) + "ms"},
                          {"speed", clock_.speed()},
                          {"paused", clock_.isPaused()}});
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
  plane_.changed.notify_all();
  thread_.join();
}

uint64_t EmbeddedCluster::version() {
  const std::scoped_lock lock(plane_.mutex);
  return plane_.storage.version();
}

void EmbeddedCluster::work() {
  while (!stopping_) {
    const uint64_t seen = version();
    if (controllers_.step(clock_.now())) continue;
    const std::optional<milliseconds> next = controllers_.nextAt();
    std::chrono::nanoseconds sleep = kLongestSleep;
    if (next) sleep = std::min<std::chrono::nanoseconds>(sleep, clock_.until(*next).value_or(sleep));
    std::unique_lock lock(plane_.mutex);
    plane_.changed.wait_for(lock, sleep, [&] { return stopping_ || plane_.storage.version() != seen; });
  }
}

}  // namespace lastout::apiserver
