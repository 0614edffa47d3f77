// Credentials on their way: who asks, as of now, and what a 401 changes.
#include "client/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "tests/client/asking.h"
#include "tests/client/tls_peer.h"

namespace lastout::client {
namespace {

using lastout::testing::ask;
using lastout::testing::Asked;
using lastout::testing::kOneAnswer;
using lastout::testing::PeerConnection;
using lastout::testing::pki;
using lastout::testing::TlsPeer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kUnauthorized = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\nwho?";

ConnectionConfig connectionTo(const TlsPeer& peer) {
  ConnectionConfig connection;
  connection.server = {true, "127.0.0.1", peer.port(), ""};
  connection.authority = pki().authority.certificate;
  return connection;
}

std::string pluginAnswer(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status +
         "}";
}

std::shared_ptr<Access> opened(ConnectionConfig connection, Credentials::RunPlugin runPlugin = {}) {
  auto access = Access::open(
      std::move(connection), [] { return int64_t{0}; }, std::move(runPlugin));
  EXPECT_TRUE(access) << access.error().message;
  return access.value();
}

// A peer that knows one token; what it was shown.
class Access401Test : public ::testing::Test {
 public:
  std::vector<std::string> shown() {
    const std::lock_guard lock(mutex_);
    return shown_;
  }

  TlsPeer peer{[this](PeerConnection& connection) {
    for (std::string text = connection.request(); !text.empty(); text = connection.request()) {
      constexpr std::string_view kHeader = "Authorization: ";
      const size_t begin = text.find(kHeader);
      const std::string value =
          begin == std::string::npos
              ? ""
              : text.substr(begin + kHeader.size(), text.find("\r\n", begin) - begin - kHeader.size());
      {
        const std::lock_guard lock(mutex_);
        shown_.push_back(value);
      }
      connection.send(value == "Bearer good" ? kOneAnswer : kUnauthorized);
    }
  }};

 private:
  std::mutex mutex_;
  std::vector<std::string> shown_;
};

TEST_F(Access401Test, AsksOnceMoreWithOtherCredentials) {
  ConnectionConfig connection = connectionTo(peer);
  connection.authentication.plugin.emplace();
  connection.authentication.plugin->apiVersion = "client.authentication.k8s.io/v1";
  int asked = 0;
  const auto access = opened(connection, [&](const ExecPlugin&, const std::stop_token&) {
    return pluginAnswer(asked++ == 0 ? R"({"token":"old"})" : R"({"token":"good"})");
  });
  const Asked answer = ask(*access->newServer(), "/");
  EXPECT_EQ(answer.answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_THAT(shown(), ElementsAre("Bearer old", "Bearer good"));
}

TEST_F(Access401Test, HandsItOnWhenThereAreNoOthers) {
  ConnectionConfig connection = connectionTo(peer);
  connection.authentication.token = "old";
  const Asked answer = ask(*opened(connection)->newServer(), "/");
  EXPECT_EQ(answer.answer.status, 401);
  EXPECT_EQ(answer.body, "who?");
  EXPECT_THAT(shown(), ElementsAre("Bearer old"));
}

// With each answer of the plugin comes another certificate.
TEST(Access, ShowsTheCertificateThatThePluginGaveLast) {
  std::mutex mutex;
  std::vector<std::string> names;
  TlsPeer peer(
      [&](PeerConnection& connection) {
        while (!connection.request().empty()) {
          const std::lock_guard lock(mutex);
          names.push_back(connection.clientName());
          connection.send(names.size() == 1 ? kUnauthorized : kOneAnswer);
        }
      },
      {.clientCertificates = true});
  const auto second = simulator::makeClientCertificate(
      pki().authority, {.username = "second", .uid = {}, .groups = {}, .extra = {}}, {0, 4'000'000'000});
  ASSERT_TRUE(second);
  ConnectionConfig connection = connectionTo(peer);
  connection.authentication.plugin.emplace();
  connection.authentication.plugin->apiVersion = "client.authentication.k8s.io/v1";
  const auto quoted = [](const std::string& pem) {
    std::string text;
    for (const char c : pem) text += c == '\n' ? std::string("\\n") : std::string(1, c);
    return '"' + text + '"';
  };
  const simulator::CertifiedKey* next = &pki().client;
  const auto access = opened(connection, [&](const ExecPlugin&, const std::stop_token&) {
    const simulator::CertifiedKey& given = *std::exchange(next, &*second);
    return pluginAnswer(R"({"clientCertificateData":)" + quoted(given.certificate) + R"(,"clientKeyData":)" +
                        quoted(given.key) + "}");
  });
  const Asked answer = ask(*access->newServer(), "/");
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.answer.status, 200);
  EXPECT_THAT(names, ElementsAre("lastout-test", "second"));
}

TEST(Access, RefusesAServerWithoutTls) {
  ConnectionConfig connection;
  connection.server = {false, "example.com", 80, ""};
  const auto access = Access::open(connection, [] { return int64_t{0}; });
  ASSERT_FALSE(access);
  EXPECT_THAT(access.error().message, HasSubstr("http://example.com:80 is reached without TLS"));
}

TEST(Access, SaysWhyThereAreNoCredentials) {
  TlsPeer peer([](PeerConnection&) {});
  ConnectionConfig connection = connectionTo(peer);
  connection.authentication.plugin.emplace();
  connection.authentication.plugin->command = "gone";
  const auto access = opened(connection, [](const ExecPlugin&, const std::stop_token&) {
    return kube::Result<std::string>(tl::unexpected(kube::Error{"it is not installed", "", {}}));
  });
  EXPECT_THAT(ask(*access->newServer(), "/").error, HasSubstr("it is not installed"));
}

TEST(Access, AServerThatWasStoppedStaysSo) {
  TlsPeer peer([](PeerConnection& connection) {
    while (!connection.request().empty()) connection.send(kOneAnswer);
  });
  const auto access = opened(connectionTo(peer));
  const auto stopped = access->newServer();
  stopped->stop();
  EXPECT_NE(ask(*stopped, "/").error, "");
  EXPECT_EQ(ask(*access->newServer(), "/").error, "");
}

}  // namespace
}  // namespace lastout::client
