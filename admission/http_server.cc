#include "admission/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "admission/worker_pool.h"
#include "kube/quoting.h"

namespace lastout::admission {
namespace {

namespace net = boost::asio;
using Tcp = net::ip::tcp;
using AsioError = boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr size_t kPiece = size_t{16} << 10;       // bytes that are read at a time: a record of TLS
constexpr size_t kMostDrained = size_t{1} << 20;  // bytes that are read and thrown away behind a refusal
constexpr std::chrono::milliseconds kLingering{2'000};
constexpr std::chrono::milliseconds kAcceptPause{20};
constexpr int kMostSteps = 64;  // with one connection, before others have their turn

enum class Phase : uint8_t {
  Handshake,
  Idle,     // nothing of the next request has come
  Request,  // since its first byte
  Work,     // a worker has it; nothing is read meanwhile
  Answer,
  Linger  // everything was said; the client is given time to read it and to close
};
constexpr size_t kPhases = 6;

// How a connection goes on.
enum class Next : uint8_t { Again, Read, Write, Nothing };

struct Connection;
using ConnectionPointer = std::shared_ptr<Connection>;
using ConnectionList = std::list<ConnectionPointer>;

struct Connection {
  Connection(Tcp::socket given, const TlsContext& context)
      : socket(std::move(given)), tls(context, socket.native_handle()) {}

  Tcp::socket socket;
  TlsStream tls;
  std::string peer;
  bool needsClient = false;  // without a certificate only open routes are answered
  Phase phase = Phase::Handshake;
  Clock::time_point since;  // in this phase
  ConnectionList::iterator place;
  uint64_t turn = 0;  // grows whenever it goes on: what was waiting before has come too late
  bool closed = false;

  std::string input;   // what is not read as a request yet
  bool fresh = false;  // there may be something in it that the reader has not seen
  std::unique_ptr<RequestReader> reader;
  const HttpRoute* route = nullptr;
  size_t held = 0;  // bytes of the request under way
  std::string output;
  size_t sent = 0;  // of it
  bool endAfterAnswer = false;
  bool withBody = true;
  size_t drained = 0;
};

// What a handler answers; nothing: it failed.
std::optional<HttpResponse> runHandler(const HttpHandler& handler, HttpRequest request) {
  try {
    return handler(std::move(request));
  } catch (...) {
    return std::nullopt;
  }
}

HttpResponse plainAnswer(int status, std::string_view words) {
  return {status, "text/plain; charset=utf-8", std::string(words) + "\n", {}};
}

std::string describe(const Tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const bool six = endpoint.address().is_v6();
  return (six ? "[" + address + "]:" : address + ":") + std::to_string(endpoint.port());
}

tl::unexpected<kube::Error> cannotListen(const HttpServerOptions& options, const std::string& why) {
  return tl::unexpected(kube::Error{"cannot listen on " + kube::inQuotes(options.address) + ", port " +
                                        std::to_string(options.port) + ": " + why,
                                    {},
                                    {}});
}

bool hasBody(const std::string& method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

}  // namespace

// All that the server's own thread does. Members are its own, but for those that say otherwise.
class HttpServer::Loop {
 public:
  Loop(const HttpServerOptions& options, std::vector<HttpRoute> routes, HttpLog log)
      : options_(options), routes_(std::move(routes)), log_(std::move(log)) {}

  kube::Result<void> listen();
  kube::Result<void> use(const TlsIdentity& identity);
  void start();
  void stop(std::chrono::milliseconds grace);

  std::atomic<bool> draining{false};
  std::atomic<size_t> open{0};
  int port = 0;

 private:
  // Connections come and go.
  void run();
  void accept();
  void admit(Tcp::socket socket);
  bool makeRoom();
  void enter(Connection& connection, Phase phase);
  void close(Connection& connection);
  void endQuietly(Connection& connection);
  void beginStop(std::chrono::milliseconds grace);
  void finishIfEmpty();

  // Time passes.
  std::optional<Clock::time_point> deadlineOf(size_t phase) const;
  void arm();
  void expire();
  void expired(const ConnectionPointer& connection);

  // One connection goes on.
  void go(const ConnectionPointer& connection);
  void wait(const ConnectionPointer& connection, Tcp::socket::wait_type what);
  Next step(const ConnectionPointer& connection);
  Next stepHandshake(Connection& connection);
  Next stepRequest(const ConnectionPointer& connection);
  Next stepAnswer(Connection& connection);
  Next stepLinger(Connection& connection);
  Next readSome(Connection& connection);
  Next sendSome(Connection& connection);
  Next checkHeader(Connection& connection);
  Next dispatch(const ConnectionPointer& connection);
  bool hold(Connection& connection, size_t bytes);
  void release(Connection& connection);
  void answer(Connection& connection, const HttpResponse& response);
  Next refuse(Connection& connection, int status, std::string_view why, bool end = true);
  Next linger(Connection& connection);
  void report(const Connection* connection, int status, std::string_view message);

  const HttpServerOptions options_;
  const std::vector<HttpRoute> routes_;
  const HttpLog log_;

  std::mutex identityMutex_;  // of the two below
  TlsContext identity_;
  bool needsClient_ = false;

  net::io_context context_{1};
  net::executor_work_guard<net::io_context::executor_type> work_{context_.get_executor()};
  Tcp::acceptor acceptor_{context_};
  net::steady_timer acceptPause_{context_};
  net::steady_timer deadline_{context_};
  net::steady_timer grace_{context_};
  std::optional<Clock::time_point> armed_;  // when deadline_ is due
  // By phase; who has been in it for longest comes first, and is the first whose time is over.
  std::array<ConnectionList, kPhases> connections_;
  size_t heldBytes_ = 0;
  bool stopping_ = false;
  std::array<char, kPiece> piece_{};

  std::optional<WorkerPool> workers_;
  std::thread thread_;
};

kube::Result<void> HttpServer::Loop::use(const TlsIdentity& identity) {
  auto context = makeTlsContext(identity);
  if (!context) return tl::unexpected(std::move(context.error()));
  const std::scoped_lock lock(identityMutex_);
  identity_ = std::move(*context);
  needsClient_ = !identity.clientCa.empty();
  return {};
}

kube::Result<void> HttpServer::Loop::listen() {
  AsioError error;
  const auto address = net::ip::make_address(options_.address, error);
  if (error) return cannotListen(options_, "this is no IP address");
  if (options_.port < 0 || options_.port > 65'535) return cannotListen(options_, "there is no such port");
  const Tcp::endpoint endpoint(address, static_cast<uint16_t>(options_.port));
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error && address.is_v6()) acceptor_.set_option(net::ip::v6_only(false), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
  if (!error) port = acceptor_.local_endpoint(error).port();
  if (error) return cannotListen(options_, error.message());
  return {};
}

void HttpServer::Loop::start() {
  workers_.emplace(options_.workers, options_.waiting);
  thread_ = std::thread([this] { run(); });
}

void HttpServer::Loop::run() {
  accept();
  while (true) {
    try {
      context_.run();
      return;
    } catch (const std::exception& problem) {
      report(nullptr, 0, std::string("something failed that never should: ") + problem.what());
    }
  }
}

void HttpServer::Loop::stop(std::chrono::milliseconds grace) {
  if (!thread_.joinable()) return;
  draining = true;
  net::post(context_, [this, grace] { beginStop(grace); });
  thread_.join();
  workers_->stop();
}

void HttpServer::Loop::beginStop(std::chrono::milliseconds grace) {
  stopping_ = true;
  AsioError ignored;
  acceptor_.close(ignored);
  acceptPause_.cancel();
  // A request that has come just now is answered.
  for (const ConnectionPointer& idle : ConnectionList(connections_[static_cast<size_t>(Phase::Idle)])) {
    go(idle);
    if (!idle->closed && idle->phase == Phase::Idle) endQuietly(*idle);
  }
  for (const ConnectionPointer& begun : ConnectionList(connections_[static_cast<size_t>(Phase::Handshake)]))
    close(*begun);
  grace_.expires_after(grace);
  grace_.async_wait([this](const AsioError& error) {
    if (error) return;
    for (ConnectionList& list : connections_)
      while (!list.empty()) close(*ConnectionPointer(list.front()));
  });
  finishIfEmpty();
}

void HttpServer::Loop::finishIfEmpty() {
  if (!stopping_ || open != 0) return;
  grace_.cancel();
  deadline_.cancel();
  work_.reset();
}

void HttpServer::Loop::report(const Connection* connection, int status, std::string_view message) {
  if (log_) log_({connection != nullptr ? connection->peer : "", status, std::string(message)});
}

void HttpServer::Loop::accept() {
  acceptor_.async_accept([this](const AsioError& error, Tcp::socket socket) {
    if (stopping_ || error == net::error::operation_aborted) return;
    if (!error) admit(std::move(socket));
    if (!error || error == net::error::connection_aborted) return accept();
    // No descriptors, no memory: it helps to have one connection less, and to wait a moment.
    report(nullptr, 0, "cannot take a connection: " + error.message());
    makeRoom();
    acceptPause_.expires_after(kAcceptPause);
    acceptPause_.async_wait([this](const AsioError& stopped) {
      if (!stopped) accept();
    });
  });
}

void HttpServer::Loop::admit(Tcp::socket socket) {
  AsioError error;
  const Tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (!error) socket.native_non_blocking(true, error);
  if (!error) socket.set_option(Tcp::no_delay(true), error);
  if (error) return;
  const bool full = open >= options_.connections;
  if (full && !makeRoom()) return report(nullptr, 0, "all connections are at work: one more was refused");
  ConnectionPointer connection;
  {
    const std::scoped_lock lock(identityMutex_);
    connection = std::make_shared<Connection>(std::move(socket), identity_);
    connection->needsClient = needsClient_;
  }
  connection->peer = describe(endpoint);
  connection->since = Clock::now();
  ConnectionList& list = connections_[static_cast<size_t>(Phase::Handshake)];
  connection->place = list.insert(list.end(), connection);
  ++open;
  arm();
  go(connection);
}

// Closes the connection that has kept us waiting for longest.
bool HttpServer::Loop::makeRoom() {
  ConnectionPointer oldest;
  for (const Phase phase : {Phase::Linger, Phase::Handshake, Phase::Idle, Phase::Request}) {
    const ConnectionList& list = connections_[static_cast<size_t>(phase)];
    if (!list.empty() && (oldest == nullptr || list.front()->since < oldest->since)) oldest = list.front();
  }
  if (oldest == nullptr) return false;
  report(oldest.get(), 0, "closed to make room for another connection");
  endQuietly(*oldest);
  return true;
}

void HttpServer::Loop::enter(Connection& connection, Phase phase) {
  ConnectionList& to = connections_[static_cast<size_t>(phase)];
  to.splice(to.end(), connections_[static_cast<size_t>(connection.phase)], connection.place);
  connection.phase = phase;
  connection.since = Clock::now();
  arm();
}

void HttpServer::Loop::close(Connection& connection) {
  if (connection.closed) return;
  connection.closed = true;
  release(connection);
  AsioError ignored;
  connection.socket.close(ignored);
  --open;
  // The list's pointer may be the last one.
  connections_[static_cast<size_t>(connection.phase)].erase(connection.place);
  finishIfEmpty();
}

void HttpServer::Loop::endQuietly(Connection& connection) {
  connection.tls.end();
  close(connection);
}

// When the first connection of a phase has been in it for too long.
std::optional<Clock::time_point> HttpServer::Loop::deadlineOf(size_t phase) const {
  const ConnectionList& list = connections_[phase];
  const auto which = static_cast<Phase>(phase);
  if (list.empty() || which == Phase::Work) return std::nullopt;
  const auto patience = which == Phase::Idle     ? options_.idleTime
                        : which == Phase::Linger ? std::min(kLingering, options_.requestTime)
                                                 : options_.requestTime;
  return list.front()->since + patience;
}

void HttpServer::Loop::arm() {
  std::optional<Clock::time_point> next;
  for (size_t phase = 0; phase < kPhases; ++phase) {
    const auto deadline = deadlineOf(phase);
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  deadline_.expires_at(*next);
  deadline_.async_wait([this](const AsioError& error) {
    if (error) return;
    armed_.reset();
    expire();
    arm();
  });
}

void HttpServer::Loop::expire() {
  const auto now = Clock::now();
  for (size_t phase = 0; phase < kPhases; ++phase) {
    for (auto due = deadlineOf(phase); due && *due <= now; due = deadlineOf(phase))
      expired(ConnectionPointer(connections_[phase].front()));
  }
}

// Leaves the phase, whatever happens.
void HttpServer::Loop::expired(const ConnectionPointer& connection) {
  switch (connection->phase) {
    case Phase::Request:
      if (!connection->output.empty()) break;
      refuse(*connection, 408, "the request did not come in time");
      connection->socket.cancel();
      return go(connection);
    case Phase::Handshake:
      report(connection.get(), 0, "closed: no TLS handshake in time");
      return close(*connection);
    case Phase::Idle:
      return endQuietly(*connection);
    case Phase::Work:
    case Phase::Answer:
    case Phase::Linger:
      break;
  }
  if (connection->phase != Phase::Linger)
    report(connection.get(), 0, "closed: the answer was not taken in time");
  close(*connection);
}

void HttpServer::Loop::go(const ConnectionPointer& connection) {
  ++connection->turn;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    switch (step(connection)) {
      case Next::Again:
        continue;
      case Next::Read:
        return wait(connection, Tcp::socket::wait_read);
      case Next::Write:
        return wait(connection, Tcp::socket::wait_write);
      case Next::Nothing:
        return;
    }
  }
  net::post(context_, [this, connection, turn = connection->turn] {
    if (!connection->closed && connection->turn == turn) go(connection);
  });
}

void HttpServer::Loop::wait(const ConnectionPointer& connection, Tcp::socket::wait_type what) {
  connection->socket.async_wait(what, [this, connection, turn = connection->turn](const AsioError&) {
    if (!connection->closed && connection->turn == turn) go(connection);
  });
}

Next HttpServer::Loop::step(const ConnectionPointer& connection) {
  switch (connection->phase) {
    case Phase::Handshake:
      return stepHandshake(*connection);
    case Phase::Idle:
    case Phase::Request:
      return stepRequest(connection);
    case Phase::Answer:
      return stepAnswer(*connection);
    case Phase::Linger:
      return stepLinger(*connection);
    case Phase::Work:
      break;
  }
  return Next::Nothing;
}

Next HttpServer::Loop::stepHandshake(Connection& connection) {
  switch (connection.tls.handshake()) {
    case TlsStep::Done:
      enter(connection, Phase::Idle);
      return Next::Again;
    case TlsStep::WantsRead:
      return Next::Read;
    case TlsStep::WantsWrite:
      return Next::Write;
    case TlsStep::Ended:
    case TlsStep::Failed:
      break;
  }
  // Whoever only looks whether the port is open says nothing.
  if (connection.tls.hasHeard()) report(&connection, 0, "no TLS handshake: " + connection.tls.problem());
  if (connection.tls.isPlainHttp()) {
    const std::string text = responseText(plainAnswer(400, "this port speaks HTTPS, not HTTP"), true);
    static_cast<void>(::send(connection.socket.native_handle(), text.data(), text.size(), MSG_NOSIGNAL));
  }
  return linger(connection);
}

Next HttpServer::Loop::stepRequest(const ConnectionPointer& connection) {
  Connection& self = *connection;
  if (!self.output.empty()) return sendSome(self);  // "100 Continue"
  if (!self.fresh) return readSome(self);
  self.fresh = false;
  if (self.phase == Phase::Idle) {
    enter(self, Phase::Request);
    self.reader = std::make_unique<RequestReader>(options_.request);
    self.withBody = true;
    if (!hold(self, self.input.size())) return Next::Nothing;
  }
  switch (self.reader->feed(self.input)) {
    case RequestReader::State::Header:
    case RequestReader::State::Body:
      return Next::Again;
    case RequestReader::State::HeaderRead:
      return checkHeader(self);
    case RequestReader::State::Whole:
      return dispatch(connection);
    case RequestReader::State::Bad:
      break;
  }
  return refuse(self, self.reader->status(), self.reader->problem());
}

Next HttpServer::Loop::readSome(Connection& connection) {
  size_t got = 0;
  switch (connection.tls.read(piece_.data(), piece_.size(), got)) {
    case TlsStep::Done:
      connection.input.append(piece_.data(), got);
      connection.fresh = true;
      if (connection.phase == Phase::Request && !hold(connection, got)) return Next::Nothing;
      return Next::Again;
    case TlsStep::WantsRead:
      return Next::Read;
    case TlsStep::WantsWrite:
      return Next::Write;
    case TlsStep::Ended:
    case TlsStep::Failed:
      break;
  }
  if (connection.phase == Phase::Request)
    report(&connection, 0, "the client went away in the middle of a request");
  endQuietly(connection);
  return Next::Nothing;
}

// Again: everything is sent.
Next HttpServer::Loop::sendSome(Connection& connection) {
  while (connection.sent < connection.output.size()) {
    size_t written = 0;
    switch (connection.tls.write(std::string_view(connection.output).substr(connection.sent), written)) {
      case TlsStep::Done:
        connection.sent += written;
        continue;
      case TlsStep::WantsRead:
        return Next::Read;
      case TlsStep::WantsWrite:
        return Next::Write;
      case TlsStep::Ended:
      case TlsStep::Failed:
        report(&connection, 0, "the client went away before it had its answer");
        close(connection);
        return Next::Nothing;
    }
  }
  connection.output = std::string();
  connection.sent = 0;
  return Next::Again;
}

// Everything that can be refused before the body comes.
Next HttpServer::Loop::checkHeader(Connection& connection) {
  const HttpRequest& request = connection.reader->request();
  const std::string wanted = request.method == "HEAD" ? "GET" : request.method;
  connection.withBody = request.method != "HEAD";
  connection.route = nullptr;
  std::string allowed;
  for (const HttpRoute& route : routes_) {
    if (route.path != request.path) continue;
    if (route.method == wanted) connection.route = &route;
    allowed.append(allowed.empty() ? "" : ", ").append(route.method);
  }
  if (connection.route == nullptr) {
    if (allowed.empty()) return refuse(connection, 404, "there is nothing here");
    refuse(connection, 405, "only " + allowed + " is answered here");
    // The header that goes with it, behind the status line.
    connection.output.insert(connection.output.find("\r\n") + 2, "Allow: " + allowed + "\r\n");
    return Next::Again;
  }
  const HttpRoute& route = *connection.route;
  if (connection.needsClient && !route.open && !connection.tls.hasVerifiedClient())
    return refuse(connection, 403, "a client certificate is needed here");
  if (hasBody(request.method) && !connection.reader->hasLength())
    return refuse(connection, 411, "the length of the body has to be said");
  if (!route.contentType.empty() && request.contentType != route.contentType)
    return refuse(connection, 415, "only " + route.contentType + " is understood here");
  if (connection.reader->expectsContinue() && connection.input.empty())
    connection.output = "HTTP/1.1 100 Continue\r\n\r\n";
  connection.fresh = true;
  return Next::Again;
}

Next HttpServer::Loop::dispatch(const ConnectionPointer& connection) {
  Connection& self = *connection;
  HttpRequest request = std::move(self.reader->request());
  request.peer = self.peer;
  request.client = self.tls.client();
  request.begun = self.since;
  self.endAfterAnswer = !self.reader->keepAlive();
  self.reader.reset();
  enter(self, Phase::Work);
  const auto come = [this](Connection& to, const std::optional<HttpResponse>& response) {
    if (response) return answer(to, *response);
    refuse(to, 500, "this request could not be worked on");
  };
  if (self.route->quick) {
    come(self, runHandler(self.route->handler, std::move(request)));
    return Next::Again;
  }
  const bool added = workers_->add([this, come, connection, request = std::move(request)]() mutable {
    auto response = runHandler(connection->route->handler, std::move(request));
    net::post(context_, [this, come, connection, response = std::move(response)] {
      if (connection->closed) return;
      come(*connection, response);
      go(connection);
    });
  });
  if (added) return Next::Nothing;
  return refuse(self, 503, "there are too many requests at the moment", self.endAfterAnswer);
}

// Counts the bytes of a request. False: there was no room, and the connection is closed.
bool HttpServer::Loop::hold(Connection& connection, size_t bytes) {
  connection.held += bytes;
  heldBytes_ += bytes;
  while (heldBytes_ > options_.heldBytes) {
    const ConnectionPointer oldest = connections_[static_cast<size_t>(Phase::Request)].front();
    report(oldest.get(), 0, "closed: there are too many large requests at the moment");
    endQuietly(*oldest);
    if (oldest.get() == &connection) return false;
  }
  return true;
}

void HttpServer::Loop::release(Connection& connection) { heldBytes_ -= std::exchange(connection.held, 0); }

void HttpServer::Loop::answer(Connection& connection, const HttpResponse& response) {
  release(connection);
  connection.reader.reset();
  connection.endAfterAnswer = connection.endAfterAnswer || draining;
  connection.output = responseText(response, connection.endAfterAnswer, connection.withBody);
  connection.sent = 0;
  enter(connection, Phase::Answer);
}

// Says no, and says so in the log.
Next HttpServer::Loop::refuse(Connection& connection, int status, std::string_view why, bool end) {
  report(&connection, status, why);
  connection.endAfterAnswer = end;
  const HttpResponse response = plainAnswer(status, why);  // `why` may be the reader's
  answer(connection, response);
  return Next::Again;
}

Next HttpServer::Loop::stepAnswer(Connection& connection) {
  if (const Next next = sendSome(connection); next != Next::Again) return next;
  if (connection.endAfterAnswer) return linger(connection);
  enter(connection, Phase::Idle);
  connection.fresh = !connection.input.empty();
  if (!connection.fresh) connection.input = std::string();  // its room too
  return Next::Again;
}

// Closed at once, with something unread, the answer could be lost on its way.
Next HttpServer::Loop::linger(Connection& connection) {
  connection.tls.end();
  connection.input = std::string();
  if (::shutdown(connection.socket.native_handle(), SHUT_WR) != 0) {
    close(connection);
    return Next::Nothing;
  }
  enter(connection, Phase::Linger);
  return Next::Again;
}

Next HttpServer::Loop::stepLinger(Connection& connection) {
  if (connection.drained > kMostDrained) return Next::Nothing;  // until its time is over
  const auto got = ::recv(connection.socket.native_handle(), piece_.data(), piece_.size(), 0);
  if (got > 0) {
    connection.drained += static_cast<size_t>(got);
    return Next::Again;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return Next::Read;
  close(connection);
  return Next::Nothing;
}

HttpServer::HttpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpServer::~HttpServer() { stop(std::chrono::milliseconds(0)); }

kube::Result<std::unique_ptr<HttpServer>> HttpServer::open(const HttpServerOptions& options,
                                                           std::vector<HttpRoute> routes, HttpLog log) {
  // A client that goes away while it is written to is an error of that write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  auto loop = std::make_unique<Loop>(options, std::move(routes), std::move(log));
  if (auto used = loop->use(options.identity); !used) return tl::unexpected(std::move(used.error()));
  if (auto listening = loop->listen(); !listening) return tl::unexpected(std::move(listening.error()));
  loop->start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(loop)));
}

kube::Result<void> HttpServer::use(const TlsIdentity& identity) { return loop_->use(identity); }
void HttpServer::drain() { loop_->draining = true; }
int HttpServer::port() const { return loop_->port; }
size_t HttpServer::connections() const { return loop_->open; }
void HttpServer::stop(std::chrono::milliseconds grace) { loop_->stop(grace); }

}  // namespace lastout::admission
