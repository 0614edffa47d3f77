// Who may connect and how: tokens, certificates, resumed sessions, addresses.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kube/encoding.h"
#include "tests/simulator/wire.h"
#include "tls/openssl.h"

namespace lastout::simulator {
namespace {

using lastout::testing::WireAnswer;
using lastout::testing::WireConnection;
using lastout::testing::WireRequest;
using lastout::testing::WireTest;
using ::testing::StartsWith;

constexpr const char* kMapsPath = "/api/v1/namespaces/default/configmaps";
constexpr Validity kLong{0, 4'102'444'800};  // until 2100

class ListenerClients : public WireTest {
 public:
  WireAnswer askAs(const CertifiedKey* identity, const WireRequest& request) {
    WireConnection connection(port, identity);
    connection.send(toText(request));
    return connection.readToEnd();
  }
};

TEST_F(ListenerClients, AreKnownByCertificateOrToken) {
  EXPECT_EQ(askAs(nullptr, {"GET", kMapsPath, "", {}}).json()["reason"], "Unauthorized");
  EXPECT_EQ(askAs(&admin, {"GET", kMapsPath, "", {}}).status, 200);
  expectStatus(401, {"GET", kMapsPath, "", {"Authorization: Bearer nobody's"}});
  for (const std::string scheme : {"Bearer", "bearer", "BEARER"})
    EXPECT_EQ(askAs(nullptr, {"GET", kMapsPath, "", {"Authorization: " + scheme + " the-token"}}).status,
              200);
}

TEST_F(ListenerClients, WithACertificateOfAnotherAuthorityAreNobody) {
  for (const char* name : {"another", "a test"}) {  // the latter: our own authority's
    const CertifiedKey other = makeAuthority(name, kLong).value();
    const CertifiedKey stranger = makeClientCertificate(other, adminUser(), kLong).value();
    EXPECT_EQ(askAs(&stranger, {"GET", kMapsPath, "", {}}).status, 401) << name;
    EXPECT_EQ(askAs(&stranger, {"GET", kMapsPath, "", {"Authorization: Bearer the-token"}}).status, 200)
        << name;
  }
  const CertifiedKey expired = makeClientCertificate(authority, adminUser(), {0, 1}).value();
  EXPECT_EQ(askAs(&expired, {"GET", kMapsPath, "", {}}).status, 401);
}

// As `openssl x509 -outform DER | sha256sum` has it.
TEST(Listener, TellsByWhichCertificateAUserIsKnownSinceThatVersion) {
  const CertifiedKey authority = makeAuthority("a test", kLong).value();
  const CertifiedKey server = makeServerCertificate(authority, {{"localhost"}, {"127.0.0.1"}}, kLong).value();
  const CertifiedKey client = makeClientCertificate(authority, adminUser(), kLong).value();
  const std::string& pem = client.certificate;
  const size_t begin = pem.find('\n') + 1;
  const std::string der = kube::fromBase64(pem.substr(begin, pem.find("-----END") - begin)).value();
  for (const auto version : {kube::KubernetesVersion::V1_26, kube::KubernetesVersion::V1_36}) {
    ListenerOptions options;
    options.certificate = server.certificate;
    options.privateKey = server.key;
    options.clientCa = authority.certificate;
    options.kubernetes = version;
    const auto answerUser = [](const ExchangeRequest& request) {
      ExchangeResponse response;
      response.body = toText(simulator::toJson(request.user));
      return response;
    };
    const auto asShown = [](std::string_view, const UserInfo* shown) { return std::optional(*shown); };
    const auto listener = Listener::open(options, answerUser, asShown).value();
    listener->start();
    const int port = std::stoi(listener->url().substr(listener->url().rfind(':') + 1));
    WireConnection connection(port, &client);
    connection.send(toText(WireRequest{"GET", kMapsPath, "", {}}));
    const Json user = connection.readToEnd().json();
    EXPECT_EQ(user["username"], "admin");
    const Json told = {{"authentication.kubernetes.io/credential-id",
                        Json::array({"X509SHA256=" + tls::digestOf(der, 32)})}};
    EXPECT_EQ(user.value("extra", Json()), version == kube::KubernetesVersion::V1_26 ? Json() : told);
  }
}

TEST_F(ListenerClients, LearnWithoutCredentialsThatItIsThere) {
  for (const char* path : {"/readyz", "/livez", "/healthz", "/version"}) {
    EXPECT_EQ(askAs(nullptr, {"GET", path, "", {}}).status, 200) << path;
    EXPECT_EQ(askAs(nullptr, {"GET", path, "", {"Authorization: Bearer nobody's"}}).status, 401) << path;
  }
  EXPECT_EQ(askAs(nullptr, {"GET", "/apis", "", {}}).status, 401);
}

TEST_F(ListenerClients, MayResumeTheirSession) {
  const auto ask = [](WireConnection& connection) {
    connection.send(toText(WireRequest{"GET", kMapsPath, "", {}}));
    return connection.readToEnd().status;
  };
  WireConnection first(port, &admin);
  EXPECT_EQ(ask(first), 200);
  SSL_SESSION* session = SSL_get1_session(&first.tls());
  WireConnection second(port, &admin, 0, session);
  SSL_SESSION_free(session);
  EXPECT_EQ(ask(second), 200);
  EXPECT_EQ(SSL_session_reused(&second.tls()), 1);
}

std::optional<UserInfo> anybody(std::string_view, const UserInfo*) { return adminUser(); }

TEST(Listener, LetsManyClientsWaitToBeAccepted) {
  const auto listener = Listener::open(
                            {}, [](const ExchangeRequest&) { return ExchangeResponse{}; }, anybody)
                            .value();  // not started
  const std::string url = listener->url();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
  std::vector<pollfd> clients(100);
  for (pollfd& client : clients) {
    client = {::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), POLLOUT, 0};
    ::connect(client.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  int connected = 0;
  for (pollfd& client : clients) {
    if (poll(&client, 1, 1000) > 0) ++connected;
    ::close(client.fd);
  }
  EXPECT_EQ(connected, 100);
}

TEST(Listener, NamesAnIpv6AddressInBrackets) {
  ListenerOptions options;
  options.host = "::1";
  const auto open = [&] {
    return Listener::open(
        options, [](const ExchangeRequest&) { return ExchangeResponse{}; }, anybody);
  };
  const auto listener = open();
  if (!listener) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_THAT((*listener)->url(), StartsWith("http://[::1]:"));
  options.port = std::stoi((*listener)->url().substr(std::string_view("http://[::1]:").size()));
  EXPECT_THAT(open().error().message, StartsWith("cannot listen on [::1]:"));
}

}  // namespace
}  // namespace lastout::simulator
