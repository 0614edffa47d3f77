// Deferred deletions that are carried out, as dialogues (dialogues/runner-*.txt), by a view that follows an
// embedded cluster. Beside the steps of all dialogues with a controller:
//
//   confirm allows|denies|fails    what the confirmation of the verdict comes to
//   annotations count|are ignored
//   refused                who is counted as refused: uids
#include "server/controllers/deferred_deletion_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

using testing::wordOf;

class RunnerDialogues : public testing::ControllerDialogue {
 public:
  RunnerDialogues() {
    add("confirm", [this](const auto&, auto& rest) { setConfirmation(wordOf(rest)); });
    add("annotations", [this](const auto&, auto& rest) { annotationsCount_ = wordOf(rest) == "count"; });
    commands_["refused"] = [this](const auto&, auto&) {
      std::string said;
      for (const std::string& uid : runner_->refused()) said += uid + "\n";
      return said.empty() ? "nobody\n" : server_.withNames(said);
    };
  }

 protected:
  void start() override {
    DeferredDeletionRunnerOptions options;
    options.requesters.personsCount = true;
    options.annotationsCount = [this] { return std::optional(annotationsCount_.load()); };
    options.confirmAnnotationsCount = [this] {
      return tl::expected<bool, std::string>(annotationsCount_.load());
    };
    options.clock = [this] { return clock(); };
    options.mayAct = [this] {
      notePass();
      return leads_.load();
    };
    options.confirm = [this](const kube::ObjectKey&) -> tl::expected<bool, std::string> {
      if (confirmation_ == Confirmation::Fails) {
        // It does once.
        confirmation_ = Confirmation::Allows;
        return tl::unexpected(std::string("the API server does not answer"));
      }
      return confirmation_ == Confirmation::Allows;
    };
    options.forget = [this](const std::string& service, const criticalservice::DeferredDeletion& deletion) {
      tellOnce("forget " + service + " " + toString(deletion.object));
    };
    options.random = half();
    options.again = kSoonAgain;
    options.told = [this](const DeferredDeletionEvent& news) { eventTeller()(eventOf(news)); };
    runner_ = std::make_unique<DeferredDeletionRunner>(access, view, std::move(options));
    runner_->start();
  }
  void end() override {
    if (runner_) runner_->stop();
    runner_.reset();
  }
  void wake() override {
    if (runner_) runner_->reconsider(true);
  }

 private:
  enum class Confirmation : uint8_t { Allows, Denies, Fails };

  void setConfirmation(const std::string& word) {
    confirmation_ = word == "allows"   ? Confirmation::Allows
                    : word == "denies" ? Confirmation::Denies
                                       : Confirmation::Fails;
  }

  std::atomic<Confirmation> confirmation_{Confirmation::Allows};
  std::atomic<bool> annotationsCount_{false};
  std::unique_ptr<DeferredDeletionRunner> runner_;
};

TEST_P(RunnerDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, RunnerDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "runner-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
