#include "simulator/http_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "kube/names.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool isHeaderName(std::string_view text) {
  constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return !text.empty() && text.find_first_not_of(kToken) == std::string_view::npos;
}

// Without the spaces and tabs around it.
std::string_view headerTrimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// The next line, taken off `text`; nothing: it holds what no line may.
std::optional<std::string_view> takeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find(kLineEnd));
  text.remove_prefix(std::min(text.size(), line.size() + kLineEnd.size()));
  if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return std::nullopt;
  return line;
}

std::vector<std::string_view> valuesOf(const RequestHead& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : head.headers) {
    if (kube::lowerCase(key) == name) values.push_back(value);
  }
  return values;
}

// A header that is a list, in lower case.
bool lists(const RequestHead& head, std::string_view name, std::string_view wanted) {
  for (std::string_view rest : valuesOf(head, name)) {
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (kube::lowerCase(headerTrimmed(part)) == wanted) return true;
    }
  }
  return false;
}

tl::unexpected<ApiError> malformed(const char* what) {
  return tl::unexpected(badRequest(std::string("the request is malformed: ") + what));
}

ApiResult<void> readLengths(RequestHead& head, bool isOld) {
  const auto lengths = valuesOf(head, "content-length");
  const auto encodings = valuesOf(head, "transfer-encoding");
  if (!encodings.empty()) {
    if (!lengths.empty()) return malformed("it has both Content-Length and Transfer-Encoding");
    if (isOld || encodings.size() > 1 || kube::lowerCase(encodings.front()) != "chunked")
      return malformed("its Transfer-Encoding is not chunked");
    head.chunked = true;
  }
  for (const std::string_view length : lengths) {
    const char* const end = length.data() + length.size();
    const bool isDecimal =
        !length.empty() && length.find_first_not_of("0123456789") == std::string_view::npos;
    if (!isDecimal || std::from_chars(length.data(), end, head.contentLength).ec != std::errc())
      return malformed("its Content-Length is no number");
    if (length != lengths.front()) return malformed("it has two different Content-Lengths");
  }
  return {};
}

}  // namespace

ApiResult<RequestHead> parseHead(std::string_view text, size_t mostBody) {
  RequestHead head;
  const auto requestLine = takeLine(text);
  if (!requestLine || requestLine->empty()) return malformed("its first line");
  head.requestLine = *requestLine;
  while (true) {
    const auto line = takeLine(text);
    if (!line) return malformed("a header");
    if (line->empty()) break;
    const size_t colon = line->find(':');
    if (colon == std::string_view::npos || !isHeaderName(line->substr(0, colon)))
      return malformed("a header");
    head.headers.emplace_back(line->substr(0, colon), headerTrimmed(line->substr(colon + 1)));
  }
  const bool isOld = requestLine->ends_with(" HTTP/1.0");
  const size_t hosts = valuesOf(head, "host").size();
  if (hosts > 1 || (hosts == 0 && !isOld)) return malformed("it needs one Host");
  if (auto read = readLengths(head, isOld); !read) return tl::unexpected(std::move(read.error()));
  if (head.contentLength > mostBody) return tl::unexpected(tooLarge(mostBody));
  constexpr std::array<std::string_view, 4> kWithBody{"POST", "PUT", "PATCH", "DELETE"};
  const std::string_view method = requestLine->substr(0, requestLine->find(' '));
  const bool hasBody = head.chunked || head.contentLength > 0;
  head.endsConnection = isOld || lists(head, "connection", "close") ||
                        (hasBody && std::ranges::find(kWithBody, method) == kWithBody.end());
  return head;
}

}  // namespace lastout::simulator
