// Exchange: one HTTP request and its answer, whatever carries them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http_message.h"
#include "simulator/request.h"
#include "simulator/user.h"

namespace lastout::simulator {

struct ExchangeRequest {
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

// The answer to a watch: each piece has a few events.
using WatchResponse = net::HttpStream;

struct ExchangeResponse {
  int status = 200;
  std::string contentType = "application/json";
  std::string body;
  std::vector<std::string> warnings;      // each becomes a header, Warning: warningHeader()
  std::optional<int64_t> retryAfter;      // seconds
  std::unique_ptr<WatchResponse> stream;  // instead of the body
};

// Answers any request; called by many threads at once, and never throws.
using Handler = std::function<ExchangeResponse(const ExchangeRequest&)>;

}  // namespace lastout::simulator
