// Exchanges over TLS with a server that does what no API server should.
#include "client/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <semaphore>
#include <thread>

#include "tests/client/asking.h"
#include "tests/client/tls_peer.h"

namespace lastout::client {
namespace {

using lastout::testing::ask;
using lastout::testing::Asked;
using lastout::testing::kOneAnswer;
using lastout::testing::PeerConnection;
using lastout::testing::serverAt;
using lastout::testing::TlsPeer;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A peer that answers each request with these bytes, and keeps the connection.
TlsPeer::Script always(std::string answer) {
  return [answer = std::move(answer)](PeerConnection& connection) {
    while (!connection.request().empty() && connection.send(answer)) {
    }
  };
}

TEST(Http, SendsWhatItIsAsked) {
  std::string received;
  TlsPeer peer([&](PeerConnection& connection) {
    received = connection.request();
    connection.send(kOneAnswer);
  });
  HttpOptions options = peer.options();
  options.pathPrefix = "/k8s/one";
  options.headers = {{"Impersonate-Group", "one"}, {"Impersonate-Group", "two"}};
  const auto server = serverAt(options);
  ApiRequest request;
  request.target = "/api/v1/pods?watch=1&fieldSelector=a%3Db";
  request.accept = "application/json;as=Table";
  request.authorization = "Bearer abc";
  const Asked asked = ask(*server, request);
  EXPECT_EQ(asked.error, "");
  EXPECT_EQ(asked.answer.status, 200);
  EXPECT_EQ(asked.body, "hello");
  EXPECT_THAT(received, StartsWith("GET /k8s/one/api/v1/pods?watch=1&fieldSelector=a%3Db HTTP/1.1\r\n"));
  for (const std::string& line :
       {std::string("Accept: application/json;as=Table"), std::string("Authorization: Bearer abc"),
        std::string("Impersonate-Group: one"), std::string("Impersonate-Group: two"),
        std::string("User-Agent: lastout"), std::string("Accept-Encoding: identity"),
        "Host: 127.0.0.1:" + std::to_string(peer.port())})
    EXPECT_THAT(received, HasSubstr("\r\n" + line + "\r\n"));
}

TEST(Http, SendsABody) {
  std::string received;
  TlsPeer peer([&](PeerConnection& connection) {
    received = connection.request();
    connection.send("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}");
  });
  const auto server = serverAt(peer.options());
  ApiRequest request;
  request.method = "PUT";
  request.target = "/x";
  request.body = "{\"a\": 1}";
  request.contentType = "application/json";
  EXPECT_EQ(ask(*server, request).answer.status, 201);
  EXPECT_THAT(received, StartsWith("PUT /x HTTP/1.1\r\n"));
  EXPECT_THAT(received, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(received, EndsWith("\r\n\r\n{\"a\": 1}"));
}

// Each piece is sent only when the one before has been taken.
TEST(Http, HandsOnWhatComesAsItComes) {
  std::binary_semaphore taken(0);
  TlsPeer peer([&](PeerConnection& connection) {
    connection.request();
    for (const char* piece : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\none\r\n",
                              "5\r\nthree\r\n", "0\r\n\r\n"}) {
      connection.send(piece);
      if (piece[0] != '0') taken.acquire();
    }
  });
  const auto server = serverAt(peer.options());
  std::vector<std::string> pieces;
  const auto answer = server->exchange(lastout::testing::get("/"), [&](int status, std::string_view piece) {
    EXPECT_EQ(status, 200);
    pieces.emplace_back(piece);
    taken.release();
    return true;
  });
  EXPECT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(pieces, ElementsAre("", "one", "three"));
}

TEST(Http, EndsAnExchangeThatHadEnough) {
  std::promise<void> ended;
  TlsPeer peer([&](PeerConnection& connection) {
    connection.request();
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    connection.waitForTheEnd();
    ended.set_value();
  });
  const auto server = serverAt(peer.options());
  const auto answer = server->exchange(lastout::testing::get("/"),
                                       [&](int, std::string_view piece) { return piece.empty(); });
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  ended.get_future().wait();
}

TEST(Http, TellsAWholeAnswerFromOneThatWasCutOff) {
  const std::string length = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345";
  const std::string chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n";
  const std::string noLength = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n12345";
  enum class End { Orderly, Drop, Reset };
  struct Case {
    std::string text;
    End end;
    bool whole;
  };
  const Case cases[] = {
      {length, End::Orderly, false},
      {length, End::Drop, false},
      {length, End::Reset, false},
      {chunks, End::Orderly, false},
      {chunks, End::Drop, false},
      {chunks, End::Reset, false},
      {chunks + "5\r\n12", End::Drop, false},
      {chunks + "0\r\n\r\n", End::Drop, true},
      {length + "67890", End::Reset, true},
      {noLength, End::Orderly, true},
      {noLength, End::Drop, false},
  };
  for (const Case& one : cases) {
    std::binary_semaphore taken(0);
    TlsPeer peer([&](PeerConnection& connection) {
      connection.request();
      connection.send(one.text);
      taken.acquire();  // what is reset may be lost
      if (one.end == End::Drop) connection.drop();
      if (one.end == End::Reset) connection.reset();
    });
    const auto server = serverAt(peer.options());
    std::string body;
    const auto answer = server->exchange(lastout::testing::get("/"), [&](int, std::string_view piece) {
      const bool had = body.size() >= 5;
      body += piece;
      if (!had && body.size() >= 5) taken.release();
      return true;
    });
    EXPECT_EQ(answer.has_value(), one.whole) << one.text << static_cast<int>(one.end);
    EXPECT_THAT(body, StartsWith("12345"));
    if (answer) continue;
    EXPECT_THAT(answer.error().message, EndsWith("the answer was cut off before its end"));
  }
}

TEST(Http, FailsWhenThereIsNoAnswer) {
  for (const bool reset : {false, true}) {
    TlsPeer peer([&](PeerConnection& connection) {
      connection.request();
      connection.send("HTTP/1.1 20");
      if (reset) connection.reset();
    });
    const auto server = serverAt(peer.options());
    const Asked asked = ask(*server, "/x");
    EXPECT_THAT(asked.error, StartsWith("GET https://127.0.0.1:" + std::to_string(peer.port()) +
                                        "/x: the connection ended without an answer"));
    EXPECT_EQ(asked.pieces, 0U);
  }
}

TEST(Http, SurvivesAServerThatResetsWhileItIsWrittenTo) {
  TlsPeer peer([&](PeerConnection& connection) { connection.reset(); });
  const auto server = serverAt(peer.options());
  ApiRequest request;
  request.method = "POST";
  request.target = "/x";
  request.body = std::string(size_t{8} << 20, 'x');
  EXPECT_NE(ask(*server, request).error, "");
  EXPECT_EQ(peer.connections(), 1) << "what is no GET is sent once";
}

TEST(Http, UsesAConnectionAgain) {
  TlsPeer peer(always(kOneAnswer));
  const auto server = serverAt(peer.options());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(*server, "/").body, "hello");
  EXPECT_EQ(peer.connections(), 1);
}

// An answer that nobody asked for is not the answer to the next request.
TEST(Http, KeepsNoConnectionOnWhichMoreCame) {
  TlsPeer peer(always(std::string(kOneAnswer) + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
  const auto server = serverAt(peer.options());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(*server, "/").body, "hello");
  EXPECT_EQ(peer.connections(), 3);
}

TEST(Http, DoesNotMindThatAKeptConnectionWasClosed) {
  for (const bool drop : {false, true}) {
    TlsPeer peer([&](PeerConnection& connection) {
      connection.request();
      connection.send(kOneAnswer);
      if (drop) connection.drop();
    });
    const auto server = serverAt(peer.options());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(ask(*server, "/").error, "");
    EXPECT_EQ(peer.connections(), 10);
  }
}

TEST(Http, SaysWhatAnAnswerWithoutABodyIs) {
  TlsPeer peer(always("HTTP/1.1 204 No Content\r\n\r\n"));
  const Asked asked = ask(*serverAt(peer.options()), "/");
  EXPECT_EQ(asked.error, "");
  EXPECT_EQ(asked.answer.status, 204);
  EXPECT_EQ(asked.pieces, 1U);
}

TEST(Http, ReadsRetryAfterAndFollowsNoRedirect) {
  const std::pair<const char*, std::optional<std::chrono::seconds>> cases[] = {
      {"7", std::chrono::seconds(7)},
      {"0", std::chrono::seconds(0)},
      {"-1", std::nullopt},
      {"7s", std::nullopt},
      {"", std::nullopt},
      {"Sat, 21 Nov 2026 13:00:00 GMT", std::nullopt},
      {"4000000000", std::chrono::seconds(86'400)},
      {"99999999999999999999999", std::nullopt},
  };
  for (const auto& [header, expected] : cases) {
    TlsPeer peer(
        always("HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:1/\r\nContent-Length: 1\r\n"
               "Retry-After: " +
               std::string(header) + "\r\n\r\nx"));
    const Asked asked = ask(*serverAt(peer.options()), "/");
    EXPECT_EQ(asked.answer.status, 302) << asked.error;
    EXPECT_EQ(asked.answer.retryAfter, expected) << header;
    EXPECT_EQ(asked.body, "x");
  }
}

TEST(Http, UnpacksNothing) {
  TlsPeer peer(always("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"));
  EXPECT_EQ(ask(*serverAt(peer.options()), "/").body, "abc");
}

TEST(Http, SendsNoLineThatSomebodyElseWrote) {
  TlsPeer peer(always(kOneAnswer));
  const auto server = serverAt(peer.options());
  for (const char* target : {"", "x", "/a b", "/a\r\nEvil: 1", "/\n", "/\xc3\xa4"})
    EXPECT_THAT(ask(*server, target).error, EndsWith("the request cannot be sent")) << target;
  ApiRequest request = lastout::testing::get("/");
  request.accept = "a\r\nEvil: 1";
  EXPECT_THAT(ask(*server, request).error, EndsWith("the request cannot be sent"));
  request = lastout::testing::get("/");
  request.method = "GET / HTTP/1.1\r\n";
  EXPECT_THAT(ask(*server, request).error, EndsWith("the request cannot be sent"));
  EXPECT_EQ(peer.connections(), 0);
}

TEST(Http, AsksForTheCredentialsOfTheMoment) {
  std::vector<std::string> received;
  TlsPeer peer([&](PeerConnection& connection) {
    for (std::string text = connection.request(); !text.empty(); text = connection.request()) {
      const size_t begin = text.find("Authorization: ");
      received.push_back(begin == std::string::npos ? ""
                                                    : text.substr(begin, text.find("\r\n", begin) - begin));
      connection.send(kOneAnswer);
    }
  });
  const auto server = serverAt(peer.options());
  const auto askAs = [&](const std::string& authorization) {
    ApiRequest request = lastout::testing::get("/");
    request.authorization = authorization;
    return ask(*server, request).error;
  };
  for (const std::string authorization : {"Bearer one", "Bearer two", ""})
    EXPECT_EQ(askAs(authorization), "");
  EXPECT_THAT(askAs("Bearer secret\r\nEvil: 1"), EndsWith("/: the credentials cannot be sent"));
  EXPECT_THAT(received, ElementsAre("Authorization: Bearer one", "Authorization: Bearer two", ""));
}

TEST(Http, EndsWhateverNonsenseIsAnswered) {
  const std::string beginning = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = beginning + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& text :
       {std::string("\r\n\r\n\r\n"), std::string("hello\r\n\r\n"), std::string("SSH-2.0-OpenSSH_9.2\r\n"),
        std::string("HTTP/2 200\r\n\r\n"), std::string("HTTP/1.1 99999999999 OK\r\n\r\n"),
        std::string("HTTP/1.1 -200 OK\r\n\r\n"), std::string(20'000, '\0'), std::string(20'000, '\xff'),
        beginning + "no colon\r\n\r\n", beginning + "Content-Length: -5\r\n\r\n12345",
        beginning + "Content-Length: x\r\n\r\n12345",
        beginning + "Content-Length: 99999999999999999999999\r\n\r\n12345", chunked + "zz\r\n",
        chunked + "-5\r\n12345\r\n", chunked + "ffffffffffffffff\r\n12345",
        chunked + "5\r\n1234567\r\n0\r\n\r\n", chunked + "\r\n\r\n",
        std::string("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")}) {
    TlsPeer peer([&](PeerConnection& connection) {
      connection.request();
      connection.send(text);
    });
    const Asked asked = ask(*serverAt(peer.options()), "/");
    EXPECT_LT(asked.body.size(), 100U) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace lastout::client
