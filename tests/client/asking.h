// Asking an API server, and what came of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/http.h"

namespace lastout::testing {

inline constexpr const char* kOneAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

struct Asked {
  client::ApiAnswer answer;
  std::string body;
  size_t pieces = 0;  // the first, empty one too
  std::string error;  // empty: there was a whole answer
};

inline client::ApiRequest get(const std::string& target) {
  client::ApiRequest request;
  request.target = target;
  return request;
}

inline Asked ask(client::ApiServer& server, const client::ApiRequest& request) {
  Asked asked;
  const auto answer = server.exchange(request, [&](int, std::string_view piece) {
    EXPECT_EQ(piece.empty(), asked.pieces == 0) << "the first piece alone is empty";
    ++asked.pieces;
    asked.body += piece;
    return true;
  });
  if (answer) {
    asked.answer = *answer;
  } else {
    asked.error = answer.error().message;
  }
  return asked;
}

inline Asked ask(client::ApiServer& server, const std::string& target) { return ask(server, get(target)); }

inline std::unique_ptr<client::HttpApiServer> serverAt(const client::HttpOptions& options) {
  auto server = client::HttpApiServer::open(options);
  EXPECT_TRUE(server) << server.error().message;
  return std::move(server.value());
}

}  // namespace lastout::testing
