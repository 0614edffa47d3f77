// The types that the HTTP server and its handlers exchange: request, response and route.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lastout::net {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;       // "POST"
  std::string path;         // "/validate", as it was sent
  std::string query;        // what stands behind "?": "timeout=5s"
  std::string host;         // whom the client believes to ask: "localhost:9090"
  std::string contentType;  // without parameters, in lower case
  std::string accept;
  std::string authorization;
  HttpHeaders headers;  // all of them, as they came
  std::string body;
  std::string peer;                       // "10.1.2.3:41234"
  std::string client;                     // the common name in a client's verified certificate; empty: none
  std::vector<std::string> clientGroups;  // the organizations in it
  std::string clientFingerprint;          // its SHA-256, in hexadecimal
  std::chrono::steady_clock::time_point begun;  // when its first byte came

  // Returns the value of the first header with that name, which is in lower case; "": there is none.
  std::string_view header(std::string_view name) const;
};

// An answer that goes on for as long as there is something to say, such as a watch. For one thread at a time,
// but for end().
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Returns the next piece, and needs no more memory than that takes. It may be empty when nothing came for
  // `patience`; nullopt: the answer is over.
  virtual std::optional<std::string> next(std::chrono::milliseconds patience) = 0;
  // Ends the answer, also for a thread that waits in next(): the piece under way comes still, and then
  // nothing. From any thread.
  virtual void end() = 0;
};

struct HttpResponse {
  int status = 200;
  std::string contentType = "application/json";
  std::string body;
  HttpHeaders headers;                           // others, as they are: {"Retry-After", "1"}
  std::shared_ptr<HttpStream> stream = nullptr;  // instead of the body; a worker waits for its pieces
};

using HttpHandler = std::function<HttpResponse(HttpRequest)>;

// Where requests go. GET answers HEAD too.
struct HttpRoute {
  std::string method;       // empty: any, and a body may also be missing
  std::string path;         // the whole of it; one that ends in "/", or is empty: whatever begins with it
  std::string contentType;  // of the body, in lower case; another is answered 415; empty: any
  HttpHandler handler;
  // It never waits for anything: it runs where requests are read, so that it is answered while all workers
  // are busy.
  bool quick = false;
  // Where the server has an authority for clients: this is answered to clients without a certificate, too.
  bool open = false;
  // Whether the path is one of the route's, where that is not all that begins with `path`; empty: it is. It
  // is asked before a body is read, by the server's own thread, and must not wait.
  std::function<bool(const std::string& path)> knows = {};
};

// A request that no handler sees.
struct HttpRefusal {
  int status = 400;
  std::string why;  // "the body is longer than 1000 bytes"
};

}  // namespace lastout::net
