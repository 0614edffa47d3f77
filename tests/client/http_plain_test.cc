// Exchanges without TLS, with a server whose every byte a test decides.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "client/api_server.h"
#include "client/http.h"

namespace lastout::client {
namespace {

using ::testing::HasSubstr;

// Answers one request with these bytes, and ends the connection.
class PlainServer {
 public:
  explicit PlainServer(std::string answer) : answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::listen(socket_, 4), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { answerOnce(); });
  }
  ~PlainServer() {
    thread_.join();
    ::close(socket_);
  }
  PlainServer(const PlainServer&) = delete;
  PlainServer& operator=(const PlainServer&) = delete;

  kube::Result<WholeAnswer> ask() const {
    HttpOptions options;
    options.host = "127.0.0.1";
    options.port = port_;
    options.tls = false;
    const auto server = HttpApiServer::open(std::move(options)).value();
    ApiRequest request;
    request.target = "/why";
    return fetch(*server, request);
  }

 private:
  void answerOnce() {
    const int connection = ::accept(socket_, nullptr, nullptr);
    std::string request;
    std::array<char, 4096> piece{};
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(connection, piece.data(), piece.size(), 0);
      if (got <= 0) break;
      request.append(piece.data(), static_cast<size_t>(got));
    }
    ::send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    ::close(connection);
  }

  const std::string answer_;
  const int socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
  uint16_t port_ = 0;
  std::thread thread_;
};

TEST(PlainHttp, ReadsAWholeAnswer) {
  const auto answer = PlainServer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").ask();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->answer.status, 200);
  EXPECT_EQ(answer->body, "hello");
}

TEST(PlainHttp, TellsACutAnswerFromAWholeOne) {
  const auto errorOf = [](const std::string& text) {
    const auto answer = PlainServer(text).ask();
    return answer ? std::string("none") : answer.error().message;
  };
  EXPECT_THAT(errorOf("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"),
              HasSubstr("the answer was cut off before its end"));
  EXPECT_THAT(errorOf("HTTP/1.1 200 OK\r\n\r\nhello"), HasSubstr("the answer was cut off before its end"))
      << "without a length nobody knows";
  EXPECT_THAT(errorOf(""), HasSubstr("http://127.0.0.1:"));
  EXPECT_THAT(errorOf("HTTP/1.1 200 OK\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"),
              HasSubstr("the header of the answer does not end"));
}

}  // namespace
}  // namespace lastout::client
