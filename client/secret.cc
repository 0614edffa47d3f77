#include "client/secret.h"

#include <algorithm>

#include "net/http_head.h"

namespace lastout::client {

std::optional<std::string> tokenProblem(std::string_view token) {
  if (token.empty()) return "is empty";
  if (token.size() > kMostTokenBytes) return "is longer than 64 KiB: that is no token";
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; }))
    return "holds a space or another character that no token may have";
  return std::nullopt;
}

bool isHeaderValue(std::string_view text) {
  if (text.size() > kMostTokenBytes || text.starts_with(' ') || text.ends_with(' ')) return false;
  return net::isHeaderText(text) && text.find('\t') == std::string_view::npos;
}

kube::Error withoutQuotes(kube::Error error) {
  // A key that is there twice is no secret, and syntax is said in words that are always the same.
  for (const std::string_view harmless : {"the key ", "this is no valid YAML: "})
    if (error.message.starts_with(harmless)) return error;
  const size_t begin = error.message.find_first_of("\"'");
  if (begin == std::string::npos) return error;
  const size_t end = error.message.find_last_of("\"'");
  error.message.replace(begin, end + 1 - begin, "what stands here");
  return error;
}

}  // namespace lastout::client
