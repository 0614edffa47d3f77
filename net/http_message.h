// What the HTTP server and its handlers say to each other: a request, its answer, and where a request goes.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lastout::net {

struct HttpRequest {
  std::string method;       // "POST"
  std::string path;         // "/validate", as it was sent
  std::string query;        // what stands behind "?": "timeout=5s"
  std::string host;         // whom the client believes to ask: "localhost:9090"
  std::string contentType;  // without parameters, in lower case
  std::string accept;
  std::string authorization;
  std::string body;
  std::string peer;    // "10.1.2.3:41234"
  std::string client;  // the common name in a client's verified certificate; empty: it has shown none
  std::chrono::steady_clock::time_point begun;  // when its first byte came
};

struct HttpResponse {
  int status = 200;
  std::string contentType = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // others, as they are: {"Retry-After", "1"}
};

using HttpHandler = std::function<HttpResponse(HttpRequest)>;

// Where requests go. GET answers HEAD too.
struct HttpRoute {
  std::string method;
  std::string path;         // the whole of it; one that ends in "/": whatever begins with it
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

}  // namespace lastout::net
