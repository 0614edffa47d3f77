// What a DELETE does to one object, and to what depends on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/well_known.h"
#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::string onlyChild(const World& world, std::string_view workload) {
  return world.model().name(world.model().slots[world.slot(workload)].children.front());
}

TEST(Delete, RemovesAnObjectThatNothingHolds) {
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}");
  world.deletes("configmaps/x/a");
  EXPECT_THAT(world.left(), IsEmpty());
  EXPECT_THAT(world.log(), ElementsAre("client requested configmaps/x/a", "client accepted configmaps/x/a",
                                       "client gone configmaps/x/a"));
}

TEST(Delete, WaitsForTheLastFinalizerAndThenNeedsNoReview) {
  World world(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [f/one, f/two]}}");
  world.deletes("configmaps/x/a");
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 1);
  EXPECT_THAT(world.finalizers("configmaps/x/a"), ElementsAre("f/one"));
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Delete, OfNothingIsNotFoundAndFinal) {
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}");
  world.deletes("configmaps/x/a");
  world.deletes("configmaps/x/a");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: NotFound");
}

// Recorded in rest/065: no finalizer can be added to an object that terminates, one can be taken away.
TEST(Delete, ATerminatingObjectTakesNoNewFinalizer) {
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [f/one]}}");
  const auto both = finalizerMask(world.model(), world.slot("configmaps/x/a"), {"f/one", "f/two"});
  ASSERT_TRUE(both);
  world.deletes("configmaps/x/a");
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", *both);
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: Invalid");
  EXPECT_THAT(world.finalizers("configmaps/x/a"), ElementsAre("f/one"));
}

// Recorded in rest/058.
TEST(Delete, InTheForegroundOfWhatAlreadyTerminatesAddsForegroundDeletion) {
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [f/one]}}");
  world.deletes("configmaps/x/a");
  world.deletes("configmaps/x/a", PropagationPolicy::Foreground);
  EXPECT_THAT(world.finalizers("configmaps/x/a"), ElementsAre("f/one", kube::kForegroundFinalizer));
}

TEST(Delete, InTheBackgroundTakesTheOwnerFirst) {
  World world(kProvider);
  const std::string replicaSet = onlyChild(world, kDeployment);
  world.deletes(kDeployment, PropagationPolicy::Background);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_TRUE(world.present(replicaSet));
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre(kNamespace));
}

// Recorded in admission/14 to 18: ReplicaSet in the foreground, Pod in the background, then the Deployment.
TEST(Delete, InTheForegroundTakesDependentsFirst) {
  World world(kProvider);
  const std::string replicaSet = onlyChild(world, kDeployment);
  const std::string pod = onlyChild(world, replicaSet);
  world.deletes(kDeployment, PropagationPolicy::Foreground);
  EXPECT_TRUE(world.terminating(kDeployment));
  EXPECT_FALSE(world.enabled(Kind::CollectorRelease, kDeployment));
  world.perform(Kind::CollectorDelete, replicaSet);
  EXPECT_THAT(world.finalizers(replicaSet), ElementsAre(kube::kForegroundFinalizer));
  world.perform(Kind::CollectorDelete, pod);
  world.perform(Kind::PodStop, pod);
  EXPECT_TRUE(world.present(replicaSet));
  world.perform(Kind::CollectorRelease, replicaSet);
  EXPECT_FALSE(world.present(replicaSet));
  world.perform(Kind::CollectorRelease, kDeployment);
  EXPECT_FALSE(world.present(kDeployment));
}

// Recorded in admission/19 and 20: the ReplicaSet stays, and belongs to nobody.
TEST(Delete, AsOrphanLeavesTheDependents) {
  World world(kProvider);
  const std::string replicaSet = onlyChild(world, kDeployment);
  world.deletes(kDeployment, PropagationPolicy::Orphan);
  world.settle();
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_TRUE(world.present(replicaSet));
  EXPECT_FALSE(world.enabled(Kind::CollectorDelete, replicaSet));
}

TEST(Delete, DryRunLeavesNoTrace) {
  World world("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}");
  world.send(
      world.step(ClientStep::Verb::Delete, "configmaps/x/a", [](ClientStep& step) { step.dryRun = true; }));
  EXPECT_TRUE(world.present("configmaps/x/a"));
  EXPECT_THAT(world.log(), IsEmpty());
}

const char kTwoOwners[] = R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: x}}
---
apiVersion: v1
kind: Secret
metadata:
  name: shared
  namespace: x
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: first, uid: ""}
  - {apiVersion: v1, kind: ConfigMap, name: second, uid: ""}
)";

TEST(Collector, KeepsWhatOneOwnerIsLeftForAndForgetsTheOther) {
  World world(kTwoOwners);
  world.deletes("configmaps/x/first");
  EXPECT_FALSE(world.enabled(Kind::CollectorDelete, "secrets/x/shared"));
  world.perform(Kind::CollectorRelease, "secrets/x/shared");
  world.deletes("configmaps/x/second");
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

// ConfigMaps of these names, each owned by the one before it, and the first by the last; each keeps its owner
// while that is deleted in the foreground.
std::string ringOf(const std::vector<std::string>& names) {
  std::string documents;
  for (size_t i = 0; i < names.size(); ++i)
    documents += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + names[i] +
                 ", namespace: x, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: " +
                 names[(i + names.size() - 1) % names.size()] + ", uid: '', blockOwnerDeletion: true}]}}\n";
  return documents;
}

// Kubernetes' source (attemptToDeleteItem() of the garbage collector).
TEST(Collector, FinishesARingThatIsDeletedInTheForeground) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"a", "b"}, std::vector<std::string>{"a", "b", "c"}}) {
    World world(ringOf(names));
    world.deletes("configmaps/x/a", PropagationPolicy::Foreground);
    world.settle();
    EXPECT_THAT(world.left(), IsEmpty()) << names.size();
  }
}

TEST(Collector, LetsNothingOfARingBlockItsOwnerBeforeItDeletesThat) {
  World world(ringOf({"a", "b"}));
  world.deletes("configmaps/x/a", PropagationPolicy::Foreground);
  EXPECT_FALSE(world.enabled(Kind::CollectorDelete, "configmaps/x/b"));
  EXPECT_FALSE(world.enabled(Kind::CollectorRelease, "configmaps/x/a"));
  world.perform(Kind::CollectorRelease, "configmaps/x/b");
  world.perform(Kind::CollectorDelete, "configmaps/x/b");
  EXPECT_THAT(world.finalizers("configmaps/x/b"), ElementsAre(kube::kForegroundFinalizer));
  world.perform(Kind::CollectorRelease, "configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

// It looks for rings before its own DELETE alone.
TEST(Collector, LeavesARingOfWhichClientsDeleteAllInTheForeground) {
  World world(ringOf({"a", "b"}));
  world.deletes("configmaps/x/a", PropagationPolicy::Foreground);
  world.deletes("configmaps/x/b", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
  EXPECT_TRUE(world.terminating("configmaps/x/b"));
}

TEST(Collector, NeedsAnUpdateToOpenARing) {
  World world(ringOf({"a", "b"}) + deadWebhook("UPDATE", "configmaps"));
  world.deletes("configmaps/x/a", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_FALSE(world.terminating("configmaps/x/b"));
  world.deletes(kLeftover);
  world.settle();
  EXPECT_THAT(world.left(), IsEmpty());
}

// A uid never comes back: an owner of the same name is another owner.
TEST(Collector, AnOwnerThatIsCreatedAnewOwnsNothing) {
  World world(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: x}}
---
apiVersion: v1
kind: Secret
metadata: {name: owned, namespace: x, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ""}]}
)");
  world.deletes("configmaps/x/owner");
  world.does(ClientStep::Verb::Create, "configmaps/x/owner");
  EXPECT_TRUE(world.enabled(Kind::CollectorDelete, "secrets/x/owned"));
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre("configmaps/x/owner"));
}

TEST(Collector, LeavesDependentsOfATerminatingOwnerAlone) {
  World world(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: x, finalizers: [f/one]}}
---
apiVersion: v1
kind: Secret
metadata: {name: owned, namespace: x, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ""}]}
)");
  world.deletes("configmaps/x/owner");
  EXPECT_FALSE(world.enabled(Kind::CollectorDelete, "secrets/x/owned"));
  world.settle();
  EXPECT_TRUE(world.present("secrets/x/owned"));
}

TEST(Collector, AForegroundDeletionWaitsOnlyForDependentsThatBlockIt) {
  World world(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: x}}
---
apiVersion: v1
kind: Secret
metadata:
  name: blocking
  namespace: x
  finalizers: [f/one]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: "", blockOwnerDeletion: true}]
---
apiVersion: v1
kind: Secret
metadata:
  name: other
  namespace: x
  finalizers: [f/one]
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ""}]
)");
  world.deletes("configmaps/x/owner", PropagationPolicy::Foreground);
  world.settle();
  EXPECT_TRUE(world.present("configmaps/x/owner"));
  world.does(ClientStep::Verb::SetFinalizers, "secrets/x/blocking", 0);
  world.settle();
  EXPECT_THAT(world.left(), ElementsAre("secrets/x/other"));
}

TEST(Step, ChangesLabelsAndReplicasOfWhatIsThere) {
  World world(kProvider);
  world.send(world.step(ClientStep::Verb::SetForm, kDeployment, [](ClientStep& step) {
    step.change.labels = kube::Labels{{"k", "v"}};
  }));
  const uint8_t form = world.state().object(world.slot(kDeployment)).form;
  EXPECT_EQ(world.model().slots[world.slot(kDeployment)].forms[form].labels, (kube::Labels{{"k", "v"}}));
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 2);
  EXPECT_EQ(world.state().object(world.slot(kDeployment)).value, 2);
  world.deletes(kDeployment);
  world.does(ClientStep::Verb::SetReplicas, kDeployment, 0);
  EXPECT_EQ(world.log().back(), std::string("client denied ") + kDeployment + ": NotFound");
  EXPECT_THAT(world.log(), Not(Contains(std::string("client denied ") + kDeployment)));
}

}  // namespace
}  // namespace lastout::cluster
