// What the ManifestWork agent creates and writes, held against the recorded stories.
#include "simulator/derived_works.h"

#include <gtest/gtest.h>

#include "simulator/metadata.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

constexpr const char* kHub = "d40a9dd7d8dc06954bde67491e6f5eeaad5d546a76a7d541cf0298e74316c824";

// The story's works, as a client created them.
Json createdWork(size_t line) {
  Json work = storyObject("guarded", line);
  work.erase("status");
  work["metadata"].erase("finalizers");
  return work;
}

const AppliedObject kService{"lastout.dev",
                             "v1alpha1",
                             "criticalservices",
                             "CriticalService",
                             "",
                             "for-finalizer-deployment",
                             "78263cae-6040-47c7-9076-164ccc7163c5",
                             ""};
const AppliedObject kNamespace{
    "", "v1", "namespaces", "Namespace", "", "finalizer-namespace", "a489a241-be64-4f91-8ad3-be3a65b89292",
    ""};
const AppliedObject kDeployment{"apps",
                                "v1",
                                "deployments",
                                "Deployment",
                                "finalizer-namespace",
                                "finalizer-deployment",
                                "66c0c613-930f-4fef-9d13-03bde83ba558",
                                ""};
const AppliedObject kInstance{"my.crd.group",
                              "v1",
                              "coolresources",
                              "CoolResource",
                              "",
                              "some-instance",
                              "bcc75556-4274-420f-83d8-d8e0d086ce83",
                              ""};

Json withAgentsFinalizer(Json work) {
  work["metadata"]["finalizers"].push_back("cluster.open-cluster-management.io/manifest-work-cleanup");
  return work;
}

TEST(Work, BecomesTheRecordedOne) {
  Json work = withAgentsFinalizer(createdWork(4));
  work = withApplied(work, {kService, kNamespace, kDeployment}, "2026-11-21T02:39:43Z");
  work = withAvailability(work, {true, true, true}, "2026-11-21T02:39:43Z");
  EXPECT_EQ(work, storyObject("guarded", 4));

  work = withApplied(withAgentsFinalizer(createdWork(6)), {kInstance}, "2026-11-21T02:39:47Z");
  EXPECT_EQ(withAvailability(work, {true}, "2026-11-21T02:39:48Z"), storyObject("guarded", 6));
}

TEST(Work, WhoseObjectsAreGoneSaysSo) {
  const Json review = recordedReview("08-update-manifestworks-status-agent");
  EXPECT_EQ(withAvailability(review["oldObject"], {false}, "2026-11-21T01:45:25Z"), review["object"]);

  Json work = storyObject("unguarded", 26);
  work = withAvailability(work, {false, true, false}, "2026-11-21T02:44:49Z");
  work["metadata"]["resourceVersion"] = "680";
  EXPECT_EQ(work, storyObject("unguarded", 31));
}

TEST(Work, ThatTerminatesIsLookedAtAgain) {
  Json work = storyObject("guarded", 16);
  const Json recorded = storyObject("guarded", 18);
  work["metadata"]["resourceVersion"] = recorded["metadata"]["resourceVersion"];
  EXPECT_EQ(withAvailability(work, {true}, "2026-11-21T02:39:51Z"), recorded);
}

TEST(Work, SaysWhatCouldNotBeApplied) {
  AppliedObject denied = kInstance;
  denied.failure = "denied";
  const Json work = withApplied(createdWork(6), {denied}, "2026-11-21T02:39:47Z");
  EXPECT_EQ(work["status"]["conditions"][0]["reason"], "AppliedManifestWorkFailed");
  EXPECT_EQ(work["status"]["resourceStatus"]["manifests"][0]["conditions"][0]["message"],
            "Failed to apply manifest: denied");
}

TEST(AppliedWork, IsTheRecordedOne) {
  const Json recorded = storyObject("guarded", 8);
  const Json applied = appliedWorkOf(createdWork(4), kHub, "agent1");
  Json stored = anonymous(withAppliedResources(applied, {kService, kNamespace, kDeployment}));
  stored["metadata"]["generation"] = 1;
  EXPECT_EQ(stored, anonymous(recorded));

  const Json reviewed = recordedReview("38-delete-appliedmanifestworks-agent")["oldObject"];
  EXPECT_EQ(appliedWorkOf(createdWork(5), kHub, "agent1")["spec"], reviewed["spec"]);
}

TEST(AppliedWork, SortsItsResourcesAndForgetsThemAll) {
  const Json recorded = storyObject("deadlock", 1);
  std::vector<AppliedObject> objects;
  for (const Json& resource : recorded["status"]["appliedResources"])
    objects.insert(objects.begin(), {resource["group"], resource["version"], resource["resource"], "",
                                     resource["namespace"], resource["name"], resource["uid"], ""});
  EXPECT_EQ(withAppliedResources(recorded, objects), recorded);
  const AppliedObject secret{"", "v1", "secrets", "Secret", "a", "s", "u1", ""};
  const AppliedObject config{"", "v1", "configmaps", "ConfigMap", "b", "c", "u2", ""};
  EXPECT_EQ(withAppliedResources(recorded, {secret, config})["status"]["appliedResources"][0]["name"], "c")
      << "the resource counts before the namespace";

  Json emptied = withAppliedResources(storyObject("guarded", 37), {});
  emptied["metadata"]["resourceVersion"] = "353";
  EXPECT_EQ(emptied, storyObject("guarded", 47));
}

TEST(AppliedManifest, NamesItsWork) {
  const Json manifest = createdWork(6)["spec"]["workload"]["manifests"][0];
  const Json applied = appliedManifest(manifest, storyObject("guarded", 10));
  EXPECT_EQ(applied["metadata"]["ownerReferences"],
            storyObject("guarded", 12)["metadata"]["ownerReferences"]);
}

TEST(Work, OfTheWrongShapeHarmsNobody) {
  for (const char* text :
       {"7", "[]", R"({"metadata": 1, "status": 2})",
        R"({"status": {"conditions": 1, "resourceStatus": {"manifests": [1, {"conditions": 2}]}}})"}) {
    const Json odd = Json::parse(text);
    withAvailability(withApplied(odd, {kInstance}, "now"), {true, false}, "now");
    withAvailability(odd, {true, false}, "now");
    withAppliedResources(appliedWorkOf(odd, "h", "a"), {kInstance});
    appliedManifest(odd, odd);
  }
}

}  // namespace
}  // namespace lastout::simulator
