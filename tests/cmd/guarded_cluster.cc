#include "tests/cmd/guarded_cluster.h"

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "cmd/listening.h"
#include "kube/encoding.h"
#include "tests/support/manifests.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeResponse;
using simulator::Json;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kPause{10};

simulator::EmbeddedOptions with(simulator::EmbeddedOptions options, simulator::CallWebhook callWebhook) {
  options.callWebhook = std::move(callWebhook);
  return options;
}

}  // namespace

GuardedClusterTest::GuardedClusterTest(simulator::EmbeddedOptions options)
    : ClusterTest(
          with(std::move(options), [this](const simulator::Webhook& webhook, const std::string& body) {
            return callWebhook()(webhook, body);
          })) {
  const auto identity = cmd::makeIdentity("lastout up", "127.0.0.1", {{"localhost"}, {"127.0.0.1"}});
  auto guard = cmd::GuardInside::open(cluster, identity.value());
  EXPECT_TRUE(guard) << lines(guard.error());
  guard_ = std::move(*guard);
  settle();
}

simulator::CallWebhook GuardedClusterTest::callWebhook() {
  return [this](const simulator::Webhook& webhook, const std::string& body) {
    const auto patch = patches_.find(webhook.name);
    if (patch == patches_.end()) return client_.post(webhook, body);
    return webhookThat([&](const simulator::Webhook& /*webhook*/, const Json& request) {
      return Json{{"allowed", true},
                  {"patchType", "JSONPatch"},
                  {"patch", kube::toBase64(patch->second(request["object"]).dump())}};
    })(webhook, body);
  };
}

std::string GuardedClusterTest::problemWithSettling() {
  sigset_t none;
  sigemptyset(&none);
  const auto waited = guard_->waitUntilInForce(none);
  return waited ? "" : lines(waited.error());
}

void GuardedClusterTest::settle() { EXPECT_EQ(problemWithSettling(), ""); }

Json GuardedClusterTest::eventually(int status, const std::string& method, const std::string& path,
                                    const Json& body, const std::string& contentType,
                                    const std::string& words) {
  const auto deadline = steady_clock::now() + kPatience;
  for (;;) {
    const ExchangeResponse response = send(method, path, body, contentType);
    const bool isWanted = response.status == status && response.body.find(words) != std::string::npos;
    if (isWanted || steady_clock::now() > deadline) {
      EXPECT_TRUE(isWanted) << method << " " << path << " is to be answered with " << status << " " << words
                            << "\n"
                            << response.status << " " << response.body;
      return Json::parse(response.body, nullptr, false);
    }
    std::this_thread::sleep_for(kPause);
  }
}

Json GuardedClusterTest::denied(const std::string& path, int code, const std::string& words) {
  eventually(code, "DELETE", path + "?dryRun=All", nullptr, {}, words);
  return expect(code, "DELETE", path);
}

void GuardedClusterTest::mutate(const std::string& resource, const std::string& operation, Patch patch) {
  const std::string name = "w" + std::to_string(patches_.size()) + ".test.dev";
  patches_[name] = std::move(patch);
  createWebhook("MutatingWebhookConfiguration", name, {operation}, resource);
}

}  // namespace lastout::testing
