// Listener: the embedded API over HTTP/1.1, with or without TLS: who a client is, and how a Handler's answers
// are sent. net/http_server.h carries them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/result.h"
#include "net/http_server.h"
#include "simulator/exchange.h"

namespace lastout::simulator {

// Who a client is, by its bearer token ("": it sent none) or its verified certificate (null: it has none);
// nullopt: an unknown user.
using Authenticate =
    std::function<std::optional<UserInfo>(std::string_view token, const UserInfo* certificate)>;

struct ListenerOptions {
  std::string host = "127.0.0.1";  // or "::1", or the name of an address of this machine
  int port = 0;                    // 0: any that is free
  size_t connections = 4096;       // at the same time; one more takes the place of the longest idle one
  size_t threads = 900;            // most watches and requests that are worked on at the same time
  size_t mostBody = 3u << 20;      // bytes of a request's body; more is answered 413
  int slowestSeconds = 30;  // a client that sends no whole request, or takes nothing, in that time is dropped
  // PEM; without a certificate: plain HTTP.
  std::string certificate;
  std::string privateKey;
  std::string clientCa;  // whose client certificates are believed; empty: none are
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
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
  Listener(std::string url, std::unique_ptr<net::HttpServer> server);
  const std::string url_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace lastout::simulator
