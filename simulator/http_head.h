// RequestHead: the request line and the headers of one HTTP/1.x request, and where its body ends. Stricter
// than HTTP libraries are: what two readers could understand differently is refused (RFC 9112, 6.3 and 11.2).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/status.h"

namespace lastout::simulator {

struct RequestHead {
  std::string requestLine;  // as it came, without its end
  std::vector<std::pair<std::string, std::string>> headers;
  size_t contentLength = 0;  // of a body that is not chunked; 0: there is none
  bool chunked = false;
  bool endsConnection = false;  // its client wants that, or nobody will read its body
};

// `text` ends with the empty line. Fails with 400 where it is malformed or says more than one thing about its
// body or its host, and with 413 where the body is said to be longer than `mostBody` bytes. The method, the
// target and the version are not looked at more closely than that needs.
ApiResult<RequestHead> parseHead(std::string_view text, size_t mostBody);

}  // namespace lastout::simulator
