// A real HTTPS listener, and clients of it that may send anything.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"
#include "simulator/certificates.h"
#include "tls/openssl.h"

namespace lastout::testing {

simulator::CertifiedKey testAuthority(std::string_view name);
// For 127.0.0.1.
net::TlsIdentity testIdentity(const simulator::CertifiedKey& authority);
simulator::CertifiedKey testClient(const simulator::CertifiedKey& authority, const std::string& name);

// One TCP connection, with or without TLS, byte by byte. Every call waits for as long as it takes.
class RawClient {
 public:
  struct Tls {
    const simulator::CertifiedKey* identity = nullptr;  // its own; none: it shows none
  };
  explicit RawClient(int port);  // without TLS
  RawClient(int port, const Tls& tls);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return connected_; }  // the handshake too
  bool send(std::string_view text);              // false: the connection is gone
  std::string readUntil(
      std::string_view last);  // what comes until a text that ends with that, or until the end
  std::string readAnswer();    // one, whole; what there is when the connection ends
  std::string readToEnd() { return readUntil({}); }
  void halfClose();  // says that nothing more comes, and reads on
  // The certificate that the server has shown, as PEM.
  std::string serverCertificate() const;

 private:
  bool readMore();

  int socket_ = -1;
  bool connected_ = false;
  tls::Owned<SSL_CTX> context_;
  tls::Owned<SSL> connection_;
  std::string come_;  // and not given out yet
};

// The status of an answer; 0: it is none.
int statusOf(const std::string& answer);
// A POST of JSON, as an API server sends it.
std::string postText(std::string_view path, std::string_view body);

// What has been logged, for tests to wait for.
class EventLog {
 public:
  void add(const net::HttpEvent& event);
  // Waits until there is one whose message holds that.
  net::HttpEvent waitFor(std::string_view words);
  size_t count();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<net::HttpEvent> events_;
};

// A latch that handlers wait at.
class Gate {
 public:
  void open();
  void pass();               // waits until it is open
  void waitFor(int people);  // until so many stand before it, or have passed

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int come_ = 0;
};

// Routes: POST /echo answers what it was sent, POST /secret/word does, too, and knows no other path below
// /secret/, GET /who the client's name and the query, GET /live at once, POST /wait once the gate is open,
// POST /fail never.
class HttpWorld : public ::testing::Test {
 public:
  ~HttpWorld() override;
  // Once; `options` without address, port and identity's certificate.
  void start(net::HttpServerOptions options = {});
  std::string ask(const std::string& text);  // over a connection of its own
  std::vector<net::HttpRoute> routes();

  simulator::CertifiedKey authority = testAuthority("test");
  Gate gate;
  EventLog log;
  std::unique_ptr<net::HttpServer> server;
};

}  // namespace lastout::testing
