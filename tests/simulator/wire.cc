#include "tests/simulator/wire.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "tls/pem.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::ExchangeResponse;
using simulator::Json;
using simulator::UserInfo;

constexpr simulator::Validity kWireValidity{0, 4'102'444'800};  // until 2100

constexpr const char* kWireUsers = R"(users:
- username: admin
  token: the-token
  groups: [system:masters]
- username: scraper
  token: scrapers-token
  rights:
  - { verbs: [get], paths: [/metrics] }
- username: tenant
  rights:
  - { verbs: [delete, patch], groups: [apps], resources: [deployments], namespaces: [default] }
  - { verbs: [delete], groups: [""], resources: [secrets], namespaces: [default] }
- username: namespace-owner
  rights:
  - { verbs: [delete], groups: [apps], resources: [deployments], namespaces: [default] }
  - { verbs: [delete], groups: [""], resources: [secrets, namespaces], namespaces: [default] }
- username: reader
  token: readers-token
  rights:
  - { verbs: [get, list, watch], groups: [lastout.dev], resources: [criticalservices] }
  - { verbs: [get, list, watch], groups: [apiextensions.k8s.io], resources: [customresourcedefinitions] }
  - { verbs: [get, list, watch], groups: [my.crd.group], resources: [coolresources] }
  - { verbs: [get], groups: [apps], resources: [deployments], namespaces: [default] }
- username: policy-keeper
  token: policy-keepers-token
  rights:
  - { verbs: [get, list, watch], groups: [lastout.dev], resources: [deletionpolicies] }
  - { verbs: [patch], groups: [lastout.dev], resources: [deletionpolicies/status] }
- username: policy-watcher
  token: policy-watchers-token
  rights:
  - { verbs: [get, list, watch], groups: [lastout.dev], resources: [deletionpolicies] }
  - { verbs: [patch], groups: [lastout.dev], resources: [deletionpolicies/status] }
  - { verbs: [get, list, watch], groups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicies, validatingadmissionpolicybindings] }
)";

const simulator::Users& wireUsers() {
  static const simulator::Users kUsers = simulator::parseUsers(kWireUsers, "users.yaml").value();
  return kUsers;
}

simulator::EmbeddedOptions wireCluster(const simulator::CallWebhook& call) {
  simulator::EmbeddedOptions options;
  options.users = wireUsers();
  options.callWebhook =
      [&call](const simulator::Webhook& webhook,
              const std::string& body) -> tl::expected<simulator::WebhookResponse, std::string> {
    if (!call) return tl::unexpected(std::string("there is nobody"));
    return call(webhook, body);
  };
  return options;
}

void identify(SSL_CTX& context, const simulator::CertifiedKey& identity) {
  const auto certificate = tls::certificateIn(identity.certificate);
  const auto key = tls::privateKeyIn(identity.key);
  SSL_CTX_use_certificate(&context, certificate.get());
  SSL_CTX_use_PrivateKey(&context, key.get());
}

// Counts itself, so that a test can tell when the listener has let go of it.
class CountedWatch : public simulator::WatchResponse {
 public:
  CountedWatch(std::unique_ptr<simulator::WatchResponse> watch, std::atomic<int>& count)
      : watch_(std::move(watch)), count_(count) {
    ++count_;
  }
  ~CountedWatch() override {
    --count_;
    count_.notify_all();
  }
  std::optional<std::string> next(std::chrono::milliseconds patience) override {
    return watch_->next(patience);
  }
  void end() override { watch_->end(); }

 private:
  std::unique_ptr<simulator::WatchResponse> watch_;
  std::atomic<int>& count_;
};

}  // namespace

WireConnection::WireConnection(int port, const simulator::CertifiedKey* identity, int receiveBuffer,
                               SSL_SESSION* session)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)), context_(SSL_CTX_new(TLS_client_method())) {
  if (receiveBuffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, sizeof(receiveBuffer));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  if (identity != nullptr) identify(*context_, *identity);
  connection_.reset(SSL_new(context_.get()));
  SSL_set_fd(connection_.get(), socket_);
  if (session != nullptr) SSL_set_session(connection_.get(), session);
  SSL_connect(connection_.get());
}

WireConnection::~WireConnection() { ::close(socket_); }

bool WireConnection::send(const std::string& text) {
  return SSL_write(connection_.get(), text.data(), static_cast<int>(text.size())) > 0;
}

std::string WireConnection::readUntil(const std::string& last) {
  std::string text;
  char piece[16384];
  while (last.empty() || !text.ends_with(last)) {
    const int size = SSL_read(connection_.get(), piece, sizeof(piece));
    if (size <= 0) break;
    text.append(piece, static_cast<size_t>(size));
  }
  return text;
}

bool WireConnection::hasSomethingToRead(int milliseconds) const {
  pollfd wanted{socket_, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

WireAnswer WireConnection::readToEnd() {
  std::string text = readUntil("");
  WireAnswer answer;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  answer.status = std::stoi(answer.head.substr(answer.head.find(' ') + 1));
  return answer;
}

std::string toText(const WireRequest& request) {
  std::string text =
      request.method + " " + request.target + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n";
  for (const std::string& header : request.headers) text += header + "\r\n";
  if (!request.body.empty()) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n" + request.body;
}

WireTest::WireTest(simulator::ListenerOptions options)
    : authority(simulator::makeAuthority("a test", kWireValidity).value()),
      admin(simulator::makeClientCertificate(authority, simulator::adminUser(), kWireValidity).value()),
      cluster(wireCluster(callWebhook)),
      options_(std::move(options)) {
  cluster.clock().pause();
  const auto server = simulator::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, kWireValidity).value();
  options_.certificate = server.certificate;
  options_.privateKey = server.key;
  options_.clientCa = authority.certificate;
  serve([this](const ExchangeRequest& request) { return handle(request); });
}

WireTest::~WireTest() { listener.reset(); }

void WireTest::serve(simulator::Handler handler) {
  const auto authenticate = [](std::string_view token,
                               const UserInfo* certificate) -> std::optional<UserInfo> {
    if (!token.empty()) return simulator::userWithToken(wireUsers(), token);
    return certificate == nullptr ? std::nullopt : std::optional(*certificate);
  };
  listener.reset();
  listener = simulator::Listener::open(options_, std::move(handler), authenticate).value();
  listener->start();
  const std::string url = listener->url();
  port = std::stoi(url.substr(url.rfind(':') + 1));
}

ExchangeResponse WireTest::handle(const ExchangeRequest& request) {
  if (request.method == "PATCH") ++patches;
  ExchangeResponse response = cluster.handle(request);
  if (response.stream != nullptr)
    response.stream = std::make_unique<CountedWatch>(std::move(response.stream), openWatches);
  return response;
}

WireAnswer WireTest::ask(const WireRequest& request) {
  WireConnection connection(port, &admin);
  connection.send(toText(request));
  return connection.readToEnd();
}

Json WireTest::expectStatus(int code, const WireRequest& request) {
  const WireAnswer answer = ask(request);
  EXPECT_EQ(answer.status, code) << request.method << " " << request.target.substr(0, 200) << "\n"
                                 << answer.head << "\n"
                                 << answer.body.substr(0, 1000);
  Json status = answer.json();
  if (code < 400) return status;
  EXPECT_TRUE(status.is_object() && status["kind"] == "Status" && status["code"] == code) << answer.body;
  return status;
}

void WireTest::create(const std::string& path, const Json& object) {
  expectStatus(201, {"POST", path, object.dump(), {"Content-Type: application/json"}});
}

void WireTest::waitUntilNoWatchIsOpen() {
  for (int open = openWatches; open > 0; open = openWatches) openWatches.wait(open);
}

}  // namespace lastout::testing
