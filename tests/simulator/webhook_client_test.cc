// The client of webhooks, against a server of its own in this process.
#include "simulator/webhook_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "tests/client/tls_peer.h"
#include "tests/simulator/https_server.h"

namespace lastout::simulator {
namespace {

Webhook webhookAt(int port, const std::string& authorities) {
  Webhook webhook;
  webhook.name = "rec.test.dev";
  webhook.timeout = std::chrono::seconds(30);
  webhook.address.url = "https://127.0.0.1:" + std::to_string(port) + "/validate";
  webhook.address.authorities = authorities;
  return webhook;
}

// A port of 127.0.0.1 whose socket is there: bound, so that nobody else gets it, and listening or not, but
// nobody accepts.
class SilentPort {
 public:
  explicit SilentPort(bool listens) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_, generic, length) != 0 || (listens && listen(socket_, 8) != 0) ||
        getsockname(socket_, generic, &length) != 0)
      ADD_FAILURE() << "no port can be had";
    port_ = ntohs(address.sin_port);
  }
  ~SilentPort() { close(socket_); }
  SilentPort(const SilentPort&) = delete;
  SilentPort& operator=(const SilentPort&) = delete;
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

// What the recorded answer says after `failed to call webhook: `, for another port and timeout.
std::string recordedWords(const std::string& name, int port, const std::string& timeout) {
  std::ifstream file("tests/recordings/kubernetes-1.26/rest/" + name + ".json");
  std::string words = Json::parse(file)["response"]["body"]["details"]["causes"][0]["message"];
  const std::string prefix = "failed to call webhook: ";
  words = words.substr(words.find(prefix) + prefix.size());
  const auto replaceAll = [&words](const std::string& what, const std::string& with) {
    for (size_t i = words.find(what); i != std::string::npos; i = words.find(what, i + with.size()))
      words.replace(i, what.size(), with);
  };
  replaceAll(":19443", ":" + std::to_string(port));
  replaceAll("timeout=2s", "timeout=" + timeout);
  return words;
}

TEST(WebhookClient, SendsWhatTheApiServerSends) {
  std::promise<ReceivedRequest> request;
  HttpsServer server([&request](const ReceivedRequest& one) {
    request.set_value(one);
    return WebhookResponse{201, "the answer"};
  });
  WebhookClient client({});
  const auto response = client.post(webhookAt(server.port(), server.authority()), "the body");
  ASSERT_TRUE(response) << response.error();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "the answer");
  ReceivedRequest received = request.get_future().get();
  EXPECT_EQ(received.target, "/validate?timeout=30s");
  EXPECT_EQ(received.body, "the body");
  std::ifstream file("tests/recordings/kubernetes-1.26/admission/01-create-namespaces-admin.json");
  Json headers = Json::parse(file)["headers"];
  headers.erase("Content-Length");
  for (const auto& [name, value] : headers.items()) EXPECT_EQ(received.headers[name], value) << name;
}

TEST(WebhookClient, UsesAConnectionAgain) {
  HttpsServer server([](const ReceivedRequest& request) {
    return WebhookResponse{200, std::to_string(request.clientPort)};
  });
  WebhookClient client({});
  const Webhook webhook = webhookAt(server.port(), server.authority());
  const auto first = client.post(webhook, "{}");
  const auto second = client.post(webhook, "{}");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->body, second->body);
}

TEST(WebhookClient, DoesNotMindThatAKeptConnectionWasClosed) {
  const testing::TlsPeer server([](testing::PeerConnection& connection) {
    if (!connection.request().empty()) connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  });
  WebhookClient client({});
  for (int i = 0; i < 20; ++i) {
    const auto response = client.post(webhookAt(server.port(), testing::pki().authority.certificate), "{}");
    ASSERT_TRUE(response) << response.error();
  }
}

TEST(WebhookClient, TrustsTheGivenAuthoritiesAlone) {
  HttpsServer server([](const ReceivedRequest&) { return WebhookResponse{200, "{}"}; });
  WebhookClient client({});
  const CertifiedKey other = makeAuthority("a test", kAlways).value();
  for (const std::string& authorities : {other.certificate, std::string()}) {
    const auto response = client.post(webhookAt(server.port(), authorities), "{}");
    ASSERT_FALSE(response);
    EXPECT_NE(response.error().find("x509: "), std::string::npos) << response.error();
  }
  EXPECT_TRUE(client.post(webhookAt(server.port(), other.certificate + server.authority()), "{}"));
  EXPECT_FALSE(client.post(webhookAt(server.port(), "-----BEGIN CERTIFICATE-----\nno\n"), "{}"));
}

TEST(WebhookClient, CallsAServiceByItsName) {
  HttpsServer server(
      [](const ReceivedRequest& request) {
        return WebhookResponse{200, request.target};
      },
      {{"hook.demo.svc"}, {}});
  WebhookClient client({{"demo/hook", "127.0.0.1:" + std::to_string(server.port())},
                        {"demo/other", "127.0.0.1:" + std::to_string(server.port())}});
  Webhook webhook = webhookAt(0, server.authority());
  webhook.address.url.clear();
  webhook.address.serviceNamespace = "demo";
  webhook.address.serviceName = "hook";
  webhook.address.servicePath = "/validate";
  const auto response = client.post(webhook, "{}");
  ASSERT_TRUE(response) << response.error();
  EXPECT_EQ(response->body, "/validate?timeout=30s");
  webhook.address.serviceName = "other";
  EXPECT_FALSE(client.post(webhook, "{}")) << "the certificate is for hook.demo.svc";
  webhook.address.serviceName = "absent";
  EXPECT_EQ(client.post(webhook, "{}").error(),
            "Post \"https://absent.demo.svc:443/validate?timeout=30s\": service \"absent\" not found");
}

// A Service that is there and has no address is told from one that is not there.
TEST(WebhookClient, SaysHowAServiceIsGivenAnAddress) {
  WebhookClient client({{"demo/other", "127.0.0.1:1"}},
                       [](const std::string& namespaceName, const std::string& name) {
                         return namespaceName == "demo" && name == "hook";
                       });
  Webhook webhook = webhookAt(0, "");
  webhook.address.url.clear();
  webhook.address.serviceNamespace = "demo";
  webhook.address.serviceName = "hook";
  EXPECT_EQ(
      client.post(webhook, "{}").error(),
      "Post \"https://hook.demo.svc:443/?timeout=30s\": lastout up does not know where service demo/hook "
      "listens: start it with --service demo/hook=ADDRESS");
  webhook.address.serviceNamespace = "shop";
  EXPECT_EQ(client.post(webhook, "{}").error(),
            "Post \"https://hook.shop.svc:443/?timeout=30s\": service \"hook\" not found");
}

TEST(WebhookClient, SaysThatNobodyListens) {
  const SilentPort port(false);
  WebhookClient client({});
  EXPECT_EQ(client.post(webhookAt(port.port(), ""), "{}").error(),
            recordedWords("110-delete-webhook-down-failurepolicy-fail", port.port(), "30s"));
}

TEST(WebhookClient, GivesUpWhenTheAnswerTakesTooLong) {
  std::promise<void> release;
  HttpsServer server([released = release.get_future().share()](const ReceivedRequest&) {
    released.wait();
    return WebhookResponse{200, "{}"};
  });
  {
    WebhookClient client({});
    Webhook webhook = webhookAt(server.port(), server.authority());
    webhook.timeout = std::chrono::milliseconds(50);
    EXPECT_EQ(client.post(webhook, "{}").error(),
              recordedWords("102-delete-webhook-slow", server.port(), "50ms"));
  }
  release.set_value();
}

TEST(WebhookClient, GivesUpWhenTheHandshakeTakesTooLong) {
  const SilentPort port(true);
  WebhookClient client({});
  Webhook webhook = webhookAt(port.port(), "");
  webhook.timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(client.post(webhook, "{}").error(),
            recordedWords("102-delete-webhook-slow", port.port(), "50ms"));
}

TEST(WebhookClient, ReadsNoMoreThanItMay) {
  HttpsServer server([](const ReceivedRequest&) { return WebhookResponse{200, std::string(4 << 20, 'x')}; });
  WebhookClient client({});
  const auto response = client.post(webhookAt(server.port(), server.authority()), "{}");
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().find("longer than 3145728 bytes"), std::string::npos) << response.error();
}

TEST(WebhookClient, IsUsedByManyThreads) {
  std::atomic<int> calls = 0;
  HttpsServer server([&calls](const ReceivedRequest& request) {
    ++calls;
    return WebhookResponse{200, request.body};
  });
  WebhookClient client({});
  const Webhook webhook = webhookAt(server.port(), server.authority());
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&client, &webhook, body = std::to_string(i)] {
      for (int k = 0; k < 5; ++k)
        EXPECT_EQ(client.post(webhook, body).value_or(WebhookResponse{}).body, body);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 20);
}

}  // namespace
}  // namespace lastout::simulator
