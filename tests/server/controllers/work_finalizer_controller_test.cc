// The finalizers of AppliedManifestWorks, as dialogues (dialogues/works-*.txt), by a view that follows an
// embedded cluster. Beside the steps of all dialogues with a controller:
//
//   keeps, keeps nothing   whether works are to be kept at all
#include "server/controllers/work_finalizer_controller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "manifestwork/manifest_work.h"
#include "server/review/current_services.h"
#include "server/watch/live_view.h"
#include "server/watch/watches.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class WorkDialogues : public testing::ControllerDialogue {
 public:
  WorkDialogues() {
    add("keeps", [this](const auto&, auto& rest) { keeps_ = testing::wordOf(rest).empty(); });
    add("follow", [this](const auto&, auto& rest) {
      followWorks();
      for (std::string type = testing::wordOf(rest); !type.empty(); type = testing::wordOf(rest)) {
        const size_t dot = type.find('.');
        waitUntil([&] {
          return view_.knowledge({type.substr(dot + 1), type.substr(0, dot)}) == graph::Knowledge::Synced;
        });
      }
    });
  }

 protected:
  void start() override {
    WorkFinalizerControllerOptions options;
    options.mayKeep = [this] { return keeps_.load(); };
    options.mayAct = [this] { return leads_.load(); };
    options.refused = [this] {
      notePass();
      return std::set<std::string>();
    };
    options.services = [this] {
      return services_.read(std::chrono::steady_clock::now() + std::chrono::seconds(60));
    };
    options.random = testing::oneHalf;
    options.log = log();
    options.told = eventTeller();
    controller_ = std::make_unique<WorkFinalizerController>(access, view_, std::move(options));
    controller_->start();
  }
  void end() override {
    if (controller_) controller_->stop();
    controller_.reset();
  }
  void TearDown() override {
    end();
    services_.stop();
    if (watches_) watches_->stop();
    ControllerDialogue::TearDown();
  }
  void wake() override {
    if (controller_) controller_->reconsider();
  }

 private:
  void followWorks() {
    WatchesOptions options;
    options.random = testing::oneHalf;
    options.log = [](Level, const std::string&) {};
    options.watcher.reflector.backoff = testing::kSoonAgain;
    watches_ = std::make_unique<Watches>(access, view_, std::move(options));
    watches_->start();
    waitUntil([this] { return view_.isReady(); });
  }

  LiveView view_{{.ownNamespace = "", .alsoFollowed = {manifestwork::appliedManifestWorkType()}}};
  CurrentServices services_{access, view_};
  std::unique_ptr<Watches> watches_;
  std::atomic<bool> keeps_{true};
  std::unique_ptr<WorkFinalizerController> controller_;
};

TEST_P(WorkDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, WorkDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "works-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
