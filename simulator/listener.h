// Listener: HTTP/1.1 over TCP, with or without TLS, for a Handler. The HTTP server library is known to it and
// to its parts alone: ClientStream and ConnectionThreads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/result.h"
#include "simulator/exchange.h"

namespace lastout::simulator {

// Who a client is, by its bearer token ("": it sent none) or its verified certificate (null: it has none);
// nullopt: an unknown user.
using Authenticate =
    std::function<std::optional<UserInfo>(std::string_view token, const UserInfo* certificate)>;

struct ListenerOptions {
  std::string host = "127.0.0.1";  // or "::1"
  int port = 0;                    // 0: any that is free
  size_t threads = 900;            // most connections at the same time, idle ones too; the others wait
  size_t mostBody = 3u << 20;      // bytes of a request's body; more is answered 413
  int slowestSeconds = 30;  // a client that sends no whole request, or takes nothing, in that time is dropped
  // PEM; without a certificate: plain HTTP.
  std::string certificate;
  std::string privateKey;
  std::string clientCa;  // whose client certificates are believed; empty: none are
};

class Listener {
 public:
  // Listens from now on, and answers from start() on. Fails when the address cannot be had or the certificate
  // is none.
  static kube::Result<std::unique_ptr<Listener>> open(const ListenerOptions& options, Handler handler,
                                                      Authenticate authenticate);
  ~Listener();  // as stop()
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start();
  // No new requests; those under way are cut off, and watches with them.
  void stop();
  std::string url() const;  // "https://127.0.0.1:6443"

 private:
  struct Server;
  explicit Listener(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace lastout::simulator
