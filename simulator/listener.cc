#include "simulator/listener.h"

#include <httplib.h>
#include <netdb.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "kube/locks.h"
#include "kube/names.h"
#include "kube/quoting.h"
#include "net/sockets.h"
#include "simulator/admission_review.h"
#include "simulator/certificates.h"
#include "simulator/client_stream.h"
#include "simulator/connection.h"
#include "simulator/http_head.h"
#include "simulator/request.h"
#include "simulator/status.h"
#include "tls/owned.h"

namespace lastout::simulator {
namespace {

constexpr std::chrono::milliseconds kPatience{500};  // until a watch looks whether its client is still there

// Who asks without saying who it is (user/authentication of the API server).
UserInfo anonymousUser() { return {"system:anonymous", "", {"system:unauthenticated"}, {}}; }

// `error`: the errno of what failed last, which says nothing of a host that nobody knows.
std::string whyNotBound(const std::string& host, int error) {
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (unknown != 0)
    return kube::inQuotes(host) + " is no address or name of this machine: " + gai_strerror(unknown);
  freeaddrinfo(found);
  return std::generic_category().message(error);
}

// What the API server tells anybody (its ClusterRole system:public-info-viewer).
bool isPublic(std::string_view path) {
  constexpr std::array<std::string_view, 4> kPublic{"/healthz", "/livez", "/readyz", "/version"};
  return std::ranges::find(kPublic, path) != kPublic.end();
}

std::string_view bearerToken(const httplib::Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const auto header = request.headers.find("Authorization");
  if (header == request.headers.end()) return {};
  std::string_view value = header->second;
  if (kube::lowerCase(value.substr(0, kScheme.size())) != kScheme) return {};
  return value.substr(kScheme.size());
}

// The library's own reading of the query is not used: it ends a key at the last "=".
ApiResult<HttpRequest> toRequest(const httplib::Request& request, std::string body) {
  HttpRequest result;
  result.method = request.method;
  const size_t question = std::min(request.target.find('?'), request.target.size());
  result.path = request.target.substr(0, question);
  auto query = parseQuery(std::string_view(request.target)
                              .substr(question)
                              .substr(std::min<size_t>(1, request.target.size() - question)));
  if (!query) return tl::unexpected(std::move(query.error()));
  result.query = std::move(*query);
  result.host = request.get_header_value("Host");
  result.accept = request.get_header_value("Accept");
  result.contentType = request.get_header_value("Content-Type");
  result.impersonation.username = request.get_header_value("Impersonate-User");
  result.impersonation.uid = request.get_header_value("Impersonate-Uid");
  const auto [first, last] = request.headers.equal_range("Impersonate-Group");
  for (auto group = first; group != last; ++group) result.impersonation.groups.push_back(group->second);
  result.body = std::move(body);
  return result;
}

// A watch, which is over when the listener stops.
struct StoppableWatch {
  StoppableWatch(std::unique_ptr<WatchResponse> watch, const std::stop_token& stopping)
      : stream(std::move(watch)), atStop(stopping, [this] { stream->end(); }) {}

  const std::unique_ptr<WatchResponse> stream;
  std::stop_callback<std::function<void()>> atStop;
};

void answer(httplib::Response& response, HttpResponse answer, const std::stop_token& stopping) {
  response.status = answer.status;
  response.set_header("Cache-Control", "no-cache, private");
  for (const std::string& warning : answer.warnings) response.set_header("Warning", warningHeader(warning));
  if (answer.retryAfter) response.set_header("Retry-After", std::to_string(*answer.retryAfter));
  if (answer.stream == nullptr) {
    response.set_content(answer.body, answer.contentType.c_str());
    return;
  }
  const auto watch = std::make_shared<StoppableWatch>(std::move(answer.stream), stopping);
  // The parameter is as in Kubernetes' OpenAPI.
  response.set_chunked_content_provider(
      answer.contentType + ";stream=watch", [watch](size_t, httplib::DataSink& sink) {
        const std::optional<std::string> piece = watch->stream->next(kPatience);
        if (!piece) {
          sink.done();
          return true;
        }
        if (!sink.is_writable()) return false;
        return piece->empty() || sink.write(piece->data(), piece->size());
      });
}

// The connection ends with it: what else the client has sent is not where a request begins.
void answerAndEnd(httplib::Response& response, const ApiError& error) {
  response.status = error.code;
  response.set_header("Connection", "close");
  const auto text = std::make_shared<const std::string>(toText(statusOf(error)));
  response.set_content_provider(text->size(), "application/json",
                                [text](size_t offset, size_t length, httplib::DataSink& sink) {
                                  sink.write(text->data() + offset, length);
                                  return false;
                                });
}

void answerError(httplib::Response& response, const ApiError& error) {
  response.status = error.code;
  response.set_content(toText(statusOf(error)), "application/json");
}

// What the library itself refused, before any handler saw it.
ApiError libraryError(const httplib::Request& request, int status, size_t mostBody) {
  constexpr std::array<std::string_view, 7> kMethods{"GET",   "HEAD",   "POST",   "PUT",
                                                     "PATCH", "DELETE", "OPTIONS"};
  if (status == 413) return tooLarge(mostBody);
  if (!request.method.empty() && !request.target.empty() && request.target.front() == '/' && status != 414 &&
      std::ranges::find(kMethods, request.method) == kMethods.end())
    return methodNotAllowed({}, request.method);
  ApiError error = badRequest("the request is not understood");
  error.code = status;
  return error;
}

// Of a request that the library never sees; the connection ends with it.
std::string refusal(const ApiError& error) {
  const std::string_view phrase = error.code == 413   ? "Payload Too Large"
                                  : error.code == 431 ? "Request Header Fields Too Large"
                                                      : "Bad Request";
  const std::string body = toText(statusOf(error));
  return "HTTP/1.1 " + std::to_string(error.code) + " " + std::string(phrase) +
         "\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// As the library is to see them.
httplib::Headers headersOf(const RequestHead& head) {
  httplib::Headers headers;
  for (const auto& [name, value] : head.headers) {
    const std::string known = kube::lowerCase(name);
    if (known != "accept-encoding" && known != "range") headers.emplace(name, value);
  }
  // The library reads no DELETE's body but one with a length; where there are chunks, it goes by them.
  if (head.chunked) headers.emplace("Content-Length", "0");
  return headers;
}

}  // namespace

struct Listener::Server : httplib::Server {
  ListenerOptions options;
  simulator::Handler handler;
  Authenticate authenticate;
  lastout::tls::Owned<SSL_CTX> tls;  // null: plain HTTP
  std::thread thread;
  std::stop_source stopping;
  std::atomic<bool> ended{false};  // it listens no more
  int port = 0;
  kube::Mutex mutex;
  std::set<int> sockets LASTOUT_GUARDED_BY(mutex);  // of connections that are served

  bool bind();
  void handle(const httplib::Request& request, httplib::Response& response, std::string body);
  void readAndHandle(const httplib::Request& request, httplib::Response& response,
                     const httplib::ContentReader& reader);
  void configure();
  void serve(int socket);
  void endConnections();

 private:
  bool process_and_close_socket(socket_t socket) override;
};

bool Listener::Server::bind() {
  port = options.port == 0 ? bind_to_any_port(options.host) : options.port;
  if (port <= 0 || (options.port != 0 && !bind_to_port(options.host, port))) return false;
  // The library lets five clients wait to be accepted, and others try again after seconds.
  ::listen(svr_sock_, SOMAXCONN);
  return true;
}

bool Listener::Server::process_and_close_socket(socket_t socket) {
  bool served = false;
  {
    const kube::MutexLock lock(mutex);
    served = !stopping.stop_requested() && sockets.insert(socket).second;
  }
  if (served) serve(socket);
  const kube::MutexLock lock(mutex);
  sockets.erase(socket);
  ::close(socket);
  return served;
}

void Listener::Server::serve(int socket) {
  const std::chrono::seconds slowest(options.slowestSeconds);
  Connection connection(socket, tls.get());
  if (!connection.shakeHands(std::chrono::steady_clock::now() + slowest)) return;
  ClientStream stream(connection, {slowest, options.mostBody});
  while (!stopping.stop_requested()) {
    const auto head = stream.nextHead();
    if (!head) break;
    if (!*head) {
      const std::string text = refusal(head->error());
      connection.write(text.data(), text.size(), slowest);
      break;
    }
    const auto complete = [&](httplib::Request& request) {
      request.headers = headersOf(**head);
      request.ssl = connection.tls();
    };
    bool last = (*head)->endsConnection;
    if (!process_request(stream, last, last, complete) || last || !stream.isRead()) break;
  }
  connection.finish();
}

void Listener::Server::endConnections() {
  const kube::MutexLock lock(mutex);
  for (const int socket : sockets) ::shutdown(socket, SHUT_RDWR);
  stopping.request_stop();
}

void Listener::Server::handle(const httplib::Request& request, httplib::Response& response,
                              std::string body) {
  std::optional<UserInfo> certificate;
  if (request.ssl != nullptr) certificate = clientOf(*request.ssl);
  const std::string_view token = bearerToken(request);
  std::optional<UserInfo> user = authenticate(token, certificate ? &*certificate : nullptr);
  auto plain = toRequest(request, std::move(body));
  if (!user && token.empty() && plain && isPublic(plain->path)) user = anonymousUser();
  if (!user) return answerError(response, unauthorized());
  if (!plain) return answerError(response, plain.error());
  plain->user = std::move(*user);
  answer(response, handler(*plain), stopping.get_token());
}

// The library bounds only bodies that say their length; one in chunks, or packed, is bounded here.
void Listener::Server::readAndHandle(const httplib::Request& request, httplib::Response& response,
                                     const httplib::ContentReader& reader) {
  // Without a length there is no body (RFC 9112, 6.3); the library would wait for one until the end.
  if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding"))
    return handle(request, response, {});
  // The library would take it apart.
  if (request.is_multipart_form_data())
    return answerAndEnd(response, unsupportedMediaType("application/json"));
  std::string body;
  bool fits = true;
  const bool whole = reader([&](const char* data, size_t size) {
    fits = body.size() + size <= options.mostBody;
    if (fits) body.append(data, size);
    return fits;
  });
  if (!fits || response.status == 413) return answerAndEnd(response, tooLarge(options.mostBody));
  if (!whole) return answerAndEnd(response, badRequest("the body of the request is not whole"));
  handle(request, response, std::move(body));
}

void Listener::Server::configure() {
  const auto withoutBody = [this](const httplib::Request& request, httplib::Response& response) {
    handle(request, response, request.body);
  };
  const auto withBody = [this](const httplib::Request& request, httplib::Response& response,
                               const httplib::ContentReader& reader) {
    readAndHandle(request, response, reader);
  };
  Get(".*", withoutBody);
  Options(".*", withoutBody);
  Post(".*", withBody);
  Put(".*", withBody);
  Patch(".*", withBody);
  Delete(".*", withBody);
  Delete(".*", withoutBody);  // one without a body is not given to the other
  set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
    if (response.body.empty() && !response.content_provider_)
      answerAndEnd(response, libraryError(request, response.status, options.mostBody));
  });
  set_payload_max_length(options.mostBody);
  set_keep_alive_max_count(1'000'000);  // what it tells clients
  set_keep_alive_timeout(60);
  set_tcp_nodelay(true);
  // Not the library's default, with which two programs can listen on one port, each getting half of the
  // clients.
  set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  });
  new_task_queue = [most = options.threads] { return new ConnectionThreads(most); };
}

Listener::Listener(std::unique_ptr<Server> server) : server_(std::move(server)) {}

Listener::~Listener() { stop(); }

kube::Result<std::unique_ptr<Listener>> Listener::open(const ListenerOptions& options, Handler handler,
                                                       Authenticate authenticate) {
  net::ignoreBrokenPipes();
  auto server = std::make_unique<Server>();
  server->options = options;
  server->handler = std::move(handler);
  server->authenticate = std::move(authenticate);
  if (!options.certificate.empty()) {
    server->tls.reset(SSL_CTX_new(TLS_server_method()));
    if (auto configured =
            configureServer(*server->tls, options.certificate, options.privateKey, options.clientCa);
        !configured)
      return tl::unexpected(std::move(configured.error()));
  }
  server->configure();
  if (!server->bind()) {
    const int error = errno;
    return tl::unexpected(kube::Error{"cannot listen on " + net::joinHostPort(options.host, options.port) +
                                          ": " + whyNotBound(options.host, error),
                                      {},
                                      {}});
  }
  return std::unique_ptr<Listener>(new Listener(std::move(server)));
}

void Listener::start() {
  server_->thread = std::thread([server = server_.get()] {
    server->listen_after_bind();
    server->ended = true;
  });
}

void Listener::stop() {
  if (server_ == nullptr || !server_->thread.joinable()) return;
  server_->endConnections();
  // Asked before it has begun, the library would go on listening for ever.
  while (!server_->is_running() && !server_->ended) std::this_thread::yield();
  server_->stop();
  server_->thread.join();
}

std::string Listener::url() const {
  const char* scheme = server_->tls == nullptr ? "http://" : "https://";
  return scheme + net::joinHostPort(server_->options.host, server_->port);
}

}  // namespace lastout::simulator
