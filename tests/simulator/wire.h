// A real listener with TLS before an embedded cluster, and a client of it that may send anything.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simulator/certificates.h"
#include "simulator/embedded_cluster.h"
#include "simulator/listener.h"
#include "tls/openssl.h"

namespace lastout::testing {

struct WireAnswer {
  int status = 0;    // 0: the connection ended without an answer
  std::string head;  // status line and headers
  std::string body;
  simulator::Json json() const { return simulator::Json::parse(body, nullptr, false); }
};

// One TLS connection, byte by byte. `receiveBuffer`: of the socket, in bytes; 0: as usual.
class WireConnection {
 public:
  // `session`: of an earlier connection, to be resumed; null: a new one.
  WireConnection(int port, const simulator::CertifiedKey* identity, int receiveBuffer = 0,
                 SSL_SESSION* session = nullptr);
  ~WireConnection();
  WireConnection(const WireConnection&) = delete;
  WireConnection& operator=(const WireConnection&) = delete;

  bool send(const std::string& text);
  // What comes until a text that ends with that, or until the end.
  std::string readUntil(const std::string& last);
  WireAnswer readToEnd();
  // Whether within that time anything came, or the end.
  bool hasSomethingToRead(int milliseconds) const;
  SSL& tls() { return *connection_; }

 private:
  int socket_ = -1;
  lastout::tls::Owned<SSL_CTX> context_;
  lastout::tls::Owned<SSL> connection_;
};

struct WireRequest {
  std::string method = "GET";
  std::string target;
  std::string body;
  std::vector<std::string> headers;  // "Content-Type: text/plain"
};

// As it is sent, by a client that then wants the connection ended.
std::string toText(const WireRequest& request);

class WireTest : public ::testing::Test {
 public:
  explicit WireTest(simulator::ListenerOptions options = {});
  ~WireTest() override;

  // Opens the listener anew, at another port, with `handler` for what it asks; the one before has ended by
  // then.
  void serve(simulator::Handler handler);
  // Asks the cluster, and counts; what the listener asks unless a test serves something else.
  simulator::ExchangeResponse handle(const simulator::ExchangeRequest& request);

  // By the admin; over a connection of its own, where nobody says otherwise.
  virtual WireAnswer ask(const WireRequest& request);
  // The answer must have that status, and its body say so.
  simulator::Json expectStatus(int code, const WireRequest& request);
  void create(const std::string& path, const simulator::Json& object);
  void waitUntilNoWatchIsOpen();

  simulator::CertifiedKey authority;
  simulator::CertifiedKey admin;
  // Calls the webhooks of the cluster; to be set before any is called. Empty: there is nobody.
  simulator::CallWebhook callWebhook;
  simulator::EmbeddedCluster cluster;
  std::atomic<int> openWatches{0};
  std::atomic<int> patches{0};  // requests so far
  std::unique_ptr<simulator::Listener> listener;
  int port = 0;

 private:
  simulator::ListenerOptions options_;
};

}  // namespace lastout::testing
