#include "simulator/client_stream.h"

#include <algorithm>
#include <utility>

namespace lastout::simulator {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kIdle{60};
constexpr size_t kMostHead = 1u << 20;  // bytes, as for the API server
constexpr size_t kPiece = 16384;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

ApiError headTooLarge() {
  ApiError error = badRequest("the headers of the request are too large: limit is 1048576");
  error.code = 431;
  return error;
}

// In chunks: its bytes, and what is around them.
size_t mostInChunks(size_t mostBody) { return 2 * mostBody + kMostHead; }

}  // namespace

std::optional<ApiResult<RequestHead>> ClientStream::nextHead() {
  received_.erase(0, std::exchange(taken_, 0));
  deadline_ = steady_clock::now() + kIdle;
  if (received_.empty() && !receive()) return std::nullopt;
  deadline_ = steady_clock::now() + limits_.slowest;
  size_t end = received_.find(kHeadEnd);
  while (end == std::string::npos && received_.size() <= kMostHead) {
    const size_t searched = received_.size() - std::min(received_.size(), kHeadEnd.size() - 1);
    if (!receive()) return std::nullopt;
    end = received_.find(kHeadEnd, searched);
  }
  if (end == std::string::npos || end > kMostHead) return tl::unexpected(headTooLarge());
  end += kHeadEnd.size();
  auto head = parseHead(std::string_view(received_).substr(0, end), limits_.mostBody);
  if (!head) return head;
  const std::string forLibrary = head->requestLine + std::string(kHeadEnd);
  received_.replace(0, end, forLibrary);
  isChunked_ = head->chunked;
  left_ = forLibrary.size() + (isChunked_ ? mostInChunks(limits_.mostBody) : head->contentLength);
  return head;
}

bool ClientStream::receive() {
  received_.erase(0, std::exchange(taken_, 0));
  const size_t before = received_.size();
  received_.resize(before + kPiece);
  const size_t got = connection_.read(received_.data() + before, kPiece, deadline_);
  received_.resize(before + got);
  return got > 0;
}

ssize_t ClientStream::read(char* data, size_t size) {
  if (left_ == 0 || (taken_ == received_.size() && !receive())) return -1;
  const size_t count = std::min({size, left_, received_.size() - taken_});
  received_.copy(data, count, taken_);
  taken_ += count;
  left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t ClientStream::write(const char* data, size_t size) {
  return connection_.write(data, size, limits_.slowest) ? static_cast<ssize_t>(size) : -1;
}

}  // namespace lastout::simulator
