#include "apiserver/listener.h"

#include <httplib.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

#include "apiserver/status.h"
#include "apiserver/tls.h"

namespace lastout::apiserver {
namespace {

constexpr std::chrono::milliseconds kPatience{500};  // until a watch looks whether its client is still there

std::string_view bearerToken(const httplib::Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto header = request.headers.find("Authorization");
  if (header == request.headers.end()) return {};
  std::string_view value = header->second;
  if (!value.starts_with(kScheme)) return {};
  return value.substr(kScheme.size());
}

HttpRequest toRequest(const httplib::Request& request) {
  HttpRequest result;
  result.method = request.method;
  result.path = request.target.substr(0, request.target.find('?'));
  for (const auto& [key, value] : request.params) result.query.emplace(key, value);
  result.host = request.get_header_value("Host");
  result.accept = request.get_header_value("Accept");
  result.contentType = request.get_header_value("Content-Type");
  result.userAgent = request.get_header_value("User-Agent");
  result.body = request.body;
  return result;
}

void answer(httplib::Response& response, HttpResponse answer, const std::atomic<bool>& stopping) {
  response.status = answer.status;
  response.set_header("Cache-Control", "no-cache, private");
  for (const std::string& warning : answer.warnings)
    response.set_header("Warning", "299 - \"" + warning + "\"");
  if (answer.retryAfter) response.set_header("Retry-After", std::to_string(*answer.retryAfter));
  if (answer.stream == nullptr) {
    response.set_content(std::move(answer.body), answer.contentType.c_str());
    return;
  }
  const std::shared_ptr<WatchStream> stream(std::move(answer.stream));
  response.set_chunked_content_provider(
      answer.contentType, [stream, &stopping](size_t, httplib::DataSink& sink) {
        const std::optional<std::string> piece = stopping ? std::nullopt : stream->next(kPatience);
        if (!piece) {
          sink.done();
          return true;
        }
        if (!sink.is_writable()) return false;
        return piece->empty() || sink.write(piece->data(), piece->size());
      });
}

void answerError(httplib::Response& response, const ApiError& error) {
  response.status = error.code;
  response.set_content(toText(statusOf(error)), "application/json");
}

// What the library itself refused, before any handler saw it.
ApiError libraryError(int status, size_t mostBody) {
  if (status == 413) return tooLarge(mostBody);
  ApiError error = badRequest("the request is not understood");
  error.code = status;
  return error;
}

}  // namespace

struct Listener::Server {
  ListenerOptions options;
  Handler handler;
  Authenticate authenticate;
  std::unique_ptr<httplib::Server> http;
  std::thread thread;
  std::atomic<bool> stopping{false};
  std::atomic<bool> ended{false};  // it listens no more
  int port = 0;

  void handle(const httplib::Request& request, httplib::Response& response) {
    std::optional<UserInfo> certificate;
    if (request.ssl != nullptr) certificate = clientOf(*request.ssl);
    std::optional<UserInfo> user = authenticate(bearerToken(request), certificate ? &*certificate : nullptr);
    if (!user) return answerError(response, unauthorized());
    HttpRequest plain = toRequest(request);
    plain.user = std::move(*user);
    answer(response, handler(plain), stopping);
  }
  void configure();
};

void Listener::Server::configure() {
  const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
    this->handle(request, response);
  };
  http->Get(".*", handle);
  http->Post(".*", handle);
  http->Put(".*", handle);
  http->Patch(".*", handle);
  http->Delete(".*", handle);
  http->set_error_handler([this](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty()) answerError(response, libraryError(response.status, options.mostBody));
  });
  http->set_payload_max_length(options.mostBody);
  http->set_read_timeout(options.slowestSeconds);
  http->set_write_timeout(options.slowestSeconds);
  http->set_keep_alive_max_count(1'000'000);
  http->set_keep_alive_timeout(60);
  http->set_tcp_nodelay(true);
  http->new_task_queue = [threads = options.threads] { return new httplib::ThreadPool(threads); };
}

Listener::Listener(std::unique_ptr<Server> server) : server_(std::move(server)) {}

Listener::~Listener() { stop(); }

kube::Result<std::unique_ptr<Listener>> Listener::open(const ListenerOptions& options, Handler handler,
                                                       Authenticate authenticate) {
  // A client that goes away while it is written to is an error of that write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  auto server = std::make_unique<Server>();
  server->options = options;
  server->handler = std::move(handler);
  server->authenticate = std::move(authenticate);
  if (options.certificate.empty()) {
    server->http = std::make_unique<httplib::Server>();
  } else {
    kube::Result<void> configured;
    server->http = std::make_unique<httplib::SSLServer>([&](SSL_CTX& context) {
      configured = configureServer(context, options.certificate, options.privateKey, options.clientCa);
      return configured.has_value();
    });
    if (!configured) return tl::unexpected(std::move(configured.error()));
  }
  server->configure();
  server->port = options.port == 0 ? server->http->bind_to_any_port(options.host) : options.port;
  const bool bound =
      options.port == 0 ? server->port > 0 : server->http->bind_to_port(options.host, options.port);
  if (!bound) {
    return tl::unexpected(kube::Error{"cannot listen on " + options.host + ":" +
                                          std::to_string(options.port) +
                                          "; is something else listening there?",
                                      {},
                                      {}});
  }
  return std::unique_ptr<Listener>(new Listener(std::move(server)));
}

void Listener::start() {
  server_->thread = std::thread([server = server_.get()] {
    server->http->listen_after_bind();
    server->ended = true;
  });
}

void Listener::stop() {
  if (server_ == nullptr || !server_->thread.joinable()) return;
  server_->stopping = true;
  // Asked before it has begun, the library would go on listening for ever.
  while (!server_->http->is_running() && !server_->ended) std::this_thread::yield();
  server_->http->stop();
  server_->thread.join();
}

std::string Listener::url() const {
  const char* scheme = server_->options.certificate.empty() ? "http://" : "https://";
  return scheme + server_->options.host + ":" + std::to_string(server_->port);
}

}  // namespace lastout::apiserver
