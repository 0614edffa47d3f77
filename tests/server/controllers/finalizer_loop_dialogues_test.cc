// The one change of a finalizer that there is, lastout.dev/for-the-test, as dialogues
// (dialogues/finalizer-*.txt). Beside the steps of all dialogues with a controller:
//
//   change OBJECT begins|ends [DOUBT]    a doubt that wavers is another one at each look
//   confirm yes|no|fails                 fails: once
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/controllers/finalizer_loop.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class FinalizerDialogues : public testing::ControllerDialogue {
 public:
  FinalizerDialogues() {
    add("change", [this](const auto&, auto& rest) {
      const std::string object = testing::wordOf(rest);
      const std::lock_guard lock(mutex_);
      change_.object = keyOf(object);
      change_.uid = uidOf(object);
      change_.begins = testing::wordOf(rest) == "begins";
      change_.doubt = testing::restOf(rest);
    });
    add("confirm", [this](const auto&, auto& rest) {
      const std::lock_guard lock(mutex_);
      answer_ = testing::wordOf(rest);
    });
  }

 protected:
  void start() override {
    FinalizerLoopOptions options;
    options.finalizer = "lastout.dev/for-the-test";
    options.grantedBy = "a-role";
    options.mayAct = [this] { return leads_.load(); };
    options.changes = [this] {
      notePass();
      return std::vector<FinalizerChange>{change()};
    };
    options.looksOn = [this] { notePass(); };
    options.random = testing::oneHalf;
    options.log = log();
    loop_ = std::make_unique<FinalizerLoop>(access, view, std::move(options));
    loop_->start();
  }
  void end() override {
    if (loop_) loop_->stop();
    loop_.reset();
  }
  void wake() override {
    if (loop_) loop_->reconsider();
  }

 private:
  FinalizerChange change() {
    const std::lock_guard lock(mutex_);
    FinalizerChange change = change_;
    if (change.doubt == "wavers") change.doubt += std::to_string(++looks_);
    change.confirm = [this](const kube::ObjectMeta&) { return confirmed(); };
    change.done = [this] { tell("done"); };
    change.moot = [this] { tellOnce("there is nothing to change"); };
    return change;
  }
  Changed confirmed() {
    const std::lock_guard lock(mutex_);
    if (answer_ == "fails") {
      answer_ = "yes";
      return tl::unexpected(std::string("it cannot be read"));
    }
    tellOnce(answer_ == "yes" ? "confirmed" : "not confirmed");
    return answer_ == "yes";
  }

  std::mutex mutex_;
  FinalizerChange change_;  // these are guarded by the mutex
  std::string answer_ = "yes";
  int looks_ = 0;
  std::unique_ptr<FinalizerLoop> loop_;
};

TEST_P(FinalizerDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, FinalizerDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "finalizer-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
