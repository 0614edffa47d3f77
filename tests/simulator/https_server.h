// HttpsServer: a webhook's server on 127.0.0.1, in this process, with a certificate of its own authority.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "simulator/admission_review.h"
#include "simulator/certificates.h"

namespace lastout::simulator {

constexpr Validity kAlways{0, 4'102'444'800};  // until 2100

struct ReceivedRequest {
  std::string target;  // path and query
  std::map<std::string, std::string> headers;
  std::string body;
  int clientPort = 0;
};

class HttpsServer {
 public:
  using Handler = std::function<WebhookResponse(const ReceivedRequest&)>;

  // The handler is called by threads of the server, of which ThreadSanitizer cannot see that they are done
  // with a request before its answer is there.
  explicit HttpsServer(Handler handler, const ServerNames& names = {{}, {"127.0.0.1"}});
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  int port() const;
  const std::string& authority() const;  // PEM

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace lastout::simulator
