// Any text as a query and as the head of a request to the embedded API: what is refused is told why, a query
// is read as it is written, and the end of a body is said in one way.
#include "simulator/request.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "simulator/http_head.h"

using lastout::fuzz::check;
namespace simulator = lastout::simulator;

namespace {

constexpr size_t kMostBody = 1000;

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
  const auto head = simulator::parseHead(text, kMostBody);
  if (!head) {
    check(head.error().code == 400 || head.error().code == 413, "a bad request or one that is too large");
    return;
  }
  check(head->contentLength <= kMostBody, "a body within the limit");
  check(!head->chunked || head->contentLength == 0, "one end of a body");
  check(head->requestLine.find_first_of("\r\n") == std::string::npos, "one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkQuery(text);
  checkHead(text);
  checkHead("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(text) + "\r\n\r\n");
  return 0;
}
