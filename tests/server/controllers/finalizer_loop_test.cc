// FinalizerLoop at a real API: doubts, confirmations and the Lease. What it changes, and what it leaves, is
// in the dialogues beside this.
#include "server/controllers/finalizer_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kProvider;
using lastout::testing::ServerWorld;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kLoopFinalizer = "lastout.dev/for-the-test";
constexpr const char* kLoopProvider = "/apis/apps/v1/namespaces/default/deployments/provider";

// The one change that there is to the provider. What the loop's thread is told is counted.
class FinalizerLoopTest : public ServerWorld {
 public:
  FinalizerLoopTest() {
    createStory();
    follow();
    waitFor(kProvider.type, graph::Knowledge::Synced);
    change.object = kProvider;
    change.uid = metadata()["uid"];
    change.begins = true;
    change.confirm = [this](const kube::ObjectMeta& object) {
      ++confirmed;
      seen = object.resourceVersion;
      return confirm();
    };
    change.done = [this] { ++done; };
  }
  ~FinalizerLoopTest() override {
    if (loop) loop->stop();
  }

  void run() {
    FinalizerLoopOptions options;
    options.finalizer = kLoopFinalizer;
    options.grantedBy = "a-role";
    options.mayAct = [this] { return leads.load(); };
    options.changes = [this] {
      ++rounds;
      if (wavers) change.doubt = "as of round " + std::to_string(rounds);
      return std::vector<FinalizerChange>{change};
    };
    options.looksOn = [this] { ++lookedOn; };
    options.attempted = [this](const FinalizerChange&, const std::string& problem) {
      const std::lock_guard lock(mutex_);
      problems_.push_back(problem);
    };
    options.random = lastout::testing::oneHalf;
    options.log = [this](Level, const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    loop = std::make_unique<FinalizerLoop>(access, view, std::move(options));
    loop->start();
  }
  void runUntil(const std::function<bool()>& holds) {
    if (!loop) run();
    waitUntil([&] {
      loop->reconsider();
      return holds();
    });
  }
  Json metadata() {
    return ask({.method = "GET", .target = kLoopProvider, .body = {}, .headers = {}}).json()["metadata"];
  }
  std::vector<std::string> finalizers() { return metadata().value("finalizers", std::vector<std::string>()); }
  std::vector<std::string> problems() {
    const std::lock_guard lock(mutex_);
    return problems_;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  FinalizerChange change;  // of the thread, once it runs
  std::function<Changed()> confirm = [] { return true; };
  std::string seen;
  std::atomic<bool> leads{true};
  std::atomic<bool> wavers{false};  // each look finds another doubt
  std::atomic<int> rounds{0}, lookedOn{0}, confirmed{0}, done{0};
  std::unique_ptr<FinalizerLoop> loop;

 private:
  std::mutex mutex_;
  std::vector<std::string> problems_, lines_;
};

TEST_F(FinalizerLoopTest, SetsItBesideWhatIsThere) {
  patch(kLoopProvider, {{"metadata", {{"finalizers", {"f.x/other"}}}}});
  const std::string version = metadata()["resourceVersion"];
  runUntil([&] { return done == 1; });
  EXPECT_THAT(finalizers(), ElementsAre("f.x/other", kLoopFinalizer));
  EXPECT_THAT(problems(), ElementsAre(""));
  loop->stop();
  EXPECT_EQ(seen, version);
}

TEST_F(FinalizerLoopTest, ADoubtHasToStandAtTwoLooks) {
  wavers = true;
  runUntil([&] { return rounds > 25; });
  EXPECT_EQ(confirmed, 0);
  EXPECT_THAT(finalizers(), IsEmpty());
  wavers = false;
  runUntil([&] { return done == 1; });
}

TEST_F(FinalizerLoopTest, WhatCannotBeConfirmedIsSaidAndTriedAgain) {
  confirm = [this]() -> Changed {
    if (confirmed == 1) return tl::unexpected(std::string("it cannot be read"));
    return true;
  };
  runUntil([&] { return done == 1; });
  EXPECT_THAT(problems(), ElementsAre("it cannot be read", ""));
  const std::string name = "deployments.apps/default/provider: lastout's finalizer ";
  EXPECT_THAT(lines(),
              ElementsAre(name + "cannot be changed: it cannot be read", name + "can be changed again"));
}

TEST_F(FinalizerLoopTest, WhatHasChangedMeanwhileIsLookedAtAnew) {
  confirm = [this] {
    if (confirmed == 1) patch(kLoopProvider, {{"metadata", {{"labels", {{"a", "b"}}}}}});
    return true;
  };
  runUntil([&] { return done == 1; });
  EXPECT_EQ(confirmed, 2);
  EXPECT_THAT(problems(), ElementsAre("", "")) << "that somebody was faster is no problem";
}

TEST_F(FinalizerLoopTest, ALeaseThatIsLostMeanwhileStopsIt) {
  confirm = [this] {
    leads = false;
    return true;
  };
  runUntil([&] { return lookedOn > 0; });
  EXPECT_THAT(finalizers(), IsEmpty());
  const int before = rounds;
  const int looks = lookedOn;
  runUntil([&] { return lookedOn > looks + 1; });
  EXPECT_EQ(rounds, before) << "who only looks on is not asked what to change";
}

// What one thought before another acted does not count.
TEST_F(FinalizerLoopTest, ADoubtDoesNotOutliveTheLease) {
  std::atomic<bool> leadsAgain{false};
  std::atomic<int> roundOfConfirmation{0};
  confirm = [&] {
    roundOfConfirmation = rounds.load();
    return leadsAgain.load();
  };
  change.doubt = "the watch may be late";
  runUntil([&] { return rounds > 0; });
  leads = false;
  runUntil([&] { return lookedOn > 25; });
  const int before = rounds;
  leadsAgain = true;
  leads = true;
  runUntil([&] { return done == 1; });
  EXPECT_GT(roundOfConfirmation, before + 1) << "one look is not two";
  loop->stop();  // before what it calls is gone
}

}  // namespace
}  // namespace lastout::server
