// What the HTTPS listener does to clients that mean harm, or are broken.
#include <gmock/gmock.h>

#include "net/http_server.h"
#include "tests/net/http_world.h"

namespace lastout::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::HasSubstr;

class HttpHostileTest : public HttpWorld {
 public:
  // Its answer has that status, the log one line about it, and then others are answered.
  void expectRefused(int status, const std::string& text) {
    const size_t before = log.count();
    EXPECT_EQ(statusOf(ask(text)), status) << text.substr(0, 100);
    EXPECT_EQ(log.count(), before + 1) << text.substr(0, 100);
    EXPECT_EQ(statusOf(ask(postText("/echo", "{}"))), 200);
  }
};

// With the header Host, and more.
std::string request(const std::string& line, const std::string& headers = "", const std::string& body = "") {
  return line + " HTTP/1.1\r\nHost: lastout\r\n" + headers + "\r\n" + body;
}

TEST_F(HttpHostileTest, RefusesWhatIsNoRequestForIt) {
  start();
  expectRefused(400, "this is not HTTP\r\n\r\n");
  expectRefused(400, "GET /live\0 HTTP/1.1\r\nHost: l\r\n\r\n"s);
  expectRefused(400, "GET /live HTTP/1.1\r\n\r\n");
  expectRefused(400, "GET /live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  expectRefused(400, "GET /live HTTP/3.7\r\nHost: a\r\n\r\n");
  expectRefused(400, request("POST /echo", "Content-Type: application/json\r\nContent-Length: -1\r\n", "{}"));
  expectRefused(400, request("POST /echo", "Content-Length: 2\r\nContent-Length: 3\r\n", "{}"));
  expectRefused(400,
                request("POST /echo", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"));
  for (const char* encoding : {"chunked", "gzip", "identity"})
    expectRefused(411,
                  request("POST /echo", "Transfer-Encoding: " + std::string(encoding) + "\r\n", "0\r\n\r\n"));
  expectRefused(404, request("GET /"));
  expectRefused(404, request("GET /live/"));
  expectRefused(404, request("GET http://lastout/live"));
  expectRefused(405, request("GET /echo"));
  expectRefused(405, request("DELETE /echo"));
  expectRefused(411, request("POST /echo", "Content-Type: application/json\r\n"));
  expectRefused(415, postText("/echo", "{}").replace(postText("/echo", "").find("json"), 4, "yaml"));
  expectRefused(415, request("POST /echo", "Content-Length: 2\r\n", "{}"));
  expectRefused(415, request("POST /echo", "Content-Encoding: gzip\r\nContent-Length: 2\r\n", "{}"));
  expectRefused(431, request("GET /live", "X: " + std::string(20'000, 'x') + "\r\n"));
  expectRefused(431, "GET /" + std::string(20'000, 'x'));
}

TEST_F(HttpHostileTest, SaysWhatIsAllowed) {
  start();
  EXPECT_THAT(ask(request("GET /echo")), HasSubstr("Allow: POST\r\n"));
}

TEST_F(HttpHostileTest, RefusesALargeBodyWithoutReadingIt) {
  start();
  constexpr size_t kHuge = 100'000'000;
  expectRefused(413, request("POST /echo", "Content-Type: application/json\r\nContent-Length: " +
                                               std::to_string(kHuge) + "\r\n"));

  // Nor where the client goes on sending.
  RawClient client(server->port(), RawClient::Tls{});
  client.send(request("POST /echo", "Content-Length: " + std::to_string(kHuge) + "\r\n"));
  const std::string piece(0x10000, ' ');
  size_t sent = 0;
  while (sent < kHuge && client.send(piece)) sent += piece.size();
  EXPECT_LT(sent, kHuge);
}

TEST_F(HttpHostileTest, DoesNotReadWhatFollowsARefusal) {
  start();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(request("POST /nothing", "Content-Length: 70\r\n") + request("GET /live"));
  const std::string all = client.readToEnd();
  EXPECT_EQ(statusOf(all), 404);
  EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos);
}

// Answered although the body never comes.
TEST_F(HttpHostileTest, LooksAtThePathBeforeTheBody) {
  start();
  const std::string headers = "Content-Type: application/json\r\nContent-Length: 1000000\r\n";
  for (const char* path : {"POST /nothing", "POST /secret/", "POST /secret/ward", "POST /secret/word/"}) {
    expectRefused(404, request(path, headers));
    expectRefused(404, request(path, headers + "Expect: 100-continue\r\n"));
  }
  EXPECT_EQ(statusOf(ask(postText("/secret/word", "{}"))), 200);
}

TEST_F(HttpHostileTest, AsksForACertificateBeforeItSaysWhichPathsThereAre) {
  const simulator::CertifiedKey clients = testAuthority("clients");
  net::HttpServerOptions options;
  options.identity.clientCa = clients.certificate;
  start(options);
  EXPECT_EQ(statusOf(ask(postText("/secret/word", "{}"))), 403);
  EXPECT_EQ(statusOf(ask(postText("/secret/ward", "{}"))), 403);
}

TEST_F(HttpHostileTest, TellsAClientWithoutTls) {
  start();
  RawClient client(server->port());
  client.send(request("GET /live"));
  EXPECT_THAT(client.readToEnd(), HasSubstr("speaks HTTPS"));
  EXPECT_EQ(log.waitFor("no TLS handshake").status, 0);
}

TEST_F(HttpHostileTest, ClosesWhatIsNoTls) {
  start();
  RawClient client(server->port());
  client.send("\x01\x02garbage that is nothing at all");
  client.readToEnd();
  log.waitFor("no TLS handshake");
  EXPECT_EQ(statusOf(ask(request("GET /live"))), 200);
}

TEST_F(HttpHostileTest, ClosesWhoeverIsTooSlow) {
  net::HttpServerOptions options;
  options.requestTime = 1s;  // within which a handshake succeeds
  options.idleTime = 1s;
  start(options);
  RawClient silent(server->port());
  RawClient idle(server->port(), RawClient::Tls{});
  RawClient slowHeader(server->port(), RawClient::Tls{});
  slowHeader.send("GET /live HT");
  RawClient slowBody(server->port(), RawClient::Tls{});
  slowBody.send(request("POST /echo", "Content-Type: application/json\r\nContent-Length: 100\r\n", "{"));
  EXPECT_EQ(silent.readToEnd(), "");
  EXPECT_EQ(statusOf(slowHeader.readToEnd()), 408);
  EXPECT_EQ(statusOf(slowBody.readToEnd()), 408);
  EXPECT_EQ(idle.readToEnd(), "");
  EXPECT_EQ(log.count(), 3U);  // being idle is nothing to log
}

TEST_F(HttpHostileTest, GivesOneTimeToAWholeRequest) {
  net::HttpServerOptions options;
  options.requestTime = 1s;
  start(options);
  RawClient client(server->port(), RawClient::Tls{});
  // A byte at a time, for as long as it is taken: each comes in time, all of them do not.
  const std::string header = "GET /live HTTP/1.1\r\nX: " + std::string(15'000, 'x');
  size_t sent = 0;
  int others = 0;  // that are served meanwhile, unless they take too long, too
  while (log.count() == 0 && sent < header.size()) {
    client.send(header.substr(sent++, 1));
    if (statusOf(ask(request("GET /live"))) == 200) ++others;
  }
  EXPECT_EQ(statusOf(client.readToEnd()), 408);
  EXPECT_EQ(log.waitFor("the request did not come in time").status, 408);
  EXPECT_GT(others, 0);
}

TEST_F(HttpHostileTest, ClosesWhoGoesAwayInTheMiddle) {
  start();
  {
    RawClient client(server->port(), RawClient::Tls{});
    client.send(request("POST /echo", "Content-Type: application/json\r\nContent-Length: 100\r\n", "{"));
    client.halfClose();
    EXPECT_EQ(client.readToEnd(), "");
  }
  log.waitFor("in the middle of a request");
  RawClient(server->port(), RawClient::Tls{})
      .send(postText("/wait", "{}"));  // and does not wait for the answer
  gate.waitFor(1);
  gate.open();
  EXPECT_EQ(statusOf(ask(request("GET /live"))), 200);
}

TEST_F(HttpHostileTest, MakesRoomForANewConnection) {
  net::HttpServerOptions options;
  options.connections = 10;
  start(options);
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 100; ++i) {
    crowd.push_back(std::make_unique<RawClient>(server->port()));
    if (i % 10 == 0) {
      ASSERT_EQ(statusOf(ask(request("GET /live"))), 200);
    }
  }
  EXPECT_LE(server->connections(), 10U);
  log.waitFor("make room");
}

TEST_F(HttpHostileTest, MakesRoomForARequestAmongLargeOnes) {
  net::HttpServerOptions options;
  options.heldBytes = 1'000'000;
  start(options);
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 5; ++i) {
    crowd.push_back(std::make_unique<RawClient>(server->port(), RawClient::Tls{}));
    crowd.back()->send(request("POST /echo", "Content-Type: application/json\r\nContent-Length: 400000\r\n",
                               std::string(300'000, ' ')));
  }
  log.waitFor("too many large requests");
  EXPECT_EQ(statusOf(ask(postText("/echo", "{}"))), 200);
}

TEST_F(HttpHostileTest, TellsNobodyWhyAHandlerFailed) {
  start();
  const std::string answer = ask(postText("/fail", "{}"));
  EXPECT_EQ(statusOf(answer), 500);
  EXPECT_EQ(answer.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace lastout::testing
