// The recorded reviews, asked of a whole server over HTTPS: the verdict of each follows from docs/verdicts.md
// and from what its cluster holds, and an API server takes the answer.
#include "tests/admission/recorded_reviews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "server/server.h"
#include "simulator/admission_review.h"
#include "tests/net/http_world.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using graph::Knowledge;
using lastout::testing::Json;
using lastout::testing::kCoolResources;
using lastout::testing::RawClient;
using lastout::testing::recordedReview;
using lastout::testing::ServerWorld;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kStoryDeployments = "/apis/apps/v1/namespaces/finalizer-namespace/deployments";

// "42-delete-deployments-agent-background" is 42.
int numberOf(const std::string& name) { return std::stoi(name); }

// Some of the recorded objects stand in the cluster: the namespace, the provider in it, the CRD, the instance
// with its finalizer, and the CriticalService.
class RecordedReviewsTest : public ServerWorld {
 public:
  RecordedReviewsTest() {
    createStoryWithoutService();
    create("/api/v1/namespaces",
           {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "finalizer-namespace"}}}});
    create(kStoryDeployments, standing("35-delete-deployments-admin"));
    create("/apis/lastout.dev/v1alpha1/criticalservices",
           standing("43-delete-criticalservices-agent-background"));
    ServerOptions options = serverOptions();
    options.roles.controller = false;
    options.log = [this](Level, const std::string& line) {
      const std::lock_guard lock(mutex_);
      if (line.find("answered") != std::string::npos) lines_.push_back(line);
    };
    serving = Server::open(access, std::move(options)).value();
    waitUntil([this] { return serving->view().knowledge(kCoolResources) == Knowledge::Synced; });
  }
  ~RecordedReviewsTest() override { serving->stop(milliseconds(0)); }

  // As it was before somebody deleted it, made anew.
  static Json standing(const std::string& review) {
    Json object = recordedReview(review)["request"]["oldObject"];
    for (const char* made : {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
                             "deletionGracePeriodSeconds", "ownerReferences", "managedFields", "generation"})
      object["metadata"].erase(made);
    object.erase("status");
    return object;
  }
  simulator::WebhookResponse post(const std::string& body) {
    RawClient client(serving->port(), RawClient::Tls{});
    EXPECT_TRUE(client.send(lastout::testing::postText("/review", body)));
    const std::string answer = client.readAnswer();
    return {lastout::testing::statusOf(answer), answer.substr(answer.find("\r\n\r\n") + 4)};
  }
  // The numbers of those that are denied; the API server would take every answer.
  std::set<int> denied() {
    std::set<int> numbers;
    for (const auto& [name, body] : lastout::testing::recordedReviews()) {
      const auto answer = simulator::readAnswer(post(body.dump()), "deletions.lastout.dev",
                                                body["request"]["uid"].get<std::string>(), false);
      EXPECT_TRUE(answer) << name << ": " << (answer ? "" : answer.error());
      if (answer && answer->denial) numbers.insert(numberOf(name));
    }
    return numbers;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::unique_ptr<Server> serving;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

// 33 to 36, 42 and 45 are about the provider (33 has its name in the old object alone), 41 and 46 about its
// namespace, 43 and 44 about the CriticalService. Nobody guards what the others are about, and writes of
// other types than CriticalServices are nobody's business.
TEST_F(RecordedReviewsTest, GetTheVerdictOfTheirMoment) {
  EXPECT_THAT(denied(), ElementsAre(33, 35, 36, 41, 42, 43, 44, 45, 46)) << "an instance holds the finalizer";
  clearTheWay();
  waitUntilClear(serving->view());
  EXPECT_THAT(denied(), ElementsAre(43, 44)) << "the provider is there";
  remove(std::string(kStoryDeployments) + "/finalizer-deployment");
  cluster.runUntil(std::chrono::minutes(2));
  waitUntil([this] { return denied().empty(); });
}

// What cannot be understood is answered 400, and the log says so once for a peer and a minute.
TEST_F(RecordedReviewsTest, ThatAreSpoiltAreRefusedInTheLogToo) {
  const Json sound = recordedReview("35-delete-deployments-admin");
  const auto spoilt = [&sound](const std::function<void(Json&)>& spoil) {
    Json body = sound;
    spoil(body);
    return body.dump();
  };
  std::string notUtf8 = sound.dump();
  notUtf8.replace(notUtf8.find("admin"), 1, "\xff");
  const std::vector<std::pair<std::string, const char*>> bodies = {
      {R"({"kind":"Pod","apiVersion":"v1"})", "kind is"},
      {spoilt([](Json& body) { body["apiVersion"] = "admission.k8s.io/v1beta1"; }), "v1beta1"},
      {spoilt([](Json& body) { body["request"].erase("uid"); }), "no request.uid"},
      {sound.dump().substr(0, 100), "no JSON"},
      {std::string(100, '[') + std::string(100, ']'), "nested more than 64 deep"},
      {notUtf8, "not UTF-8"}};
  const size_t before = lines().size();
  for (const auto& [body, words] : bodies) {
    const simulator::WebhookResponse answer = post(body);
    EXPECT_EQ(answer.status, 400) << words;
    EXPECT_THAT(answer.body, HasSubstr(words));
    const std::vector<std::string> after = lines();
    ASSERT_EQ(after.size(), before + 1) << words;
    EXPECT_THAT(after.back(), AllOf(HasSubstr(bodies.front().second), HasSubstr("answered 400")));
  }
  EXPECT_EQ(post(sound.dump()).status, 200) << "others are served";
}

}  // namespace
}  // namespace lastout::server
