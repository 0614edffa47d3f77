#include "net/http_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "kube/names.h"

namespace lastout::net {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool isTarget(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char byte) { return byte > ' ' && byte != 0x7F; });
}

// The next line, taken off `text`; nullopt: it holds what no line may.
std::optional<std::string_view> takeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find(kLineEnd));
  text.remove_prefix(std::min(text.size(), line.size() + kLineEnd.size()));
  if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return std::nullopt;
  return line;
}

std::vector<std::string_view> valuesOf(const HttpHead& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : head.headers) {
    if (kube::lowerCase(key) == name) values.push_back(value);
  }
  return values;
}

// A header that is a list, in lower case.
bool lists(const HttpHead& head, std::string_view name, std::string_view wanted) {
  for (std::string_view rest : valuesOf(head, name)) {
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (kube::lowerCase(headerTrimmed(part)) == wanted) return true;
    }
  }
  return false;
}

using Refused = std::optional<HttpRefusal>;

HttpRefusal malformed(const char* what) { return {400, std::string("the request is malformed: ") + what}; }

Refused readRequestLine(HttpHead& head, std::string_view line, size_t longestTarget) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return malformed("its first line");
  const std::string_view version = line.substr(last + 1);
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  head.isOld = version == "HTTP/1.0";
  if (!isToken(head.method) || !isTarget(head.target) || (!head.isOld && version != "HTTP/1.1"))
    return malformed("its first line");
  if (head.target.size() > longestTarget)
    return HttpRefusal{414, "the path is longer than " + std::to_string(longestTarget) + " bytes"};
  return std::nullopt;
}

Refused readLengths(HttpHead& head, const RequestLimits& limits) {
  const auto lengths = valuesOf(head, "content-length");
  const auto encodings = valuesOf(head, "transfer-encoding");
  if (!encodings.empty()) {
    if (!lengths.empty()) return malformed("it has both Content-Length and Transfer-Encoding");
    if (!limits.takesChunks)
      return HttpRefusal{411, "the length of the body has to be said; Transfer-Encoding is not understood"};
    if (head.isOld || encodings.size() > 1 || kube::lowerCase(encodings.front()) != "chunked")
      return malformed("its Transfer-Encoding is not chunked");
    head.isChunked = true;
  }
  for (const std::string_view length : lengths) {
    const char* const end = length.data() + length.size();
    const bool isDecimal =
        !length.empty() && length.find_first_not_of("0123456789") == std::string_view::npos;
    if (!isDecimal || std::from_chars(length.data(), end, head.contentLength.emplace()).ec != std::errc())
      return malformed("its Content-Length is no number");
    if (length != lengths.front()) return malformed("it has two different Content-Lengths");
  }
  if (head.contentLength.value_or(0) > limits.body)
    return HttpRefusal{413, "the body is longer than " + std::to_string(limits.body) + " bytes"};
  return std::nullopt;
}

Refused readHeaders(HttpHead& head, std::string_view text) {
  while (true) {
    const auto line = takeLine(text);
    if (!line) return malformed("a header");
    if (line->empty()) return std::nullopt;
    const size_t colon = line->find(':');
    if (colon == std::string_view::npos || !isToken(line->substr(0, colon))) return malformed("a header");
    head.headers.emplace_back(line->substr(0, colon), headerTrimmed(line->substr(colon + 1)));
  }
}

Refused readHead(HttpHead& head, std::string_view text, const RequestLimits& limits) {
  const auto requestLine = takeLine(text);
  if (!requestLine) return malformed("its first line");
  if (auto refused = readRequestLine(head, *requestLine, limits.target)) return refused;
  if (auto refused = readHeaders(head, text)) return refused;
  const size_t hosts = valuesOf(head, "host").size();
  if (hosts > 1 || (hosts == 0 && !head.isOld)) return malformed("it needs one Host");
  if (auto refused = readLengths(head, limits)) return refused;
  for (const std::string_view encoding : valuesOf(head, "content-encoding")) {
    if (!encoding.empty() && kube::lowerCase(encoding) != "identity")
      return HttpRefusal{415, "a body with a Content-Encoding is not understood"};
  }
  constexpr std::array<std::string_view, 4> kWithBody{"POST", "PUT", "PATCH", "DELETE"};
  const bool hasBody = head.isChunked || head.contentLength.value_or(0) > 0;
  head.endsConnection = head.isOld || lists(head, "connection", "close") ||
                        (hasBody && std::ranges::find(kWithBody, head.method) == kWithBody.end());
  head.expectsContinue = lists(head, "expect", "100-continue");
  return std::nullopt;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [name](const auto& header) { return kube::lowerCase(header.first) == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

bool isToken(std::string_view text) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return !text.empty() && text.find_first_not_of(kToken) == std::string_view::npos;
}

bool isHeaderText(std::string_view text) {
  return std::ranges::none_of(
      text, [](unsigned char byte) { return (byte < ' ' && byte != '\t') || byte == 0x7F; });
}

std::string_view headerTrimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::string mediaTypeOf(std::string_view header) {
  return kube::lowerCase(headerTrimmed(header.substr(0, header.find(';'))));
}

tl::expected<HttpHead, HttpRefusal> parseHttpHead(std::string_view text, const RequestLimits& limits) {
  HttpHead head;
  if (auto refused = readHead(head, text, limits)) return tl::unexpected(std::move(*refused));
  return head;
}

}  // namespace lastout::net
