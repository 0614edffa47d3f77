// HttpServer: the one HTTP server of lastout, for admission reviews, for people's questions and for the
// embedded API. One thread reads and writes all connections, workers decide; nobody who merely opens
// connections, or is slow, keeps others from being answered (docs/decisions/admission-listener.md).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/result.h"
#include "net/http_message.h"
#include "net/request_reader.h"
#include "net/tls_context.h"

namespace lastout::net {

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // an IP address; "::" is every address of this machine
  int port = 0;                       // 0: any that is free
  TlsIdentity identity;
  // HTTP without TLS, and without an identity: at a loopback address alone, unless it is said that others may
  // ask, too.
  bool plain = false;
  bool plainForOthers = false;
  size_t workers = 64;     // most of which wait for others now and then
  size_t mostWorkers = 0;  // more than `workers` are made when none is free; 0: none are
  size_t waiting = 256;    // requests that wait for a worker; more are answered 503
  RequestLimits request;
  // Answers a request that no handler sees, and ends its connection mostly; empty: by its words as text. It
  // is called by the server's own thread, and must not wait.
  std::function<HttpResponse(const HttpRefusal&)> refuse = {};
  // Bytes that are read and thrown away behind a refusal, so that its client can read that.
  size_t drained = size_t{1} << 20;
  // Of all requests under way together, in bytes. Beyond it the request that has been coming for longest is
  // given up.
  size_t heldBytes = size_t{256} << 20;
  // At the same time. One more takes the place of that which has kept us waiting for longest.
  size_t connections = 4096;
  // For the TLS handshake; for a request from its first byte to its last; for the client to take an answer,
  // or each 64 KiB of a longer one.
  std::chrono::milliseconds requestTime{10'000};
  // Between requests. An API server closes its own end after 90 s; if we were first, a review could meet a
  // connection that is just being closed.
  std::chrono::milliseconds idleTime{180'000};
};

// Something went wrong with a connection or a request; one for each.
struct HttpEvent {
  std::string peer;     // "10.1.2.3:41234"; empty: of no client
  int status = 0;       // what it was answered; 0: nothing, the connection was closed
  std::string message;  // for a log: one line, with nothing secret
  // The kind of it, in few words that no client chooses; empty: the message is that.
  std::string cause = {};
};
// "10.1.2.3:41234: the request is too long, answered 413"
std::string toString(const HttpEvent& event);
using HttpLog = std::function<void(const HttpEvent&)>;

// Whether only programs on this machine reach the IP address; false of what is none.
bool isLoopback(const std::string& address);

class HttpLoop;

class HttpServer {
 public:
  // Listens, and answers from now on. `log` is called by the server's own thread, and must not wait. Makes
  // the program ignore SIGPIPE. Fails when the address cannot be had or the identity is unusable.
  static kube::Result<std::unique_ptr<HttpServer>> open(const HttpServerOptions& options,
                                                        std::vector<HttpRoute> routes, HttpLog log);
  // As open(), but answers from start() on: clients may connect meanwhile.
  static kube::Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options,
                                                          std::vector<HttpRoute> routes, HttpLog log);
  void start();   // once
  ~HttpServer();  // as stop(0)
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // These three from any thread.
  // New connections get this identity; those that there are go on undisturbed. Fails, and changes nothing,
  // when it is unusable. Not of a plain server.
  kube::Result<void> use(const TlsIdentity& identity);
  int port() const;
  size_t connections() const;  // that are open

  // No new connections; idle ones end; requests under way are answered; streams end. After `grace`, or at
  // once where that is 0, what is left is closed. Returns when all is done; a handler that is running is
  // waited for, whatever the grace. Not from a handler.
  void stop(std::chrono::milliseconds grace);

 private:
  explicit HttpServer(std::unique_ptr<HttpLoop> loop);
  std::unique_ptr<HttpLoop> loop_;
};

}  // namespace lastout::net
