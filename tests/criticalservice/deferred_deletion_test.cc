// What a CriticalService's status records of deletions that were deferred.
#include "criticalservice/deferred_deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lastout::criticalservice {
namespace {

using PlainJson = nlohmann::json;

DeferredDeletion deletionNamed(const std::string& name, const std::string& uid) {
  return {{{"apps", "deployments"}, "n", name}, uid, "Background", "agent", 1'795'363'200, {"o1", "o2"}};
}

DeferredDeletions reread(const DeferredDeletions& deferredDeletions) {
  PlainJson manifest = {{"status", PlainJson::object()}};
  manifest.merge_patch({{"status", patchOf(deferredDeletions)}});
  return readDeferredDeletions(kube::fromJson(manifest));
}

TEST(DeferredDeletions, AreReadAsTheyWereWritten) {
  DeferredDeletions deferredDeletions{
      {deletionNamed("a", "1"), {{{"", "namespaces"}, "", "n"}, "2", "", "gc", 0, {}}}, 3};
  EXPECT_EQ(reread(deferredDeletions), deferredDeletions);
  const PlainJson first = patchOf(deferredDeletions)["deferredDeletions"][0];
  EXPECT_EQ(first["requestedAt"], "2026-11-22T16:00:00Z");
  EXPECT_EQ(first["owners"], PlainJson({"o1", "o2"}));
  EXPECT_FALSE(patchOf(deferredDeletions)["deferredDeletions"][1].contains("group"))
      << "what is empty is left out";
  EXPECT_EQ(reread({}), DeferredDeletions{});
}

// docs/install.md, "Upgrading": nothing that a former version has recorded is lost.
TEST(DeferredDeletions, AreReadUnderTheirFormerNameUntilTheyAreWritten) {
  const PlainJson former = {{"resource", "namespaces"}, {"name", "n"}, {"uid", "1"}, {"requestedBy", "gc"}};
  PlainJson manifest = {{"spec", {{"replay", "Always"}}},
                        {"status", {{"putOff", PlainJson::array({former})}, {"putOffDropped", 2}}}};
  const DeferredDeletions all = readDeferredDeletions(kube::fromJson(manifest));
  ASSERT_EQ(all.deletions.size(), 1U);
  EXPECT_EQ(all.deletions[0].uid, "1");
  EXPECT_EQ(all.dropped, 2);
  EXPECT_EQ(readDeferralMode(kube::fromJson(manifest)), DeferralMode::Always);

  manifest.merge_patch({{"status", patchOf(all)}});
  EXPECT_FALSE(manifest["status"].contains("putOff"));
  EXPECT_FALSE(manifest["status"].contains("putOffDropped"));
  EXPECT_EQ(readDeferredDeletions(kube::fromJson(manifest)), all);
  manifest["spec"]["deferredDeletions"] = "Never";
  EXPECT_EQ(readDeferralMode(kube::fromJson(manifest)), DeferralMode::Never) << "the field itself counts";
}

TEST(DeferredDeletions, OfOneObjectOneIsRecorded) {
  DeferredDeletions deferredDeletions;
  EXPECT_TRUE(add(deferredDeletions, deletionNamed("a", "1")));
  EXPECT_TRUE(add(deferredDeletions, deletionNamed("b", "2")));
  EXPECT_TRUE(add(deferredDeletions, deletionNamed("a", "3"))) << "it was made anew";
  ASSERT_EQ(deferredDeletions.deletions.size(), 2U);
  EXPECT_EQ(deferredDeletions.deletions[0].uid, "3");
}

TEST(DeferredDeletions, AreBoundedAndCounted) {
  DeferredDeletions deferredDeletions;
  for (size_t i = 0; i < kMostDeferredDeletions; ++i)
    EXPECT_TRUE(add(deferredDeletions, deletionNamed("d" + std::to_string(i), "u" + std::to_string(i))));
  EXPECT_FALSE(add(deferredDeletions, deletionNamed("more", "more")));
  EXPECT_EQ(deferredDeletions.deletions.size(), kMostDeferredDeletions);
  EXPECT_EQ(reread(deferredDeletions).dropped, 1);
  DeferredDeletions few{{deletionNamed("a", "1")}, 0};
  EXPECT_FALSE(add(few, deletionNamed("b", "2"), 1)) << "less room than usual";
  EXPECT_TRUE(add(few, deletionNamed("a", "3"), 0)) << "no new place";
  EXPECT_EQ(few.dropped, 1);
  DeferredDeletion owned = deletionNamed("d0", "u0");
  owned.owners.assign(kMostOwners + 5, "o");
  EXPECT_TRUE(add(deferredDeletions, owned));
  EXPECT_EQ(deferredDeletions.deletions[0].owners.size(), kMostOwners);
}

// One that the API server refuses would keep all others of that CriticalService from being written.
TEST(DeferredDeletions, FitInTheirCrd) {
  DeferredDeletion deletion = deletionNamed("a", "1");
  deletion.owners = {"o1", std::string(200, 'x'), "o2"};
  EXPECT_TRUE(fitIn(deletion));
  EXPECT_EQ(deletion.owners, (std::vector<std::string>{"o1", "o2"}));
  deletion.object.name = std::string(253, 'n');
  EXPECT_TRUE(fitIn(deletion));
  deletion.object.name += "n";
  EXPECT_FALSE(fitIn(deletion)) << "a Role may be called so";
  deletion = deletionNamed("a", std::string(129, 'u'));
  EXPECT_FALSE(fitIn(deletion));
}

// Anybody who may write a status may have written it.
TEST(DeferredDeletions, OfWhatNamesNoObjectNothingIsRead) {
  const auto read = [](const char* status) {
    return readDeferredDeletions(kube::fromJson(PlainJson{{"status", PlainJson::parse(status)}}));
  };
  EXPECT_EQ(read(R"({"deferredDeletions": "x", "deferredDeletionsDropped": "y"})"), DeferredDeletions{});
  EXPECT_EQ(read(R"({"deferredDeletions": [1, null, [], {}], "deferredDeletionsDropped": -4})"),
            DeferredDeletions{});
  EXPECT_EQ(read(R"({"deferredDeletions": [{"resource": "pods", "name": "p"}]})"), DeferredDeletions{})
      << "no uid";
  EXPECT_EQ(read(R"({"deferredDeletions": [{"uid": "1", "name": "p"}]})"), DeferredDeletions{}) << "no type";
  const DeferredDeletions odd = read(
      R"({"deferredDeletions": [{"resource": "pods", "name": "p", "uid": "1", "owners": [1, "o"], "requestedAt": 4}]})");
  ASSERT_EQ(odd.deletions.size(), 1U);
  EXPECT_THAT(odd.deletions[0].owners, ::testing::ElementsAre("o"));
  EXPECT_EQ(odd.deletions[0].requestedAt, 0);
}

}  // namespace
}  // namespace lastout::criticalservice
