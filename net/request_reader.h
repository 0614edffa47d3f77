// RequestReader: the bytes of one HTTP/1.1 request, as they come, into an HttpRequest. Bodies say their
// length: there are no chunks. No sockets; the only file that knows the HTTP parser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/http_message.h"

namespace lastout::net {

struct RequestLimits {
  size_t header = size_t{16} << 10;  // bytes of the request line and headers together
  size_t body = size_t{8} << 20;     // bytes
};

class RequestReader {
 public:
  enum class State : uint8_t {
    Header,      // more is needed
    HeaderRead,  // answered once, before anything of the body is taken
    Body,        // more is needed
    Whole,
    Bad
  };

  explicit RequestReader(const RequestLimits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Takes from the beginning of `input` what belongs to the request; the next one's bytes stay.
  State feed(std::string& input);

  // Of State::Bad: 400, 411, 413, 415 or 431, and why.
  int status() const;
  const std::string& problem() const;

  // From State::HeaderRead on, without the body; whole with State::Whole.
  HttpRequest& request();
  bool keepAlive() const;
  bool hasLength() const;        // it says how long its body is
  bool expectsContinue() const;  // the client waits for 100 before it sends the body

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// The answer as it is sent. `close`: the connection ends with it. `withBody`: not for HEAD.
std::string responseText(const HttpResponse& response, bool close, bool withBody = true);

}  // namespace lastout::net
