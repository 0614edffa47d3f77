// An API server that says when it may be asked again is not asked before; a script says it.
#include "server/runtime/pausing_api_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kBusyObject = "/apis/lastout.dev/v1alpha1/criticalservices/s";
constexpr const char* kBusyStatus = "/apis/lastout.dev/v1alpha1/criticalservices/s/status";
constexpr const char* kOtherObject = "/apis/lastout.dev/v1alpha1/criticalservices/z";

// Answers with these one after the other, and then with 200.
class BusyServer : public client::ApiServer {
 public:
  explicit BusyServer(std::vector<std::string>& asked) : asked_(asked) {}

  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override {
    asked_.push_back(request.method + " " + request.target);
    client::ApiAnswer answer{200, {}};
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    if (take(answer.status, ""))
      take(answer.status, answer.status < 300 ? R"({"metadata":{"name":"s"}})"
                                              : R"({"kind":"Status","message":"too many requests"})");
    return answer;
  }
  void stop() override {}

  std::deque<client::ApiAnswer> answers;

 private:
  std::vector<std::string>& asked_;
};

class RetryAfterTest : public ::testing::Test {
 public:
  RetryAfterTest() {
    auto made = std::make_unique<BusyServer>(asked);
    busy = made.get();
    server = std::make_unique<PausingApiServer>(std::move(made), [this] { return now; });
  }
  // The status of the answer, and its Retry-After: "429 after 7: too many requests", "200".
  std::string ask(const std::string& method, const std::string& target, const std::string& body = {}) {
    client::ApiRequest request;
    request.method = method;
    request.target = target;
    request.body = body;
    const auto whole = ObjectClient(*server).ask(request);
    if (whole) return std::to_string(whole->answer.status);
    const NotDone& refusal = whole.error();
    std::string text = std::to_string(refusal.code);
    if (refusal.retryAfter) text += " after " + std::to_string(refusal.retryAfter->count());
    return text + ": " + refusal.refusal.message;
  }

  std::vector<std::string> asked;
  BusyServer* busy = nullptr;  // the server's
  std::unique_ptr<PausingApiServer> server;
  client::TimePoint now{};
};

TEST_F(RetryAfterTest, AnObjectIsNotAskedAboutBeforeItMayBe) {
  busy->answers = {{429, seconds(10)}};
  EXPECT_EQ(ask("PATCH", kBusyStatus), "429 after 10: too many requests");
  now += seconds(3);
  EXPECT_EQ(ask("PATCH", kBusyStatus), "429 after 7: too many requests");
  EXPECT_EQ(ask("GET", kBusyObject), "429 after 7: too many requests") << "its status is one with it";
  EXPECT_THAT(asked, SizeIs(1));
  EXPECT_EQ(ask("GET", kOtherObject), "200") << "another object was not refused";
  now += seconds(7);
  EXPECT_EQ(ask("PATCH", kBusyStatus), "200");
  EXPECT_EQ(ask("GET", kBusyObject), "200");
  EXPECT_THAT(asked, SizeIs(4));
}

TEST_F(RetryAfterTest, AnObjectMayBeCalledStatus) {
  busy->answers = {{429, seconds(10)}};
  EXPECT_EQ(ask("GET", "/api/v1/namespaces/status"), "429 after 10: too many requests");
  EXPECT_EQ(ask("GET", "/api/v1/namespaces"), "200");
  EXPECT_EQ(ask("PATCH", "/api/v1/namespaces/status/status"), "429 after 10: too many requests");
}

TEST_F(RetryAfterTest, ARefusedCreationKeepsNoOtherFromBeingAsked) {
  constexpr const char* kCollection = "/apis/example.com/v1/widgets";
  busy->answers = {{429, seconds(10)}};
  EXPECT_EQ(ask("POST", kCollection, R"({"metadata":{"name":"a"}})"), "429 after 10: too many requests");
  EXPECT_EQ(ask("POST", kCollection, R"({"metadata":{"name":"a"}})"), "429 after 10: too many requests");
  EXPECT_EQ(ask("POST", kCollection, R"({"metadata":{"name":"b"}})"), "200");
  EXPECT_EQ(ask("GET", kCollection), "200");
  EXPECT_THAT(asked, SizeIs(3));
}

TEST_F(RetryAfterTest, InTheEndEveryObjectIsAskedAbout) {
  busy->answers = {{429, seconds(10)}};
  ask("GET", kBusyObject);
  server->answerNothingFromMemory();
  EXPECT_EQ(ask("GET", kBusyObject), "200");
}

TEST_F(RetryAfterTest, QueriesOfACollectionAreOne) {
  busy->answers = {{503, seconds(1)}};
  EXPECT_EQ(ask("GET", "/api/v1/pods?limit=5"), "503 after 1: too many requests");
  EXPECT_EQ(ask("GET", "/api/v1/pods?limit=5&continue=x"), "503 after 1: too many requests");
  EXPECT_THAT(asked, ElementsAre("GET /api/v1/pods?limit=5"));
}

// No wish of a server, or of what stands before it, keeps a controller from its work for long.
TEST_F(RetryAfterTest, WaitsForTwoMinutesAtMost) {
  busy->answers = {{503, seconds(86'400)}};
  ask("GET", kBusyObject);
  now += seconds(119);
  EXPECT_EQ(ask("GET", kBusyObject), "503 after 1: too many requests");
  now += seconds(1);
  EXPECT_EQ(ask("GET", kBusyObject), "200");
}

TEST_F(RetryAfterTest, EveryOtherAnswerMayBeAskedForAtOnce) {
  busy->answers = {{429, {}}, {500, {}}, {403, seconds(10)}, {404, seconds(10)}, {429, seconds(0)}};
  for (const char* status : {"429: ", "500: ", "403 after 10: ", "404 after 10: ", "429 after 0: "})
    EXPECT_THAT(ask("GET", kBusyObject), HasSubstr(status));
  EXPECT_EQ(ask("GET", kBusyObject), "200");
  EXPECT_THAT(asked, SizeIs(6));
}

TEST_F(RetryAfterTest, RemembersALimitedNumberOfObjects) {
  const auto object = [](size_t number) { return "/api/v1/namespaces/n" + std::to_string(number); };
  for (size_t i = 0; i <= PausingApiServer::kMostObjects; ++i) {
    busy->answers = {{429, seconds(10)}};
    ask("GET", object(i));
  }
  asked.clear();
  ask("GET", object(0));
  EXPECT_THAT(asked, IsEmpty());
  EXPECT_EQ(ask("GET", object(PausingApiServer::kMostObjects)), "200") << "of one too many";
  now += seconds(10);  // those that have passed make room
  busy->answers = {{429, seconds(10)}};
  ask("GET", object(PausingApiServer::kMostObjects));
  asked.clear();
  ask("GET", object(PausingApiServer::kMostObjects));
  EXPECT_THAT(asked, IsEmpty());
}

}  // namespace
}  // namespace lastout::server
