#include "client/http.h"

#include <httplib.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "client/dial.h"
#include "client/tls.h"
#include "client/tls_stream.h"
#include "kube/locks.h"
#include "kube/messages.h"
#include "net/cutter.h"
#include "net/http_head.h"
#include "net/sockets.h"
#include "tls/openssl.h"

namespace lastout::client {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kLongestPatience{86'400'000};
// The library's own timeouts come after ours, which are exact.
constexpr Milliseconds kLibraryPatience{5'000};
constexpr int64_t kLongestRetry = 86'400;  // seconds

kube::Error httpError(std::string message) { return {std::move(message), {}, {}}; }

// "/path?query", printable ASCII without blanks. A listener takes more than that (net/http_head.cc), which
// lastout escapes where it is the client.
bool isTarget(std::string_view text) {
  return text.starts_with('/') &&
         std::ranges::all_of(text, [](char byte) { return byte > ' ' && byte < 0x7f; });
}

bool isMethod(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char byte) { return byte >= 'A' && byte <= 'Z'; });
}

std::string schemeOf(const HttpOptions& options) { return options.tls ? "https://" : "http://"; }

// The header Retry-After in seconds; a date, as proxies may send, is left out.
std::optional<std::chrono::seconds> retryAfterIn(const httplib::Response& response) {
  const std::string text = response.get_header_value("Retry-After");
  int64_t seconds = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failed != std::errc() || end != text.data() + text.size() || seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(seconds, kLongestRetry));
}

std::string afterColon(const std::string& words) { return words.empty() ? "" : ": " + words; }

std::string wordsOfNoAuthority(const HttpOptions& options) {
  if (!options.authorities.empty())
    return "the server's certificate is not signed by the given certificate authority";
  return "the server's certificate is not signed by an authority that this system trusts, and no other is "
         "given" +
         (options.authorityHint.empty() ? "" : "; " + options.authorityHint);
}

std::string wordsOfVerification(long result, const std::string& name, const std::string& noAuthority) {
  switch (result) {
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return noAuthority;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
    case X509_V_OK:  // by the library's own look at the name
      return "the server's certificate does not name " + kube::inQuotes(name);
    default:
      return std::string("the server's certificate is not believed: ") +
             X509_verify_cert_error_string(result);
  }
}

std::string wordsOfCut(net::Cut why, Milliseconds patience) {
  switch (why) {
    case net::Cut::Stopped:
      return "it was stopped";
    case net::Cut::Silence:
      return "the server said nothing for " + std::to_string(patience.count()) + " ms";
    case net::Cut::No:
      break;
  }
  return "it was cut";
}

}  // namespace

// A connection, over TLS or plain, that is dialled and read by us.
class HttpApiServer::Connection final : public httplib::SSLClient {
 public:
  Connection(const HttpOptions& options, const std::string& serverName)
      : SSLClient(serverName, options.port),
        serverName_(serverName),
        noAuthority_(wordsOfNoAuthority(options)),
        host_(options.host),
        dialledPort_(options.port),
        isTls_(options.tls),
        patience_(options.connectPatience) {
    set_keep_alive(true);
    set_follow_location(false);
    set_url_encode(false);
    set_decompress(false);
    enable_server_certificate_verification(options.verify);
    // A folder that is none: otherwise the system's authorities are read again, into the given ones.
    if (!options.authorities.empty()) set_ca_cert_path("", "/dev/null");
  }

  // What follows is for one exchange at a time.
  // False when no descriptor is left.
  bool begin(net::Cutter::Line& line, Milliseconds patience) {
    set_connection_timeout(patience + kLibraryPatience);
    set_read_timeout(patience + kLibraryPatience);
    set_write_timeout(patience + kLibraryPatience);
    ERR_clear_error();
    line_ = &line;
    endless_ = false;
    connected_ = false;
    problem_.clear();
    return is_socket_open() == 0 || line.hold(socket());
  }
  void end() { line_ = nullptr; }
  void heard() {
    if (stream_ != nullptr) stream_->heard();
  }
  bool endless() const { return endless_; }  // more came than an answer may have
  bool mayBeKept() const { return is_socket_open() != 0 && !hasMore_; }
  // Why no whole answer came; `begun`: a part of it did.
  std::string wordsOfFailure(httplib::Error error, bool begun) const {
    if (endless_) return "the header of the answer does not end";
    if (begun) return "the answer was cut off before its end";
    if (connected_) return "the connection ended without an answer" + afterColon(problem_);
    if (!problem_.empty()) return "no connection" + afterColon(problem_);
    if (error == httplib::Error::SSLServerVerification)
      return wordsOfVerification(get_openssl_verify_result(), serverName_, noAuthority_);
    return "the TLS handshake failed" + afterColon(tls::takeError());
  }

 private:
  bool is_ssl() const override { return isTls_; }

  bool create_and_connect_socket(Socket& socket, httplib::Error& error) override {
    error = httplib::Error::Connection;
    if (line_ == nullptr) return false;
    auto made = dial(host_, dialledPort_, patience_, *line_);
    if (!made) {
      problem_ = std::move(made.error().message);
      return false;
    }
    error = httplib::Error::Success;
    socket.sock = *made;
    return true;
  }

  bool process_socket(const Socket& socket, std::function<bool(httplib::Stream&)> callback) override {
    TlsStream stream(socket.ssl, socket.sock);
    stream_ = &stream;
    connected_ = true;
    const bool done = callback(stream);
    stream_ = nullptr;
    endless_ = stream.endless();
    hasMore_ = stream.hasMore();
    problem_ = stream.problem();
    return done;
  }

  const std::string serverName_;
  const std::string noAuthority_;  // said when it is not signed by one that counts
  const std::string host_;
  const uint16_t dialledPort_;
  const bool isTls_;
  const Milliseconds patience_;
  net::Cutter::Line* line_ = nullptr;
  TlsStream* stream_ = nullptr;
  bool endless_ = false;
  bool hasMore_ = false;
  bool connected_ = false;
  // Why there is no connection; of one that there was, OpenSSL's words, where it has some.
  std::string problem_;
};

// One call of exchange(), which may be tried twice.
struct HttpApiServer::Exchange {
  httplib::Request request;
  Milliseconds patience;
  bool isRepeatable;
  const Take& take;
  ApiAnswer answer = {};
  bool begun = false;   // there is an answer
  bool enough = false;  // for `take`
  bool cut = false;     // by us
};

struct HttpApiServer::State {
  HttpOptions options;
  std::string serverName;
  std::string address;           // host:port
  std::optional<ClientTls> tls;  // of a server with TLS
  net::Cutter cutter;
  kube::Mutex mutex;
  std::vector<std::unique_ptr<Connection>> idle LASTOUT_GUARDED_BY(mutex);
  std::unique_ptr<Connection> unused LASTOUT_GUARDED_BY(mutex);  // it was made to see whether one can be

  // What is sent; fails when a part of it cannot be.
  kube::Result<httplib::Request> write(const ApiRequest& asked) const;

  std::unique_ptr<Connection> takeIdle() {
    const kube::MutexLock lock(mutex);
    if (idle.empty()) return nullptr;
    auto connection = std::move(idle.back());
    idle.pop_back();
    return connection;
  }
  std::unique_ptr<Connection> takeUnused() {
    const kube::MutexLock lock(mutex);
    return std::move(unused);
  }
  void keep(std::unique_ptr<Connection> connection) {
    const kube::MutexLock lock(mutex);
    if (idle.size() < options.idleConnections) idle.push_back(std::move(connection));
  }
};

HttpApiServer::HttpApiServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpApiServer::~HttpApiServer() = default;

kube::Result<std::unique_ptr<HttpApiServer>> HttpApiServer::open(HttpOptions options) {
  net::ignoreBrokenPipes();
  const std::string& prefix = options.pathPrefix;
  if (options.host.empty() || !isTarget("/" + options.host))
    return tl::unexpected(httpError(kube::inQuotes(options.host) + " is no host of an API server"));
  if (!prefix.empty() &&
      (!isTarget(prefix) || prefix.ends_with('/') || prefix.find_first_of("?#") != std::string::npos)) {
    return tl::unexpected(httpError(kube::inQuotes(prefix) + " is no path of an API server"));
  }
  if (!net::isHeaderText(options.userAgent))
    return tl::unexpected(httpError(kube::inQuotes(options.userAgent) + " is no name of a client"));
  for (const auto& [name, value] : options.headers) {
    if (!net::isToken(name) || !net::isHeaderText(value))
      return tl::unexpected(httpError("the header " + kube::inQuotes(name) + " cannot be sent"));
  }
  auto state = std::make_unique<State>();
  state->serverName = options.serverName.empty() ? options.host : options.serverName;
  state->address = net::joinHostPort(options.host, options.port);
  state->options = std::move(options);
  std::unique_ptr<HttpApiServer> server(new HttpApiServer(std::move(state)));
  if (auto usable = server->prepare(); !usable) {
    const State& made = *server->state_;
    return tl::unexpected(httpError(schemeOf(made.options) + made.address + ": " + usable.error().message));
  }
  return server;
}

// What is wrong with the options is found before anything is asked.
kube::Result<void> HttpApiServer::prepare() {
  const HttpOptions& options = state_->options;
  if (options.tls) {
    auto tls = ClientTls::read({options.authorities, state_->serverName, options.verify,
                                options.clientCertificate, options.clientKey});
    if (!tls) return tl::unexpected(std::move(tls.error()));
    state_->tls = std::move(*tls);
  }
  auto first = newConnection();
  if (!first) return tl::unexpected(std::move(first.error()));
  const kube::MutexLock lock(state_->mutex);
  state_->unused = std::move(*first);
  return {};
}

kube::Result<std::unique_ptr<HttpApiServer::Connection>> HttpApiServer::newConnection() {
  if (auto unused = state_->takeUnused()) return unused;
  auto connection = std::make_unique<Connection>(state_->options, state_->serverName);
  if (!state_->tls) return connection;
  if (!connection->is_valid()) return tl::unexpected(httpError("no TLS client can be made"));
  if (auto configured = state_->tls->configure(*connection->ssl_context()); !configured)
    return tl::unexpected(std::move(configured.error()));
  return connection;
}

kube::Result<void> HttpApiServer::once(Connection& connection, Exchange& exchange) {
  const Milliseconds patience = exchange.patience;
  net::Cutter::Line line(state_->cutter);
  exchange.cut = line.why() != net::Cut::No;
  if (exchange.cut) return tl::unexpected(httpError(wordsOfCut(line.why(), patience)));
  const auto tell = [&](std::string_view piece) {
    connection.heard();
    line.rest();
    exchange.enough = !exchange.take(exchange.answer.status, piece);
    line.expect(patience);
    return !exchange.enough;
  };
  const auto begun = [&](const httplib::Response& response) {
    exchange.begun = true;
    exchange.answer = {response.status, retryAfterIn(response)};
    return tell({});
  };
  httplib::Request request = exchange.request;
  request.response_handler = begun;
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    return tell({data, size});
  };
  if (!connection.begin(line, patience)) return tl::unexpected(httpError("too many files are open"));
  line.expect(patience);
  const httplib::Result result = connection.send(request);
  line.rest();
  connection.end();
  if (exchange.enough) return {};
  if (result && !exchange.begun) {  // an answer without a body
    begun(*result);
    line.rest();
  }
  if (result) return {};
  exchange.cut = !connection.endless() && line.why() != net::Cut::No;
  return tl::unexpected(httpError(exchange.cut ? wordsOfCut(line.why(), patience)
                                               : connection.wordsOfFailure(result.error(), exchange.begun)));
}

kube::Result<httplib::Request> HttpApiServer::State::write(const ApiRequest& asked) const {
  if (!isMethod(asked.method) || !isTarget(asked.target) || !net::isHeaderText(asked.accept) ||
      !net::isHeaderText(asked.contentType))
    return tl::unexpected(httpError("the request cannot be sent"));
  if (!net::isHeaderText(asked.authorization))
    return tl::unexpected(httpError("the credentials cannot be sent"));
  httplib::Request request;
  request.method = asked.method;
  request.path = options.pathPrefix + asked.target;
  request.body = asked.body;
  request.headers = {{"Host", address},
                     {"User-Agent", options.userAgent},
                     {"Accept", asked.accept},
                     {"Accept-Encoding", "identity"}};
  for (const auto& [name, value] : options.headers) request.headers.emplace(name, value);
  if (!asked.authorization.empty()) request.set_header("Authorization", asked.authorization);
  if (!asked.contentType.empty()) request.set_header("Content-Type", asked.contentType);
  return request;
}

kube::Result<ApiAnswer> HttpApiServer::onceOrTwice(Exchange& exchange) {
  std::unique_ptr<Connection> connection;
  kube::Result<void> done;
  bool again = true;
  if (exchange.isRepeatable) connection = state_->takeIdle();
  if (connection != nullptr) {  // the server may have closed it meanwhile
    done = once(*connection, exchange);
    again = !done && !exchange.begun && !exchange.cut;
  }
  if (again) {
    auto made = newConnection();
    if (!made) return tl::unexpected(std::move(made.error()));
    connection = std::move(*made);
    done = once(*connection, exchange);
  }
  if (!done) return tl::unexpected(std::move(done.error()));
  if (connection->mayBeKept()) state_->keep(std::move(connection));
  return exchange.answer;
}

kube::Result<ApiAnswer> HttpApiServer::exchange(const ApiRequest& request, const Take& take) {
  const auto failed = [&](const kube::Error& error) {
    const std::string url =
        schemeOf(state_->options) + state_->address + state_->options.pathPrefix + request.target;
    return tl::unexpected(httpError(request.method + " " + kube::printable(url) + ": " + error.message));
  };
  auto written = state_->write(request);
  if (!written) return failed(written.error());
  Exchange exchange{std::move(*written), std::clamp(request.patience, Milliseconds(1), kLongestPatience),
                    request.isRepeatable || request.method == "GET", take};
  auto answer = onceOrTwice(exchange);
  if (!answer) return failed(answer.error());
  return answer;
}

void HttpApiServer::stop() { state_->cutter.stop(); }

}  // namespace lastout::client
