// Watches: told piece by piece, and still in one order; with ages of the moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "tests/simulator/admin_request.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr size_t kMapBytes = 50'000;
constexpr size_t kMostOfAPiece = (size_t{256} << 10) + kMapBytes + 1000;  // one event begins within it

// The time, which the test moves on, since it began.
using Time = std::shared_ptr<seconds>;

EmbeddedOptions timedBy(const Time& time) {
  EmbeddedOptions options;
  options.stopwatch = [time] { return std::chrono::steady_clock::time_point(*time); };
  options.wallClock = [time] { return std::chrono::sys_seconds(std::chrono::hours(500'000) + *time); };
  return options;
}

class WatchTest : public testing::ClusterTest {
 public:
  WatchTest() : WatchTest(std::make_shared<seconds>()) {}
  explicit WatchTest(const Time& shared) : ClusterTest(timedBy(shared)), time(shared) {}

  // "m00", "m01", ...
  void createMaps(size_t count) {
    for (size_t i = names.size(), end = i + count; i < end; ++i) {
      names.push_back((i < 10 ? "m0" : "m") + std::to_string(i));
      expect(201, "POST", kMaps,
             {{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", names.back()}}},
              {"data", {{"text", std::string(kMapBytes, 'x')}}}});
    }
  }
  std::string version() { return expect(200, "GET", kMaps)["metadata"]["resourceVersion"]; }
  std::unique_ptr<WatchResponse> watch(const std::string& query = {}) {
    ExchangeResponse response = send("GET", std::string(kMaps) + "?watch=1" + query);
    EXPECT_NE(response.stream, nullptr);
    return std::move(response.stream);
  }
  std::vector<std::string> added() const {
    std::vector<std::string> events;
    for (const std::string& name : names) events.push_back("ADDED " + name);
    return events;
  }

  Time time;
  std::vector<std::string> names;
};

// "ADDED m00", and the label, if there is one: "MODIFIED m00 late".
std::string told(const std::string& line) {
  const Json event = Json::parse(line);
  std::string text = std::string(stringAt(event, {"type"})) + " " +
                     std::string(stringAt(event, {"object", "metadata", "name"}));
  const std::string_view label = stringAt(event, {"object", "metadata", "labels", "is"});
  return label.empty() ? text : text + " " + std::string(label);
}

std::vector<std::string> toldIn(const std::string& piece) {
  std::vector<std::string> events;
  std::istringstream lines(piece);
  for (std::string line; std::getline(lines, line);) events.push_back(told(line));
  return events;
}

// The pieces that come without waiting, up to an empty one or the end.
std::vector<std::string> piecesOf(WatchResponse& watch) {
  std::vector<std::string> pieces;
  for (auto piece = watch.next(milliseconds(0)); piece && !piece->empty();
       piece = watch.next(milliseconds(0)))
    pieces.push_back(*piece);
  return pieces;
}

std::vector<std::string> toldIn(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) {
    EXPECT_LE(piece.size(), kMostOfAPiece);
    all += piece;
  }
  return toldIn(all);
}

// As client-go's reflectors ask since 1.35, and wait for that bookmark.
TEST_F(WatchTest, ABookmarkSaysWhereWhatIsThereEnds) {
  createMaps(20);
  const std::string before = version();
  const auto stream = watch("&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersion=" + before +
                            "&resourceVersionMatch=NotOlderThan");
  const std::vector<std::string> pieces = piecesOf(*stream);
  std::vector<std::string> expected = added();
  expected.emplace_back("BOOKMARK ");
  EXPECT_THAT(toldIn(pieces), ElementsAreArray(expected));
  const std::string& last = pieces.back();
  const Json bookmark = Json::parse(last.substr(last.rfind('\n', last.size() - 2) + 1));
  EXPECT_EQ(bookmark["object"]["metadata"],
            (Json{{"resourceVersion", before}, {"annotations", {{"k8s.io/initial-events-end", "true"}}}}));
}

TEST_F(WatchTest, OfAVersionThatIsNotThereYetIsRefusedHoweverItBegins) {
  createMaps(1);
  for (const char* begins : {"", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                             "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"}) {
    const auto stream = watch(std::string("&resourceVersion=999999999") + begins);
    const std::vector<std::string> pieces = piecesOf(*stream);
    ASSERT_EQ(pieces.size(), 1U) << begins;
    const Json event = Json::parse(pieces.front());
    EXPECT_EQ(event["type"], "ERROR") << begins;
    EXPECT_EQ(event["object"]["code"], 504) << begins;
  }
}

TEST_F(WatchTest, WhatIsThereIsNotToldToWhoeverDoesNotWantIt) {
  createMaps(1);
  const auto stream =
      watch("&allowWatchBookmarks=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  EXPECT_THAT(piecesOf(*stream), ElementsAre());
  createMaps(1);
  EXPECT_THAT(toldIn(piecesOf(*stream)), ElementsAre("ADDED m01"));
}

TEST_F(WatchTest, WhatIsThereIsToldInPiecesAsItWas) {
  createMaps(20);
  const auto stream = watch();
  std::vector<std::string> pieces = {stream->next(milliseconds(0)).value()};
  expect(200, "PATCH", std::string(kMaps) + "/m19", {{"metadata", {{"labels", {{"is", "late"}}}}}},
         "application/merge-patch+json");
  expect(200, "DELETE", std::string(kMaps) + "/m18");
  for (std::string& piece : piecesOf(*stream)) pieces.push_back(std::move(piece));
  std::vector<std::string> expected = added();
  expected.insert(expected.end(), {"MODIFIED m19 late", "DELETED m18"});
  EXPECT_THAT(toldIn(pieces), ElementsAreArray(expected));
}

TEST_F(WatchTest, WhatCameSinceAVersionIsToldInPieces) {
  const std::string then = version();
  createMaps(20);
  EXPECT_THAT(toldIn(piecesOf(*watch("&resourceVersion=" + then))), ElementsAreArray(added()));
}

// A piece is filled with what is selected.
TEST_F(WatchTest, WhatIsNotSelectedMakesNoPieceEmpty) {
  createMaps(20);
  EXPECT_THAT(toldIn(piecesOf(*watch("&fieldSelector=metadata.name=m19"))), ElementsAreArray({"ADDED m19"}));
}

// A client takes the version of a bookmark for all that was there.
TEST_F(WatchTest, ABookmarkComesBehindWhatWasThere) {
  createMaps(20);
  const std::string then = version();
  const auto stream = watch("&allowWatchBookmarks=true");
  *time += seconds(11);
  const std::vector<std::string> pieces = piecesOf(*stream);
  std::vector<std::string> expected = added();
  expected.insert(expected.end(), {"BOOKMARK ", "BOOKMARK "});  // where that ends, and that of idle watches
  EXPECT_THAT(toldIn(pieces), ElementsAreArray(expected));
  EXPECT_EQ(Json::parse(pieces.back())["object"]["metadata"]["resourceVersion"], then);
}

TEST_F(WatchTest, WhatWasThereIsToldEvenWhenItsTimeIsOver) {
  createMaps(20);
  const auto stream = watch("&timeoutSeconds=1");
  *time += seconds(2);
  EXPECT_THAT(toldIn(piecesOf(*stream)), ElementsAreArray(added()));
  EXPECT_EQ(stream->next(milliseconds(0)), std::nullopt);
}

// The Age of each event's row, as `kubectl get -w` asks for it.
std::vector<std::string> agesIn(WatchResponse& watch) {
  std::vector<std::string> ages;
  std::istringstream lines(watch.next(milliseconds(0)).value());
  for (std::string line; std::getline(lines, line);)
    ages.push_back(Json::parse(line)["object"]["rows"][0]["cells"].back());
  return ages;
}

TEST_F(WatchTest, IsOverWhenSomebodyEndsItWhileItWaits) {
  const auto stream = watch("&timeoutSeconds=36000");
  std::atomic<int> pieces{0};
  std::thread telling([&] {
    while (stream->next(std::chrono::hours(1))) {
      ++pieces;
      pieces.notify_one();
    }
  });
  createMaps(1);
  pieces.wait(0);  // it waits for the next one then, or is about to
  stream->end();
  telling.join();
  EXPECT_EQ(stream->next(std::chrono::hours(1)), std::nullopt);
}

TEST_F(WatchTest, AgesAreOfTheMomentInWhichTheyAreTold) {
  createMaps(1);
  ExchangeRequest request = testing::adminRequest("GET", kMaps + "?watch=1");
  request.accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const ExchangeResponse response = cluster.handle(request);
  *time += seconds(30);
  EXPECT_THAT(agesIn(*response.stream), ElementsAre("30s"));
  createMaps(1);
  *time += seconds(5);
  EXPECT_THAT(agesIn(*response.stream), ElementsAre("5s"));
}

}  // namespace
}  // namespace lastout::simulator
