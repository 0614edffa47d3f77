// lastout up under load, over HTTPS as clients come: objects created by many connections, watches that must
// not miss a change, and a list of everything. Server and clients share this process and its processors.
#include <benchmark/benchmark.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "simulator/certificates.h"
#include "simulator/embedded_cluster.h"
#include "simulator/listener.h"

namespace lastout::simulator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kInstances = 50'000;
constexpr int kConnections = 16;
constexpr int kWatches = 50;
constexpr int kChanges = 2'000;
constexpr int kChangers = 4;
constexpr std::chrono::microseconds kBetweenChanges{2'000};  // 500 a second
constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kEverywhere = "/apis/bench.lastout.dev/v1/things";
constexpr const char* kThings = "/apis/bench.lastout.dev/v1/namespaces/default/things";

[[noreturn]] void giveUp(const std::string& what) {
  std::cerr << "up_load: " << what << "\n";
  std::exit(1);
}

const Json& thingsCrd() {
  static const Json kCrd = {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", "things.bench.lastout.dev"}}},
      {"spec",
       {{"group", "bench.lastout.dev"},
        {"names", {{"kind", "Thing"}, {"plural", "things"}}},
        {"scope", "Namespaced"},
        {"versions",
         {{{"name", "v1"},
           {"served", true},
           {"storage", true},
           {"schema",
            {{"openAPIV3Schema",
              {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}}}};
  return kCrd;
}

std::string nameOf(int number) { return "thing-" + std::to_string(number); }

std::string thing(int number) {
  return toText({{"apiVersion", "bench.lastout.dev/v1"},
                 {"kind", "Thing"},
                 {"metadata",
                  {{"name", nameOf(number)},
                   {"labels", {{"app.kubernetes.io/name", "bench"}}},
                   {"finalizers", {"bench.lastout.dev/finalizer"}}}},
                 {"spec", {{"number", number}, {"text", "what an instance says of itself"}}}});
}

EmbeddedOptions embeddedOptions() {
  EmbeddedOptions options;
  options.callWebhook = [](const Webhook&, const std::string&) -> tl::expected<WebhookResponse, std::string> {
    return tl::unexpected(std::string("there is nobody"));
  };
  return options;
}

// As `lastout up` runs it.
class Up {
 public:
  Up() : cluster_(embeddedOptions()) {
    const Validity always{0, 4'102'444'800};  // until 2100
    const CertifiedKey authority = makeAuthority("bench", always).value();
    const CertifiedKey server = makeServerCertificate(authority, {{}, {"127.0.0.1"}}, always).value();
    ListenerOptions options;
    options.certificate = server.certificate;
    options.privateKey = server.key;
    listener_ = Listener::open(
                    options, [this](const ExchangeRequest& request) { return cluster_.handle(request); },
                    [](std::string_view, const UserInfo*) { return std::optional(adminUser()); })
                    .value();
    cluster_.start();
    listener_->start();
    const std::string url = listener_->url();
    port_ = std::stoi(url.substr(url.rfind(':') + 1));
    if (client()->Post(kCrds, toText(thingsCrd()), "application/json")->status != 201)
      giveUp("the CRD is refused");
  }

  std::unique_ptr<httplib::SSLClient> client() const {
    auto client = std::make_unique<httplib::SSLClient>("127.0.0.1", port_);
    client->enable_server_certificate_verification(false);
    client->set_keep_alive(true);
    client->set_tcp_nodelay(true);
    client->set_read_timeout(120);
    return client;
  }

 private:
  EmbeddedCluster cluster_;
  std::unique_ptr<Listener> listener_;
  int port_ = 0;
};

void inThreads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

void createAll(const Up& up) {
  inThreads(kConnections, [&](int connection) {
    const auto client = up.client();
    for (int i = connection; i < kInstances; i += kConnections) {
      const auto answer = client->Post(kThings, thing(i), "application/json");
      if (!answer || answer->status != 201)
        giveUp("a creation failed: " + (answer ? answer->body : to_string(answer.error())));
    }
  });
}

// The one that the last creations filled.
std::unique_ptr<Up>& filled() {
  static std::unique_ptr<Up> up;
  return up;
}

const Up& filledUp() {
  if (filled() == nullptr) {
    filled() = std::make_unique<Up>();
    createAll(*filled());
  }
  return *filled();
}

void createInstances(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    filled().reset();
    filled() = std::make_unique<Up>();
    state.ResumeTiming();
    createAll(*filled());
  }
  state.SetItemsProcessed(kInstances * static_cast<int64_t>(state.iterations()));
}

void listMetadata(benchmark::State& state) {
  const auto client = filledUp().client();
  const httplib::Headers headers{
      {"Accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}};
  for (auto _ : state) {
    const auto answer = client->Get(kEverywhere, headers);
    if (!answer || answer->status != 200) giveUp("the list failed");
    state.counters["bytes"] = static_cast<double>(answer->body.size());
  }
}

// What follows `before` in `text`, as a number; 0: it is not there.
uint64_t numberAfter(std::string_view before, std::string_view text) {
  const size_t found = text.find(before);
  return found == std::string_view::npos
             ? 0
             : std::strtoull(std::string(text.substr(found + before.size(), 20)).c_str(), nullptr, 10);
}

uint64_t versionIn(std::string_view text) { return numberAfter(R"("resourceVersion":")", text); }

// What one watch was told.
struct Told {
  int changes = 0;
  uint64_t version = 0;  // the last
  bool inOrder = true;
};

// Follows until as many changes are told as are made, or the watch ends by itself.
Told follow(const Up& up, uint64_t from, std::atomic<int>& open) {
  Told told;
  std::string rest;
  const auto client = up.client();
  const std::string target =
      std::string(kEverywhere) + "?watch=1&timeoutSeconds=60&resourceVersion=" + std::to_string(from);
  client->Get(
      target,
      [&](const httplib::Response&) {
        ++open;
        return true;
      },
      [&](const char* data, size_t size) {
        rest.append(data, size);
        for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
          const uint64_t version = versionIn(std::string_view(rest).substr(0, end));
          told.inOrder = told.inOrder && version > told.version;
          told.version = version;
          ++told.changes;
          rest.erase(0, end + 1);
        }
        return told.changes < kChanges;
      });
  return told;
}

// Makes every change at its time; the version of the last.
uint64_t change(const Up& up) {
  std::atomic<uint64_t> last = 0;
  const Clock::time_point start = Clock::now();
  inThreads(kChangers, [&](int changer) {
    const auto client = up.client();
    for (int i = changer; i < kChanges; i += kChangers) {
      std::this_thread::sleep_until(start + i * kBetweenChanges);
      // Another than the last time, which would change nothing.
      const int64_t now = Clock::now().time_since_epoch().count();
      const std::string patch = R"({"spec":{"changed":)" + std::to_string(now) + "}}";
      const auto answer = client->Patch(std::string(kThings) + "/" + nameOf(i * (kInstances / kChanges)),
                                        patch, "application/merge-patch+json");
      if (!answer || answer->status != 200) giveUp("a change failed");
      const uint64_t version = versionIn(answer->body);
      uint64_t seen = last;
      while (seen < version && !last.compare_exchange_weak(seen, version)) {
      }
    }
  });
  return last;
}

void watchAllChanges(benchmark::State& state) {
  const Up& up = filledUp();
  for (auto _ : state) {
    const auto now = up.client()->Get(std::string(kEverywhere) + "?limit=1");
    if (!now || now->status != 200) giveUp("the list failed");
    const uint64_t from =
        std::stoull(Json::parse(now->body)["metadata"]["resourceVersion"].get<std::string>());
    std::atomic<int> open = 0;
    std::vector<Told> told(kWatches);
    std::thread watching(
        [&] { inThreads(kWatches, [&](int i) { told[static_cast<size_t>(i)] = follow(up, from, open); }); });
    while (open < kWatches) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point start = Clock::now();
    const uint64_t version = change(up);
    const std::chrono::duration<double> changed = Clock::now() - start;
    watching.join();
    const std::chrono::duration<double> all = Clock::now() - start;
    int missed = 0;
    for (const Told& one : told)
      missed += one.inOrder && one.version == version ? kChanges - one.changes : kChanges;
    state.counters["changes/s"] = kChanges / changed.count();
    state.counters["missed"] = missed;
    state.counters["behind"] = all.count() - changed.count();  // seconds until the last watch knew the last
  }
}

BENCHMARK(createInstances)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();
BENCHMARK(listMetadata)->Unit(benchmark::kMillisecond)->Iterations(5)->UseRealTime();
BENCHMARK(watchAllChanges)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace lastout::simulator
