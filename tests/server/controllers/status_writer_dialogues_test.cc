// Statuses that are written, as dialogues (dialogues/status-*.txt), by a view that follows an embedded
// cluster.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/controllers/status_writer.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class StatusDialogues : public testing::ControllerDialogue {
 protected:
  void start() override {
    StatusWriterOptions options;
    options.mayWrite = [this] {
      notePass();
      return leads_.load();
    };
    options.enforcement = [](const auto&, const auto&) {
      return WebhookEnforcement{std::nullopt, "ProbePending", "no probe"};
    };
    options.clock = [this] { return clock(); };
    options.random = testing::oneHalf;
    options.backoff = testing::kSoonAgain;
    options.detailPause = std::chrono::milliseconds(0);
    options.log = log();
    options.failed = [this] { tell("counted: failed"); };
    options.written = [this](const std::string& name, const std::string& uid, const nlohmann::json& before,
                             const nlohmann::json& after) {
      for (const Event& event : eventsOf(name, uid, before, after)) eventTeller()(event);
    };
    writer_ = std::make_unique<StatusWriter>(access, view, std::move(options));
    writer_->start();
  }
  void end() override {
    if (writer_) writer_->stop();
    writer_.reset();
  }
  void wake() override {
    if (writer_) writer_->reconsider();
  }

 private:
  std::unique_ptr<StatusWriter> writer_;
};

TEST_P(StatusDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, StatusDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "status-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
