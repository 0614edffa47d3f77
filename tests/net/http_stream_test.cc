// Answers that go on, as watches do, and requests in chunks.
#include <gmock/gmock.h>

#include <atomic>
#include <deque>

#include "net/http_server.h"
#include "tests/net/http_world.h"

namespace lastout::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kWatch = "GET /watch HTTP/1.1\r\nHost: l\r\n\r\n";
constexpr std::string_view kStillThere = "GET /live HTTP/1.1\r\nHost: l\r\n\r\n";

// Says what a test tells it to; which waits until it is gone.
class ToldStream {
 public:
  void tell(std::string piece) {
    const std::scoped_lock lock(mutex_);
    pieces_.emplace_back(std::move(piece));
    changed_.notify_all();
  }
  void finish() {
    const std::scoped_lock lock(mutex_);
    pieces_.emplace_back(std::nullopt);
    changed_.notify_all();
  }
  void fail() {
    const std::scoped_lock lock(mutex_);
    fails_ = true;
    changed_.notify_all();
  }
  void waitUntilGone() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return gone_; });
  }
  void waitUntilAsked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return asked_; });
  }
  bool isEnded() {
    const std::scoped_lock lock(mutex_);
    return ended_;
  }

  // The server's end of it, which waits for ever when there is nothing to say.
  class End : public net::HttpStream {
   public:
    explicit End(ToldStream& told) : told_(told) {}
    ~End() override {
      const std::scoped_lock lock(told_.mutex_);
      told_.gone_ = true;
      told_.changed_.notify_all();
    }
    std::optional<std::string> next(std::chrono::milliseconds /*patience*/) override {
      std::unique_lock lock(told_.mutex_);
      told_.asked_ = told_.pieces_.empty();
      told_.changed_.notify_all();
      told_.changed_.wait(lock, [this] { return !told_.pieces_.empty() || told_.ended_ || told_.fails_; });
      if (told_.fails_) throw std::runtime_error("a secret");
      if (told_.pieces_.empty()) return std::nullopt;
      std::optional<std::string> piece = std::move(told_.pieces_.front());
      told_.pieces_.pop_front();
      return piece;
    }
    void end() override {
      const std::scoped_lock lock(told_.mutex_);
      told_.ended_ = true;
      told_.changed_.notify_all();
    }

   private:
    ToldStream& told_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::optional<std::string>> pieces_;
  bool asked_ = false;  // and has nothing to say
  bool ended_ = false;
  bool fails_ = false;
  bool gone_ = false;
};

class HttpStreamTest : public HttpWorld {
 public:
  ~HttpStreamTest() override {
    gate.open();
    server.reset();  // before what it streams
  }

  // Beside HttpWorld's routes: GET /watch answers with `told`, and any method at /any/ with the body.
  void startStreams(net::HttpServerOptions options = {}) {
    options.identity = testIdentity(authority);
    auto all = routes();
    net::HttpRoute watch{"GET", "/watch", "", {}};
    watch.handler = [this](const net::HttpRequest&) {
      return net::HttpResponse{200, "text/plain", "", {}, std::make_shared<ToldStream::End>(told)};
    };
    net::HttpRoute any{"", "/any/", "", {}};
    any.handler = [](const net::HttpRequest& request) {
      return net::HttpResponse{200, "text/plain", request.method + ":" + request.body, {}, nullptr};
    };
    all.push_back(std::move(watch));
    all.push_back(std::move(any));
    auto opened = net::HttpServer::open(options, std::move(all),
                                        [this](const net::HttpEvent& event) { log.add(event); });
    server = std::move(*opened);
  }

  ToldStream told;
};

TEST_F(HttpStreamTest, SendsEachPieceWhenItComes) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(kWatch);
  EXPECT_THAT(client.readUntil("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  told.tell("one\n");
  EXPECT_EQ(client.readUntil("one\n\r\n"), "4\r\none\n\r\n");
  told.tell("");  // nothing for a while
  const std::string large(size_t{1} << 20, 'x');
  told.tell(large);
  EXPECT_EQ(client.readUntil("x\r\n"), "100000\r\n" + large + "\r\n");
  told.finish();
  EXPECT_EQ(client.readUntil("0\r\n\r\n"), "0\r\n\r\n");
  told.waitUntilGone();
  client.send(kStillThere);  // over the same connection
  EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\nok"));
  EXPECT_EQ(log.count(), 0U);
}

TEST_F(HttpStreamTest, KeepsWhatAClientSendsMeanwhileForLater) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(std::string(kWatch) + std::string(kStillThere));
  client.readUntil("\r\n\r\n");
  told.waitUntilAsked();
  client.send(kStillThere);
  told.tell("one");
  told.finish();
  EXPECT_EQ(client.readUntil("0\r\n\r\n"), "3\r\none\r\n0\r\n\r\n");
  for (int i = 0; i < 2; ++i) EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\nok"));
}

TEST_F(HttpStreamTest, EndsItWithTheConnectionOfAnOldClient) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send("GET /watch HTTP/1.0\r\n\r\n");
  told.tell("one");
  told.tell("two");
  told.finish();
  const std::string answer = client.readToEnd();
  EXPECT_THAT(answer, EndsWith("\r\n\r\nonetwo"));
  EXPECT_THAT(answer, Not(HasSubstr("chunked")));
}

TEST_F(HttpStreamTest, LetsGoOfItForHead) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send("HEAD /watch HTTP/1.1\r\nHost: l\r\n\r\n" + std::string(kStillThere));
  told.waitUntilGone();
  client.readUntil("\r\n\r\n");
  EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\nok"));
}

// However long nothing is said: the stream is ended, which wakes whoever waits for its next piece.
TEST_F(HttpStreamTest, EndsWhenItsClientGoesAway) {
  startStreams();
  {
    RawClient client(server->port(), RawClient::Tls{});
    client.send(kWatch);
    client.readUntil("\r\n\r\n");
    told.waitUntilAsked();
  }
  told.waitUntilGone();
  EXPECT_TRUE(told.isEnded());
  EXPECT_EQ(statusOf(ask(std::string(kStillThere))), 200);
}

TEST_F(HttpStreamTest, EndsWhenItsClientTakesNothing) {
  net::HttpServerOptions options;
  options.requestTime = 1s;
  startStreams(options);
  RawClient client(server->port(), RawClient::Tls{});
  client.send(kWatch);
  told.tell(std::string(size_t{64} << 20, 'x'));  // more than sockets hold
  told.waitUntilGone();
  EXPECT_TRUE(told.isEnded());
  log.waitFor("the answer was not taken in time");
}

TEST_F(HttpStreamTest, IsCutOffWhereItFails) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(kWatch);
  client.readUntil("\r\n\r\n");
  told.fail();
  EXPECT_EQ(client.readToEnd(), "") << "no last chunk, as if it were whole";
  log.waitFor("could not be continued");
}

TEST_F(HttpStreamTest, IsWholeWhereTheServerStopsInItsTime) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(kWatch);
  client.readUntil("\r\n\r\n");
  told.waitUntilAsked();
  server->stop(1h);
  EXPECT_EQ(client.readToEnd(), "0\r\n\r\n");
  told.waitUntilGone();
}

TEST_F(HttpStreamTest, IsCutOffWhereTheServerStopsAtOnce) {
  startStreams();
  RawClient client(server->port(), RawClient::Tls{});
  client.send(kWatch);
  client.readUntil("\r\n\r\n");
  told.waitUntilAsked();
  server->stop(0ms);
  EXPECT_EQ(client.readToEnd(), "");
  told.waitUntilGone();
}

TEST_F(HttpStreamTest, TakesBodiesInChunksWhereThatIsSaid) {
  net::HttpServerOptions options;
  options.request.takesChunks = true;
  startStreams(options);
  const std::string chunks = "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n";
  EXPECT_THAT(ask("PURGE /any/ HTTP/1.1\r\nHost: l\r\n" + chunks), HasSubstr("Connection: close\r\n"));
  RawClient client(server->port(), RawClient::Tls{});
  for (const std::string method : {"POST", "DELETE"}) {
    client.send(method + " /any/thing HTTP/1.1\r\nHost: l\r\n" + chunks);
    EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\n" + method + ":abc"));
  }
  client.send("POST /any/ HTTP/1.1\r\nHost: l\r\n\r\n");  // without a body
  EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\nPOST:"));
}

TEST_F(HttpStreamTest, RefusesInWordsOfItsOwn) {
  net::HttpServerOptions options;
  options.refuse = [](const net::HttpRefusal& refusal) {
    return net::HttpResponse{
        418, "text/plain", std::to_string(refusal.status) + ": " + refusal.why, {}, nullptr};
  };
  startStreams(options);
  EXPECT_THAT(ask("GET /nothing HTTP/1.1\r\nHost: l\r\n\r\n"),
              EndsWith("\r\n\r\n404: there is nothing here"));
  EXPECT_EQ(statusOf(ask("this is no request\r\n\r\n")), 418);
}

// One certificate is asked for, and whoever shows another is nobody.
TEST_F(HttpStreamTest, ServesStrangersWhereThatIsSaid) {
  net::HttpServerOptions options;
  options.identity.servesStrangers = true;
  options.identity.clientCa = authority.certificate;
  start(options);
  const std::string who = "GET /who HTTP/1.1\r\nHost: l\r\n\r\n";
  const auto known = testClient(authority, "jane");
  const auto stranger = testClient(testAuthority("other"), "jane");
  for (const auto& [identity, name] :
       {std::pair(&known, "jane"), std::pair(&stranger, ""), std::pair<decltype(&known), const char*>()}) {
    RawClient client(server->port(), RawClient::Tls{identity});
    client.send(who);
    EXPECT_THAT(client.readAnswer(), EndsWith("\r\n\r\n" + std::string(name != nullptr ? name : "") + "?"));
  }
}

}  // namespace
}  // namespace lastout::testing
