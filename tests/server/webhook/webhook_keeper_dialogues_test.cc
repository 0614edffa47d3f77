// The webhook configuration that is kept, as dialogues (dialogues/keeper-*.txt). Beside the steps of all
// dialogues with a controller:
//
//   review OBJECT...       these providers are to be reviewed, and nothing else
//   retire                 nothing can be guarded
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/webhook/webhook_keeper.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class WebhookKeeperDialogues : public testing::ControllerDialogue {
 public:
  WebhookKeeperDialogues() {
    add("review", [this](const auto&, auto& rest) {
      ReviewedObjects objects;
      for (std::string word = testing::wordOf(rest); !word.empty(); word = testing::wordOf(rest)) {
        objects.deleted.insert(keyOf(word));
        objects.providers.insert(keyOf(word).type);
      }
      keeper_->setObjects(std::move(objects));
    });
    add("retire", [this](const auto&, auto&) { keeper_->retire(); });
  }

 protected:
  void start() override {
    WebhookConfiguration configuration;
    configuration.address.reviewPath = reviewPathOf("its key");
    configuration.address.url = "https://127.0.0.1:9443";
    configuration.address.authorities = authority.certificate;
    configuration.ownNamespace = "lastout";
    WebhookKeeperOptions options;
    options.mayWrite = [this] {
      notePass();
      return leads_.load();
    };
    options.restoring = testing::kSoonAgain;
    options.batch = std::chrono::milliseconds(1);
    options.watcher.reflector.backoff = testing::kSoonAgain;
    options.random = testing::oneHalf;
    options.log = log();
    options.restored = [this](std::chrono::milliseconds) { tell("restored"); };
    keeper_ = std::make_unique<WebhookKeeper>(access, std::move(configuration), std::move(options));
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
  std::unique_ptr<WebhookKeeper> keeper_;
};

TEST_P(WebhookKeeperDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, WebhookKeeperDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/webhook/dialogues",
                                                                  "keeper-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
