#include "bench/teardown/run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "bench/folder.h"
#include "bench/stop.h"
#include "client/access.h"
#include "client/api_server.h"
#include "client/find_connection.h"
#include "tests/support/program.h"

namespace lastout::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr const char* kWorksPath =
    "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
constexpr const char* kAppliedPath = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks";
constexpr const char* kClock = "/lastout/clock";
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr Milliseconds kBetweenLooks{200};
constexpr std::chrono::seconds kLongestBeginning{30};

// Where something of the fleet may be left, the quickest to go last: each is looked at until it is empty.
const std::vector<std::string>& collections() {
  static const std::vector<std::string> kCollections{
      kWorksPath,
      kAppliedPath,
      "/api/v1/namespaces",
      "/apis/lastout.dev/v1alpha1/criticalservices",
      "/apis/apps/v1/deployments",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      "/api/v1/persistentvolumeclaims",
      "/api/v1/secrets",
      "/api/v1/configmaps",
      "/api/v1/serviceaccounts",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"};
  return kCollections;
}

// Both programs, and a client of the cluster.
class Teardown {
 public:
  Teardown(const Fleet& fleet, const TeardownRunOptions& options) : fleet_(fleet), options_(options) {
    folder_.write("fleet.yaml", fileOf(fleet));
    const std::string config = folder_.file("config");
    up_ = started({"up", "--load", folder_.file("fleet.yaml"), "--speed", std::to_string(options.speed),
                   "--seed", std::to_string(options.seed), "--kubeconfig-out", config, "--record",
                   folder_.file("recording.jsonl")});
    serve_ = started({"serve", "--listen", "127.0.0.1:0", "--answers", "none", "--kubeconfig", config,
                      "--defer-for", "agent"});
    const auto connection = client::findConnection({config, ""}, {});
    if (!connection) stopBench(connection.error().front().message);
    access_ = client::Access::open(*connection, [] { return int64_t{0}; }).value();
    server_ = access_->newServer();
  }

  // Until everything is applied, and each provider is known to be guarded.
  void waitUntilReady() {
    std::vector<const FleetWork*> missing;
    for (const Operator& one : fleet_.operators) {
      for (const FleetWork& work : one.works) missing.push_back(&work);
    }
    waitFor("all works are applied", [&] {
      std::erase_if(missing, [this](const FleetWork* work) { return isApplied(*work); });
      return missing.empty();
    });
    waitFor("all providers are guarded", [this] {
      const Json services = get("/apis/lastout.dev/v1alpha1/criticalservices");
      return std::ranges::all_of(services.at("items"), [](const Json& service) {
        const Json conditions = service.value("/status/conditions"_json_pointer, Json::array());
        return std::ranges::any_of(conditions, [](const Json& condition) {
          return condition["type"] == "Enforced" && condition["status"] == "True";
        });
      });
    });
  }

  // One client, one after the other; to the controllers it is one moment.
  void deleteWorks() {
    std::vector<std::string> names;
    for (const Operator& one : fleet_.operators) {
      for (const FleetWork& work : one.works) names.push_back(work.name);
    }
    std::mt19937 order(options_.seed);
    for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[order() % i]);
    setClock({{"paused", true}});
    for (const std::string& name : names) {
      const int status = ask("DELETE", std::string(kWorksPath) + "/" + name).answer.status;
      if (status != 200) stopBench("work " + name + " cannot be deleted: " + std::to_string(status));
    }
    setClock({{"paused", false}});
  }

  void waitUntilEmpty() {
    const Milliseconds begun = now();
    bool isLate = false;
    for (size_t at = 0; at < collections().size();) {
      const Json list = get(collections()[at] + selection(collections()[at]));
      if (list.at("items").empty()) {
        ++at;
        continue;
      }
      const Milliseconds spent = now() - begun;
      if (spent > options_.patience) return;
      if (!isLate && options_.speedWhenLate > 0 && spent > options_.hurryAfter) {
        isLate = true;
        setClock({{"speed", options_.speedWhenLate}});
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  TeardownHistory end() {
    server_->stop();
    serve_->interrupt();
    up_->interrupt();
    const std::string recording = folder_.file("recording.jsonl");
    if (!options_.keep.empty()) fs::copy_file(recording, options_.keep, fs::copy_options::overwrite_existing);
    std::ifstream file(recording);
    return readHistory(file);
  }

 private:
  static std::unique_ptr<testing::Running> started(const std::vector<std::string>& arguments) {
    auto running = std::make_unique<testing::Running>(arguments, "Ctrl-C ends it");
    if (running->greeting().find("Ctrl-C ends it") == std::string::npos)
      stopBench("lastout " + arguments.front() + " has not begun: " + running->greeting());
    return running;
  }

  // The agent's own objects have no label; of the others only the fleet's count.
  static std::string selection(const std::string& collection) {
    const bool labelled = collection.find("appliedmanifestworks") == std::string::npos;
    return std::string("?limit=1") + (labelled ? std::string("&labelSelector=") + kFleetLabel : "");
  }

  client::WholeAnswer ask(const std::string& method, const std::string& target,
                          const std::string& body = {}) {
    client::ApiRequest request;
    request.method = method;
    request.target = target;
    request.body = body;
    request.contentType = "application/json";
    auto answer = client::fetch(*server_, request, kMostBytes);
    if (!answer) stopBench(method + " " + target + ": " + answer.error().message);
    return std::move(*answer);
  }
  Json get(const std::string& target) {
    const client::WholeAnswer whole = ask("GET", target);
    if (whole.answer.status != 200) stopBench(target + ": " + whole.body);
    return Json::parse(whole.body);
  }
  // The time that controllers live in.
  Milliseconds now() {
    return Milliseconds(std::stoll(get(kClock).at("now").get<std::string>()));  // "1234ms"
  }
  void setClock(const Json& change) {
    const client::WholeAnswer whole = ask("PUT", kClock, change.dump());
    if (whole.answer.status != 200) stopBench(std::string(kClock) + ": " + whole.body);
  }
  bool isApplied(const FleetWork& work) {
    const auto whole = ask("GET", std::string(kAppliedPath) + "/" + kWorksNamespace + "-" + work.name);
    if (whole.answer.status != 200) return false;
    const Json applied =
        Json::parse(whole.body).value("/status/appliedResources"_json_pointer, Json::array());
    return applied.size() == work.applied.size();
  }
  template <class Holds>
  void waitFor(const std::string& what, Holds holds) {
    const auto until = steady_clock::now() + kLongestBeginning;
    while (!holds()) {
      if (steady_clock::now() > until) stopBench("it does not come true: " + what);
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  const Fleet& fleet_;
  const TeardownRunOptions& options_;
  const Folder folder_;
  std::unique_ptr<testing::Running> up_;
  std::unique_ptr<testing::Running> serve_;
  std::shared_ptr<client::Access> access_;
  std::unique_ptr<client::ApiServer> server_;
};

}  // namespace

TeardownHistory tearDown(const Fleet& fleet, const TeardownRunOptions& options) {
  Teardown teardown(fleet, options);
  teardown.waitUntilReady();
  teardown.deleteWorks();
  teardown.waitUntilEmpty();
  return teardown.end();
}

}  // namespace lastout::bench
