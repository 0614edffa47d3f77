// AppliedManifestWorks that lastout keeps until what they have applied is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/kept_work_rule.h"
#include "kube/well_known.h"
#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::Contains;
using testing::Not;

const std::string kKept(kube::kAppliedObjectsFinalizer);

World worldOf(const std::string& guard, const std::string& more = {}) {
  return World(kProvider + kInstances + guard + more,
               {.runsDeferredDeletions = true,
                .works = {"provider: namespaces/operator deployments.apps/operator/controller"}});
}

TEST(KeptWork, IsThereUntilTheLastOfWhatItAppliedIsGone) {
  World world = worldOf(kGuard);
  EXPECT_THAT(world.finalizers(kApplied), Contains(kKept)) << "it was applied before lastout came";
  world.deletes(kWork);
  world.settle();
  EXPECT_THAT(world.finalizers(kApplied), testing::ElementsAre(kKept)) << "the agent is done with it";
  EXPECT_TRUE(world.present(kWork));
  clear(world);
  world.perform(Kind::DeleteDeferred, kDeployment);
  world.perform(Kind::Confirm, kDeployment, Actor::Lastout);
  world.perform(Kind::Commit, kDeployment, Actor::Lastout);
  EXPECT_FALSE(world.present(kDeployment));
  EXPECT_FALSE(world.enabled(Kind::KeepWork, kApplied)) << "its namespace is there";
  world.settle();
  EXPECT_FALSE(world.present(kNamespace) || world.present(kApplied) || world.present(kWork));
}

TEST(KeptWork, NotWhereLastoutOnlyDenies) {
  World world(kProvider + kInstances + kGuard, {.works = {"provider: deployments.apps/operator/controller"}});
  world.deletes(kWork);
  world.settle();
  EXPECT_FALSE(world.present(kWork));
  EXPECT_TRUE(world.present(kDeployment)) << "the work was reported gone too early";
}

TEST(KeptWork, NotForWhatLastoutDoesNotRun) {
  World world =
      worldOf(std::string(kGuard).insert(kGuard.find("  provider:"), "  deferredDeletions: Never\n"));
  EXPECT_THAT(world.finalizers(kApplied), Not(Contains(kKept)));
}

TEST(KeptWork, NoLongerOnceNothingIsGuarded) {
  World world = worldOf(kGuard);
  clear(world);
  world.deletes(kDeployment);
  world.deletes(kService);
  ASSERT_FALSE(world.present(kService));
  world.perform(Kind::KeepWork, kApplied);
  EXPECT_THAT(world.finalizers(kApplied), Not(Contains(kKept)));
}

// A webhook that nobody serves.
std::string refusing(const std::string& group, const std::string& resource) {
  return "{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: operator}, "
         "spec: {selector: {app: nobody}}}\n---\n"
         "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, "
         "metadata: {name: hook}, webhooks: [{name: hook.example.com, "
         "clientConfig: {service: {namespace: operator, name: hook}}, "
         "rules: [{apiGroups: [" +
         group + "], apiVersions: ['*'], resources: [" + resource + "], operations: [DELETE]}]}]}\n---\n";
}

constexpr char kHook[] = "validatingwebhookconfigurations.admissionregistration.k8s.io/hook";

void finishAgent(World& world) {
  while (world.enabledWork(0)) world.agent(0);
  EXPECT_THAT(world.finalizers(kApplied), testing::ElementsAre(kKept));
}

// The agent tries once, whoever refuses it.
TEST(KeptWork, LeavesToLastoutWhatItsAgentCouldNotDelete) {
  World world = worldOf(kGuard, refusing("apps", "deployments"));
  clear(world);
  world.deletes(kWork);
  world.agent(0);
  EXPECT_FALSE(world.enabled(Kind::DeleteDeferred, kDeployment)) << "the agent is at it";
  world.settle();
  EXPECT_TRUE(world.present(kDeployment));
  EXPECT_TRUE(world.present(kApplied));
  world.deletes(kHook);
  world.settle();
  EXPECT_FALSE(world.present(kDeployment) || world.present(kApplied) || world.present(kWork));
}

TEST(KeptWork, LeavesToLastoutWhatACriticalServiceWasToRecord) {
  World world = worldOf(
      std::string(kGuard).insert(kGuard.find("  provider:"), "  deletionIntent: BestEffortDeletion\n"));
  world.deletes(kWork);
  finishAgent(world);
  world.deletes(kService);
  EXPECT_EQ(world.state().object(world.slot(kNamespace)).deferredDeletion, std::nullopt);
  world.settle();
  EXPECT_FALSE(world.present(kNamespace) || world.present(kApplied));
}

// What lastout does not delete is left to the garbage collector, which waits for the work.
TEST(KeptWork, IsLetGoWhenNobodyWouldDeleteWhatItApplied) {
  World world(kProvider + kInstances + kGuard + refusing("example.com", "widgets"),
              {.runsDeferredDeletions = true,
               .works = {"provider: deployments.apps/operator/controller widgets.example.com/one"}});
  world.deletes(kWork);
  world.agent(0);
  EXPECT_FALSE(world.enabled(Kind::KeepWork, kApplied)) << "the agent is at it";
  finishAgent(world);
  world.perform(Kind::KeepWork, kApplied);
  EXPECT_FALSE(world.present(kApplied));
  EXPECT_TRUE(world.enabled(Kind::CollectorDelete, kWidget));
}

}  // namespace
}  // namespace lastout::cluster
