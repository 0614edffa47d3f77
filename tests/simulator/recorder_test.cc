// What a recording says of a session, and what it keeps to itself.
#include "simulator/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/simulator/cluster_fixture.h"

namespace lastout::simulator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One for each test: they run at the same time.
std::string recordingPath() {
  return ::testing::TempDir() + "lastout-recording-" +
         ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
}

struct OpenRecorder {
  std::unique_ptr<Recorder> recorder = Recorder::open(recordingPath()).value();
};

class RecorderTest : private OpenRecorder, public testing::ClusterTest {
 public:
  RecorderTest() : ClusterTest(options()) {}
  ~RecorderTest() override { std::filesystem::remove(recordingPath()); }

  EmbeddedOptions options() {
    EmbeddedOptions options;
    options.callWebhook = testing::webhookThat([](const Webhook& /*webhook*/, const Json& /*request*/) {
      return Json{{"allowed", true}};
    });
    options.recorder = recorder.get();
    return options;
  }
  std::string recorded() {
    EXPECT_TRUE(recorder->finish());
    std::ifstream file(recordingPath());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // The lines of one kind about one object.
  std::vector<Json> linesOf(const std::string& kind, const std::string& name) {
    std::vector<Json> lines;
    std::istringstream text(recorded());
    for (std::string line; std::getline(text, line);) {
      Json json = Json::parse(line);
      if (json["kind"] == kind && json["name"] == name) lines.push_back(std::move(json));
    }
    return lines;
  }
  static Json objectNamed(const char* kind, const char* name) {
    return {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", name}}}};
  }

  const std::string kMaps = "/api/v1/namespaces/default/configmaps";
};

TEST_F(RecorderTest, TellsADeletionAsTheStoriesDo) {
  createWebhook("ValidatingWebhookConfiguration", "deletions.lastout.dev", {"DELETE"}, "configmaps");
  Json map = objectNamed("ConfigMap", "map");
  map["metadata"]["finalizers"] = {"x.dev/held"};
  expect(201, "POST", kMaps, map);
  pass(std::chrono::milliseconds(1500));
  expect(200, "DELETE", kMaps + "/map");
  expect(200, "PATCH", kMaps + "/map", {{"metadata", {{"finalizers", nullptr}}}},
         "application/merge-patch+json");
  const std::vector<Json> changes = linesOf("watch", "map");
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0]["type"], "ADDED");
  EXPECT_GE(changes[1]["t"], 1.5);  // the clock runs until the test stops it
  EXPECT_EQ(changes[1]["terminating"], true);
  EXPECT_EQ(changes[1]["finalizers"], Json::array({"x.dev/held"}));
  EXPECT_EQ(changes[1]["object"]["metadata"]["name"], "map");
  EXPECT_EQ(changes[2]["type"], "DELETED");
  const std::vector<Json> reviews = linesOf("admission", "map");
  ASSERT_EQ(reviews.size(), 1U);  // nobody is asked about anything else
  EXPECT_EQ(reviews[0]["operation"], "DELETE");
  EXPECT_EQ(reviews[0]["user"], "admin");
  EXPECT_EQ(reviews[0]["allowed"], true);
  EXPECT_EQ(reviews[0]["webhooks"], Json::array({"deletions.lastout.dev"}));
  const std::vector<Json> requests = linesOf("client", "map");
  ASSERT_EQ(requests.size(), 2U);  // the creation's path names nothing
  EXPECT_EQ(requests[0]["action"], "DELETE configmaps");
  EXPECT_EQ(requests[0]["status"], 200);
}

TEST_F(RecorderTest, TellsWhyARequestWasRefused) {
  expect(404, "DELETE", kMaps + "/absent");
  EXPECT_THAT(linesOf("client", "absent").at(0)["answer"]["message"], R"(configmaps "absent" not found)");
}

TEST_F(RecorderTest, KeepsSecretsToItself) {
  constexpr const char* kEncoded = "aHVudGVyMg==";
  Json secret = objectNamed("Secret", "password");
  secret["data"] = {{"password", kEncoded}};
  secret["metadata"]["annotations"] = {{"kubectl.kubernetes.io/last-applied-configuration", secret.dump()}};
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  expect(201, "POST", secrets, secret);
  expect(200, "PATCH", secrets + "/password", {{"data", {{"other", kEncoded}}}},
         "application/merge-patch+json");
  createNamespace("cluster1");
  const std::string works = "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
  Json work = objectNamed("ManifestWork", "work");
  work["apiVersion"] = "work.open-cluster-management.io/v1";
  work["spec"] = {{"workload", {{"manifests", Json::array({secret})}}}};
  expect(201, "POST", works, work);
  expect(
      200, "PATCH", works + "/work",
      Json::array({{{"op", "add"}, {"path", "/spec/workload/manifests/0/data/third"}, {"value", kEncoded}}}),
      "application/json-patch+json");
  Json crd = objectNamed("CustomResourceDefinition", "boxes.x.dev");
  crd["apiVersion"] = "apiextensions.k8s.io/v1";
  crd["spec"] = Json::parse(R"({"group": "x.dev", "scope": "Namespaced",
    "names": {"plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList"},
    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
      {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]})");
  expect(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  Json box = objectNamed("Box", "box");
  box["apiVersion"] = "x.dev/v1";
  box["spec"] = {{"template", secret}};
  const std::string boxes = "/apis/x.dev/v1/namespaces/default/boxes";
  expect(201, "POST", boxes, box);
  expect(200, "PATCH", boxes + "/box", {{"spec", {{"template", {{"data", {{"third", kEncoded}}}}}}}},
         "application/merge-patch+json");
  pass(std::chrono::seconds(10));
  const std::string text = recorded();
  EXPECT_THAT(text, HasSubstr("\"password\""));
  EXPECT_THAT(text, HasSubstr("manifests"));
  EXPECT_THAT(text, Not(HasSubstr(kEncoded)));
}

TEST(Recorder, SaysThatItCannotWrite) {
  EXPECT_FALSE(Recorder::open("/nonexistent/recording.jsonl"));
  const auto full = Recorder::open("/dev/full");
  ASSERT_TRUE(full);
  (*full)->marker(std::chrono::seconds(1), "this goes nowhere");
  EXPECT_THAT((*full)->finish().error().message, HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace lastout::simulator
