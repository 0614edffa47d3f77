// HttpApiServer: exchanges with a real API server, or with `lastout serve`, by HTTP/1.1 over TLS. The only
// file of client/ that knows the HTTP library.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/api_server.h"
#include "kube/result.h"

namespace lastout::client {

struct HttpOptions {
  std::string host;  // a name or an IP address; an IPv6 address without its brackets
  uint16_t port = 443;
  std::string pathPrefix;  // goes before each target; empty, or "/k8s/cluster-1"
  // False: plain HTTP, which everybody on the way can read and change; what follows about TLS is of no use.
  bool tls = true;

  // As in client/tls.h.
  std::string authorities;
  std::string authorityHint;  // how to name one, said when none is given and the system's do not suffice
  std::string serverName;     // empty: the host
  bool verify = true;
  std::string clientCertificate;
  std::string clientKey;

  std::string userAgent = "lastout";
  std::vector<std::pair<std::string, std::string>> headers;  // more of them, of every request: name, value

  std::chrono::milliseconds connectPatience{10'000};  // for each address of the host
  size_t idleConnections = 8;                         // most that are kept to be used again
};

// Safe for any number of threads. Redirects are not followed, and what was compressed unasked is not
// unpacked. The header of an answer may have 32 KiB, and as much may stand between two pieces of its body. A
// GET, or what else is repeatable, that finds its kept connection closed is sent once more, over a new one;
// anything else has a connection of its own.
class HttpApiServer : public ApiServer {
 public:
  // Nothing is sent yet. Fails on PEM texts that are none, and on a host, prefix or user agent that cannot be
  // sent. Ignores SIGPIPE for the whole program: a server that goes away is the end of an exchange only.
  static kube::Result<std::unique_ptr<HttpApiServer>> open(HttpOptions options);
  ~HttpApiServer() override;  // no exchange may be under way
  HttpApiServer(const HttpApiServer&) = delete;
  HttpApiServer& operator=(const HttpApiServer&) = delete;

  // Every failure names the request and the server. `patience` counts from the beginning to the answer's
  // header, and then from piece to piece; the time that `take` needs does not count. An answer that was cut
  // off fails, unless it had no length and ended by TLS's own rules.
  kube::Result<ApiAnswer> exchange(const ApiRequest& request, const Take& take) override;
  void stop() override;

 private:
  class Connection;
  struct Exchange;
  struct State;
  explicit HttpApiServer(std::unique_ptr<State> state);

  kube::Result<void> once(Connection& connection, Exchange& exchange);
  // Again over a new connection, when a kept one may have been closed meanwhile.
  kube::Result<ApiAnswer> onceOrTwice(Exchange& exchange);
  kube::Result<void> prepare();
  kube::Result<std::unique_ptr<Connection>> newConnection();

  std::unique_ptr<State> state_;
};

}  // namespace lastout::client
