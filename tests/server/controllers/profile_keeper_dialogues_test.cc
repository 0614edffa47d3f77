// The policies of profiles that are applied, as dialogues (dialogues/profile-*.txt). Beside the steps of all
// dialogues with a controller:
//
//   keeps PROFILE          what starts next
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "protection/profiles.h"
#include "server/controllers/profile_keeper.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class ProfileDialogues : public testing::ControllerDialogue {
 public:
  ProfileDialogues() {
    add("keeps", [this](const auto&, auto& rest) { profile_ = testing::wordOf(rest); });
  }

 protected:
  void start() override {
    ProfileKeeperOptions options;
    options.policies = protection::profileManifests(profile_).value();
    options.mayWrite = [this] {
      notePass();
      return leads_.load();
    };
    options.watcher.reflector.backoff = testing::kSoonAgain;
    options.random = testing::oneHalf;
    options.log = log();
    keeper_ = std::make_unique<ProfileKeeper>(access, std::move(options));
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
  std::string profile_ = "karmada";
  std::unique_ptr<ProfileKeeper> keeper_;
};

TEST_P(ProfileDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, ProfileDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "profile-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
