#include "client/watcher.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "tests/client/script.h"

namespace lastout::testing {
namespace {

using client::SyncStatus;
using State = client::SyncStatus::State;
using Then = ScriptedAnswer::Then;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPath = "/apis/my.crd.group/v1/coolresources";

std::string objectJson(const std::string& name, const std::string& version) {
  return R"({"metadata":{"namespace":"app","name":")" + name + R"(","uid":"uid-)" + name +
         R"(","resourceVersion":")" + version + R"("}})";
}

std::string listJson(const std::string& items, const std::string& version, const std::string& token = "") {
  return R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":")" +
         version + R"(","continue":")" + token + R"("},"items":[)" + items + "]}";
}

std::string eventJson(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// What a Watcher tells, for a thread that waits for it.
class Listening {
 public:
  client::ReflectorHandlers handlers() {
    return {[this](const client::StreamedObject& object) {
              tell(object.meta.name + " at " + object.meta.resourceVersion);
            },
            [this](const client::Removed& object) { tell(object.name + " removed"); },
            [this](const SyncStatus& knowledge) {
              constexpr const char* kNames[] = {"never synced", "synced", "stale", "forbidden", "not served"};
              tell(kNames[static_cast<size_t>(knowledge.state)]);
            }};
  }
  // Waits until that many were told.
  std::vector<std::string> first(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_.size() >= count; });
    return {told_.begin(), told_.begin() + static_cast<ptrdiff_t>(count)};
  }
  size_t count() {
    const std::scoped_lock lock(mutex_);
    return told_.size();
  }

 private:
  void tell(std::string what) {
    {
      const std::scoped_lock lock(mutex_);
      told_.push_back(std::move(what));
    }
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
};

client::WatcherOptions quick() {
  client::WatcherOptions options;
  options.reflector.backoff = {std::chrono::milliseconds(1), std::chrono::milliseconds(1)};
  options.random = [] { return 0.5; };
  return options;
}

struct Watching {
  explicit Watching(std::vector<ScriptedAnswer> answers, client::WatcherOptions options = quick(),
                    client::WatchedType type = {std::string(kPath), "", client::Content::Metadata})
      : script(std::move(answers)),
        watcher(script.server(), std::move(type), std::move(options), told.handlers()) {
    watcher.start();
  }
  Script script;
  Listening told;
  client::Watcher watcher;
};

TEST(Watcher, ListsAndWatches) {
  Watching here({{200, {listJson(objectJson("a", "5"), "10", "more+"), ""}, Then::Ends, {}},
                 {200, {listJson(objectJson("b", "7"), "10")}, Then::Ends, {}},
                 {200, {}, Then::IsOpen, {}}});
  here.script.goOn(eventJson("MODIFIED", objectJson("a", "11")), false);
  here.script.goOn(eventJson("DELETED", objectJson("b", "12")), false);
  EXPECT_THAT(here.told.first(6), ElementsAre("a at 5", "b at 7", "stale", "synced", "a at 11", "b removed"));
  const std::string path(kPath);
  EXPECT_EQ(here.script.request(0).target, path + "?limit=500&resourceVersion=0");
  EXPECT_EQ(here.script.request(1).target, path + "?limit=500&continue=more%2B");
  EXPECT_EQ(here.script.request(2).target,
            path + "?watch=true&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=450");
  EXPECT_EQ(here.script.request(0).accept, client::kAcceptMetadataList);
  EXPECT_EQ(here.script.request(2).accept, client::kAcceptMetadata);
  EXPECT_EQ(here.watcher.knowledge().state, State::Synced);
}

TEST(Watcher, AsksForWholeObjectsAndASelection) {
  Watching here({}, quick(), {"/api/v1/pods", "labelSelector=app%3Dweb", client::Content::Whole});
  EXPECT_EQ(here.script.request(0).target,
            "/api/v1/pods?labelSelector=app%3Dweb&limit=500&resourceVersion=0");
  EXPECT_EQ(here.script.request(0).accept, "application/json");
}

TEST(Watcher, ResumesWhereItWasCut) {
  Watching here({{200, {listJson("", "10")}, Then::Ends, {}},
                 {200, {eventJson("ADDED", objectJson("a", "14")), R"({"type":"AD)"}, Then::IsCut, {}},
                 {200, {eventJson("ADDED", objectJson("b", "15"))}, Then::Ends, {}},
                 {200, {R"({"type":"ADDED","obj)"}, Then::Ends, {}}});
  EXPECT_THAT(here.script.request(2).target, HasSubstr("resourceVersion=14&"));
  EXPECT_THAT(here.script.request(3).target, HasSubstr("resourceVersion=15&"));
  EXPECT_THAT(here.script.request(4).target, HasSubstr("resourceVersion=15&"));
}

TEST(Watcher, ListsAgainWhenItsVersionIsTooOld) {
  const std::string expired = eventJson("ERROR", R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                                 R"("reason":"Expired","code":410})");  // rest/070
  Watching here({{200, {listJson(objectJson("a", "5"), "10")}, Then::Ends, {}},
                 {200, {expired}, Then::IsOpen, {}},
                 {200, {listJson(objectJson("b", "20"), "21")}, Then::Ends, {}}});
  EXPECT_EQ(here.script.request(2).target, std::string(kPath) + "?limit=500");
  EXPECT_THAT(here.told.first(8),
              ElementsAre("a at 5", "stale", "synced", "stale", "b at 20", "a removed", "stale", "synced"));
}

// Nothing of its watch is told, though that is one from a version that it knows.
TEST(Watcher, ListsAgainFromAnotherCluster) {
  Watching here({{200, {listJson(objectJson("a", "5"), "10")}, Then::Ends, {}},
                 {200, {}, Then::IsOpen, {}},
                 {200, {eventJson("ADDED", objectJson("b", "12"))}, Then::IsOpen, {}},
                 {200, {listJson(objectJson("c", "7"), "12")}, Then::Ends, {}}});
  here.told.first(3);
  here.script.become("uid-of-another");
  here.script.goOn("", true);
  EXPECT_THAT(here.script.request(2).target, HasSubstr("resourceVersion=10&"));
  EXPECT_EQ(here.script.request(3).target, std::string(kPath) + "?limit=500");
  EXPECT_THAT(here.told.first(8),
              ElementsAre("a at 5", "stale", "synced", "stale", "stale", "c at 7", "a removed", "stale"));
}

TEST(Watcher, FollowsNobodyOfWhomItDoesNotKnowWhoHeIs) {
  Watching here({{200, {listJson(objectJson("a", "5"), "10")}, Then::Ends, {}},
                 {200, {}, Then::IsOpen, {}},
                 {200, {eventJson("ADDED", objectJson("b", "12"))}, Then::IsOpen, {}}});
  here.told.first(3);
  here.script.refuseToSayWhich(500);
  here.script.goOn("", true);
  EXPECT_THAT(here.told.first(5), ElementsAre("a at 5", "stale", "synced", "stale", "stale"));
  EXPECT_THAT(here.script.request(3).target, HasSubstr("watch=true")) << "it tries again";
  EXPECT_EQ(here.watcher.knowledge().why,
            "namespace kube-system, which tells one cluster from another, cannot be read: 500");
}

TEST(Watcher, FollowsWhereItIsNotToldWhichClusterItIs) {
  for (const int status : {403, 404}) {
    Script script({{200, {listJson("", "10")}, Then::Ends, {}}});
    script.refuseToSayWhich(status);
    Listening told;
    client::Watcher watcher(script.server(), {std::string(kPath), "", client::Content::Metadata}, quick(),
                            told.handlers());
    watcher.start();
    EXPECT_THAT(told.first(2), ElementsAre("stale", "synced"));
  }
}

TEST(Watcher, SaysWhatAServerRefuses) {
  Watching here({{403,
                  {R"({"kind":"Status","reason":"Forbidden",)", R"("message":"not you","code":403})"},
                  Then::Ends,
                  std::chrono::seconds(100)}});
  EXPECT_THAT(here.told.first(1), ElementsAre("forbidden"));
  here.watcher.hurry();
  here.script.request(1);
  EXPECT_EQ(here.watcher.knowledge().why, "403 Forbidden: not you");
}

TEST(Watcher, EndsARefusalWithoutEnd) {
  const std::string much(60'000, 'x');
  Watching here({{500, {much, much, much}, Then::IsOpen, {}}});
  here.script.request(1);
  EXPECT_THAT(here.watcher.knowledge().why, HasSubstr("xxx"));
}

TEST(Watcher, ListsAgainAfterWhatItDoesNotUnderstand) {
  Watching here({{200, {listJson("17", "10")}, Then::Ends, {}},
                 {200, {listJson(objectJson("a", "5"), "10").substr(0, 130)}, Then::Ends, {}},
                 {200, {listJson("", "10")}, Then::Ends, {}},
                 {200, {"nonsense\n"}, Then::IsOpen, {}}});
  EXPECT_EQ(here.script.request(4).target, std::string(kPath) + "?limit=500");
}

TEST(Watcher, StopsAtOnceAndSaysNothingOfIt) {
  Watching open({{200, {listJson("", "10")}, Then::Ends, {}}});
  open.told.first(2);
  open.watcher.stop();
  EXPECT_EQ(open.told.count(), 2U);
  open.watcher.stop();

  client::WatcherOptions patient = quick();
  patient.reflector.backoff.first = patient.reflector.backoff.most = std::chrono::hours(1);
  Watching waiting({{500, {}, Then::Ends, {}}}, patient);
  waiting.told.first(1);
  waiting.watcher.stop();
}

}  // namespace
}  // namespace lastout::testing
