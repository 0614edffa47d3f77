// Every ManifestWork and AppliedManifestWork that a real control plane sent, as its own agent read it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "manifestwork/ordering.h"
#include "tests/manifestwork/reading.h"

namespace lastout::manifestwork {
namespace {

using Json = nlohmann::json;

// The objects of one recording, in its order.
std::vector<Json> recordedObjects(const std::string& story) {
  std::ifstream file("tests/recordings/kubernetes-1.26/" + story + ".jsonl");
  std::vector<Json> objects;
  for (std::string line; std::getline(file, line);) {
    const Json event = Json::parse(line);
    if (event.contains("object") && event["object"].is_object()) objects.push_back(event["object"]);
  }
  return objects;
}

class Recording : public ::testing::TestWithParam<std::string> {
 protected:
  Recording() : objects_(recordedObjects(GetParam())) {
    std::vector<kube::Value> documents;
    documents.reserve(objects_.size());
    for (const Json& object : objects_) documents.push_back(kube::fromJson(object));
    EXPECT_TRUE(addEmbeddedTypes(documents, GetParam(), types_));
  }

  std::vector<Json> ofKind(const std::string& kind) const {
    std::vector<Json> found;
    std::copy_if(objects_.begin(), objects_.end(), std::back_inserter(found),
                 [&](const Json& object) { return object["kind"] == kind; });
    EXPECT_FALSE(found.empty());
    return found;
  }

  kube::Object parsed(const Json& json) const {
    auto object = kube::parseObject(kube::fromJson(json), GetParam(), types_);
    EXPECT_TRUE(object) << kube::toString(object.error());
    return std::move(*object);
  }

  std::vector<Json> objects_;
  kube::ResourceMap types_ = kube::ResourceMap::builtIn();
};

// Resource metadata as the agent writes it into a status: group, resource, namespace, name.
std::string keyOf(const Json& meta) {
  return kube::toString(kube::ObjectKey{{meta["group"], meta["resource"]}, meta["namespace"], meta["name"]});
}

TEST_P(Recording, TheAgentSawTheSameManifestsInEveryWork) {
  size_t compared = 0;
  for (const Json& json : ofKind("ManifestWork")) {
    const auto work = parseWork(parsed(json), {}, types_);
    ASSERT_TRUE(work) << errorsOf(work);
    EXPECT_EQ(work->object.key.namespaceName, "cluster1");
    ASSERT_EQ(work->manifests.size(), json["spec"]["workload"]["manifests"].size());
    for (const Json& status : json["status"]["resourceStatus"]["manifests"]) {
      const Json& meta = status["resourceMeta"];
      EXPECT_EQ(kube::toString(work->manifests.at(meta["ordinal"].get<size_t>()).key), keyOf(meta));
      ++compared;
    }
  }
  EXPECT_GT(compared, 10u);
}

TEST_P(Recording, TheAgentsNotesListWhatTheWorkApplies) {
  std::map<std::string, std::vector<std::string>> appliedByWork;
  std::map<std::string, ManifestWork> works;
  for (const Json& json : ofKind("ManifestWork")) {
    auto work = parseWork(parsed(json), {}, types_);
    ASSERT_TRUE(work) << errorsOf(work);
    works.try_emplace(work->object.key.name, std::move(*work));
  }
  for (const Json& json : ofKind("AppliedManifestWork")) {
    const auto applied = parseApplied(parsed(json));
    ASSERT_TRUE(applied) << errorsOf(applied);
    EXPECT_EQ(applied->object.key.name, applied->hubHash + "-" + applied->manifestWorkName);
    EXPECT_EQ(applied->hubHash.size(), 64u);
    EXPECT_EQ(applied->agentId, "agent1");
    EXPECT_THAT(applied->object.meta.finalizers, ::testing::IsSubsetOf({std::string(kAppliedFinalizer)}));

    const ManifestWork& work = works.at(applied->manifestWorkName);
    EXPECT_TRUE(isAppliedFrom(*applied, work));
    for (const AppliedResource& resource : applied->resources) {
      const auto same = [&](const kube::Object& manifest) { return manifest.key == resource.key; };
      EXPECT_TRUE(std::any_of(work.manifests.begin(), work.manifests.end(), same))
          << kube::toString(resource.key);
    }
    if (json["metadata"].contains("deletionTimestamp")) continue;
    auto& most = appliedByWork[applied->manifestWorkName];
    if (applied->resources.size() < most.size()) continue;
    most.clear();
    for (const AppliedResource& resource : applied->resources) most.push_back(kube::toString(resource.key));
  }
  for (const auto& [name, work] : works) {
    EXPECT_THAT(appliedByWork[name], ::testing::UnorderedElementsAreArray(
                                         manifestsOf(tl::expected<ManifestWork, kube::Errors>(work))));
  }
}

TEST_P(Recording, TheNotesUidsAreThoseOfTheObjects) {
  std::map<std::string, std::string> uids;  // by key, of the objects that were watched
  for (const Json& json : objects_) {
    const kube::Object object = parsed(json);
    uids[kube::toString(object.key)] = json["metadata"].value("uid", "");
  }
  size_t compared = 0;
  for (const Json& json : ofKind("AppliedManifestWork")) {
    const auto applied = parseApplied(parsed(json));
    ASSERT_TRUE(applied) << errorsOf(applied);
    const std::vector<WorkRequirement> requirements = requirementsOf(*applied);
    ASSERT_EQ(requirements.size(), applied->resources.size());
    for (size_t i = 0; i < requirements.size(); ++i) {
      const std::string key = kube::toString(applied->resources[i].key);
      EXPECT_EQ(requirements[i].condition.uid, json["status"]["appliedResources"][i]["uid"]);
      ASSERT_TRUE(uids.contains(key)) << key;
      EXPECT_EQ(requirements[i].condition.uid, uids[key]) << key;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5u);
}

TEST_P(Recording, AWorkCarriesTheAgentsFinalizerUntilItIsGone) {
  for (const Json& json : ofKind("ManifestWork")) {
    EXPECT_THAT(parsed(json).meta.finalizers, ::testing::IsSubsetOf({std::string(kWorkFinalizer)}));
  }
}

INSTANTIATE_TEST_SUITE_P(Stories, Recording,
                         ::testing::Values("story-guarded", "story-unguarded", "story-deadlock"),
                         [](const auto& story) {
                           std::string name = story.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lastout::manifestwork
