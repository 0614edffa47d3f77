// Deferred deletions of a cluster, listed and cancelled while others write the same statuses.
#include "server/recorded_deletions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "criticalservice/critical_service.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::ScriptedWorld;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kServices = "/apis/lastout.dev/v1alpha1/criticalservices";
constexpr const char* kProviderPath = "/apis/apps/v1/namespaces/default/deployments/provider";
constexpr const char* kInstancePath = "/apis/my.crd.group/v1/coolresources/instance";

class RecordedDeletionsTest : public ScriptedWorld {
 public:
  RecordedDeletionsTest() { createStory(); }

  Json entryOf(const std::string& path, const std::string& group, const std::string& resource,
               const std::string& user) {
    const Json metadata = get(path)["metadata"];
    Json entry = {{"group", group},         {"resource", resource}, {"name", metadata["name"]},
                  {"uid", metadata["uid"]}, {"requestedBy", user},  {"requestedAt", "2026-11-29T10:00:00Z"}};
    if (metadata.contains("namespace")) entry["namespace"] = metadata["namespace"];
    return entry;
  }
  Json ofProvider() { return entryOf(kProviderPath, "apps", "deployments", "agent"); }
  Json ofInstance() { return entryOf(kInstancePath, "my.crd.group", "coolresources", "collector"); }
  void record(const std::string& service, const std::vector<Json>& entries) {
    patch(std::string(kServices) + "/" + service + "/status", {{"status", {{"deferredDeletions", entries}}}});
  }
  Json recorded(const std::string& service = "s") {
    const Json object = get(std::string(kServices) + "/" + service);
    return object["status"].value("deferredDeletions", Json::array());
  }
  std::vector<RecordedDeletion> list() {
    const auto discovery = client::discover(server);
    EXPECT_TRUE(discovery);
    auto all = recordedDeletions(server, *discovery, [](const auto&) { return true; });
    EXPECT_TRUE(all) << (all ? "" : all.error().message);
    unclear = all ? all->unclear : std::map<std::string, size_t>();
    return all ? std::move(all->all) : std::vector<RecordedDeletion>();
  }
  // Of the only one that was listed; writes of Events do not count.
  kube::Result<bool> cancel(const std::vector<RecordedDeletion>& all) {
    EXPECT_EQ(all.size(), 1U);
    auto isDone = cancelDeletion(server, all.front(),
                                 std::chrono::sys_seconds(std::chrono::seconds(1'760'000'000)), untold);
    std::erase_if(server.writes, [](const std::string& line) { return line.starts_with("POST"); });
    return isDone;
  }

  std::string untold;
  std::map<std::string, size_t> unclear;  // of the last list()
};

TEST_F(RecordedDeletionsTest, ListsWhoseTheyAreAndHowTheirObjectsStand) {
  Json other = criticalService();
  other["metadata"]["name"] = "t";
  create(kServices, other);
  Json replaced = ofInstance();
  replaced["uid"] = "of-a-former-one";
  record("s", {ofProvider(), ofInstance()});
  record("t", {replaced,
               {{"group", "gone.io"},
                {"resource", "things"},
                {"name", "x"},
                {"uid", "u"},
                {"requestedBy", "jane"},
                {"requestedAt", "2026-11-29T10:00:00Z"}}});
  remove(kInstancePath);
  std::vector<std::string> told;
  for (const RecordedDeletion& one : list())
    told.push_back(one.service + " " + toString(one.deletion.object) + " " + one.deletion.requestedBy + " " +
                   one.state);
  EXPECT_THAT(told, ElementsAre("s deployments.apps/default/provider agent Waiting",
                                "s coolresources.my.crd.group/instance collector Terminating",
                                "t coolresources.my.crd.group/instance collector Gone",
                                "t things.gone.io/x jane Unknown"));
}

// Another deletion was recorded, and the status written, after it was read.
TEST_F(RecordedDeletionsTest, CancelsOneAndKeepsWhatOthersRecordMeanwhile) {
  record("s", {ofProvider()});
  const std::vector<RecordedDeletion> all = list();
  Json later = ofInstance();
  server.before("PATCH", "/s/status", [&] { record("s", {later, ofProvider()}); });
  EXPECT_EQ(cancel(all), true);
  EXPECT_EQ(recorded(), Json::array({later})) << "as it stood, letter by letter";
  EXPECT_THAT(server.writes, SizeIs(2)) << "the first was refused with 409";
  EXPECT_EQ(cancel(all), false);
  EXPECT_THAT(server.writes, SizeIs(2)) << "there was nothing to write";
}

// Somebody has asked for the deletion of another object of that name.
TEST_F(RecordedDeletionsTest, LeavesTheDeletionOfAnotherObjectOfThatName) {
  record("s", {ofProvider()});
  const std::vector<RecordedDeletion> all = list();
  Json other = ofProvider();
  other["uid"] = "of-another";
  record("s", {other});
  EXPECT_EQ(cancel(all), false);
  EXPECT_EQ(recorded(), Json::array({other}));
}

TEST_F(RecordedDeletionsTest, GivesUpWhenOthersAreAlwaysFaster) {
  record("s", {ofProvider()});
  const std::vector<RecordedDeletion> all = list();
  server.rule = [](const client::ApiRequest& request) -> std::optional<int> {
    return request.method == "PATCH" ? std::optional(409) : std::nullopt;
  };
  const auto cancelled = cancel(all);
  ASSERT_FALSE(cancelled);
  EXPECT_THAT(cancelled.error().message, HasSubstr("409"));
  EXPECT_THAT(recorded(), SizeIs(1));
}

TEST_F(RecordedDeletionsTest, TellsOfACancelByAnEvent) {
  record("s", {ofProvider()});
  const std::vector<RecordedDeletion> all = list();
  EXPECT_EQ(cancel(all), true);
  EXPECT_EQ(untold, "");
  const Json events = get("/api/v1/namespaces/default/events")["items"];
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0]["reason"], "DeletionTakenBack");
  EXPECT_EQ(events[0]["message"],
            "deployments.apps/default/provider is not deleted, although agent had asked: it was cancelled by "
            "lastout deferred cancel");
  EXPECT_EQ(events[0]["involvedObject"]["name"], "s");
  EXPECT_EQ(events[0]["involvedObject"]["uid"], get(std::string(kServices) + "/s")["metadata"]["uid"]);
}

// It is cancelled all the same.
TEST_F(RecordedDeletionsTest, SaysWhyThereIsNoEvent) {
  record("s", {ofProvider()});
  server.refuse({"POST", "/events", 403, "you may not"});
  EXPECT_EQ(cancel(list()), true);
  EXPECT_THAT(untold, HasSubstr("you may not"));
  EXPECT_THAT(recorded(), IsEmpty());
}

TEST_F(RecordedDeletionsTest, ACriticalServiceThatIsGoneHasNothingToCancel) {
  record("s", {ofProvider()});
  const std::vector<RecordedDeletion> all = list();
  remove(std::string(kServices) + "/s");
  EXPECT_EQ(cancel(all), false);
  EXPECT_THAT(list(), IsEmpty());
}

TEST_F(RecordedDeletionsTest, CountsWhatCannotBeUnderstood) {
  Json unclearOne = ofProvider();
  unclearOne["uid"] = "";
  record("s", {unclearOne});
  EXPECT_THAT(list(), IsEmpty());
  EXPECT_THAT(unclear, ::testing::ElementsAre(::testing::Pair("s", 1)));
}

TEST_F(RecordedDeletionsTest, NeedsCriticalServices) {
  client::Discovery without = *client::discover(server);
  without.served.erase(criticalservice::criticalServiceType());
  const auto all = recordedDeletions(server, without, [](const auto&) { return true; });
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, HasSubstr("lastout is not installed there"));
}

}  // namespace
}  // namespace lastout::server
