#include "simulator/webhook_client.h"

#include <httplib.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kube/locks.h"
#include "kube/messages.h"
#include "net/cutter.h"
#include "net/sockets.h"
#include "simulator/webhooks.h"
#include "tls/names.h"
#include "tls/pem.h"

namespace lastout::simulator {
namespace {

using Milliseconds = std::chrono::milliseconds;
using Deadline = std::chrono::steady_clock::time_point;
using TlsClient = std::unique_ptr<httplib::SSLClient>;

constexpr size_t kLongestAnswer = size_t{3} << 20;  // bytes
constexpr size_t kMostIdleClients = 32;

// "2s"; what is no whole number of seconds (in no configuration) in milliseconds.
std::string inGoNotation(Milliseconds timeout) {
  if (timeout.count() % 1000 != 0) return std::to_string(timeout.count()) + "ms";
  return std::to_string(timeout.count() / 1000) + "s";
}

// Where a webhook is called.
struct CallTarget {
  std::string url;      // as errors name it
  std::string host;     // what the certificate has to name
  std::string header;   // Host
  std::string path;     // with the query
  std::string address;  // to connect to instead of looking up the host; empty: look it up
  int port = 443;
};

// Fails when nobody listens for the service.
tl::expected<CallTarget, std::string> targetOf(const Webhook& webhook, const ServiceAddresses& services,
                                               const HasService& hasService) {
  CallTarget target;
  const std::string query = "?timeout=" + inGoNotation(webhook.timeout);
  const WebhookEndpoint& wanted = webhook.address;
  if (!wanted.url.empty()) {
    const auto url = parseWebhookUrl(wanted.url);
    if (!url) return tl::unexpected("parse " + kube::inQuotes(wanted.url) + ": invalid URL");
    target.host = url->host;
    target.port = url->port;
    target.path = (url->path.empty() ? "/" : url->path) + query;
    target.header = wanted.url.substr(8);
    target.header.resize(std::min(target.header.find('/'), target.header.size()));
    target.url = "https://" + target.header + target.path;
    return target;
  }
  target.host = wanted.serviceName + "." + wanted.serviceNamespace + ".svc";
  target.path = (wanted.servicePath.empty() ? "/" : wanted.servicePath) + query;
  target.header = net::joinHostPort(target.host, wanted.servicePort);
  target.url = "https://" + target.header + target.path;
  const auto found = services.find(wanted.serviceNamespace + "/" + wanted.serviceName);
  const auto listens = found == services.end() ? std::nullopt : parseWebhookUrl("https://" + found->second);
  if (!listens) {
    const std::string service = wanted.serviceNamespace + "/" + wanted.serviceName;
    const std::string why = hasService(wanted.serviceNamespace, wanted.serviceName)
                                ? "lastout up does not know where service " + service +
                                      " listens: start it with --service " + service + "=ADDRESS"
                                : "service " + kube::inQuotes(wanted.serviceName) + " not found";
    return tl::unexpected("Post " + kube::inQuotes(target.url) + ": " + why);
  }
  target.address = listens->host;
  target.port = listens->port;
  return target;
}

// Trusts these authorities and no others, whatever the system has.
bool trustOnly(SSL_CTX* context, const std::string& pem) {
  const tls::Owned<X509_STORE> store(X509_STORE_new());
  const tls::Certificates authorities = tls::certificatesIn(pem);
  ERR_clear_error();  // one that cannot be read ends them
  if (store == nullptr) return false;
  bool any = false;
  for (const auto& authority : authorities.read)
    any = X509_STORE_add_cert(store.get(), authority.get()) == 1 || any;
  return any && SSL_CTX_set1_verify_cert_store(context, store.get()) == 1;
}

tl::expected<TlsClient, std::string> connectionTo(const CallTarget& target, const Webhook& webhook) {
  auto client = std::make_unique<httplib::SSLClient>(target.host, target.port);
  if (!client->is_valid()) return tl::unexpected(std::string("no TLS client can be made"));
  if (!webhook.address.authorities.empty()) {
    if (!trustOnly(client->ssl_context(), webhook.address.authorities))
      return tl::unexpected(std::string("no TLS client can be made of these root certificates"));
    // A folder that is none: otherwise the system's authorities are read, which takes long and helps nobody.
    client->set_ca_cert_path("", "/dev/null");
  }
  if (!tls::expectServerName(*client->ssl_context(), target.host))
    return tl::unexpected(kube::inQuotes(target.host) + " is no host");
  if (!target.address.empty()) client->set_hostname_addr_map({{target.host, target.address}});
  client->set_keep_alive(true);
  client->set_tcp_nodelay(true);
  client->set_url_encode(false);
  client->set_connection_timeout(webhook.timeout);
  client->set_read_timeout(webhook.timeout);
  client->set_write_timeout(webhook.timeout);
  return client;
}

std::string wordsOfVerification(long result) {
  switch (result) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "x509: certificate signed by unknown authority";
    default:
      return std::string("x509: ") + X509_verify_cert_error_string(result);
  }
}

std::string wordsOfFailure(httplib::Error error, const CallTarget& target, const httplib::SSLClient& client,
                           bool hadSocket) {
  const std::string dial =
      "dial tcp " + net::joinHostPort(target.address.empty() ? target.host : target.address, target.port);
  switch (error) {
    case httplib::Error::Connection:
      if (!hadSocket) return "dial tcp: lookup " + target.host + ": no such host";
      return dial + ": connect: connection refused";
    case httplib::Error::ConnectionTimeout:
      return dial + ": i/o timeout";
    case httplib::Error::SSLConnection:
      return "tls: the handshake failed";
    case httplib::Error::SSLServerVerification:
      return wordsOfVerification(client.get_openssl_verify_result());
    case httplib::Error::Canceled:
      return "the answer is longer than " + std::to_string(kLongestAnswer) + " bytes";
    default:
      return "EOF";
  }
}

// One exchange over a connection that may be open already.
tl::expected<WebhookResponse, std::string> exchange(httplib::SSLClient& client, const CallTarget& target,
                                                    const std::string& body, net::Cutter& cutter,
                                                    Deadline deadline) {
  WebhookResponse response;
  httplib::Request request;
  request.method = "POST";
  request.path = target.path;
  request.body = body;
  request.headers = {{"Host", target.header},
                     {"User-Agent", "kube-apiserver-admission"},
                     {"Accept", "application/json, */*"},
                     {"Content-Type", "application/json"},
                     {"Accept-Encoding", "gzip"}};
  request.content_receiver = [&response](const char* data, size_t length, uint64_t, uint64_t) {
    if (response.body.size() + length > kLongestAnswer) return false;
    response.body.append(data, length);
    return true;
  };
  // Out of descriptors, the timeouts of single reads and writes are left.
  net::Cutter::Line line(cutter);
  line.expect(std::chrono::ceil<Milliseconds>(deadline - std::chrono::steady_clock::now()));
  bool hadSocket = client.is_socket_open() != 0;
  if (hadSocket) line.hold(client.socket());
  client.set_socket_options([&line, &hadSocket](socket_t socket) {
    hadSocket = true;
    line.hold(socket);
  });
  const httplib::Result result = client.send(request);
  client.set_socket_options(nullptr);
  // A body that ends with its connection may have been cut off.
  if (std::chrono::steady_clock::now() >= deadline)
    return tl::unexpected(std::string("context deadline exceeded"));
  if (!result) return tl::unexpected(wordsOfFailure(result.error(), target, client, hadSocket));
  response.status = result->status;
  return response;
}

}  // namespace

// The connections that nobody uses at the moment, by what they lead to and whom they trust.
class WebhookClient::Connections {
 public:
  net::Cutter cutter;

  TlsClient take(const std::string& key) {
    const kube::MutexLock lock(mutex_);
    const auto found = idle_.find(key);
    if (found == idle_.end()) return nullptr;
    TlsClient client = std::move(found->second);
    idle_.erase(found);
    return client;
  }
  void keep(std::string key, TlsClient client) {
    const kube::MutexLock lock(mutex_);
    if (idle_.size() >= kMostIdleClients) idle_.erase(idle_.begin());
    idle_.emplace(std::move(key), std::move(client));
  }

 private:
  kube::Mutex mutex_;
  std::multimap<std::string, TlsClient, std::less<>> idle_ LASTOUT_GUARDED_BY(mutex_);
};

WebhookClient::WebhookClient(ServiceAddresses services, HasService hasService)
    : connections_(std::make_unique<Connections>()),
      services_(std::move(services)),
      hasService_(std::move(hasService)) {
  net::ignoreBrokenPipes();
}

WebhookClient::~WebhookClient() = default;

tl::expected<WebhookResponse, std::string> WebhookClient::post(const Webhook& webhook,
                                                               const std::string& body) {
  const Deadline deadline = std::chrono::steady_clock::now() + webhook.timeout;
  const auto target = targetOf(webhook, services_, hasService_);
  if (!target) return tl::unexpected(target.error());
  const std::string key = target->header + "\n" + target->address + "\n" + std::to_string(target->port) +
                          "\n" + inGoNotation(webhook.timeout) + "\n" + webhook.address.authorities;
  TlsClient client = connections_->take(key);
  tl::expected<WebhookResponse, std::string> response;
  bool answered = false;
  if (client) {  // kept too long, it may have been closed: then a new one is tried
    response = exchange(*client, *target, body, connections_->cutter, deadline);
    answered = response || std::chrono::steady_clock::now() >= deadline;
  }
  if (!answered) {
    auto made = connectionTo(*target, webhook);
    if (!made) return tl::unexpected(std::move(made.error()));
    client = std::move(*made);
    response = exchange(*client, *target, body, connections_->cutter, deadline);
  }
  if (!response) return tl::unexpected("Post " + kube::inQuotes(target->url) + ": " + response.error());
  connections_->keep(key, std::move(client));
  return response;
}

}  // namespace lastout::simulator
