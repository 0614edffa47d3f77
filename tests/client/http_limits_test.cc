// Servers that say nothing, or too much, and stop() in the midst of everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <future>
#include <thread>

#include "client/http.h"
#include "tests/client/asking.h"
#include "tests/client/tls_peer.h"

namespace lastout::client {
namespace {

using lastout::testing::ask;
using lastout::testing::Asked;
using lastout::testing::kOneAnswer;
using lastout::testing::PeerConnection;
using lastout::testing::PeerPort;
using lastout::testing::serverAt;
using lastout::testing::TlsPeer;
using ::testing::EndsWith;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

ApiRequest patient(std::chrono::milliseconds patience) {
  ApiRequest request = lastout::testing::get("/");
  request.patience = patience;
  return request;
}

constexpr const char* kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(HttpSilence, EndsAnExchangeWhereverItBegins) {
  for (const std::string& said :
       {std::string(), std::string("HTTP/1.1 200"), std::string("HTTP/1.1 200 OK\r\nA: b\r\n"),
        std::string(kChunked), kChunked + std::string("5\r\n123"),
        kChunked + std::string("5\r\n12345\r\n0\r\n")}) {
    TlsPeer peer([&](PeerConnection& connection) {
      connection.request();
      connection.send(said);
      connection.waitForTheEnd();
    });
    EXPECT_THAT(ask(*serverAt(peer.options()), patient(100ms)).error,
                EndsWith("the server said nothing for 100 ms"))
        << said;
  }
}

TEST(HttpSilence, EndsAHandshake) {
  TlsPeer::Options options;
  options.handshakes = false;
  TlsPeer peer([](PeerConnection&) {}, options);
  EXPECT_THAT(ask(*serverAt(peer.options()), patient(100ms)).error,
              EndsWith("the server said nothing for 100 ms"));
}

// A byte now and then is no answer either.
TEST(HttpSilence, EndsAHeaderThatDrips) {
  TlsPeer peer([](PeerConnection& connection) {
    connection.request();
    connection.send("HTTP/1.1 200 OK\r\nA: ");
    do {
      poll(nullptr, 0, 10);
    } while (connection.send("x"));
  });
  EXPECT_THAT(ask(*serverAt(peer.options()), patient(300ms)).error,
              EndsWith("the server said nothing for 300 ms"));
}

TEST(HttpSilence, IsCountedFromPieceToPiece) {
  constexpr int kPieces = 30;
  TlsPeer peer([](PeerConnection& connection) {
    connection.request();
    connection.send(kChunked);
    for (int i = 0; i < kPieces; ++i) {
      connection.send("1\r\nx\r\n");
      poll(nullptr, 0, 20);
    }
    connection.send("0\r\n\r\n");
  });
  const Asked asked = ask(*serverAt(peer.options()), patient(500ms));
  EXPECT_EQ(asked.error, "");
  EXPECT_EQ(asked.body.size(), size_t{kPieces});
}

TEST(HttpSilence, IsNotTheTimeThatTakingNeeds) {
  TlsPeer peer([](PeerConnection& connection) {
    while (!connection.request().empty()) connection.send(kOneAnswer);
  });
  const auto server = serverAt(peer.options());
  EXPECT_EQ(ask(*server, patient(1h)).error, "") << "the connection is there from now on";
  const auto answer = server->exchange(patient(500ms), [](int, std::string_view) {
    poll(nullptr, 0, 600);
    return true;
  });
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST(HttpDial, SaysWhyThereIsNoConnection) {
  const PeerPort refusing(false);
  HttpOptions options;
  options.host = "127.0.0.1";
  options.port = refusing.port();
  EXPECT_THAT(ask(*serverAt(options), "/").error, EndsWith("/: no connection: Connection refused"));
  PeerPort full(true);
  full.fill();
  options.port = full.port();
  options.connectPatience = 50ms;
  EXPECT_THAT(ask(*serverAt(options), "/").error, EndsWith("/: no connection: Connection timed out"));
  options.connectPatience = 1h;
  EXPECT_THAT(ask(*serverAt(options), patient(50ms)).error, EndsWith("the server said nothing for 50 ms"));
}

// Sends `again` without an end after `begin`; true when the client has cut it off for that.
void expectEndless(const std::string& begin, const std::string& again) {
  TlsPeer peer([&](PeerConnection& connection) {
    connection.request();
    bool sent = connection.send(begin);
    while (sent) sent = connection.send(again);
  });
  const Asked asked = ask(*serverAt(peer.options()), patient(1h));
  EXPECT_THAT(asked.error, EndsWith("the header of the answer does not end")) << begin;
}

TEST(HttpEndless, HeadersAndWhateverIsNoBody) {
  const std::string many(1'000, 'x');
  expectEndless("", many);
  expectEndless("HTTP/1.1 200 ", many);
  expectEndless("HTTP/1.1 200 OK\r\nA: ", many);
  expectEndless("HTTP/1.1 200 OK\r\n", "A: b\r\n");
  expectEndless("", "HTTP/1.1 100 Continue\r\n\r\n");
  expectEndless(kChunked, many);
  expectEndless(kChunked, "0");
  expectEndless(kChunked + std::string("5\r\n12345\r\n"), "0");
}

TEST(HttpEndless, AHeaderMayHaveAsMuchAsItMay) {
  const std::string lines = "A: " + std::string(8'000, 'a') + "\r\nB: " + std::string(8'000, 'b') + "\r\n";
  TlsPeer peer([&](PeerConnection& connection) {
    connection.request();
    connection.send("HTTP/1.1 200 " + std::string(1'000, 'x') + "\r\n" + lines +
                    "Content-Length: 2\r\n\r\nok");
  });
  EXPECT_EQ(ask(*serverAt(peer.options()), "/").body, "ok");
}

TEST(HttpEndless, ABodyMayBeLong) {
  constexpr size_t kPieces = 2'000;
  const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
  TlsPeer peer([&](PeerConnection& connection) {
    connection.request();
    connection.send(kChunked);
    for (size_t i = 0; i < kPieces; ++i) connection.send(chunk);
    connection.send("0\r\n\r\n");
  });
  const Asked asked = ask(*serverAt(peer.options()), "/");
  EXPECT_EQ(asked.error, "");
  EXPECT_EQ(asked.body.size(), kPieces * 0x1000);
}

// Ends an exchange with a patience of an hour as soon as `ready` returns.
void expectStopped(const HttpOptions& options, const std::function<void()>& ready) {
  const auto server = serverAt(options);
  auto asked = std::async(std::launch::async, [&] { return ask(*server, patient(1h)); });
  ready();
  server->stop();
  EXPECT_THAT(asked.get().error, EndsWith("/: it was stopped"));
  EXPECT_THAT(ask(*server, "/").error, EndsWith("/: it was stopped"));
}

TEST(HttpStop, EndsAnExchangeWhereverItIs) {
  for (const std::string& said : {std::string(), std::string(kChunked), kChunked + std::string("5\r\n123")}) {
    std::promise<void> begun;
    TlsPeer peer([&](PeerConnection& connection) {
      connection.request();
      connection.send(said);
      begun.set_value();
      connection.waitForTheEnd();
    });
    expectStopped(peer.options(), [&] { begun.get_future().wait(); });
  }
}

TEST(HttpStop, EndsAHandshakeAndAConnectionThatIsNotMade) {
  TlsPeer::Options peerOptions;
  peerOptions.handshakes = false;
  TlsPeer peer([](PeerConnection&) {}, peerOptions);
  expectStopped(peer.options(), [&] { peer.waitForConnections(1); });

  PeerPort full(true);
  full.fill();
  HttpOptions options = peer.options();
  options.port = full.port();
  options.connectPatience = 1h;
  for (int i = 0; i < 20; ++i) {
    expectStopped(options, [i] {
      for (std::atomic<int> turn = 0; turn < i * 50'000; ++turn) {
      }
    });
  }
}

TEST(HttpStop, MayBeAskedForByWhoeverTakes) {
  TlsPeer peer([](PeerConnection& connection) {
    connection.request();
    connection.send(kChunked);
    connection.waitForTheEnd();
  });
  const auto server = serverAt(peer.options());
  const auto answer = server->exchange(patient(1h), [&](int, std::string_view) {
    server->stop();
    return true;
  });
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, EndsWith("/: it was stopped"));
}

TEST(HttpStop, EndsManyExchangesOfManyThreads) {
  TlsPeer peer([](PeerConnection& connection) {
    for (int i = 0; i < 3 && !connection.request().empty(); ++i) connection.send(kOneAnswer);
    connection.request();
    connection.send(kChunked);
    connection.waitForTheEnd();
  });
  const auto server = serverAt(peer.options());
  std::vector<std::future<int>> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.push_back(std::async(std::launch::async, [&server] {
      int answers = 0;
      while (ask(*server, patient(1h)).error.empty()) ++answers;
      return answers;
    }));
  }
  peer.waitForConnections(8);
  server->stop();
  for (auto& thread : threads) EXPECT_GE(thread.get(), 0);
}

}  // namespace
}  // namespace lastout::client
