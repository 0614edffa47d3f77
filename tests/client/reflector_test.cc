#include <gmock/gmock.h>

#include <algorithm>

#include "tests/client/reflector_fixture.h"

namespace lastout::testing {
namespace {

using client::EventType;
using client::ListPage;
using State = client::SyncStatus::State;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ReflectorTest, ListsFromTheCacheAndWatchesFromThere) {
  const ListPage page = nextIsList();
  EXPECT_EQ(page.resourceVersion, "0");
  EXPECT_EQ(page.limit, 500U);
  EXPECT_EQ(state(), State::NeverSynced);
  const client::TimePoint asked = now;
  pass(seconds(2));
  answer({objectAt("a", "741"), objectAt("b", "742")}, "748", "");
  EXPECT_THAT(told(), ElementsAre("a at 741", "b at 742"));
  EXPECT_EQ(state(), State::Stale);
  EXPECT_TRUE(reflector.knowledge().listed);
  EXPECT_EQ(reflector.knowledge().asOf, asked);
  EXPECT_EQ(nextIsWatch(), "748");
  EXPECT_EQ(state(), State::Synced);
  EXPECT_TRUE(event(EventType::Modified, objectAt("a", "749")));
  EXPECT_TRUE(event(EventType::Deleted, objectAt("b", "751")));
  EXPECT_TRUE(event(EventType::Added, objectAt("c", "752")));
  EXPECT_THAT(told(), ElementsAre("a at 749", "uid-b removed", "c at 752"));
  EXPECT_EQ(reflector.count(), 2U);
}

TEST_F(ReflectorTest, FollowsContinueTokens) {
  nextIsList();
  answer({objectAt("a", "5")}, "10", "first");
  EXPECT_FALSE(reflector.knowledge().listed);
  const ListPage second = nextIsList();
  EXPECT_EQ(second.continueToken, "first");
  EXPECT_EQ(second.resourceVersion, "");  // the server refuses one together with a token
  answer({objectAt("b", "7")}, "10", "");
  EXPECT_EQ(nextIsWatch(), "10");
}

TEST_F(ReflectorTest, WatchesFromTheFirstOfPagesOfDifferentVersions) {
  nextIsList();
  answer({objectAt("a", "5"), objectAt("b", "7")}, "10", "first");
  nextIsList();
  answer({objectAt("b", "6"), objectAt("a", "12")}, "14", "");
  EXPECT_THAT(told(), ElementsAre("a at 5", "b at 7", "a at 12"));
  EXPECT_EQ(nextIsWatch(), "10");
  EXPECT_TRUE(event(EventType::Modified, objectAt("a", "12")));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ReflectorTest, WhenTooFarBehindListsWhatIsTrueNow) {
  follow();
  EXPECT_FALSE(error(410, "Expired"));  // rest/070
  EXPECT_EQ(nextIsList().resourceVersion, "");
  EXPECT_EQ(state(), State::Stale);
  answer({objectAt("a", "5"), objectAt("c", "12")}, "13", "");
  EXPECT_THAT(told(), ElementsAre("c at 12", "uid-b removed"));
  EXPECT_EQ(nextIsWatch(), "13");
}

TEST_F(ReflectorTest, TellsWhatIsOfAnotherUidAsAnotherObject) {
  follow();
  fail(410);
  list({objectAt("a", "5"), objectAt("b", "11", "another")}, "12");
  EXPECT_THAT(told(), ElementsAre("uid-b removed", "b at 11"));
}

TEST_F(ReflectorTest, ListsAllAtOnceAfterATokenHasExpired) {
  nextIsList();
  answer({objectAt("a", "5")}, "10", "first");
  nextIsList();
  fail(410);
  const ListPage page = nextIsList();
  EXPECT_EQ(page.continueToken, "");
  EXPECT_EQ(page.resourceVersion, "");
  EXPECT_EQ(page.limit, 0U);
  answer({objectAt("b", "7")}, "20", "");
  EXPECT_THAT(told(), ElementsAre("a at 5", "b at 7", "uid-a removed"));
}

TEST_F(ReflectorTest, TellsNothingTwice) {
  follow();
  event(EventType::Modified, objectAt("a", "11"));
  event(EventType::Added, objectAt("c", "12"));
  event(EventType::Deleted, objectAt("b", "13"));
  told();
  EXPECT_TRUE(event(EventType::Modified, objectAt("a", "11")));
  EXPECT_TRUE(event(EventType::Modified, objectAt("a", "5")));
  EXPECT_TRUE(event(EventType::Added, objectAt("c", "12")));
  EXPECT_TRUE(event(EventType::Deleted, objectAt("b", "13")));
  EXPECT_THAT(told(), IsEmpty());
}

client::StreamedObject unreadAt(const std::string& name, const std::string& version) {
  client::StreamedObject object = objectAt(name, version);
  object.unread = "it is too large";
  if (version.empty()) object.meta = {};
  return object;
}

// Neither the list nor the watch ends with it, and it is said as long as it lasts.
TEST_F(ReflectorTest, LeavesOutWhatCannotBeRead) {
  list({objectAt("a", "5"), unreadAt("b", "6"), unreadAt("", ""), objectAt("c", "7")}, "10");
  EXPECT_THAT(told(), ElementsAre("a at 5", "c at 7"));
  EXPECT_EQ(reflector.knowledge().unread, "app/b cannot be read: it is too large");
  EXPECT_EQ(nextIsWatch(), "10");
  EXPECT_EQ(state(), State::Synced);
  EXPECT_EQ(reflector.knowledge().problem(), "app/b cannot be read: it is too large");
  EXPECT_TRUE(event(EventType::Modified, unreadAt("a", "11")));
  EXPECT_TRUE(event(EventType::Modified, unreadAt("", "")));
  EXPECT_TRUE(event(EventType::Modified, objectAt("b", "12")));
  EXPECT_TRUE(event(EventType::Deleted, unreadAt("a", "13")));
  EXPECT_THAT(told(), ElementsAre("b at 12", "uid-a removed"));
  EXPECT_EQ(state(), State::Synced);
  EXPECT_THAT(reflector.knowledge().unread, ::testing::StartsWith("an object cannot be read"));
  fail(410);
  list({objectAt("b", "12"), objectAt("c", "7")}, "20");
  EXPECT_EQ(reflector.knowledge().unread, "");
  EXPECT_EQ(nextIsWatch(), "20");
  EXPECT_TRUE(event(EventType::Modified, unreadAt("c", "21")));
  EXPECT_EQ(reflector.knowledge().unread, "app/c cannot be read: it is too large");
  EXPECT_TRUE(event(EventType::Modified, objectAt("c", "22")));
  EXPECT_EQ(reflector.knowledge().unread, "");
}

TEST_F(ReflectorTest, ListsAgainWhenEventsComeOutOfOrder) {
  follow();
  event(EventType::Deleted, objectAt("b", "14"));
  told();
  EXPECT_FALSE(event(EventType::Modified, objectAt("b", "13")));  // it must not come back
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST(ResourceVersions, AreComparedAsNumbers) {
  EXPECT_TRUE(client::isOlder("9", "10"));
  EXPECT_FALSE(client::isOlder("10", "9"));
  EXPECT_FALSE(client::isOlder("10", "10"));
  EXPECT_FALSE(client::isOlder("010", "10"));
  EXPECT_TRUE(client::isOlder("18446744073709551615", "18446744073709551616"));
  EXPECT_FALSE(client::isOlder("opaque", "10"));
  EXPECT_FALSE(client::isOlder("", "10"));
}

}  // namespace
}  // namespace lastout::testing
