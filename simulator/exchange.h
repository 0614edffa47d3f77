// Exchange: one HTTP request and its answer, whatever carries them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/request.h"
#include "simulator/user.h"

namespace lastout::simulator {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // percent-encoded, without the query
  Query query;         // decoded
  std::string host;    // that the client asked: "127.0.0.1:6443"
  std::string accept;
  std::string contentType;
  std::string body;
  UserInfo user;
  Impersonation impersonation;
};

// What a watch sends, piece by piece. For the one thread that answers the request, but for end().
class WatchResponse {
 public:
  virtual ~WatchResponse() = default;
  // The next piece, a few events and no more memory than they take. It may be empty when nothing came for
  // `patience`; nullopt: the watch is over.
  virtual std::optional<std::string> next(std::chrono::milliseconds patience) = 0;
  // Ends the watch, also for a thread that waits in next(): the piece under way comes still, and then
  // nothing. From any thread.
  virtual void end() = 0;
};

struct HttpResponse {
  int status = 200;
  std::string contentType = "application/json";
  std::string body;
  std::vector<std::string> warnings;      // each becomes a header, Warning: warningHeader()
  std::optional<int64_t> retryAfter;      // seconds
  std::unique_ptr<WatchResponse> stream;  // instead of the body
};

// Answers any request; called by many threads at once, and never throws.
using Handler = std::function<HttpResponse(const HttpRequest&)>;

}  // namespace lastout::simulator
