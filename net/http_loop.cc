// HttpLoop: connections come and go, and time passes.
#include "net/http_loop.h"

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>

#include "net/sockets.h"

namespace lastout::net {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using AsioError = boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLingering{2'000};
constexpr std::chrono::milliseconds kAcceptPause{20};

std::string describe(const Tcp::endpoint& endpoint) {
  return joinHostPort(endpoint.address().to_string(), endpoint.port());
}

tl::unexpected<kube::Error> cannotListen(const HttpServerOptions& options, const std::string& why) {
  return tl::unexpected(
      kube::Error{"cannot listen on " + joinHostPort(options.address, options.port) + ": " + why, {}, {}});
}

}  // namespace

kube::Result<void> HttpLoop::use(const TlsIdentity& identity) {
  auto context = makeTlsContext(identity);
  if (!context) return tl::unexpected(std::move(context.error()));
  const kube::MutexLock lock(identityMutex_);
  identity_ = std::move(*context);
  needsClient_ = !identity.clientCa.empty() && !identity.servesStrangers;
  return {};
}

kube::Result<void> HttpLoop::listen() {
  AsioError error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error) return cannotListen(options_, "this is no IP address");
  if (options_.plain && !options_.plainForOthers && !address.is_loopback())
    return cannotListen(options_, "without TLS only a loopback address is listened at");
  if (options_.port < 0 || options_.port > 65'535) return cannotListen(options_, "there is no such port");
  const Tcp::endpoint endpoint(address, static_cast<uint16_t>(options_.port));
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error && address.is_v6()) acceptor_.set_option(asio::ip::v6_only(false), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor_.local_endpoint(error).port();
  if (error) return cannotListen(options_, error.message());
  return {};
}

void HttpLoop::start() {
  workers_.emplace(WorkerLimits{.threads = options_.workers,
                                .mostThreads = std::max(options_.workers, options_.mostWorkers),
                                .mostWaiting = options_.waiting});
  thread_ = std::thread([this] { run(); });
}

void HttpLoop::run() {
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

void HttpLoop::stop(std::chrono::milliseconds grace) {
  if (!thread_.joinable()) return;
  asio::post(context_, [this, grace] { beginStop(grace); });
  thread_.join();
  workers_->stop();
  // What workers have said meanwhile is let go: their connections are closed.
  context_.restart();
  context_.poll();
}

void HttpLoop::beginStop(std::chrono::milliseconds grace) {
  stopping_ = true;
  AsioError ignored;
  acceptor_.close(ignored);
  acceptPause_.cancel();
  // A request that has come just now is answered.
  for (const HttpConnectionPointer& idle :
       HttpConnectionList(connections_[static_cast<size_t>(HttpPhase::Idle)])) {
    go(idle);
    if (!idle->closed && idle->phase == HttpPhase::Idle) endQuietly(*idle);
  }
  for (const HttpConnectionPointer& begun :
       HttpConnectionList(connections_[static_cast<size_t>(HttpPhase::Handshake)]))
    close(*begun);
  if (grace == std::chrono::milliseconds(0)) {
    closeAll();
    return finishIfEmpty();
  }
  for (const HttpConnectionList& list : connections_)
    for (const HttpConnectionPointer& connection : list)
      if (connection->stream != nullptr) connection->stream->end();
  grace_.expires_after(grace);
  grace_.async_wait([this](const AsioError& error) {
    if (!error) closeAll();
  });
  finishIfEmpty();
}

void HttpLoop::closeAll() {
  for (HttpConnectionList& list : connections_)
    while (!list.empty()) close(*HttpConnectionPointer(list.front()));
}

void HttpLoop::finishIfEmpty() {
  if (!stopping_ || open != 0) return;
  grace_.cancel();
  deadline_.cancel();
  work_.reset();
}

void HttpLoop::report(const HttpConnection* connection, int status, std::string_view message,
                      std::string_view cause) {
  if (!log_) return;
  log_({connection != nullptr ? connection->peer : "", status, std::string(message), std::string(cause)});
}

void HttpLoop::accept() {
  acceptor_.async_accept([this](const AsioError& error, Tcp::socket socket) {
    if (stopping_ || error == asio::error::operation_aborted) return;
    if (!error || error == asio::error::connection_aborted) {
      accept();
      if (!error) admit(std::move(socket));
      return;
    }
    // No descriptors, no memory: it helps to have one connection less, and to wait a moment.
    report(nullptr, 0, "cannot take a connection: " + error.message());
    makeRoom();
    acceptPause_.expires_after(kAcceptPause);
    acceptPause_.async_wait([this](const AsioError& stopped) {
      if (!stopped) accept();
    });
  });
}

void HttpLoop::admit(Tcp::socket socket) {
  AsioError error;
  const Tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (!error) socket.native_non_blocking(true, error);
  if (!error) socket.set_option(Tcp::no_delay(true), error);
  if (error) return;
  const bool full = open >= options_.connections;
  if (full && !makeRoom()) return report(nullptr, 0, "all connections are at work: one more was refused");
  HttpConnectionPointer connection;
  {
    const kube::MutexLock lock(identityMutex_);
    connection = std::make_shared<HttpConnection>(std::move(socket), identity_);
    connection->needsClient = needsClient_;
  }
  connection->peer = describe(endpoint);
  connection->since = Clock::now();
  HttpConnectionList& list = connections_[static_cast<size_t>(HttpPhase::Handshake)];
  connection->place = list.insert(list.end(), connection);
  ++open;
  arm();
  go(connection);
}

// Closes the connection that has kept us waiting for longest.
bool HttpLoop::makeRoom() {
  HttpConnectionPointer oldest;
  for (const HttpPhase phase :
       {HttpPhase::Linger, HttpPhase::Handshake, HttpPhase::Idle, HttpPhase::Request}) {
    const HttpConnectionList& list = connections_[static_cast<size_t>(phase)];
    if (!list.empty() && (oldest == nullptr || list.front()->since < oldest->since)) oldest = list.front();
  }
  if (oldest == nullptr) return false;
  report(oldest.get(), 0, "closed to make room for another connection");
  endQuietly(*oldest);
  return true;
}

void HttpLoop::enter(HttpConnection& connection, HttpPhase phase) {
  HttpConnectionList& to = connections_[static_cast<size_t>(phase)];
  to.splice(to.end(), connections_[static_cast<size_t>(connection.phase)], connection.place);
  connection.phase = phase;
  connection.since = Clock::now();
  arm();
}

void HttpLoop::close(HttpConnection& connection) {
  if (connection.closed) return;
  connection.closed = true;
  release(connection);
  if (connection.stream != nullptr) std::exchange(connection.stream, nullptr)->end();
  AsioError ignored;
  connection.socket.close(ignored);
  --open;
  // The list's pointer may be the last one.
  connections_[static_cast<size_t>(connection.phase)].erase(connection.place);
  finishIfEmpty();
}

void HttpLoop::endQuietly(HttpConnection& connection) {
  connection.tls.end();
  close(connection);
}

// When the first connection of a phase has been in it for too long.
std::optional<Clock::time_point> HttpLoop::deadlineOf(size_t phase) const {
  const HttpConnectionList& list = connections_[phase];
  const auto which = static_cast<HttpPhase>(phase);
  if (list.empty() || which == HttpPhase::Work) return std::nullopt;
  const auto patience = which == HttpPhase::Idle     ? options_.idleTime
                        : which == HttpPhase::Linger ? std::min(kLingering, options_.requestTime)
                                                     : options_.requestTime;
  return list.front()->since + patience;
}

void HttpLoop::arm() {
  std::optional<Clock::time_point> next;
  for (size_t phase = 0; phase < kHttpPhases; ++phase) {
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

void HttpLoop::expire() {
  const auto now = Clock::now();
  for (size_t phase = 0; phase < kHttpPhases; ++phase) {
    for (auto due = deadlineOf(phase); due && *due <= now; due = deadlineOf(phase))
      expired(HttpConnectionPointer(connections_[phase].front()));
  }
}

// Leaves the phase, whatever happens.
void HttpLoop::expired(const HttpConnectionPointer& connection) {
  switch (connection->phase) {
    case HttpPhase::Request:
      if (!connection->output.empty()) break;
      refuse(*connection, 408, "the request did not come in time");
      connection->socket.cancel();
      return go(connection);
    case HttpPhase::Handshake:
      report(connection.get(), 0, "closed: no TLS handshake in time");
      return close(*connection);
    case HttpPhase::Idle:
      return endQuietly(*connection);
    case HttpPhase::Work:
    case HttpPhase::Answer:
    case HttpPhase::Linger:
      break;
  }
  if (connection->phase != HttpPhase::Linger)
    report(connection.get(), 0, "closed: the answer was not taken in time");
  close(*connection);
}

}  // namespace lastout::net
