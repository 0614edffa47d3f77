// What the HTTPS listener does for clients that mean well.
#include "net/http_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/net/http_world.h"

namespace lastout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::string_view kLive = "GET /live HTTP/1.1\r\nHost: lastout\r\n\r\n";

class HttpServerTest : public HttpWorld {};

TEST(HttpEvent, IsOneLineOfALog) {
  EXPECT_EQ(toString(net::HttpEvent{"10.1.2.3:41234", 413, "it is too long"}),
            "10.1.2.3:41234: it is too long, answered 413");
  EXPECT_EQ(toString(net::HttpEvent{"", 0, "nobody can connect"}), "nobody can connect");
}

TEST_F(HttpServerTest, AnswersOneRequestAfterTheOther) {
  start();
  RawClient client(server->port(), RawClient::Tls{});
  for (const char* body : {"{}", "[1]", ""}) {
    client.send(postText("/echo", body));
    const std::string answer = client.readAnswer();
    EXPECT_EQ(statusOf(answer), 200);
    EXPECT_THAT(answer, EndsWith("\r\n\r\n" + std::string(body)));
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
  }
  EXPECT_EQ(log.count(), 0U);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInTheirOrder) {
  start();
  RawClient client(server->port(), RawClient::Tls{});
  std::string requests;
  for (int i = 0; i < 300; ++i)
    requests += i % 3 == 0 ? std::string(kLive) : postText("/echo", std::to_string(i));
  client.send(requests);
  for (int i = 0; i < 300; ++i)
    ASSERT_THAT(client.readAnswer(), EndsWith("\r\n\r\n" + (i % 3 == 0 ? "ok" : std::to_string(i))));
}

TEST_F(HttpServerTest, TakesABodyThatWaitsForContinue) {
  start();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(
      "POST /echo HTTP/1.1\r\nHost: l\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.readUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("{}");
  EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\n{}"));
}

TEST_F(HttpServerTest, GivesHandlersTheQueryAndSendsTheirHeaders) {
  start();
  const std::string answer = ask("GET /who?timeout=5s HTTP/1.1\r\nHost: l\r\n\r\n");
  EXPECT_THAT(answer, EndsWith("\r\n\r\n?timeout=5s"));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 7\r\n"));
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
  start();
  RawClient client(server->port(), RawClient::Tls{});
  client.send("HEAD /live HTTP/1.1\r\nHost: l\r\n\r\n" + std::string(kLive));
  EXPECT_THAT(client.readUntil("\r\n\r\n"), HasSubstr("Content-Length: 2\r\n"));
  EXPECT_EQ(statusOf(client.readAnswer()), 200);
}

TEST_F(HttpServerTest, EndsTheConnectionWhereTheClientWantsThat) {
  start();
  for (const char* text :
       {"GET /live HTTP/1.1\r\nHost: l\r\nConnection: close\r\n\r\n", "GET /live HTTP/1.0\r\n\r\n"}) {
    RawClient client(server->port(), RawClient::Tls{});
    client.send(text);
    EXPECT_THAT(client.readToEnd(), EndsWith("\r\n\r\nok")) << text;
  }
}

TEST_F(HttpServerTest, AnswersAClientThatHasHalfClosed) {
  start();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(postText("/echo", "{}"));
  client.halfClose();
  EXPECT_THAT(client.readToEnd(), EndsWith("\r\n\r\n{}"));
}

TEST_F(HttpServerTest, AnswersOthersWhileAThousandConnectionsAreIdle) {
  net::HttpServerOptions options;
  options.requestTime = options.idleTime = 1h;  // nobody is closed meanwhile, however long it takes
  start(options);
  std::vector<std::unique_ptr<RawClient>> idle;
  idle.reserve(1000);
  for (int i = 0; i < 500; ++i) idle.push_back(std::make_unique<RawClient>(server->port(), RawClient::Tls{}));
  for (int i = 0; i < 500; ++i) idle.push_back(std::make_unique<RawClient>(server->port()));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(statusOf(ask(postText("/echo", "{}"))), 200);
  EXPECT_GE(server->connections(), 1000U);
  EXPECT_EQ(log.count(), 0U);
}

TEST_F(HttpServerTest, AnswersWhatIsQuickWhileAllWorkersAreBusy) {
  net::HttpServerOptions options;
  options.workers = 2;
  options.waiting = 1;
  start(options);
  std::vector<std::unique_ptr<RawClient>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(std::make_unique<RawClient>(server->port(), RawClient::Tls{}));
    waiting.back()->send(postText("/wait", "{}"));
    gate.waitFor(std::min(i + 1, 2));
  }
  EXPECT_EQ(statusOf(ask(std::string(kLive))), 200);
  // The third waits in the queue, sooner or later; then there is no room.
  while (statusOf(ask(postText("/echo", "{}"))) != 503) {
  }
  gate.open();
  for (const auto& client : waiting) EXPECT_THAT(client->readAnswer(), EndsWith("\r\n\r\nwaited"));
}

TEST_F(HttpServerTest, ShowsANewCertificateToNewConnectionsWithoutFailingOne) {
  start();
  RawClient before(server->port(), RawClient::Tls{});
  const std::string first = before.serverCertificate();
  std::atomic<bool> swapped = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> clients;
  clients.reserve(4);
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      RawClient kept(server->port(), RawClient::Tls{});
      while (!swapped) {
        kept.send(postText("/echo", "{}"));
        if (statusOf(kept.readAnswer()) != 200) ++failed;
        if (statusOf(ask(std::string(kLive))) != 200) ++failed;
      }
    });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(server->use(testIdentity(authority)));
  const net::TlsIdentity last = testIdentity(authority);
  EXPECT_TRUE(server->use(last));
  swapped = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(RawClient(server->port(), RawClient::Tls{}).serverCertificate(), last.certificate);
  before.send(kLive);
  EXPECT_EQ(statusOf(before.readAnswer()), 200);
  EXPECT_NE(first, last.certificate);
}

TEST_F(HttpServerTest, KeepsItsCertificateWhereTheNewOneIsUnusable) {
  start();
  net::TlsIdentity mixed = testIdentity(authority);
  mixed.privateKey = testIdentity(authority).privateKey;
  EXPECT_THAT(server->use(mixed).error().message, HasSubstr("private key"));
  EXPECT_EQ(statusOf(ask(std::string(kLive))), 200);
}

TEST_F(HttpServerTest, AnswersOnlyClientsOfItsAuthorityWhereItHasOne) {
  net::HttpServerOptions options;
  options.identity.clientCa = authority.certificate;
  start(options);
  const std::string who = "GET /who HTTP/1.1\r\nHost: l\r\n\r\n";
  const auto known = testClient(authority, "kube-apiserver");
  RawClient apiserver(server->port(), RawClient::Tls{&known});
  apiserver.send(who);
  EXPECT_THAT(apiserver.readAnswer(), EndsWith("\r\n\r\nkube-apiserver?"));

  EXPECT_EQ(statusOf(ask(who)), 403);
  EXPECT_EQ(statusOf(ask(std::string(kLive))), 200);  // kubelet's probe shows no certificate

  const auto stranger = testClient(testAuthority("other"), "kube-apiserver");
  RawClient other(server->port(), RawClient::Tls{&stranger});
  other.send(who);
  EXPECT_EQ(other.readToEnd(), "");
  log.waitFor("no TLS handshake");
}

TEST_F(HttpServerTest, AnswersWhatIsUnderWayWhenItStops) {
  start();
  RawClient idle(server->port(), RawClient::Tls{});
  auto working = std::make_unique<RawClient>(server->port(), RawClient::Tls{});
  working->send(postText("/wait", "{}"));
  gate.waitFor(1);
  std::thread stopping([this] { server->stop(1h); });
  EXPECT_EQ(idle.readToEnd(), "");
  gate.open();
  const std::string answer = working->readToEnd();
  working.reset();
  EXPECT_THAT(answer, EndsWith("\r\n\r\nwaited"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  stopping.join();
  EXPECT_EQ(server->connections(), 0U);
}

TEST_F(HttpServerTest, ClosesWhatIsLeftWhenItsGraceIsOver) {
  start();
  RawClient slow(server->port(), RawClient::Tls{});
  slow.send("POST /echo HTTP/1.1\r\n");
  ask(std::string(kLive));  // by now the other has been read, or is closed as idle
  server->stop(10ms);
  EXPECT_EQ(slow.readToEnd(), "");
}

TEST_F(HttpServerTest, SpeaksPlainHttpWhereItShould) {
  net::HttpServerOptions options;
  options.plain = true;
  start(options);
  RawClient client(server->port());
  const std::string longBody(size_t{1} << 20, 'x');  // more than a socket takes at once
  for (const std::string& body : {std::string("{}"), longBody, std::string()}) {
    client.send(postText("/echo", body));
    const std::string answer = client.readAnswer();
    EXPECT_EQ(statusOf(answer), 200);
    EXPECT_TRUE(answer.ends_with("\r\n\r\n" + body));
  }
  RawClient slow(server->port());
  slow.send(kLive.substr(0, 20));
  slow.send(kLive.substr(20));
  EXPECT_EQ(statusOf(slow.readAnswer()), 200);
  EXPECT_EQ(log.count(), 0U);
}

TEST(HttpServer, SpeaksPlainHttpOnThisMachineAlone) {
  net::HttpServerOptions options;
  options.plain = true;
  options.address = "0.0.0.0";
  EXPECT_THAT(net::HttpServer::open(options, {}, {}).error().message, HasSubstr("only a loopback address"));
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(net::isLoopback(address));
  for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "localhost", "", "127.0.0.1.example.com"})
    EXPECT_FALSE(net::isLoopback(address)) << address;
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto open = [](const std::string& address, int port, const net::TlsIdentity& identity) {
    net::HttpServerOptions options;
    options.address = address;
    options.port = port;
    options.identity = identity;
    return net::HttpServer::open(options, {}, {});
  };
  const auto identity = testIdentity(testAuthority("test"));
  EXPECT_THAT(open("localhost", 0, identity).error().message, HasSubstr("no IP address"));
  EXPECT_THAT(open("127.0.0.1", 70'000, identity).error().message, HasSubstr("no such port"));
  EXPECT_THAT(open("127.0.0.1", 0, {}).error().message, HasSubstr("server's certificate"));
  const auto first = open("127.0.0.1", 0, identity);
  ASSERT_TRUE(first);
  EXPECT_THAT(open("127.0.0.1", (*first)->port(), identity).error().message, HasSubstr("in use"));
  EXPECT_TRUE(open("::", 0, identity));
}

}  // namespace
}  // namespace lastout::testing
