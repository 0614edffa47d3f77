// DeletionPolicies that are kept, as dialogues (dialogues/policy-*.txt). Beside the steps of all dialogues
// with a controller:
//
//   mode webhook|apiserver    of what starts next
//   asks, asks nothing        whether API servers ask the webhook about all
//   withdraws                 lastout ends in an orderly way
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "server/controllers/policy_keeper.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class PolicyDialogues : public testing::ControllerDialogue {
 public:
  PolicyDialogues() {
    add("mode", [this](const auto&, auto& rest) {
      mode_ = testing::wordOf(rest) == "webhook" ? protection::PolicyMode::Webhook
                                                 : protection::PolicyMode::ApiServer;
    });
    add("asks", [this](const auto&, auto& rest) { webhookAsks_ = testing::wordOf(rest).empty(); });
    add("withdraws", [this](const auto&, auto&) { keeper_->withdraw(); });
  }

 protected:
  void start() override {
    PolicyKeeperOptions options;
    options.mode = mode_;
    options.mayWrite = [this] {
      notePass();
      return leads_.load();
    };
    options.webhookAsks = [this](const std::string&) { return webhookAsks_.load(); };
    options.clock = [this] { return clock(); };
    options.written = [this](const kube::ObjectMeta& policy, const nlohmann::json& before,
                             const nlohmann::json& after) {
      for (const Event& event : eventsOfPolicy(policy.name, policy.uid, before, after)) eventTeller()(event);
    };
    options.watcher.reflector.backoff = testing::kSoonAgain;
    options.random = testing::oneHalf;
    options.log = log();
    keeper_ = std::make_unique<PolicyKeeper>(access, std::move(options));
    keeper_->start();
  }
  void end() override {
    if (keeper_) keeper_->stop();
    keeper_.reset();
  }
  void wake() override {
    if (keeper_) keeper_->reconsider();
  }

 private:
  protection::PolicyMode mode_ = protection::PolicyMode::ApiServer;
  std::atomic<bool> webhookAsks_{false};
  std::unique_ptr<PolicyKeeper> keeper_;
};

TEST_P(PolicyDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, PolicyDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "policy-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
