#include "apiserver/listener.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/admission_review.h"
#include "apiserver/status.h"
#include "apiserver/tls.h"

namespace lastout::apiserver {
namespace {

constexpr std::chrono::milliseconds kPatience{500};  // until a watch looks whether its client is still there
constexpr std::chrono::milliseconds kEndingPause{10};

// A thread for each connection, made when no other is free: idle connections and watches hold theirs.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t most) : most_(most) {}

  void enqueue(std::function<void()> connection) override {
    {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(std::move(connection));
      if (waiting_.size() > free_ && threads_.size() < most_) threads_.emplace_back([this] { work(); });
    }
    changed_.notify_one();
  }

  void shutdown() override {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++free_;
      changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      --free_;
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
    }
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t free_ = 0;
  bool ending_ = false;
};

// The local port of a connection; nothing: the descriptor is none.
std::optional<int> localPortOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return std::nullopt;
}

// Ends all connections to a port of this process. The library would wait for those that are idle to time out,
// and does not tell which there are.
void endConnections(int port) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failed)) {
    const std::string name = entry.path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (descriptor >= 0 && localPortOf(descriptor) == port) ::shutdown(descriptor, SHUT_RDWR);
  }
}

std::string_view bearerToken(const httplib::Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto header = request.headers.find("Authorization");
  if (header == request.headers.end()) return {};
  std::string_view value = header->second;
  if (!value.starts_with(kScheme)) return {};
  return value.substr(kScheme.size());
}

HttpRequest toRequest(const httplib::Request& request, std::string body) {
  HttpRequest result;
  result.method = request.method;
  result.path = request.target.substr(0, request.target.find('?'));
  for (const auto& [key, value] : request.params) result.query.emplace(key, value);
  result.host = request.get_header_value("Host");
  result.accept = request.get_header_value("Accept");
  result.contentType = request.get_header_value("Content-Type");
  result.userAgent = request.get_header_value("User-Agent");
  result.body = std::move(body);
  return result;
}

void answer(httplib::Response& response, HttpResponse answer, const std::atomic<bool>& stopping) {
  response.status = answer.status;
  response.set_header("Cache-Control", "no-cache, private");
  for (const std::string& warning : answer.warnings) response.set_header("Warning", warningHeader(warning));
  if (answer.retryAfter) response.set_header("Retry-After", std::to_string(*answer.retryAfter));
  if (answer.stream == nullptr) {
    response.set_content(answer.body, answer.contentType.c_str());
    return;
  }
  const std::shared_ptr<WatchStream> stream(std::move(answer.stream));
  // The parameter is as in Kubernetes' OpenAPI; with it the library does not compress, which would hold
  // events back.
  response.set_chunked_content_provider(
      answer.contentType + ";stream=watch", [stream, &stopping](size_t, httplib::DataSink& sink) {
        const std::optional<std::string> piece = stopping ? std::nullopt : stream->next(kPatience);
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

  void handle(const httplib::Request& request, httplib::Response& response, std::string body);
  void readAndHandle(const httplib::Request& request, httplib::Response& response,
                     const httplib::ContentReader& reader);
  void configure();
};

void Listener::Server::handle(const httplib::Request& request, httplib::Response& response,
                              std::string body) {
  std::optional<UserInfo> certificate;
  if (request.ssl != nullptr) certificate = clientOf(*request.ssl);
  std::optional<UserInfo> user = authenticate(bearerToken(request), certificate ? &*certificate : nullptr);
  if (!user) return answerError(response, unauthorized());
  HttpRequest plain = toRequest(request, std::move(body));
  plain.user = std::move(*user);
  answer(response, handler(plain), stopping);
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
  http->Get(".*", withoutBody);
  http->Options(".*", withoutBody);
  http->Post(".*", withBody);
  http->Put(".*", withBody);
  http->Patch(".*", withBody);
  http->Delete(".*", withBody);
  http->Delete(".*", withoutBody);  // one without a body is not given to the other
  http->set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
    if (response.body.empty() && !response.content_provider_)
      answerAndEnd(response, libraryError(request, response.status, options.mostBody));
  });
  http->set_payload_max_length(options.mostBody);
  http->set_read_timeout(options.slowestSeconds);
  http->set_write_timeout(options.slowestSeconds);
  http->set_keep_alive_max_count(1'000'000);
  http->set_keep_alive_timeout(60);
  http->set_tcp_nodelay(true);
  // Not the library's default, with which two programs can listen on one port, each getting half of the
  // clients.
  http->set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  });
  http->new_task_queue = [most = options.threads] { return new ConnectionThreads(most); };
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
  while (!server_->ended) {
    endConnections(server_->port);
    std::this_thread::sleep_for(kEndingPause);
  }
  server_->thread.join();
}

std::string Listener::url() const {
  const char* scheme = server_->options.certificate.empty() ? "http://" : "https://";
  return scheme + server_->options.host + ":" + std::to_string(server_->port);
}

}  // namespace lastout::apiserver
