// The finalizers of held providers, as dialogues (dialogues/holds-*.txt), by a view that follows an embedded
// cluster. Beside the steps of all dialogues with a controller:
//
//   holds, holds nothing   whether providers are to be held at all
//   problem OBJECT         why it cannot be held, or let go
#include "server/controllers/held_provider_controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

using testing::wordOf;

class HoldDialogues : public testing::ControllerDialogue {
 public:
  HoldDialogues() {
    add("holds", [this](const auto&, auto& rest) { holds_ = wordOf(rest).empty(); });
    commands_["problem"] = [this](const auto&, auto& rest) {
      const std::string problem = controller_->problemOf(keyOf(wordOf(rest)));
      return (problem.empty() ? "none" : problem) + "\n";
    };
  }

 protected:
  void start() override {
    HeldProviderControllerOptions options;
    options.mayHold = [this] {
      notePass();
      return holds_.load();
    };
    options.mayAct = [this] { return leads_.load(); };
    options.random = testing::oneHalf;
    options.budget = std::chrono::seconds(60);  // on a busy machine an answer may be late
    options.log = log();
    controller_ =
        std::make_unique<HeldProviderController>(access, view, *reads, *services, std::move(options));
    controller_->start();
  }
  void end() override {
    if (controller_) controller_->stop();
    controller_.reset();
  }
  void wake() override {
    if (controller_) controller_->reconsider();
  }

 private:
  std::atomic<bool> holds_{true};
  std::unique_ptr<HeldProviderController> controller_;
};

TEST_P(HoldDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, HoldDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "holds-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
