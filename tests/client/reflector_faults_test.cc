#include <gmock/gmock.h>

#include "tests/client/reflector_fixture.h"

namespace lastout::testing {
namespace {

using client::ListPage;
using State = client::SyncStatus::State;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ReflectorTest, ResumesAfterACutWhereItWas) {
  follow();
  bookmark("30");
  fail(0);
  EXPECT_EQ(state(), State::Stale);
  EXPECT_EQ(nextIsWatch(), "30");
  EXPECT_EQ(state(), State::Synced);
}

TEST_F(ReflectorTest, BeginsAListAgainThatWasCut) {
  nextIsList();
  answer({objectAt("a", "5")}, "10", "first");
  nextIsList();
  fail(0);
  const ListPage page = nextIsList();
  EXPECT_EQ(page.continueToken, "");
  EXPECT_EQ(page.resourceVersion, "");
  EXPECT_EQ(page.limit, 500U);
}

TEST_F(ReflectorTest, ResumesAQuietWatchThatRanForLong) {
  follow();
  pass(minutes(2));
  fail(0);
  EXPECT_EQ(nextIsWatch(), "10");
}

TEST_F(ReflectorTest, ResumesWhenToldToBeSlowerOrWhoItIs) {
  follow();
  fail(429);
  EXPECT_EQ(nextIsWatch(), "10");
  fail(401);
  EXPECT_EQ(nextIsWatch(), "10");
}

// As rest/071: it may be another history, and in that every version may mean something else.
TEST_F(ReflectorTest, ListsAgainFromAServerThatIsBehind) {
  follow();
  EXPECT_EQ(nextIsWatch(), "10");
  client::ServerStatus behind;
  behind.code = 504;
  behind.isBehind = true;
  reflector.failed(behind, now);
  EXPECT_EQ(nextIsList().resourceVersion, "");
  list({objectAt("a", "5")}, "6");
  EXPECT_EQ(told().size(), 2U) << "the one is told although its version is the same, the other is gone";
}

// Its versions may have passed ours, so that it sees nothing wrong with a watch from there.
TEST_F(ReflectorTest, ListsAgainFromAnotherCluster) {
  nextIsList();
  EXPECT_TRUE(reflector.answeredBy("one", now));
  answer({objectAt("a", "5"), objectAt("b", "7")}, "10", "");
  EXPECT_TRUE(std::holds_alternative<client::WatchFrom>(reflector.next(now)));
  EXPECT_TRUE(reflector.answeredBy("one", now)) << "it was away, and is the same";
  told();
  fail(0);
  EXPECT_EQ(state(), State::Stale);
  now += seconds(1);
  EXPECT_TRUE(std::holds_alternative<client::WatchFrom>(reflector.next(now)));
  EXPECT_FALSE(reflector.answeredBy("another", now));
  EXPECT_FALSE(reflector.isUnderWay());
  EXPECT_EQ(state(), State::Stale);
  EXPECT_EQ(reflector.knowledge().why,
            "the API server cannot be followed: another cluster answers at its address");
  EXPECT_FALSE(reflector.knowledge().listed) << "what was listed is of a cluster that is gone";
  EXPECT_EQ(nextIsList().resourceVersion, "");
  EXPECT_TRUE(reflector.answeredBy("another", now));
  answer({objectAt("a", "5"), objectAt("c", "8")}, "20", "");
  EXPECT_THAT(told(), ElementsAre("a at 5", "c at 8", "uid-b removed")) << "5 may mean something else now";
  EXPECT_TRUE(std::holds_alternative<client::WatchFrom>(reflector.next(now)));
  EXPECT_TRUE(reflector.answeredBy("another", now));
}

// The list is begun at one, and answered by the other: that is found out when its watch begins.
TEST_F(ReflectorTest, ListsAgainWhenAnotherClusterComesWhileItLists) {
  nextIsList();
  EXPECT_TRUE(reflector.answeredBy("one", now));
  answer({objectAt("a", "5")}, "10", "");
  EXPECT_TRUE(std::holds_alternative<client::WatchFrom>(reflector.next(now)));
  EXPECT_FALSE(reflector.answeredBy("another", now));
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST_F(ReflectorTest, TellsAllOnceMoreWhenItListsAnotherCluster) {
  nextIsList();
  EXPECT_TRUE(reflector.answeredBy("one", now));
  answer({objectAt("a", "5")}, "10", "");
  nextIsWatch();
  fail(410);
  told();
  nextIsList();
  EXPECT_TRUE(reflector.answeredBy("another", now));
  EXPECT_FALSE(reflector.knowledge().listed);
  answer({objectAt("a", "5")}, "20", "");
  EXPECT_THAT(told(), ElementsAre("a at 5"));
}

// An API server that is just beginning may refuse to say it for a moment.
TEST_F(ReflectorTest, TakesAClusterThatCannotBeToldForNoOther) {
  nextIsList();
  EXPECT_TRUE(reflector.answeredBy("", now));
  answer({objectAt("a", "5")}, "10", "");
  EXPECT_TRUE(std::holds_alternative<client::WatchFrom>(reflector.next(now)));
  EXPECT_TRUE(reflector.answeredBy("one", now)) << "known from now on";
  EXPECT_TRUE(reflector.answeredBy("", now));
  EXPECT_TRUE(reflector.knowledge().listed);
  EXPECT_FALSE(reflector.answeredBy("another", now));
}

TEST_F(ReflectorTest, ListsAgainWhenErrorsDoNotEnd) {
  follow();
  const client::TimePoint began = now;
  for (; now - began < seconds(9); error(504, "Timeout")) EXPECT_EQ(nextIsWatch(), "10");
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST_F(ReflectorTest, WaitsShortlyAgainAfterAGoodWatch) {
  follow();
  for (int failures = 0; failures < 5; ++failures) {
    fail(500);
    nextIsWatch();
  }
  pass(seconds(20));
  fail(500);
  const client::TimePoint failed = now;
  nextIsWatch();
  EXPECT_EQ(now - failed, milliseconds(150));
}

TEST_F(ReflectorTest, ResumesAtOnceAfterTheServersOwnEnd) {
  follow();
  pass(minutes(1));
  reflector.ended(now);
  EXPECT_EQ(reflector.knowledge().asOf, now);
  const client::TimePoint ended = now;
  EXPECT_EQ(nextIsWatch(), "10");
  EXPECT_EQ(now, ended);
}

TEST_F(ReflectorTest, WaitsWhenWatchesEndAsSoonAsTheyBegin) {
  follow();
  reflector.ended(now);
  EXPECT_TRUE(std::holds_alternative<client::WaitUntil>(reflector.next(now)));
}

TEST_F(ReflectorTest, ListsAgainWhenABookmarkIsOfAnotherHistory) {
  follow();
  EXPECT_FALSE(bookmark("9"));
  list({objectAt("a", "5"), objectAt("b", "7")}, "9");
  EXPECT_THAT(told(), ElementsAre("a at 5", "b at 7"));  // 5 and 7 may mean something else now
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
  answer({objectAt("a", "3"), objectAt("b", "7")}, "8", "");
  EXPECT_THAT(told(), ElementsAre("a at 3", "b at 7"));  // as may 7
  EXPECT_EQ(nextIsWatch(), "8");
}

TEST_F(ReflectorTest, ListsAgainAfterSilence) {
  follow();
  const client::TimePoint stalls = reflector.stallsAt();
  pass(seconds(100));
  bookmark("11");
  EXPECT_EQ(reflector.stallsAt(), stalls + seconds(100));
  now = reflector.stallsAt();
  fail(0);
  EXPECT_EQ(nextIsList().resourceVersion, "");
}

TEST_F(ReflectorTest, IsToldToBeSlower) {
  nextIsList();
  answer({objectAt("a", "5")}, "10", "first");
  nextIsList();
  reflector.failed({429, "TooManyRequests", "", seconds(7)}, now);
  const client::TimePoint failed = now;
  EXPECT_EQ(nextIsList().continueToken, "first");
  EXPECT_EQ(now, failed + seconds(7));
}

// As Kubernetes 1.36 answers the first watch of a type that was just created, with Retry-After: 1, and for a
// moment every request for a type whose CRD is gone.
TEST_F(ReflectorTest, LooksAgainSoonWhileTheServerIsBetweenTwoStates) {
  client::ServerStatus initializing{429, "TooManyRequests", "storage is (re)initializing", seconds(1)};
  follow();
  client::ServerStatus unknownPath{404, "", "404 page not found", std::nullopt};
  const auto waited = [&](const client::ServerStatus& status) {
    const client::TimePoint before = now;
    reflector.next(now);
    reflector.failed(status, now);
    const client::Next next = reflector.next(now);
    if (!std::holds_alternative<client::WaitUntil>(next)) return milliseconds(0);
    now = std::get<client::WaitUntil>(next).when;
    return std::chrono::duration_cast<milliseconds>(now - before);
  };
  EXPECT_LE(waited(initializing), milliseconds(20));
  EXPECT_EQ(state(), State::Stale);
  EXPECT_LE(waited(initializing), milliseconds(40));
  EXPECT_LE(waited(initializing), milliseconds(80));
  EXPECT_EQ(nextIsWatch(), "10") << "nothing was lost";
  EXPECT_LE(waited(unknownPath), milliseconds(160));
  EXPECT_EQ(state(), State::NotServed) << "a watch that is answered 404 says what a list would";
  list({}, "20");
  EXPECT_LE(waited(unknownPath), milliseconds(20)) << "a list shows that the state has passed";
  const client::ServerStatus busy{429, "TooManyRequests", "too many requests", seconds(1)};
  EXPECT_GE(waited(busy), seconds(1)) << "a server with too much to do is obeyed";
}

TEST_F(ReflectorTest, DoesNotWaitForEverBecauseAServerSaysSo) {
  nextIsList();
  reflector.failed({503, "", "", seconds(86'400)}, now);
  const client::TimePoint failed = now;
  nextIsList();
  EXPECT_LE(now, failed + minutes(2));
}

TEST_F(ReflectorTest, WaitsLongerAfterEachFailure) {
  std::vector<int64_t> waits;
  while (waits.size() < 10) {
    const client::TimePoint before = now;
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
  list({objectAt("a", "5"), objectAt("b", "7")}, "10");
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(state(), State::Stale);
}

TEST_F(ReflectorTest, CanBeHurried) {
  nextIsList();
  reflector.failed({404, "", "", seconds(60)}, now);
  EXPECT_TRUE(std::holds_alternative<client::WaitUntil>(reflector.next(now)));
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

}  // namespace
}  // namespace lastout::testing
