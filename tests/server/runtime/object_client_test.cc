// Lists page by page, what is asked again and what once, and the limits of what is read.
#include "server/runtime/object_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::ScriptedWorld;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

class ObjectClientTest : public ScriptedWorld {
 public:
  void createMaps(int count) {
    for (int i = 0; i < count; ++i)
      create(kMaps, {{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", "map-" + std::to_string(i)}, {"labels", {{"of", "test"}}}}}});
  }
  RequestResult<void> list() {
    return objects.list({kMaps, client::Content::Metadata, 2, "of=test"},
                        [this](const std::vector<client::StreamedObject>& page) {
                          EXPECT_LE(page.size(), 2U);
                          for (const client::StreamedObject& object : page) names.push_back(object.meta.name);
                        });
  }

  ObjectClient objects{server, patience};
  std::vector<std::string> names;
};

TEST_F(ObjectClientTest, AListComesInPages) {
  createMaps(5);
  ASSERT_TRUE(list());
  EXPECT_THAT(names, UnorderedElementsAre("map-0", "map-1", "map-2", "map-3", "map-4"));
  EXPECT_THAT(server.asked, SizeIs(3));
}

TEST_F(ObjectClientTest, AListBeginsAnewWhenTheServerHasForgotten) {
  createMaps(3);
  bool isForgotten = false;
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (isForgotten || request.target.find("continue=") == std::string::npos) return std::nullopt;
    isForgotten = true;
    return 410;
  };
  ASSERT_TRUE(list());
  EXPECT_THAT(names, ElementsAre("map-0", "map-1", "map-0", "map-1", "map-2"));
}

TEST_F(ObjectClientTest, OfWhatIsNotServedThereIsNone) {
  EXPECT_TRUE(objects.list({"/apis/nowhere.io/v1/things", client::Content::Metadata, 2},
                           [](const auto&) { FAIL() << "a page of nothing"; }));
  EXPECT_EQ(objects.readMetadata(std::string(kMaps) + "/nothing").value(), std::nullopt);
}

// Tells of the object map-1 in a way that nobody can read.
struct SpoilingServer final : client::ApiServer {
  explicit SpoilingServer(client::ApiServer& cluster) : cluster(cluster) {}
  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override {
    return cluster.exchange(request, [&](int status, std::string_view piece) {
      std::string body(piece);
      if (const size_t at = body.find(R"("name":"map-1")"); at != std::string::npos)
        body.insert(at, R"("finalizers":7,)");
      return take(status, body);
    });
  }
  void stop() override {}

  client::ApiServer& cluster;
};

TEST_F(ObjectClientTest, AnObjectThatCannotBeReadHidesNoOther) {
  createMaps(3);
  SpoilingServer spoiling(server);
  const auto listed = ObjectClient(spoiling, patience)
                          .list({kMaps, client::Content::Metadata, 2, "of=test"},
                                [this](const std::vector<client::StreamedObject>& page) {
                                  for (const client::StreamedObject& object : page)
                                    names.push_back(object.meta.name);
                                });
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().why,
            "default/map-1 cannot be read: metadata.finalizers must be a list, not an integer");
  EXPECT_THAT(names, ElementsAre("map-0", "map-2"));
}

// Busy, failing, or away: each passes.
TEST_F(ObjectClientTest, WhatMayPassIsAskedAgain) {
  createMaps(1);
  std::vector<int> refusals = {0, 503, 429};
  server.rule = [&](const client::ApiRequest&) -> std::optional<int> {
    if (refusals.empty()) return std::nullopt;
    const int refusal = refusals.back();
    refusals.pop_back();
    return refusal;
  };
  ASSERT_TRUE(list());
  EXPECT_THAT(names, ElementsAre("map-0"));
  EXPECT_GE(now.time_since_epoch(), std::chrono::seconds(3)) << "it waits between two attempts";
}

TEST_F(ObjectClientTest, WhatIsForbiddenIsNotAskedAgain) {
  server.rule = [](const client::ApiRequest&) { return 403; };
  const auto listed = list();
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, 403);
  EXPECT_THAT(server.asked, SizeIs(1));
}

TEST_F(ObjectClientTest, ItEndsWhenNobodyAnswers) {
  server.rule = [](const client::ApiRequest&) { return 0; };
  EXPECT_EQ(list().error().why, "the server does not answer");
}

const kube::ResourceType kMapType{{"", "configmaps"}, "ConfigMap", "v1", "configmap", {}, true, true};
const kube::ResourceType kNowhere{{"nowhere.io", "things"}, "Thing", "v1", "thing", {}, true, false};

TEST_F(ObjectClientTest, WithoutPatienceEachIsAskedOnce) {
  server.rule = [](const client::ApiRequest&) { return 503; };
  const auto read = ObjectClient(server).read(std::string(kMaps) + "/map-0");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, 503);
  EXPECT_EQ(read.error().refusal.message, "the test says no");
  EXPECT_THAT(server.asked, SizeIs(1));
}

TEST_F(ObjectClientTest, NoAnswerIsReadBeyondItsLimit) {
  createMaps(1);
  const std::string path = std::string(kMaps) + "/map-0";
  EXPECT_TRUE(ObjectClient(server).read(path).value().has_value());
  const auto read = ObjectClient(server, std::nullopt, 10).read(path);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, 0);
  EXPECT_EQ(read.error().why, "the answer to GET " + path + " is longer than 10 bytes");
}

// Where the type is not served, nobody knows that the object is not there.
TEST_F(ObjectClientTest, AnObjectIsMissingOnlyWhereItsTypeIsServed) {
  createMaps(1);
  const ObjectClient client(server);
  EXPECT_EQ(client.getMetadata(kMapType, "default", "map-0").value()->name, "map-0");
  EXPECT_EQ(client.getMetadata(kMapType, "default", "nothing").value(), std::nullopt);
  const auto unserved = client.getMetadata(kNowhere, "default", "nothing");
  ASSERT_FALSE(unserved);
  EXPECT_EQ(unserved.error().code, 404);
}

}  // namespace
}  // namespace lastout::server
