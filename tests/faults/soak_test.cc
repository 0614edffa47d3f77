// A random mix of all faults, over teardown after teardown, for as long as is wanted: scripts/soak. Some are
// of the story's objects themselves, some of the works that bring them, none of which may be gone before
// them (Judge). What is done, and in which order, follows from the seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "tests/faults/works_test.h"
#include "tests/properties/dice.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

uint64_t numberIn(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr int kMostTroubles = 40;  // in one teardown, which then may end
constexpr uint32_t kLongestTrouble = 25;

class Soak {
 public:
  Soak(uint64_t seed, Processes processes) : dice_(seed), works_(2, processes, seed) { calm(); }

  // One story is made, deleted in some order in spite of everything, and gone.
  void round() {
    const auto begun = steady_clock::now();
    std::vector<std::string> paths = dice_.oneIn(2) ? prepareWorks() : prepareStory();
    for (size_t i = paths.size(); i > 1; --i)
      std::swap(paths[i - 1], paths[dice_.below(static_cast<uint32_t>(i))]);
    for (std::string& path : paths) {
      if (!path.starts_with(kWorks)) path += dice_.pick<std::string>({"", "?propagationPolicy=Foreground"});
    }
    troubles_ = 0;
    unguarded_ = world_.judge.counts().unguarded;
    wait_ = dice_.below(kLongestTrouble);
    world_.deleteAll(paths, [this] { trouble(); });
    calm();
    works_.expectAllGone();
    world_.waitUntil("the configuration is in force again", [this] { return isInForce(); });
    world_.waitUntil("what was missed is reported",
                     [this] { return !isBroken_ || world_.judge.counts().reported > reported_; });
    ++rounds_;
    slowest_ = std::max(slowest_, std::chrono::ceil<std::chrono::seconds>(steady_clock::now() - begun));
  }

  std::string complaints() const { return world_.judge.complaints(); }
  std::vector<std::string> unasked() { return world_.unasked(); }
  std::string logged() { return world_.logged(); }
  std::string summary() const {
    const Judge::Counts counts = world_.judge.counts();
    return std::to_string(rounds_) + " teardowns, the slowest in " + std::to_string(slowest_.count()) +
           " s, " + std::to_string(faults_) + " faults; of guarded deletions " +
           std::to_string(counts.denied) + " denied, " + std::to_string(counts.allowed) + " allowed, " +
           std::to_string(counts.failed) + " reviews unanswered; " + std::to_string(counts.reported) +
           " intervals without guard reported, in which " + std::to_string(counts.unguarded) +
           " objects went; " + std::to_string(counts.keptWorks) + " kept works went";
  }

 private:
  // What there is at the beginning of a teardown. Returns the paths of what is to be deleted.
  std::vector<std::string> prepareStory() {
    const int instances = 1 + static_cast<int>(dice_.below(4));
    chooseReplicas();
    world_.createStory(instances);
    world_.waitUntilGuarded();
    begin();
    if (dice_.oneIn(2)) beginStale(instances);
    return FaultWorld::storyPaths(instances);
  }
  std::vector<std::string> prepareWorks() {
    works_.hasClaim = dice_.oneIn(2);
    chooseReplicas();
    works_.createWorks();
    works_.waitUntilKept();
    begin();
    return WorksWorld::workPaths();
  }
  void begin() {
    world_.waitUntil("the configuration is in force", [this] { return isInForce(); });
    isBroken_ = false;
  }

  // Of each role one lastout or two.
  void chooseReplicas() {
    calm();
    for (size_t i = 1; i < world_.replicas(); i += 2) {
      Replica& second = world_.replica(i);
      if (dice_.oneIn(3) && second.isServing())
        second.kill();
      else if (!second.isServing())
        second.serve();
    }
  }

  // All that blocks goes, is seen to have gone, and comes again unseen.
  void beginStale(int instances) {
    std::vector<std::string> blockers = FaultWorld::storyPaths(instances);
    std::erase_if(blockers, [](const std::string& path) {
      return path != kFaultCrd && !path.starts_with(kFaultInstances);
    });
    world_.deleteAll(blockers);
    for (size_t i = 0; i < world_.replicas(); ++i) {
      Replica& replica = world_.replica(i);
      if (!replica.isServing()) continue;
      world_.waitUntil("nothing blocks", [&] {
        return replica.believesThereIsNone({"my.crd.group", "coolresources"});
      });
      Faults faults;
      faults.held = {"customresourcedefinitions", "coolresources"};
      replica.api.set(faults);
    }
    world_.createDefinition();
    for (int i = 0; i < instances; ++i) world_.createInstance("instance-" + std::to_string(i));
  }

  void calm() {
    for (size_t i = 0; i < world_.replicas(); ++i) {
      world_.replica(i).resume();
      world_.replica(i).connect();
      world_.replica(i).api.calm();
      if (i % 2 == 0 && !world_.replica(i).isServing()) world_.replica(i).serve();
    }
  }

  bool isInForce() {
    for (size_t i = 0; i < world_.replicas(); ++i) {
      Replica& replica = world_.replica(i);
      if (!replica.isServing() || !replica.roles().controller) continue;
      if (replica.isSuspended() || !replica.isAskedAsItShould()) return false;
    }
    return true;
  }

  // Called over and over: each trouble lasts for a while.
  void trouble() {
    // Where the provider may have gone unguarded nobody removes finalizers, nor those of an instance that
    // comes later.
    if (world_.judge.counts().unguarded > unguarded_) world_.finalizeByHand();
    if (wait_ > 0) {
      --wait_;
      return;
    }
    if (++troubles_ > kMostTroubles) return calm();
    wait_ = dice_.below(kLongestTrouble);
    ++faults_;
    Replica& chosen = world_.replica(dice_.below(static_cast<uint32_t>(world_.replicas())));
    if (chosen.isServing())
      happen(chosen);
    else
      world_.jump(std::chrono::hours(24) * (static_cast<int>(dice_.below(800)) - 400));
  }

  void happen(Replica& replica) {
    const std::vector<WatchEnd> ends{WatchEnd::Whole, WatchEnd::Amid, WatchEnd::Expired};
    const std::vector<std::string> types{"coolresources", "customresourcedefinitions", "criticalservices",
                                         "deployments", "namespaces"};
    const auto happens = dice_.below(16);
    world_.log(replica.identity + ": trouble " + std::to_string(happens));
    Faults faults;
    switch (happens) {
      case 0:
      case 1:
        return replica.api.cutWatches(static_cast<int>(dice_.below(4)), dice_.pick(ends));
      case 2:
        faults.held = {dice_.pick(types), dice_.pick(types), dice_.pick(types)};
        return replica.api.set(faults);
      case 3:
        faults.repeats = true;
        return replica.api.set(faults);
      case 4:
        faults.swaps = true;
        return replica.api.set(faults);
      case 5:
        faults.expires = true;
        replica.api.cutWatches(0, WatchEnd::Expired);
        return replica.api.set(faults);
      case 6:
        faults.delay = milliseconds(dice_.below(400));
        return replica.api.set(faults);
      case 7:
        faults.status = dice_.pick<int>({401, 403, 404, 410, 429, 500, 503});
        return replica.api.set(faults);
      case 8:
        return replica.disconnect();
      case 9:
        replica.resume();
        replica.connect();
        return replica.api.calm();
      case 10:
        return restart(replica);
      case 11:
        return replica.rotate();
      case 12:
        return breakConfiguration();
      case 13:
        return loseTheLease();
      case 14:
        if (replica.runsOnItsOwn()) return replica.suspend();
        return loseTheLease();
      default:
        return createLate();
    }
  }

  void restart(Replica& replica) {
    if (isBroken_ && world_.judge.counts().reported == reported_)
      return;  // what is not reported yet dies with it
    replica.kill();
    replica.serve();
  }

  void loseTheLease() { dice_.oneIn(2) ? world_.deleteTheLease() : world_.takeTheLease(); }

  // Where lastout had put it; a lastout that has just begun does not know whether it ever stood.
  void breakConfiguration() {
    if (!isInForce()) return;
    isBroken_ = true;
    reported_ = world_.judge.counts().reported;
    if (dice_.oneIn(2))
      world_.ask("DELETE", kFaultWebhook);
    else
      world_.ask("PATCH", kFaultWebhook, {{"webhooks", Json::array()}});
  }

  // Where its type still takes one.
  void createLate() {
    const Json metadata = {{"name", "late-" + std::to_string(++late_)},
                           {"finalizers", {"my.crd.group/super-important"}}};
    world_.ask("POST", kFaultInstances,
               {{"apiVersion", "my.crd.group/v1"}, {"kind", "CoolResource"}, {"metadata", metadata}});
  }

  Dice dice_;
  WorksWorld works_;
  FaultWorld& world_ = works_.world;
  uint32_t wait_ = 0;
  int troubles_ = 0;
  int faults_ = 0;
  int rounds_ = 0;
  std::chrono::seconds slowest_{0};
  int late_ = 0;
  int unguarded_ = 0;  // before this round
  bool isBroken_ = false;
  int reported_ = 0;
};

void soak(Processes processes) {
  const uint64_t seconds = numberIn("LASTOUT_SOAK_SECONDS", 30);
  const uint64_t seed = numberIn("LASTOUT_SOAK_SEED", std::random_device()());
  const std::string again = "scripts/soak " + std::to_string(seconds) + " " + std::to_string(seed);
  std::cout << "soak: seed " << seed << ", " << seconds << " s; again: " << again << std::endl;
  const auto end = steady_clock::now() + std::chrono::seconds(seconds);
  Soak soak(seed, processes);
  while (steady_clock::now() < end && !::testing::Test::HasFailure()) {
    soak.round();
    EXPECT_EQ(soak.complaints(), "") << soak.logged();
    EXPECT_THAT(soak.unasked(), ::testing::IsEmpty()) << soak.logged();
  }
  std::cout << "soak: " << soak.summary() << std::endl;
  EXPECT_FALSE(::testing::Test::HasFailure()) << "to repeat it: " << again;
}

TEST(SoakTest, NothingUnsafeAndEverythingEnds) { soak(Processes::OfBothRoles); }
TEST(SoakTest, NothingUnsafeAndEverythingEndsWithOneRoleEach) { soak(Processes::OfOneRole); }
TEST(SoakTest, NothingUnsafeAndEverythingEndsWithProcessesOfOneRoleEach) {
  soak(Processes::OfOneRoleOnTheirOwn);
}

}  // namespace
}  // namespace lastout::testing
