// Any bytes as an HTTP request, whole and cut into pieces: the same is read, within the limits.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/check.h"
#include "net/request_reader.h"

using lastout::fuzz::check;
namespace net = lastout::net;
using State = net::RequestReader::State;

namespace {

constexpr net::RequestLimits kLimits{.header = 512, .target = 128, .body = 256, .takesChunks = true};

struct Read {
  State state = State::Header;
  bool headerRead = false;
  int status = 0;
  net::HttpRequest request;
  std::string left;
};

Read readInPieces(std::string_view text, size_t piece) {
  net::RequestReader reader(kLimits);
  Read read;
  do {
    read.left.append(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    do {
      read.state = reader.feed(read.left);
      if (read.state == State::HeaderRead) {
        check(!read.headerRead, "a header is read once");
        read.headerRead = true;
      }
    } while (read.state == State::HeaderRead);
    check(
        read.left.size() <= kLimits.header + piece || read.state == State::Whole || read.state == State::Bad,
        "what waits is bounded");
  } while (!text.empty() && read.state != State::Whole && read.state != State::Bad);
  read.left.append(text);
  if (read.state == State::Bad) read.status = reader.refusal().status;
  if (read.headerRead) read.request = reader.request();
  check(read.request.body.size() <= kLimits.body, "a body is bounded");
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const Read whole = readInPieces(text, text.size());
  if (whole.state == State::Bad)
    check(whole.status == 400 || whole.status == 411 || whole.status == 413 || whole.status == 414 ||
              whole.status == 415 || whole.status == 431,
          "a known status", std::to_string(whole.status));
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{64}}) {
    const Read pieces = readInPieces(text, piece);
    // What is too long may be refused before the piece that would have shown another fault.
    check((pieces.state == State::Whole) == (whole.state == State::Whole), "pieces end as the whole does");
    if (whole.state != State::Whole) continue;
    check(pieces.request.method == whole.request.method && pieces.request.path == whole.request.path &&
              pieces.request.query == whole.request.query && pieces.request.body == whole.request.body &&
              pieces.request.contentType == whole.request.contentType && pieces.left == whole.left,
          "pieces are read the same");
  }
  return 0;
}
