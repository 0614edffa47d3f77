// The recorded stories, played again by the machine: the same clients ask for the same in the same cluster,
// and it ends as the recording did, in an order of events that the recording's kind of cluster allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "replay/replay.h"
#include "tests/recordings/happens_before.h"
#include "tests/recordings/recorded_story.h"
#include "tests/recordings/story_facts.h"

namespace lastout::testing {
namespace {

using cluster::EventKind;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

#ifdef LASTOUT_SANITIZED
constexpr uint64_t kOrders = 100;
#else
constexpr uint64_t kOrders = 1'000;
#endif

struct Played {
  std::vector<Happened> happened;
  std::set<std::string> left;
};

// One story, and the machine that plays it.
class Stage {
 public:
  explicit Stage(const StoryName& name)
      : story(readStory(name)), pairs(pairsOf(story)), compiled_(toModel(story)), replayer_(compiled_) {}

  Played play(const replay::RunOptions& options) {
    replay::Run run;
    std::vector<replay::Happening> log;
    replayer_.run(options, run, &log);
    EXPECT_NE(run.end, replay::End::Undecided);
    EXPECT_FALSE(run.unsafe);
    Played played;
    std::set<std::pair<cluster::Slot, EventKind>> seen;
    for (const replay::Happening& happening : log) {
      const cluster::ClusterEvent& event = happening.event;
      const bool counts = event.kind == EventKind::Accepted || event.kind == EventKind::Gone ||
                          (event.kind == EventKind::Denied && event.refused == nullptr);
      if (counts && (seen.insert({event.slot, event.kind}).second || event.kind == EventKind::Gone))
        played.happened.push_back({.key = compiled_.model.slots[event.slot].key, .kind = event.kind});
    }
    const cluster::StateRef end(run.state.data(), replayer_.machine().layout());
    for (cluster::Slot slot = 0; slot < compiled_.model.slots.size(); ++slot) {
      if (end.object(slot).present()) played.left.insert(compiled_.model.name(slot));
    }
    return played;
  }

  Played timed() { return play({.order = replay::Order::Written}); }
  Played random(uint64_t seed) { return play({.order = replay::Order::Random, .seed = seed}); }

  RecordedStory story;
  std::vector<HappensBefore> pairs;

 private:
  replay::Compiled compiled_;
  replay::Replayer replayer_;
};

class RecordedStories : public ::testing::TestWithParam<StoryName> {
 protected:
  Stage stage_{GetParam()};
};

TEST_P(RecordedStories, TheListSaysNothingThatTheRecordingContradicts) {
  EXPECT_EQ(contradictions(stage_.pairs, stage_.story.happened), "");
}

TEST_P(RecordedStories, InTheirOwnTimeEndAsRecorded) {
  const Played played = stage_.timed();
  EXPECT_EQ(played.left, stage_.story.left);
  EXPECT_EQ(contradictions(stage_.pairs, played.happened), "");
  for (const EventKind kind : {EventKind::Accepted, EventKind::Denied, EventKind::Gone})
    EXPECT_EQ(namesOf(played.happened, kind), namesOf(stage_.story.happened, kind))
        << "kind of event: " << static_cast<int>(kind);
}

// A pair of which no recording shows both events would say nothing.
TEST(HappensBeforeList, HasNoPairThatNoRecordingShows) {
  std::set<std::string> said;
  std::set<std::string> shown;
  for (const StoryName& name : storyNames()) {
    const RecordedStory story = readStory(name);
    for (const HappensBefore& pair : pairsOf(story)) {
      const std::string words = pair.first.text + " before " + pair.then.text;
      const auto happens = [&](const HappensBefore::Side& side) {
        return std::any_of(story.happened.begin(), story.happened.end(),
                           [&](const Happened& event) { return side.matches(event); });
      };
      said.insert(words);
      if (happens(pair.first) && happens(pair.then)) shown.insert(words);
    }
  }
  EXPECT_EQ(said, shown);
}

// The guarded story is forced to end empty. The others depend on who is faster: the deadlock and the
// unguarded story end as recorded, or empty, and in no other way.
TEST_P(RecordedStories, InAnyOrderEndAsRecordedOrEmpty) {
  bool asRecorded = false;
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Played played = stage_.random(seed);
    ASSERT_THAT(played.left, AnyOf(stage_.story.left, IsEmpty()));
    ASSERT_EQ(contradictions(stage_.pairs, played.happened), "");
    asRecorded = asRecorded || played.left == stage_.story.left;
  }
  EXPECT_TRUE(asRecorded);
}

INSTANTIATE_TEST_SUITE_P(Story, RecordedStories, ::testing::ValuesIn(storyNames()),
                         [](const auto& info) { return info.param.test(); });

class RecordedEnds : public ::testing::TestWithParam<kube::KubernetesVersion> {};
INSTANTIATE_TEST_SUITE_P(Kubernetes, RecordedEnds,
                         ::testing::Values(kube::KubernetesVersion::V1_26, kube::KubernetesVersion::V1_36),
                         [](const auto& info) {
                           return info.param == kube::KubernetesVersion::V1_26 ? "V1_26" : "V1_36";
                         });

// What the recordings' README says of their ends, so that they are read right.
TEST_P(RecordedEnds, AreWhatTheirDescriptionSays) {
  EXPECT_THAT(readStory("guarded", GetParam()).left, IsEmpty());
  EXPECT_THAT(readStory("unguarded", GetParam()).left,
              ElementsAre(StartsWith("appliedmanifestworks."), StartsWith("appliedmanifestworks."),
                          "coolresources.my.crd.group/some-instance",
                          "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group",
                          "manifestworks.work.open-cluster-management.io/cluster1/cr",
                          "manifestworks.work.open-cluster-management.io/cluster1/crd"));
  EXPECT_THAT(readStory("deadlock", GetParam()).left,
              ElementsAre(StartsWith("appliedmanifestworks."),
                          "criticalservices.lastout.dev/for-finalizer-deployment",
                          "deployments.apps/finalizer-namespace/finalizer-deployment",
                          "manifestworks.work.open-cluster-management.io/cluster1/finalizer",
                          "namespaces/finalizer-namespace", "persistentvolumeclaims/finalizer-namespace/data",
                          StartsWith("pods/finalizer-namespace/finalizer-deployment-"),
                          StartsWith("replicasets.apps/finalizer-namespace/finalizer-deployment-")));
}

TEST_P(RecordedEnds, AWorkIsReportedGoneTooEarlyInTheGuardedStory) {
  Stage stage({"guarded", GetParam()});
  expectGoneTooEarly(stage.story.happened);
  expectGoneTooEarly(stage.timed().happened);
}

TEST_P(RecordedEnds, TheProviderIsDeniedOnceAndNeverAskedForAgainInTheDeadlock) {
  Stage stage({"deadlock", GetParam()});
  expectProviderForgotten(stage.story.happened);
  expectProviderForgotten(stage.timed().happened);
}

}  // namespace
}  // namespace lastout::testing
