// RequestReader: the bytes of one HTTP/1.1 request, as they come, into an HttpRequest. No sockets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http_head.h"
#include "net/http_message.h"

namespace lastout::net {

class RequestReader {
 public:
  enum class State : uint8_t {
    Header,      // more is needed
    HeaderRead,  // answered once, before anything of the body is taken
    Body,        // more is needed
    Whole,
    Bad
  };

  explicit RequestReader(const RequestLimits& limits) : limits_(limits) {}

  // Consumes the bytes of this request from the beginning of `input`, and leaves the bytes of the next one.
  State feed(std::string& input);

  // Returns the status and the words of a refusal, in State::Bad: 400, 411, 413, 414, 415 or 431.
  const HttpRefusal& refusal() const { return refusal_; }

  // From State::HeaderRead on, without the body; whole with State::Whole.
  HttpRequest& request() { return request_; }
  bool keepAlive() const { return !head_.endsConnection; }
  bool takesChunks() const { return !head_.isOld; }  // its client knows answers without a length
  // It says where its body ends.
  bool hasLength() const { return head_.contentLength.has_value() || head_.isChunked; }
  // The client waits for 100 before it sends the body.
  bool expectsContinue() const { return head_.expectsContinue; }

 private:
  // What comes next of a body in chunks (RFC 9112, 7.1).
  enum class Chunk : uint8_t { Size, Data, DataEnd, Trailer };

  State bad(HttpRefusal refusal);
  State feedHeader(std::string& input);
  State feedBody(std::string& input);
  State feedChunks(std::string& input);
  State takeChunkLine(std::string_view line);

  RequestLimits limits_;
  State state_ = State::Header;
  size_t searched_ = 0;  // bytes of a header's beginning that do not hold its end
  HttpHead head_;
  HttpRequest request_;
  HttpRefusal refusal_;
  size_t missing_ = 0;  // bytes of the body, or of the chunk
  Chunk chunk_ = Chunk::Size;
  size_t aroundChunks_ = 0;  // bytes so far that are no body
};

// Returns the answer as it is sent; of one with a stream its header. `close`: the connection ends with it.
// `withBody`: not for HEAD. `inChunks`: how a stream is sent, unless it ends with the connection.
std::string responseText(const HttpResponse& response, bool close, bool withBody = true,
                         bool inChunks = true);

// Returns a piece of a stream as it is sent in chunks; an empty one ends the answer.
std::string chunkText(std::string_view piece);

}  // namespace lastout::net
