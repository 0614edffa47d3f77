// What load on an HTTPS server is made of: reviews, the server in a process of its own, and its clients.
#pragma once

#include <openssl/types.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "bench/stop.h"
#include "net/http_server.h"
#include "tls/openssl.h"

namespace lastout::bench {

// A DELETE of deployments.apps/demo/web, as an API server sent it.
const std::string& reviewText();

// Of 127.0.0.1, by an authority that is not kept.
net::TlsIdentity makeIdentity();

// Of a process: seconds of processor time that it has used, and megabytes in memory.
double processorSeconds(pid_t process);
double residentMegabytes(pid_t process);

// A server in a process of its own, at `port`.
class ServerProcess {
 public:
  // `serve` writes the port with reportPort() and does not return.
  explicit ServerProcess(const std::function<void(int pipe)>& serve);
  ~ServerProcess();  // ends it
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  double used() const { return processorSeconds(process_); }
  double residentMegabytes() const { return bench::residentMegabytes(process_); }

  int port = 0;

 private:
  pid_t process_ = -1;
};

void reportPort(int pipe, int port);

// Reads a review, and answers `body` without a look at it.
[[noreturn]] void serveConstant(int pipe, const std::string& path, const std::string& body);

// A connection with TLS to 127.0.0.1, which trusts whoever answers.
class LoadClient {
 public:
  explicit LoadClient(int port);
  ~LoadClient();
  LoadClient(const LoadClient&) = delete;
  LoadClient& operator=(const LoadClient&) = delete;

  // Waits for an answer that ends with `end`. False: it did not come within 2 seconds.
  bool ask(const std::string& request, const std::string& end);

  bool connected = false;

 private:
  int socket_ = -1;
  tls::Owned<SSL> connection_;
};

}  // namespace lastout::bench
