// HttpLoop: the server's own thread, and the connections that it reads and writes. Insides of
// net/http_server.h.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kube/locks.h"
#include "net/http_server.h"
#include "net/worker_pool.h"

namespace lastout::net {

enum class HttpPhase : uint8_t {
  Handshake,
  Idle,     // nothing of the next request has come
  Request,  // since its first byte
  Work,     // a worker has it, or waits for the next piece of its answer
  Answer,
  Linger  // everything was said; the client is given time to read it and to close
};
inline constexpr size_t kHttpPhases = 6;

// How a connection goes on.
enum class HttpNext : uint8_t { Again, Read, Write, Nothing };

struct HttpConnection;
using HttpConnectionPointer = std::shared_ptr<HttpConnection>;
using HttpConnectionList = std::list<HttpConnectionPointer>;

struct HttpConnection {
  HttpConnection(boost::asio::ip::tcp::socket given, const TlsContext& context)
      : socket(std::move(given)), tls(context, socket.native_handle()) {}

  boost::asio::ip::tcp::socket socket;
  TlsConnection tls;
  std::string peer;
  bool needsClient = false;  // without a certificate only open routes are answered
  HttpPhase phase = HttpPhase::Handshake;
  std::chrono::steady_clock::time_point since;  // in this phase
  HttpConnectionList::iterator place;
  uint64_t turn = 0;  // grows whenever it goes on: what was waiting before has come too late
  bool closed = false;

  std::string input;   // what is not read as a request yet
  bool fresh = false;  // there may be something in it that the reader has not seen
  std::unique_ptr<RequestReader> reader;
  const HttpRoute* route = nullptr;
  size_t held = 0;  // bytes of the request under way
  std::string output;
  size_t sent = 0;       // of it
  size_t renewedAt = 0;  // of it was sent when its time began
  bool endAfterAnswer = false;
  bool withBody = true;
  bool takesChunks = true;             // its client knows answers without a length
  std::shared_ptr<HttpStream> stream;  // the answer under way; null: it is whole
  bool isListened = false;             // whether the client of a stream goes away
  size_t drained = 0;
};

// All that the server's own thread does. Members are its own, but for those that say otherwise; what is
// public is HttpServer's, with its contracts.
class HttpLoop {
 public:
  HttpLoop(const HttpServerOptions& options, std::vector<HttpRoute> routes, HttpLog log)
      : options_(options), routes_(std::move(routes)), log_(std::move(log)) {}

  kube::Result<void> listen();
  kube::Result<void> use(const TlsIdentity& identity);
  void start();
  void stop(std::chrono::milliseconds grace);

  std::atomic<size_t> open{0};
  int port = 0;

 private:
  using Tcp = boost::asio::ip::tcp;
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t kReadAtATime = size_t{16} << 10;  // bytes: a record of TLS

  // Connections come and go.
  void run();
  void accept();
  void admit(Tcp::socket socket);
  bool makeRoom();
  void enter(HttpConnection& connection, HttpPhase phase);
  void close(HttpConnection& connection);
  void endQuietly(HttpConnection& connection);
  void beginStop(std::chrono::milliseconds grace);
  void closeAll();
  void finishIfEmpty();

  // Time passes.
  std::optional<Time> deadlineOf(size_t phase) const;
  void arm();
  void expire();
  void expired(const HttpConnectionPointer& connection);

  // One connection goes on.
  void go(const HttpConnectionPointer& connection);
  void wait(const HttpConnectionPointer& connection, Tcp::socket::wait_type what);
  HttpNext step(const HttpConnectionPointer& connection);
  HttpNext stepHandshake(HttpConnection& connection);
  HttpNext stepRequest(const HttpConnectionPointer& connection);
  HttpNext stepAnswer(const HttpConnectionPointer& connection);
  HttpNext stepLinger(HttpConnection& connection);
  HttpNext readSome(HttpConnection& connection);
  HttpNext sendSome(HttpConnection& connection);
  HttpNext checkHeader(HttpConnection& connection);
  HttpNext dispatch(const HttpConnectionPointer& connection);
  bool hold(HttpConnection& connection, size_t bytes);
  void release(HttpConnection& connection);
  void answer(HttpConnection& connection, const HttpResponse& response);
  void askForPiece(const HttpConnectionPointer& connection);
  void sendPiece(HttpConnection& connection, const std::optional<std::string>& piece);
  void listenToClient(const HttpConnectionPointer& connection);
  void hearClient(const HttpConnectionPointer& connection);
  HttpNext refuse(HttpConnection& connection, int status, std::string_view why, bool end = true);
  HttpNext linger(HttpConnection& connection);
  void report(const HttpConnection* connection, int status, std::string_view message,
              std::string_view cause = {});

  const HttpServerOptions options_;
  const std::vector<HttpRoute> routes_;
  const HttpLog log_;

  kube::Mutex identityMutex_;
  TlsContext identity_ LASTOUT_GUARDED_BY(identityMutex_);  // null: plain HTTP
  bool needsClient_ LASTOUT_GUARDED_BY(identityMutex_) = false;

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  Tcp::acceptor acceptor_{context_};
  boost::asio::steady_timer acceptPause_{context_};
  boost::asio::steady_timer deadline_{context_};
  boost::asio::steady_timer grace_{context_};
  std::optional<Time> armed_;  // when deadline_ is due
  // By phase; the exchange that has been in it for longest comes first, and times out first.
  std::array<HttpConnectionList, kHttpPhases> connections_;
  size_t heldBytes_ = 0;
  bool stopping_ = false;
  std::array<char, kReadAtATime> piece_{};

  std::optional<WorkerPool> workers_;
  std::thread thread_;
};

}  // namespace lastout::net
