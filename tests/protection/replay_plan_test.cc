// What becomes of a deletion that an annotation asks for, of an object that others list.
#include "protection/replay_plan.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "protection/fact_index.h"
#include "tests/protection/requests.h"
#include "tests/protection/told_index.h"

namespace lastout::protection {
namespace {

using std::chrono::seconds;
using Do = ReplayPlan::Action;

constexpr int64_t kAskedAt = 1'000'000;

struct ReplayRow {
  const char* name;
  ReplayFacts facts;
  ReplayPlan plan;
};

// Asked for, in all that counts, for an hour more.
ReplayFacts askedForAnHour() { return {true, false, "", kAskedAt + 3'600, kAskedAt, true}; }

template <class Value>
ReplayFacts with(Value ReplayFacts::*fact, Value value, bool isListed = true) {
  ReplayFacts facts = askedForAnHour();
  facts.isListed = isListed;
  facts.*fact = value;
  return facts;
}

const std::optional<std::string> kDoubt = "its time has passed";
const std::optional<std::string> kNobodyKnows;

class ReplayPlans : public ::testing::TestWithParam<ReplayRow> {};

TEST_P(ReplayPlans, AsTheTableSays) { EXPECT_EQ(planReplay(GetParam().facts), GetParam().plan); }

INSTANTIATE_TEST_SUITE_P(
    Table, ReplayPlans,
    ::testing::Values(
        ReplayRow{"Listed", askedForAnHour(), {Do::Wait, seconds(60)}},
        ReplayRow{"TimeEnds", with(&ReplayFacts::until, kAskedAt + 7), {Do::Wait, seconds(7)}},
        ReplayRow{"ListedNoLonger", with(&ReplayFacts::isListed, false), {Do::Delete, {}}},
        ReplayRow{"NotAskedFor", with(&ReplayFacts::isAsked, false, false), {Do::None, {}}},
        ReplayRow{"Guarded", with(&ReplayFacts::isGuarded, true, false), {Do::Look, seconds(60)}},
        ReplayRow{"Doubtful", with(&ReplayFacts::doubt, kDoubt, false), {Do::Ignore, seconds(60)}},
        ReplayRow{"DoubtfulAndListed", with(&ReplayFacts::doubt, kDoubt), {Do::Ignore, seconds(60)}},
        ReplayRow{"NobodyKnows", with(&ReplayFacts::doubt, kNobodyKnows, false), {Do::Look, seconds(5)}}),
    [](const auto& info) { return std::string(info.param.name); });

// --- what lists an object, and whether denials name the annotation

constexpr const char* kRepeatingUsages = R"(  listedBy:
    group: example.com
    resource: usages
    selectors: spec.of
    apiVersion: apiVersion
    kind: kind
    name: resourceRef.name
    in: OwnNamespace
    replay: spec.replayDeletion
)";
constexpr const char* kUsedSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: shop}\n";

class ReplayListed : public ::testing::Test {
 public:
  ReplayListed() { told.index.setPolicies({policy}); }
  void tellUsage(const std::string& name, const std::string& rest) {
    told.tell("apiVersion: example.com/v1\nkind: Usage\nmetadata: {name: " + name +
              ", namespace: shop, uid: u-" + name +
              "}\nspec: {of: {apiVersion: v1, kind: Secret, resourceRef: {name: key}}" + rest + "}\n");
  }
  bool listed() { return isListed({&policy}, object.request, told.index); }
  std::optional<bool> deniedAndReplayed() {
    const auto denial = judge(policy, object.request, told.index);
    return denial ? std::optional(denial->isReplayed) : std::nullopt;
  }

  DeletionPolicy policy = policyOf(kRepeatingUsages);
  ToldIndex told{definitionText("example.com", "usages", "Usage", true)};
  Asked object{kUsedSecret};
};

TEST_F(ReplayListed, AnObjectThatNothingListsMayGo) {
  EXPECT_TRUE(listed()) << "as long as nobody knows what there is";
  told.knowAll();
  EXPECT_FALSE(listed());
  tellUsage("one", "");
  EXPECT_TRUE(listed());
  EXPECT_FALSE(isListed({}, object.request, told.index));
}

TEST_F(ReplayListed, ADenialNamesTheAnnotationWhereOneOfTheListersSaysSo) {
  told.knowAll();
  EXPECT_EQ(deniedAndReplayed(), std::nullopt);
  tellUsage("absent", "");
  EXPECT_EQ(deniedAndReplayed(), false);
  tellUsage("denying", ", replayDeletion: false");
  tellUsage("of-text", ", replayDeletion: 'true'");
  EXPECT_EQ(deniedAndReplayed(), false);
  tellUsage("repeating", ", replayDeletion: true");
  EXPECT_EQ(deniedAndReplayed(), true);
}

TEST_F(ReplayListed, OnlyADeletionIsReplayed) {
  policy.blocks = {Block::Delete, Block::Unprotect};
  policy.when = {Case{KeyTest{KeyTest::MetadataField::Label, "a/b", {}}, {}, {}, {}, {}}};
  told.index.setPolicies({policy});
  told.knowAll();
  tellUsage("repeating", ", replayDeletion: true");
  const Asked update(
      "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: shop, labels: {a/b: x}}\n",
      kUsedSecret);
  const auto denial = judge(policy, update.request, told.index);
  ASSERT_TRUE(denial);
  EXPECT_FALSE(denial->isReplayed);
}

}  // namespace
}  // namespace lastout::protection
