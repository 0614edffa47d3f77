// Any text as a query and as the head of a request to the embedded API: what is refused is told why, a query
// is read as it is written, and the end of a body is said in one way.
#include "simulator/request.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "net/http_head.h"

using lastout::fuzz::check;
namespace net = lastout::net;
namespace simulator = lastout::simulator;

namespace {

constexpr net::RequestLimits kLimits{.target = 1000, .body = 1000, .takesChunks = true};

std::string formEncoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += '%';
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  return result;
}

void checkQuery(std::string_view text) {
  const auto query = simulator::parseQuery(text);
  if (!query) {
    check(query.error().code == 400, "a bad request");
    (void)simulator::statusOf(query.error()).dump();  // throws unless the message is UTF-8
    return;
  }
  std::string written;
  for (const auto& [key, value] : *query) written += formEncoded(key) + "=" + formEncoded(value) + "&";
  check(simulator::parseQuery(written) == *query, "a query is read as it is written", written);
}

void checkHead(std::string_view text) {
  const auto head = net::parseHttpHead(text, kLimits);
  if (!head) {
    const int status = head.error().status;
    check(status == 400 || status == 413 || status == 414 || status == 415,
          "a bad request or one that is too large", std::to_string(status));
    return;
  }
  check(head->contentLength.value_or(0) <= kLimits.body, "a body within the limit");
  check(!head->isChunked || !head->contentLength, "one end of a body");
  check((head->method + head->target).find_first_of(" \r\n") == std::string::npos, "one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkQuery(text);
  checkHead(text);
  checkHead("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(text) + "\r\n\r\n");
  return 0;
}
