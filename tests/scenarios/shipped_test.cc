// The scenarios that are shipped: each holds, in written order and in random ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "scenarios/output.h"
#include "tests/scenarios/play.h"

namespace lastout::scenarios {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

std::vector<std::string> files() {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator("scenarios")) {
    if (entry.path().extension() == ".yaml") result.push_back(entry.path().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

class Shipped : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<const Ready> load() const {
    auto all = loadAll({{GetParam(), true}});
    if (!all) {
      ADD_FAILURE() << kube::toString(all.error().front());
      return nullptr;
    }
    return std::move(all->front());
  }
};

TEST_P(Shipped, HoldsInWrittenOrder) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  EXPECT_THAT(failures(replay(*loaded, {})), IsEmpty());
}

TEST_P(Shipped, HoldsInRandomOrders) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  EXPECT_THAT(failures(replay(*loaded, {.order = Order::Random, .seed = 1, .runs = 300})), IsEmpty());
}

TEST_P(Shipped, SaysWhatItTeachesAndHowItEnds) {
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  EXPECT_GT(loaded->scenario.description.size(), 40u);
  EXPECT_TRUE(loaded->scenario.expect.ends.has_value());
  EXPECT_EQ(loaded->scenario.name, std::filesystem::path(GetParam()).stem().string());
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Shipped, ::testing::ValuesIn(files()), [](const auto& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Shipped, AreAllThere) {
  std::vector<std::string> names;
  for (const std::string& file : files()) names.push_back(std::filesystem::path(file).stem().string());
  EXPECT_THAT(names, IsSupersetOf({"story-three-works",
                                   "story-one-work",
                                   "story-unguarded",
                                   "story-deadlock",
                                   "managed-cluster-namespace",
                                   "provider-statefulset",
                                   "provider-webhook",
                                   "two-services-one-provider",
                                   "chain-of-three-operators",
                                   "same-namespace",
                                   "cycle-of-two",
                                   "late-instance-with-crd",
                                   "late-instance-without-crd",
                                   "provider-recreated",
                                   "foreground-delete",
                                   "deletecollection",
                                   "crd-deleted-directly",
                                   "crd-of-criticalservices",
                                   "intent-ordered",
                                   "intent-best-effort",
                                   "intent-orphan"}));
}

// The document lists nine steps; the two stories show each of them, at a time that agrees with the partial
// order.
TEST(Shipped, TheStoriesShowTheDocumentsNineSteps) {
  for (const char* file : {"scenarios/story-three-works.yaml", "scenarios/story-one-work.yaml"}) {
    auto all = loadAll({{file, true}});
    ASSERT_TRUE(all.has_value());
    const ScenarioReport report = replay(*all->front(), {});
    ASSERT_EQ(report.story.size(), 9u) << file;
    for (const Moment& moment : report.story) EXPECT_TRUE(moment.at.has_value()) << moment.title;
    EXPECT_LT(report.story[2].at, report.story[3].at) << file;  // the instance is finalized before its CRD
    EXPECT_LT(report.story[3].at, report.story[4].at) << file;  // the CRD before the Deployment is deleted
    EXPECT_LE(report.story[6].at, report.story[8].at) << file;  // the Deployment before the CriticalService
  }
}

}  // namespace
}  // namespace lastout::scenarios
