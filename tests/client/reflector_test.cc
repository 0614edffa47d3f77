#include "client/reflector.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace lastout::client {
namespace {

using State = Knowledge::State;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

StreamedObject object(const std::string& name, const std::string& version, const std::string& uid = "") {
  StreamedObject result;
  result.meta.namespaceName = "app";
  result.meta.name = name;
  result.meta.uid = uid.empty() ? "uid-" + name : uid;
  result.meta.resourceVersion = version;
  return result;
}

// A Reflector, a clock that the test moves, and what was told since the test last asked.
class ReflectorTest : public ::testing::Test {
 public:
  std::vector<std::string> told() { return std::exchange(told_, {}); }

  ListPage nextIsList() {
    const Next next = passBackoff();
    const auto* page = std::get_if<ListPage>(&next);
    EXPECT_NE(page, nullptr);
    return page == nullptr ? ListPage{} : *page;
  }
  // The version from which.
  std::string nextIsWatch() {
    const Next next = passBackoff();
    const auto* from = std::get_if<WatchFrom>(&next);
    EXPECT_NE(from, nullptr);
    reflector.watching(now);
    return from == nullptr ? "" : from->resourceVersion;
  }

  void list(const std::vector<StreamedObject>& objects, const std::string& version) {
    nextIsList();
    answer(objects, version, "");
  }
  void answer(const std::vector<StreamedObject>& objects, const std::string& version,
              const std::string& continueToken) {
    for (const StreamedObject& item : objects) EXPECT_TRUE(reflector.item(item, now));
    reflector.endOfPage(version, continueToken, now);
  }
  bool event(EventType type, StreamedObject about) {
    return reflector.event({type, std::move(about), {}}, now);
  }
  bool bookmark(const std::string& version) { return event(EventType::Bookmark, object("", version)); }
  bool error(int code, const std::string& reason) {
    return reflector.event({EventType::Error, {}, {code, reason, "words of the server", {}}}, now);
  }
  void fail(int code) { reflector.failed({code, "", "words", {}}, now); }
  void pass(milliseconds time) { now += time; }
  State state() const { return reflector.knowledge().state; }

  // Lists `a` at 5 and `b` at 7, and watches from 10.
  void follow() {
    list({object("a", "5"), object("b", "7")}, "10");
    EXPECT_EQ(nextIsWatch(), "10");
    told();
  }

  TimePoint now = TimePoint(std::chrono::hours(1));
  Reflector reflector{{},
                      [] { return 0.5; },
                      {[this](const StreamedObject& upsert) {
                         told_.push_back(upsert.meta.name + " at " + upsert.meta.resourceVersion);
                       },
                       [this](const Removed& removed) { told_.push_back(removed.uid + " removed"); },
                       [](const Knowledge&) {}}};

 private:
  Next passBackoff() {
    Next next = reflector.next(now);
    if (const auto* wait = std::get_if<WaitUntil>(&next)) {
      now = wait->when;
      next = reflector.next(now);
    }
    return next;
  }
  std::vector<std::string> told_;
};

TEST_F(ReflectorTest, ListsFromTheCacheAndWatchesFromThere) {
  const ListPage page = nextIsList();
  EXPECT_EQ(page.resourceVersion, "0");
  EXPECT_EQ(page.limit, 500U);
  EXPECT_EQ(state(), State::NeverSynced);
  const TimePoint asked = now;
  pass(seconds(2));
  answer({object("a", "741"), object("b", "742")}, "748", "");
  EXPECT_THAT(told(), ElementsAre("a at 741", "b at 742"));
  EXPECT_EQ(state(), State::Stale);
  EXPECT_TRUE(reflector.knowledge().listed);
  EXPECT_EQ(reflector.knowledge().asOf, asked);
  EXPECT_EQ(nextIsWatch(), "748");
  EXPECT_EQ(state(), State::Synced);
  EXPECT_TRUE(event(EventType::Modified, object("a", "749")));
  EXPECT_TRUE(event(EventType::Deleted, object("b", "751")));
  EXPECT_TRUE(event(EventType::Added, object("c", "752")));
  EXPECT_THAT(told(), ElementsAre("a at 749", "uid-b removed", "c at 752"));
  EXPECT_EQ(reflector.count(), 2U);
}

TEST_F(ReflectorTest, FollowsContinueTokens) {
  nextIsList();
  answer({object("a", "5")}, "10", "first");
  EXPECT_FALSE(reflector.knowledge().listed);
  const ListPage second = nextIsList();
  EXPECT_EQ(second.continueToken, "first");
  EXPECT_EQ(second.resourceVersion, "");  // the server refuses one together with a token
  answer({object("b", "7")}, "10", "");
  EXPECT_EQ(nextIsWatch(), "10");
}

TEST_F(ReflectorTest, WhenTooFarBehindListsWhatIsTrueNow) {
  follow();
  EXPECT_FALSE(error(410, "Expired"));  // rest/070
  EXPECT_EQ(nextIsList().resourceVersion, "");
  EXPECT_EQ(state(), State::Stale);
  answer({object("a", "5"), object("c", "12")}, "13", "");
  EXPECT_THAT(told(), ElementsAre("c at 12", "uid-b removed"));
  EXPECT_EQ(nextIsWatch(), "13");
}

TEST_F(ReflectorTest, TellsWhatIsOfAnotherUidAsAnotherObject) {
  follow();
  fail(410);
  list({object("a", "5"), object("b", "11", "another")}, "12");
  EXPECT_THAT(told(), ElementsAre("uid-b removed", "b at 11"));
}

TEST_F(ReflectorTest, ListsAllAtOnceAfterATokenHasExpired) {
  nextIsList();
  answer({object("a", "5")}, "10", "first");
  nextIsList();
  fail(410);
  const ListPage page = nextIsList();
  EXPECT_EQ(page.continueToken, "");
  EXPECT_EQ(page.resourceVersion, "");
  EXPECT_EQ(page.limit, 0U);
  answer({object("b", "7")}, "20", "");
  EXPECT_THAT(told(), ElementsAre("a at 5", "b at 7", "uid-a removed"));
}

TEST_F(ReflectorTest, ResumesAfterACutWhereItWas) {
  follow();
  bookmark("30");
  fail(0);
  EXPECT_EQ(state(), State::Stale);
  EXPECT_EQ(nextIsWatch(), "30");
  EXPECT_EQ(state(), State::Synced);
}

TEST_F(ReflectorTest, ResumesAtOnceAfterTheServersOwnEnd) {
  follow();
  pass(minutes(1));
  reflector.ended(now);
  EXPECT_EQ(reflector.knowledge().asOf, now);
  const TimePoint ended = now;
  EXPECT_EQ(nextIsWatch(), "10");
  EXPECT_EQ(now, ended);
}

TEST_F(ReflectorTest, WaitsWhenWatchesEndAsSoonAsTheyBegin) {
  follow();
  reflector.ended(now);
  EXPECT_TRUE(std::holds_alternative<WaitUntil>(reflector.next(now)));
}

TEST_F(ReflectorTest, TellsNothingTwice) {
  follow();
  event(EventType::Modified, object("a", "11"));
  event(EventType::Added, object("c", "12"));
  event(EventType::Deleted, object("b", "13"));
  told();
  EXPECT_TRUE(event(EventType::Modified, object("a", "11")));
  EXPECT_TRUE(event(EventType::Modified, object("a", "5")));
  EXPECT_TRUE(event(EventType::Added, object("c", "12")));
  EXPECT_TRUE(event(EventType::Deleted, object("b", "13")));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(ReflectorTest, ListsAgainWhenEventsComeOutOfOrder) {
  follow();
  event(EventType::Deleted, object("b", "14"));
  told();
  EXPECT_FALSE(event(EventType::Modified, object("b", "13")));  // it must not come back
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST_F(ReflectorTest, ListsAgainWhenABookmarkIsOfAnotherHistory) {
  follow();
  EXPECT_FALSE(bookmark("9"));
  nextIsList();
}

TEST_F(ReflectorTest, BelievesAListOfANewHistoryThoughItIsOlder) {
  follow();
  pass(seconds(4));
  fail(0);
  nextIsWatch();
  pass(seconds(7));
  fail(0);
  const ListPage page = nextIsList();
  EXPECT_EQ(page.resourceVersion, "");
  answer({object("a", "3"), object("b", "7")}, "8", "");
  EXPECT_THAT(told(), ElementsAre("a at 3", "b at 7"));  // 7 may mean something else now
  EXPECT_EQ(nextIsWatch(), "8");
}

TEST_F(ReflectorTest, ListsAgainAfterSilence) {
  follow();
  const TimePoint stalls = reflector.stallsAt();
  pass(seconds(100));
  bookmark("11");
  EXPECT_EQ(reflector.stallsAt(), stalls + seconds(100));
  now = reflector.stallsAt();
  fail(0);
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST_F(ReflectorTest, IsToldToBeSlower) {
  nextIsList();
  answer({object("a", "5")}, "10", "first");
  nextIsList();
  reflector.failed({429, "TooManyRequests", "", seconds(7)}, now);
  const TimePoint failed = now;
  EXPECT_EQ(nextIsList().continueToken, "first");
  EXPECT_EQ(now, failed + seconds(7));
}

TEST_F(ReflectorTest, DoesNotWaitForEverBecauseAServerSaysSo) {
  nextIsList();
  reflector.failed({503, "", "", seconds(86'400)}, now);
  const TimePoint failed = now;
  nextIsList();
  EXPECT_LE(now, failed + minutes(2));
}

TEST_F(ReflectorTest, WaitsLongerAfterEachFailure) {
  std::vector<int64_t> waits;
  while (waits.size() < 10) {
    const TimePoint before = now;
    nextIsList();
    waits.push_back((now - before) / milliseconds(1));
    fail(0);
  }
  EXPECT_THAT(waits, ElementsAre(0, 150, 300, 600, 1200, 2400, 4800, 9600, 19200, 22500));
}

TEST_F(ReflectorTest, KeepsItsObjectsWhileATypeIsForbiddenOrNotServed) {
  follow();
  fail(410);
  nextIsList();
  fail(403);
  EXPECT_EQ(state(), State::Forbidden);
  EXPECT_EQ(reflector.knowledge().why, "403: words");
  nextIsList();
  fail(404);
  EXPECT_EQ(state(), State::NotServed);
  EXPECT_TRUE(reflector.knowledge().listed);
  EXPECT_THAT(told(), IsEmpty());
  list({object("a", "5"), object("b", "7")}, "10");
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(state(), State::Stale);
}

TEST_F(ReflectorTest, ForgetsATypeThatIsGone) {
  follow();
  reflector.clear();
  auto removed = told();
  std::sort(removed.begin(), removed.end());
  EXPECT_THAT(removed, ElementsAre("uid-a removed", "uid-b removed"));
  EXPECT_EQ(state(), State::NotServed);
  EXPECT_FALSE(reflector.knowledge().listed);
  EXPECT_FALSE(event(EventType::Added, object("a", "12")));
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST_F(ReflectorTest, CanBeHurried) {
  nextIsList();
  reflector.failed({404, "", "", seconds(60)}, now);
  EXPECT_TRUE(std::holds_alternative<WaitUntil>(reflector.next(now)));
  reflector.hurry();
  EXPECT_TRUE(std::holds_alternative<ListPage>(reflector.next(now)));
}

TEST_F(ReflectorTest, SaysWhatIsWrongWithAList) {
  nextIsList();
  answer({}, "", "");
  EXPECT_EQ(reflector.knowledge().why, "the API server cannot be followed: its list has no resourceVersion");
  nextIsList();
  answer({}, "10", "first");
  nextIsList();
  answer({}, "10", "first");
  EXPECT_EQ(reflector.knowledge().why,
            "the API server cannot be followed: it gave the same continue token twice");
}

TEST(ResourceVersions, AreComparedAsNumbers) {
  EXPECT_TRUE(isOlder("9", "10"));
  EXPECT_FALSE(isOlder("10", "9"));
  EXPECT_FALSE(isOlder("10", "10"));
  EXPECT_FALSE(isOlder("010", "10"));
  EXPECT_TRUE(isOlder("18446744073709551615", "18446744073709551616"));
  EXPECT_FALSE(isOlder("opaque", "10"));
  EXPECT_FALSE(isOlder("", "10"));
}

}  // namespace
}  // namespace lastout::client
