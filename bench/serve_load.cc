// lastout serve under load, as an API server's: beside lastout up, asked by wrk over TLS with 16 connections
// that stay. Beside it the same listener that answers a constant. All of them share the processors.
#include <benchmark/benchmark.h>
#include <httplib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/folder.h"
#include "bench/http_load.h"
#include "tests/support/program.h"

namespace lastout::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr int kManyInstances = 100'000;
constexpr int kSomeInstances = 10'000;
constexpr int kInstancesInAFile = 20'000;
constexpr int64_t kFewReviews = 10'000;
constexpr int64_t kManyReviews = 1'000'000;
constexpr int kIdleConnections = 1'000;
constexpr int kConnections = 16;
constexpr int kManyConnections = 64;
constexpr int kTypes = 200;
constexpr int kInstancesOfEach = 50;
constexpr int kAllows = 20;
constexpr int kTurns = 5;
constexpr int kTurnSeconds = 2;
constexpr std::chrono::seconds kRest{3};               // while nothing is asked
constexpr std::chrono::milliseconds kBetweenLooks{2};  // at what serve knows
constexpr std::chrono::seconds kLongestSync{60};
constexpr const char* kHeld = "my.crd.group/super-important";
constexpr const char* kNotHeld = "my.crd.group/somebody-else";

// The provider that the recorded review is about, and its service.
std::string cluster(const char* finalizer) {
  return std::string(R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: coolresources.my.crd.group}
spec:
  group: my.crd.group
  scope: Cluster
  names: {kind: CoolResource, plural: coolresources}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.com/web:1"}]}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: web}
spec:
  provider: {group: apps, resource: deployments, namespace: demo, name: web}
  criteria:
  - {type: Finalizer, finalizer: {group: my.crd.group, resource: coolresources, finalizerName: )") +
         finalizer + "}}\n";
}

std::string instances(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) {
    text += "---\napiVersion: my.crd.group/v1\nkind: CoolResource\nmetadata: {name: instance-" +
            std::to_string(i) + ", finalizers: [" + kHeld + "]}\n";
  }
  return text;
}

// kTypes types of one group, each with so many instances, none of which holds the provider: its service names
// the group.
std::string groupOfTypes() {
  std::string text = cluster(kNotHeld);
  const std::string criterion = "{group: my.crd.group, resource: coolresources,";
  text.replace(text.find(criterion), criterion.size(), "{group: many.crd.group, resource: '*',");
  for (int type = 0; type < kTypes; ++type) {
    const std::string n = std::to_string(type);
    text +=
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: types" +
        n + ".many.crd.group}\nspec:\n  group: many.crd.group\n  scope: Cluster\n  names: {kind: Type" + n +
        ", plural: types" + n +
        "}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {openAPIV3Schema: "
        "{type: object, x-kubernetes-preserve-unknown-fields: true}}\n";
    for (int i = 0; i < kInstancesOfEach; ++i) {
      text += "---\napiVersion: many.crd.group/v1\nkind: Type" + n + "\nmetadata: {name: instance-" +
              std::to_string(i) + ", finalizers: [" + kHeld + "]}\n";
    }
  }
  return text;
}

// Of the last such URL.
int portOf(const std::string& greeting, const std::string& scheme) {
  const std::string before = scheme + "://127.0.0.1:";
  const size_t url = greeting.rfind(before);
  if (url == std::string::npos) stopBench("it has not begun: " + greeting);
  return std::stoi(greeting.substr(url + before.size()));
}

struct Load {
  double perSecond = 0;
  double p50 = 0;  // milliseconds
  double p99 = 0;
  double requests = 0;
};

// `seconds` of reviews by so many connections.
Load ask(const Folder& folder, int port, const std::string& path, int seconds,
         int connections = kConnections) {
  folder.write("review.json", reviewText());
  const testing::Ran ran =
      testing::shell("REVIEW=" + folder.file("review.json") + " wrk --threads 1 --connections " +
                     std::to_string(connections) + " --duration " + std::to_string(seconds) +
                     "s --script bench/wrk.lua https://127.0.0.1:" + std::to_string(port) + path);
  const size_t line = ran.out.rfind("\n{");
  if (ran.exitCode != 0 || line == std::string::npos) stopBench("wrk: " + ran.out);
  const Json told = Json::parse(ran.out.substr(line));
  if (told["failed"] != 0) stopBench("reviews were not answered: " + told.dump());
  return {told["requests"].get<double>() / told["seconds"].get<double>(), told["p50"], told["p99"],
          told["requests"]};
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// The manifests for lastout up, and the text that /readyz/verbose shows `times` times once lastout serve
// knows all objects.
struct Loaded {
  std::vector<std::string> files;
  std::string known;
  size_t times = 1;
};

Loaded instancesOfOneType(int count, const char* finalizer) {
  Loaded loaded{{cluster(finalizer)},
                "coolresources.my.crd.group: Synced, " + std::to_string(count) + " objects"};
  for (int from = 0; from < count; from += kInstancesInAFile) {
    loaded.files.push_back(instances(from, std::min(count, from + kInstancesInAFile)));
  }
  return loaded;
}

Loaded instancesOfAGroup() {
  return {
      {groupOfTypes()}, ".many.crd.group: Synced, " + std::to_string(kInstancesOfEach) + " objects", kTypes};
}

// lastout up with what is loaded, and lastout serve beside it, which knows all of it; with `counts` their
// requests are counted.
class Serving {
 public:
  explicit Serving(const Loaded& loaded, bool counts = false) {
    std::vector<std::string> up = {"up", "--listen", "127.0.0.1:0", "--kubeconfig-out",
                                   folder_.file("config")};
    if (counts) up.push_back("--plain-http");
    for (size_t i = 0; i < loaded.files.size(); ++i) {
      const std::string name = "cluster-" + std::to_string(i) + ".yaml";
      folder_.write(name, loaded.files[i]);
      up.insert(up.end(), {"--load", folder_.file(name)});
    }
    up_ = std::make_unique<testing::Running>(up, "Ctrl-C");
    if (counts) putRelayBetween();
    const Clock::time_point start = Clock::now();
    serve_ = std::make_unique<testing::Running>(
        std::vector<std::string>{"serve", "--listen", "127.0.0.1:0", "--answers", "127.0.0.1:0",
                                 "--manage-webhook", "false", "--kubeconfig", folder_.file("config")},
        "Ctrl-C");
    serve_->discard();
    port_ = portOf(serve_->greeting(), "https");
    waitUntilKnown(loaded);
    syncSeconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  }

  Load review(int seconds, int connections = kConnections) const {
    return ask(folder_, port_, "/review", seconds, connections);
  }
  // To the review, asked once.
  std::string answer() const {
    httplib::SSLClient client("127.0.0.1", port_);
    client.enable_server_certificate_verification(false);
    const auto answer = client.Post("/review", reviewText(), "application/json");
    if (!answer || answer->status != 200) stopBench("a review is not answered");
    return answer->body;
  }
  int port() const { return port_; }
  int process() const { return serve_->process(); }
  const Folder& folder() const { return folder_; }
  double syncSeconds() const { return syncSeconds_; }
  // Returns the requests so far; without `all`, watches are left out. Only with `counts`.
  double requests(bool all = true) const {
    httplib::SSLClient client("127.0.0.1", portOf(relay_->greeting(), "https"));
    client.enable_server_certificate_verification(false);
    const auto answer = client.Get("/counts");
    if (!answer) stopBench("the relay does not answer");
    const Json counts = Json::parse(answer->body);
    return counts["others"].get<double>() + (all ? counts["watches"].get<double>() : 0);
  }

 private:
  void putRelayBetween() {
    const std::string port = std::to_string(portOf(up_->greeting(), "http"));
    relay_ = std::make_unique<testing::Running>(std::vector<std::string>{"bench/relay.py", port},
                                                "listens at", "/usr/bin/python3");
    std::ifstream file(folder_.file("config"));
    std::string config{std::istreambuf_iterator<char>(file), {}};
    const std::string address = "http://127.0.0.1:" + port;
    config.replace(config.find(address), address.size(),
                   "https://127.0.0.1:" + std::to_string(portOf(relay_->greeting(), "https")));
    folder_.write("config", config);
  }

  void waitUntilKnown(const Loaded& loaded) const {
    httplib::Client client("127.0.0.1", portOf(serve_->greeting(), "http"));
    client.set_keep_alive(true);
    const Clock::time_point until = Clock::now() + kLongestSync;
    std::string told;
    while (occurrences(told, loaded.known) < loaded.times) {
      if (Clock::now() > until) stopBench("serve does not know all instances: " + told);
      std::this_thread::sleep_for(kBetweenLooks);
      if (const auto answer = client.Get("/readyz/verbose")) told = answer->body;
    }
  }

  Folder folder_;
  std::unique_ptr<testing::Running> up_;
  std::unique_ptr<testing::Running> relay_;
  std::unique_ptr<testing::Running> serve_;
  int port_ = 0;
  double syncSeconds_ = 0;
};

template <class Of, class Value>
double median(std::vector<Of> all, Value value) {
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), {}, value);
  return std::invoke(value, all[all.size() / 2]);
}

bool allows(const std::string& answer) { return Json::parse(answer)["response"]["allowed"]; }

// One for all rows that need it.
const Serving& many() {
  static const Serving kServing(instancesOfOneType(kManyInstances, kHeld));
  return kServing;
}

void syncManyInstances(benchmark::State& state) {
  for (auto _ : state)
    state.SetIterationTime(Serving(instancesOfOneType(kManyInstances, kHeld)).syncSeconds());
}

// Two loads in turns, so that what the machine does besides it does to both.
struct Compared {
  std::vector<Load> first;
  std::vector<Load> second;
  std::vector<double> ratios;  // of answers a second, of each turn
};

Compared inTurns(const std::function<Load()>& first, const std::function<Load()>& second) {
  Compared compared;
  for (int turn = 0; turn < kTurns; ++turn) {
    compared.first.push_back(first());
    compared.second.push_back(second());
    compared.ratios.push_back(compared.first.back().perSecond / compared.second.back().perSecond);
  }
  return compared;
}

void count(benchmark::State& state, const Compared& compared) {
  state.counters["reviews/s"] = median(compared.first, &Load::perSecond);
  state.counters["ratio"] = median(compared.ratios, std::identity());
  state.counters["p50ms"] = median(compared.first, &Load::p50);
  state.counters["p99ms"] = median(compared.first, &Load::p99);
  state.counters["other p99ms"] = median(compared.second, &Load::p99);
}

void denyOrAnswerAConstant(benchmark::State& state) {
  const std::string denial = many().answer();
  if (allows(denial)) stopBench("the provider may go, which it must not");
  for (auto _ : state) {
    const ServerProcess constant([&](int pipe) { serveConstant(pipe, "/review", denial); });
    count(state, inTurns([] { return many().review(kTurnSeconds); },
                         [&] { return ask(many().folder(), constant.port, "/review", kTurnSeconds); }));
  }
}

std::vector<std::unique_ptr<LoadClient>> idleConnections() {
  std::vector<std::unique_ptr<LoadClient>> idle;
  for (int i = 0; i < kIdleConnections; ++i) {
    idle.push_back(std::make_unique<LoadClient>(many().port()));
    if (!idle.back()->connected) stopBench("an idle connection is refused");
  }
  return idle;
}

// As a share of a core, in hundredths.
double costOfIdleConnections() {
  const auto idle = idleConnections();
  const double used = processorSeconds(many().process());
  std::this_thread::sleep_for(kRest);
  return 100 * (processorSeconds(many().process()) - used) / static_cast<double>(kRest.count());
}

void denyBesideIdleConnections(benchmark::State& state) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto besideIdleOnes = [] {
    const auto idle = idleConnections();
    return many().review(kTurnSeconds);
  };
  for (auto _ : state) {
    state.counters["idle%core"] = costOfIdleConnections();
    count(state, inTurns(besideIdleOnes, [] { return many().review(kTurnSeconds); }));
  }
}

void memoryOfReviews(benchmark::State& state) {
  for (auto _ : state) {
    double asked = 0;
    while (asked < static_cast<double>(kFewReviews)) asked += many().review(1).requests;
    const double before = residentMegabytes(many().process());
    while (asked < static_cast<double>(kManyReviews)) asked += many().review(5).requests;
    state.counters["MB before"] = before;
    state.counters["after/before"] = residentMegabytes(many().process()) / before;
  }
}

void allowAfterReading(benchmark::State& state) {
  for (auto _ : state) {
    const Serving some(instancesOfOneType(kSomeInstances, kNotHeld));
    if (!allows(some.answer())) stopBench("the provider must stay, which it need not");
    const Load allowed = some.review(5, static_cast<int>(state.range(0)));
    state.counters["reviews/s"] = allowed.perSecond;
    state.counters["p50ms"] = allowed.p50;
    state.counters["p99ms"] = allowed.p99;
  }
}

void groupOfManyTypes(benchmark::State& state) {
  for (auto _ : state) {
    const Serving serving(instancesOfAGroup());
    state.counters["sync s"] = serving.syncSeconds();
    state.counters["MB"] = residentMegabytes(serving.process());
    std::vector<double> milliseconds;
    for (int i = 0; i < kAllows; ++i) {
      const Clock::time_point start = Clock::now();
      if (!allows(serving.answer())) stopBench("the provider must stay, which it need not");
      milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    state.counters["allow ms"] = median(milliseconds, std::identity());
    const Serving counted(instancesOfAGroup(), true);
    state.counters["requests of the sync"] = counted.requests();
    const double before = counted.requests(false);
    for (int i = 0; i < kAllows; ++i) counted.answer();
    state.counters["requests of an allow"] = (counted.requests(false) - before) / kAllows;
  }
}

BENCHMARK(syncManyInstances)
    ->Name("serve_load/sync")
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kSecond);
BENCHMARK(denyOrAnswerAConstant)
    ->Name("serve_load/deny")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK(denyBesideIdleConnections)
    ->Name("serve_load/idle")
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);
BENCHMARK(memoryOfReviews)->Name("serve_load/memory")->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);
BENCHMARK(allowAfterReading)
    ->Name("serve_load/allow")
    ->ArgName("connections")
    ->Arg(kConnections)
    ->Arg(kManyConnections)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

BENCHMARK(groupOfManyTypes)->Name("serve_load/group")->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace lastout::bench
