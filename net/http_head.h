// HttpHead: the request line and the headers of one HTTP/1.x request, and where its body ends. Stricter than
// HTTP libraries are: what two readers could understand differently is refused (RFC 9112, 6.3 and 11.2).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "net/http_message.h"

namespace lastout::net {

struct RequestLimits {
  size_t header = size_t{16} << 10;  // bytes of the request line and headers together; more: 431
  size_t target = size_t{8} << 10;   // bytes of the path with its query; more: 414
  size_t body = size_t{8} << 20;     // bytes; more: 413
  bool takesChunks = false;          // also bodies that do not say their length; if not: 411
};

struct HttpHead {
  std::string method;
  std::string target;  // the path with its query, as it came
  HttpHeaders headers;
  std::optional<size_t> contentLength;  // nullopt: it says none
  bool isChunked = false;
  bool isOld = false;           // HTTP/1.0, which knows no chunks
  bool endsConnection = false;  // its client wants that, or it has a body that its method does not have
  bool expectsContinue = false;
};

// `text` ends with the empty line. Fails with 400 where it is malformed or says more than one thing about its
// body or its host, and as the limits say; `header` is not looked at.
tl::expected<HttpHead, HttpRefusal> parseHttpHead(std::string_view text, const RequestLimits& limits);

// --- the pieces of a head, for those that write one, too

// Returns true for a token: a method, or a header's name (RFC 9110, 5.6.2).
bool isToken(std::string_view text);
// Returns true if the text ends no line of a head, and holds no other control character but tabs.
bool isHeaderText(std::string_view text);
// Returns the text without the spaces and tabs around it.
std::string_view headerTrimmed(std::string_view text);
// Returns "application/json" for "Application/JSON; charset=utf-8".
std::string mediaTypeOf(std::string_view header);

}  // namespace lastout::net
