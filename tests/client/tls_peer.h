// TlsPeer: a TLS server whose every byte a test decides, and the certificates it may show.
#pragma once

#include <openssl/ssl.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "client/http.h"
#include "simulator/certificates.h"
#include "tls/openssl.h"

namespace lastout::testing {

// An authority, and what it vouches for: a server 127.0.0.1 alias api.test.
struct PeerPki {
  PeerPki();
  simulator::CertifiedKey authority;
  simulator::CertifiedKey other;  // an authority of the same name
  simulator::CertifiedKey server;
  simulator::CertifiedKey expired;
  simulator::CertifiedKey client;  // of the user "lastout-test"
};
const PeerPki& pki();

// One connection to the peer; ends with the script that uses it.
class PeerConnection {
 public:
  PeerConnection(int socket, SSL* tls) : socket_(socket), tls_(tls) {}

  // The next request, its header and body; "" when the connection ended.
  std::string request();
  bool send(std::string_view text);
  // Until the client has ended the connection.
  void waitForTheEnd();
  // Ends it with TCP's reset instead of TLS's own end.
  void reset();
  // Ends it without TLS's own end.
  void drop();
  std::string clientName() const;  // the common name of its certificate; "" without one

 private:
  int socket_;
  SSL* tls_;
};

class TlsPeer {
 public:
  using Script = std::function<void(PeerConnection&)>;

  struct Options {
    const simulator::CertifiedKey* certificate = nullptr;  // nullptr: pki().server
    bool clientCertificates = false;                       // asks for them
    bool handshakes = true;                                // false: accepts, and says nothing
  };

  // Runs the script for each connection, each in a thread of its own.
  explicit TlsPeer(Script script) : TlsPeer(std::move(script), Options()) {}
  TlsPeer(Script script, Options options);
  ~TlsPeer();  // ends what is left of them
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  uint16_t port() const { return port_; }
  int connections() const;              // so far
  void waitForConnections(int number);  // until there have been so many
  // A client's options that fit.
  client::HttpOptions options() const;

 private:
  void accept();
  void serve(int socket);

  Script script_;
  Options options_;
  tls::Owned<SSL_CTX> context_;
  int listening_ = -1;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int accepted_ = 0;  // guarded by the mutex, as what follows
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

// A socket of 127.0.0.1 that is bound, so that nobody else gets its port.
class PeerPort {
 public:
  // `listens`: connections are made by the kernel until its queue is full; otherwise they are refused.
  explicit PeerPort(bool listens);
  ~PeerPort();
  PeerPort(const PeerPort&) = delete;
  PeerPort& operator=(const PeerPort&) = delete;
  uint16_t port() const { return port_; }
  // Fills the queue: another connection is neither made nor refused.
  void fill();

 private:
  int socket_;
  uint16_t port_ = 0;
  std::vector<int> waiting_;
};

}  // namespace lastout::testing
