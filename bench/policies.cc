// A DELETE that 1,000 DeletionPolicies do not match, beside the same without any: lastout up, which runs the
// ValidatingAdmissionPolicies, and lastout serve, which keeps them and is asked about the rest.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "bench/folder.h"
#include "bench/stop.h"
#include "client/access.h"
#include "client/api_server.h"
#include "client/find_connection.h"
#include "client/writes.h"
#include "tests/support/program.h"

namespace lastout::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr int kPolicies = 1000;
constexpr int kTurns = 5;
constexpr int kObjects = 1000;  // of each turn
constexpr std::chrono::seconds kLongestWait{300};
constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr const char* kAllPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

// Which policies there are; the objects that are deleted have no label and no child.
enum class Kind : uint8_t {
  OtherTypes,  // the API server tells, of objects of other types
  Labels,      // the API server tells: a label on objects of this type
  Children,    // lastout tells: children of labelled objects of this type
};

Json policy(Kind kind, int number) {
  const std::string own = std::to_string(number);
  Json spec{{"objects", {{{"resources", {{{"resource", "configmaps"}}}}}}}};
  if (kind == Kind::OtherTypes) {
    spec["objects"][0]["resources"][0] = {{"group", "group-" + own + ".example.com"}, {"resource", "things"}};
    spec["when"] = {{{"label", "example.com/protect"}, {"values", {"Always"}}}};
  } else if (kind == Kind::Labels) {
    spec["when"] = {{{"label", "example.com/protect-" + own}, {"values", {"Always"}}}};
  } else {
    spec["objects"][0]["labelSelector"] = {{"matchLabels", {{"example.com/parent", own}}}};
    spec["when"] = {{{"children", {{{"resource", "secrets"}, {"label", "example.com/parent-" + own}}}}}};
  }
  return {{"apiVersion", "lastout.dev/v1alpha1"},
          {"kind", "DeletionPolicy"},
          {"metadata", {{"name", "bench-" + own}}},
          {"spec", spec}};
}

class Cluster {
 public:
  Cluster() {
    const std::string config = folder_.file("config");
    up_ = started({"up", "--listen", "127.0.0.1:0", "--kubeconfig-out", config});
    serve_ =
        started({"serve", "--listen", "127.0.0.1:0", "--answers", "127.0.0.1:0", "--kubeconfig", config});
    answers_ = serve_->greetingAfter("http://127.0.0.1:");
    const auto connection = client::findConnection({config, ""}, {});
    if (!connection) stopBench(connection.error().front().message);
    access_ = client::Access::open(*connection, [] { return int64_t{0}; }).value();
    server_ = access_->newServer();
  }

  // Creates them, and waits until each is in force.
  void apply(Kind kind) {
    for (int i = 0; i < kPolicies; ++i) ask(client::creation(kAllPolicies, policy(kind, i)));
    waitUntil([this] { return inForce() == kPolicies; });
  }

  // Seconds that the DELETE of one object takes, on average.
  double deleteObjects() {
    for (int i = 0; i < kObjects; ++i) {
      ask(client::creation(kMaps, {{"apiVersion", "v1"},
                                   {"kind", "ConfigMap"},
                                   {"metadata", {{"name", "object-" + std::to_string(i)}}}}));
    }
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kObjects; ++i) {
      client::ApiRequest request;
      request.method = "DELETE";
      request.isRepeatable = true;  // on a connection that is there already
      request.target = std::string(kMaps) + "/object-" + std::to_string(i);
      ask(request);
    }
    return std::chrono::duration<double>(Clock::now() - start).count() / kObjects;
  }

  // Reviews that lastout has answered.
  int64_t reviews() const {
    const std::string text = testing::shell("curl -sS http://127.0.0.1:" + answers_ + "/metrics").out;
    const std::regex line("lastout_verdicts_total\\{[^}]*\\} ([0-9]+)");
    int64_t sum = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at)
      sum += std::stoll((*at)[1]);
    return sum;
  }

 private:
  static std::unique_ptr<testing::Running> started(const std::vector<std::string>& arguments) {
    auto program = std::make_unique<testing::Running>(arguments, "Ctrl-C");
    program->discard();
    return program;
  }
  std::string ask(const client::ApiRequest& request) {
    const auto whole = client::fetch(*server_, request, size_t{64} << 20);
    if (!whole) stopBench(whole.error().message);
    if (whole->answer.status >= 300) stopBench(request.method + " " + request.target + ": " + whole->body);
    return whole->body;
  }
  int inForce() {
    client::ApiRequest request;
    request.target = kAllPolicies;
    const Json list = Json::parse(ask(request));
    return static_cast<int>(std::ranges::count_if(list["items"], [](const Json& policy) {
      const Json conditions = policy.value("status", Json::object()).value("conditions", Json::array());
      return std::ranges::any_of(conditions, [](const Json& condition) {
        return condition["type"] == "Enforced" && condition["status"] == "True";
      });
    }));
  }
  template <class Done>
  void waitUntil(const Done& done) {
    const Clock::time_point until = Clock::now() + kLongestWait;
    while (!done()) {
      if (Clock::now() > until) stopBench("the policies are not in force");
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  Folder folder_;
  std::unique_ptr<testing::Running> up_;
  std::unique_ptr<testing::Running> serve_;
  std::string answers_;
  std::shared_ptr<client::Access> access_;
  std::unique_ptr<client::ApiServer> server_;
};

double median(std::vector<double> all) {
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  return all[all.size() / 2];
}

// Two clusters in turns, so that what the machine does besides it does to both.
void unmatchedDelete(benchmark::State& state) {
  Cluster without;
  Cluster with;
  with.apply(static_cast<Kind>(state.range(0)));
  for (auto _ : state) {
    const int64_t before = with.reviews();
    std::vector<double> alone;
    std::vector<double> beside;
    std::vector<double> ratios;
    for (int turn = 0; turn < kTurns; ++turn) {
      alone.push_back(without.deleteObjects());
      beside.push_back(with.deleteObjects());
      ratios.push_back(beside.back() / alone.back());
    }
    state.counters["without µs"] = median(alone) * 1e6;
    state.counters["with µs"] = median(beside) * 1e6;
    state.counters["ratio"] = median(ratios);
    state.counters["reviews"] = static_cast<double>(with.reviews() - before);
  }
}

BENCHMARK(unmatchedDelete)
    ->ArgName("kind")
    ->Arg(static_cast<int64_t>(Kind::OtherTypes))
    ->Arg(static_cast<int64_t>(Kind::Labels))
    ->Arg(static_cast<int64_t>(Kind::Children))
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace lastout::bench
