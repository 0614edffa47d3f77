// Jobs and ManifestWorks that are deleted once they have finished: ttlSecondsAfterFinished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kJob = "jobs.batch/x/once";

// `spec`: more of its fields; `rest`: its status.
std::string finishing(const std::string& spec, const std::string& rest = "") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: x}\n"
         "spec: {template: {metadata: {labels: {app: once}}}" +
         spec + "}\n" + rest;
}
constexpr const char* kLives = ", ttlSecondsAfterFinished: 60";

TEST(TimeToLive, AJobGoesWithItsPodsOnceItMayHaveFinished) {
  World world(finishing(kLives));
  ASSERT_TRUE(world.enabled(Kind::DeleteFinished, kJob)) << "its Pod runs, so that it may end at any moment";
  world.perform(Kind::DeleteFinished, kJob);
  EXPECT_THAT(world.log(), Contains("ttl accepted jobs.batch/x/once"));
  EXPECT_THAT(world.finalizers(kJob), ElementsAre("foregroundDeletion"))
      << "the TTL controller deletes in the foreground";
  EXPECT_FALSE(world.enabled(Kind::DeleteFinished, kJob)) << "what is being deleted it leaves alone";
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(TimeToLive, AJobWithoutItStays) {
  World world(finishing(""));
  EXPECT_FALSE(world.enabled(Kind::DeleteFinished, kJob));
}

// https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup
TEST(TimeToLive, AJobThatCannotRunDoesNotFinish) {
  const std::string suspended = std::string(kLives) + ", suspend: true";
  EXPECT_FALSE(World(finishing(suspended)).enabled(Kind::DeleteFinished, kJob));
  EXPECT_FALSE(
      World(finishing(suspended + ", activeDeadlineSeconds: 5")).enabled(Kind::DeleteFinished, kJob));
  World without(finishing(kLives));
  without.deletes(without.left().back());
  ASSERT_THAT(without.left().back(), HasSubstr("pods/x/"));
  EXPECT_FALSE(without.enabled(Kind::DeleteFinished, kJob)) << "its Pod is on its way out";
}

TEST(TimeToLive, AJobThatHasFinishedOrRunsOutOfTimeNeedsNoPod) {
  for (const char* condition : {"Complete", "Failed"}) {
    World world(finishing(
        kLives, std::string("status: {conditions: [{type: ") + condition + ", status: 'True'}]}\n"));
    EXPECT_THAT(world.left(), ElementsAre(kJob)) << "it runs no Pods";
    EXPECT_TRUE(world.enabled(Kind::DeleteFinished, kJob)) << condition;
  }
  World world(finishing(std::string(kLives) + ", activeDeadlineSeconds: 5"));
  for (const std::string& name : world.left())
    if (name != kJob) world.deletes(name);
  EXPECT_TRUE(world.enabled(Kind::DeleteFinished, kJob));
}

// A clean-up ends when its work is done.
TEST(TimeToLive, AJobWithAControllerInItFinishesWhenNothingIsLeftToDo) {
  World world(kInstances + finishing(kLives));
  world.controller("cleanup", kJob, "example.com/clean", "widgets.example.com");
  EXPECT_FALSE(world.enabled(Kind::DeleteFinished, kJob));
  world.deletes(kWidget);
  world.perform(Kind::Finalize, kWidget);
  ASSERT_FALSE(world.present(kWidget));
  EXPECT_TRUE(world.enabled(Kind::DeleteFinished, kJob));
}

// It is asked about like anybody else.
TEST(TimeToLive, TheDeletionIsReviewed) {
  World world(finishing(kLives) + deadWebhook("DELETE", "jobs"));
  world.perform(Kind::DeleteFinished, kJob);
  EXPECT_EQ(world.log().back(), "ttl denied jobs.batch/x/once: InternalError");
  EXPECT_TRUE(world.enabled(Kind::DeleteFinished, kJob)) << "it tries again";
}

constexpr const char* kAppliedOnce = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}\n";
constexpr const char* kOnce = "manifestworks.work.open-cluster-management.io/hub/once";

// A work that applies the ConfigMap; `rest`: its spec and status.
World workSaying(const std::string& rest) {
  return World(std::string(kAppliedOnce) +
                   "---\n{apiVersion: work.open-cluster-management.io/v1, kind: ManifestWork, "
                   "metadata: {name: once, namespace: hub}, " +
                   rest + "}\n",
               {.works = {"once: configmaps/x/a"}});
}

TEST(TimeToLive, AWorkGoesOnceItMayBeComplete) {
  World world = workSaying(
      "spec: {deleteOption: {ttlSecondsAfterFinished: 60}, manifestConfigs: [{conditionRules: [{type: CEL, "
      "condition: Complete}]}]}");
  world.perform(Kind::DeleteFinished, kOnce);
  EXPECT_THAT(world.log(), Contains("ttl accepted " + std::string(kOnce)));
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

TEST(TimeToLive, AWorkThatNothingMakesCompleteStays) {
  EXPECT_FALSE(
      workSaying("spec: {deleteOption: {ttlSecondsAfterFinished: 60}}").enabled(Kind::DeleteFinished, kOnce));
  EXPECT_FALSE(workSaying("spec: {manifestConfigs: [{conditionRules: [{type: CEL, condition: Complete}]}]}")
                   .enabled(Kind::DeleteFinished, kOnce));
  EXPECT_TRUE(workSaying("spec: {deleteOption: {ttlSecondsAfterFinished: 60}}, status: {conditions: [{type: "
                         "Complete, status: 'True'}]}")
                  .enabled(Kind::DeleteFinished, kOnce));
}

}  // namespace
}  // namespace lastout::cluster
