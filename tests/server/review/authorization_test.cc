// Who may read answers, as an API server with users and rights says.
#include "server/review/authorization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <semaphore>
#include <vector>

#include "tests/client/tls_peer.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::PeerConnection;
using lastout::testing::pki;
using lastout::testing::TlsPeer;
using std::chrono::milliseconds;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuthorizationTest : public lastout::testing::ServerWorld {
 public:
  AuthorizationTest() {
    AuthorizationOptions options;
    options.now = [this] { return now; };
    options.most = 3;
    authorization = std::make_unique<Authorization>(access, options);
  }
  int statusOf(const std::string& header, const std::string& path = "/metrics") {
    return authorization->mayGet(header, path).status;
  }

  client::TimePoint now;
  std::unique_ptr<Authorization> authorization;
};

TEST_F(AuthorizationTest, TakesATokenThatTheApiServerKnows) {
  EXPECT_EQ(statusOf(""), 401);
  EXPECT_EQ(statusOf("Bearer "), 401);
  EXPECT_EQ(statusOf("Basic c2NyYXBlcnMtdG9rZW4="), 401);
  EXPECT_EQ(statusOf("Bearer two words"), 401);
  EXPECT_EQ(statusOf("Bearer of-nobody"), 401);
  EXPECT_EQ(statusOf("Bearer scrapers-token"), 200);
  EXPECT_EQ(statusOf("bearer scrapers-token"), 200);
  EXPECT_EQ(statusOf("Bearer the-token"), 200);
}

TEST_F(AuthorizationTest, LooksAtThePath) {
  EXPECT_EQ(statusOf("Bearer scrapers-token", "/graph"), 403);
  EXPECT_THAT(authorization->mayGet("Bearer scrapers-token", "/why").message,
              HasSubstr("user \"scraper\" cannot get path \"/why\""));
  EXPECT_EQ(statusOf("Bearer the-token", "/why"), 200);
}

TEST_F(AuthorizationTest, BelievesAnAnswerForAWhile) {
  EXPECT_EQ(statusOf("Bearer scrapers-token"), 200);
  EXPECT_EQ(statusOf("Bearer of-nobody"), 401);
  listener.reset();
  now += milliseconds(9'999);
  EXPECT_EQ(statusOf("Bearer scrapers-token"), 200);
  EXPECT_EQ(statusOf("Bearer of-nobody"), 401);
  EXPECT_EQ(statusOf("Bearer scrapers-token", "/graph"), 503) << "that was never asked";
  now += milliseconds(1);
  EXPECT_EQ(statusOf("Bearer scrapers-token"), 503);
  EXPECT_EQ(authorization->mayGet("Bearer scrapers-token", "/metrics").message,
            "who asks cannot be found out now; try again");
}

TEST_F(AuthorizationTest, RemembersNoMoreThanItMay) {
  for (int i = 0; i < 10; ++i) {
    statusOf("Bearer guess-" + std::to_string(i));
    now += milliseconds(10);
    EXPECT_LE(authorization->cachedAnswers(), 3U);
  }
  EXPECT_EQ(statusOf("Bearer scrapers-token"), 200);
  listener.reset();
  EXPECT_EQ(statusOf("Bearer scrapers-token"), 200) << "the newest stays";
  EXPECT_EQ(statusOf("Bearer guess-0"), 503) << "the oldest went";
}

// At an API server whose every answer a test decides.
class ReviewedTokensTest : public ::testing::Test {
 public:
  ReviewedTokensTest() {
    client::ConnectionConfig connection;
    connection.server = {true, "127.0.0.1", peer.port(), ""};
    connection.authority = pki().authority.certificate;
    AuthorizationOptions options;
    options.now = [this] { return now; };
    options.patience = std::chrono::hours(1);
    options.log = [this](Level /*level*/, const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    authorization = std::make_unique<Authorization>(
        client::Access::open(std::move(connection), [] { return int64_t{0}; }).value(), options);
  }
  ~ReviewedTokensTest() override { authorization->stop(); }

  static std::string answer(int status, const Json& body) {
    const std::string text = body.dump();
    return "HTTP/1.1 " + std::to_string(status) +
           " Said\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) +
           "\r\n\r\n" + text;
  }
  static Json userOf(const std::string& token) {
    return {{"status",
             {{"authenticated", true},
              {"user",
               {{"username", token},
                {"uid", "u-1"},
                {"groups", {"g"}},
                {"extra", {{"example.com/scope", {"a", "b"}}}}}}}}};
  }
  int statusOf(const std::string& token) { return authorization->mayGet("Bearer " + token, "/why").status; }

  using Say = std::function<std::string(const std::string& token)>;
  void reviewWith(Say say) {
    const std::lock_guard lock(mutex_);
    say_ = std::move(say);
  }
  void answerAccess(const Json& status) {
    const std::lock_guard lock(mutex_);
    access_ = {{"status", status}};
  }
  // The spec of the last SubjectAccessReview.
  Json askedAccess() {
    const std::lock_guard lock(mutex_);
    return askedAccess_;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  client::TimePoint now;
  std::atomic<int> reviews{0};
  TlsPeer peer{[this](PeerConnection& connection) {
    for (std::string text = connection.request(); !text.empty(); text = connection.request()) {
      const Json spec = Json::parse(text.substr(text.find("\r\n\r\n") + 4))["spec"];
      connection.send(spec.contains("token") ? reviewed(spec["token"]) : accessTo(spec));
    }
  }};
  std::unique_ptr<Authorization> authorization;

 private:
  std::string reviewed(const std::string& token) {
    ++reviews;
    Say say;
    {
      const std::lock_guard lock(mutex_);
      say = say_;
    }
    return say(token);
  }
  std::string accessTo(const Json& spec) {
    const std::lock_guard lock(mutex_);
    askedAccess_ = spec;
    return answer(201, access_);
  }

  std::mutex mutex_;
  Say say_ = [](const std::string& token) { return answer(201, userOf(token)); };
  Json access_ = {{"status", {{"allowed", true}}}};
  Json askedAccess_;
  std::vector<std::string> lines_;
};

TEST_F(ReviewedTokensTest, AllThatIsKnownOfTheUserIsPassedOn) {
  EXPECT_EQ(statusOf("someone"), 200);
  EXPECT_EQ(askedAccess(), (Json{{"user", "someone"},
                                 {"uid", "u-1"},
                                 {"groups", {"g"}},
                                 {"extra", {{"example.com/scope", {"a", "b"}}}},
                                 {"nonResourceAttributes", {{"path", "/why"}, {"verb", "get"}}}}));
}

TEST_F(ReviewedTokensTest, WhatIsDeniedIsNotAllowed) {
  answerAccess({{"allowed", true}, {"denied", true}});
  EXPECT_EQ(statusOf("someone"), 403);
}

TEST_F(ReviewedTokensTest, StrangersAreNotToldWhatTheApiServerSaid) {
  reviewWith([](const std::string&) {
    return answer(403, {{"kind", "Status"},
                        {"status", "Failure"},
                        {"code", 403},
                        {"reason", "Forbidden"},
                        {"message", "User system:serviceaccount:a:secret cannot create"}});
  });
  for (const char* token : {"one", "two", "three"}) {
    const Authorization::Answer told = authorization->mayGet(std::string("Bearer ") + token, "/why");
    EXPECT_EQ(told.status, 503);
    EXPECT_EQ(told.message, "who asks cannot be found out now; try again");
  }
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("secret cannot create")));
  reviewWith([](const std::string& token) { return answer(201, userOf(token)); });
  EXPECT_EQ(statusOf("one"), 200);
  EXPECT_THAT(lines(), ElementsAre(_, HasSubstr("tells again")));
}

// The API server is slow. Whoever invents tokens holds one thread of those that answer, and no more.
TEST_F(ReviewedTokensTest, InventedTokensKeepNobodyWaiting) {
  EXPECT_EQ(statusOf("scraper"), 200);
  now += std::chrono::seconds(60);
  std::counting_semaphore<> asked(0);
  std::counting_semaphore<> mayAnswer(0);
  reviewWith([&](const std::string& token) {
    if (token != "scraper") {
      asked.release();
      mayAnswer.acquire();
    }
    return answer(201, userOf(token));
  });
  auto junk = std::async(std::launch::async, [this] { return statusOf("junk"); });
  asked.acquire();
  EXPECT_EQ(statusOf("junk"), 503);
  EXPECT_EQ(statusOf("more-junk"), 503);
  EXPECT_EQ(statusOf("scraper"), 200) << "the API server knew it before";
  EXPECT_EQ(reviews, 3);
  mayAnswer.release();
  EXPECT_EQ(junk.get(), 200);
  EXPECT_TRUE(lines().empty());
}

// Two that come with one known token are asked about once.
TEST_F(ReviewedTokensTest, ATokenIsAskedAboutOnceAtATime) {
  EXPECT_EQ(statusOf("scraper"), 200);
  now += std::chrono::seconds(60);
  std::counting_semaphore<> asked(0);
  std::counting_semaphore<> mayAnswer(0);
  reviewWith([&](const std::string& token) {
    asked.release();
    mayAnswer.acquire();
    return answer(201, userOf(token));
  });
  auto first = std::async(std::launch::async, [this] { return statusOf("scraper"); });
  asked.acquire();
  auto second = std::async(std::launch::async, [this] { return statusOf("scraper"); });
  mayAnswer.release();
  EXPECT_EQ(first.get(), 200);
  EXPECT_EQ(second.get(), 200);
  EXPECT_EQ(reviews, 2);
}

}  // namespace
}  // namespace lastout::server
