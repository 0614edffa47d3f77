#include "net/request_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "kube/names.h"

namespace lastout::net {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kChunkLineEnd = "\r\n";
// In bytes, of a chunk's size with its extensions, or of a trailer; the limit of a header holds, too.
constexpr size_t kLongestChunkLine = 1024;

// "1f;name=value"; nullopt: it is no size.
std::optional<size_t> chunkSize(std::string_view line) {
  std::string_view digits = line.substr(0, line.find(';'));
  while (!digits.empty() && (digits.back() == ' ' || digits.back() == '\t')) digits.remove_suffix(1);
  size_t size = 0;
  const char* const end = digits.data() + digits.size();
  const auto [behind, error] = std::from_chars(digits.data(), end, size, 16);
  if (digits.empty() || error != std::errc() || behind != end) return std::nullopt;
  return size;
}

// RFC 9110, 15; those that lastout and API servers answer.
std::string_view reasonOf(int status) {
  constexpr std::array<std::pair<int, std::string_view>, 26> kReasons{{
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {301, "Moved Permanently"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {413, "Payload Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  }};
  const auto* const found = std::ranges::find(kReasons, status, &std::pair<int, std::string_view>::first);
  return found == kReasons.end() ? "Unknown" : found->second;
}

}  // namespace

RequestReader::State RequestReader::bad(HttpRefusal refusal) {
  refusal_ = std::move(refusal);
  return state_ = State::Bad;
}

RequestReader::State RequestReader::feedHeader(std::string& input) {
  const size_t end = input.find(kHeadEnd, searched_);
  const size_t size = end == std::string::npos ? input.size() : end + kHeadEnd.size();
  if (size > limits_.header)
    return bad({431, "the header is longer than " + std::to_string(limits_.header) + " bytes"});
  if (end == std::string::npos) {
    searched_ = size - std::min(size, kHeadEnd.size() - 1);
    return state_;
  }
  auto head = parseHttpHead(std::string_view(input).substr(0, size), limits_);
  if (!head) return bad(std::move(head.error()));
  head_ = std::move(*head);
  input.erase(0, size);
  searched_ = 0;
  missing_ = head_.contentLength.value_or(0);  // within the limit
  request_.method = std::move(head_.method);
  request_.headers = std::move(head_.headers);
  const std::string_view target = head_.target;
  const size_t question = std::min(target.find('?'), target.size());
  request_.path = target.substr(0, question);
  if (question < target.size()) request_.query = target.substr(question + 1);
  request_.host = request_.header("host");
  request_.contentType = mediaTypeOf(request_.header("content-type"));
  request_.accept = request_.header("accept");
  request_.authorization = request_.header("authorization");
  return state_ = State::HeaderRead;
}

RequestReader::State RequestReader::feedBody(std::string& input) {
  if (head_.isChunked) return feedChunks(input);
  const size_t taken = std::min(missing_, input.size());
  if (request_.body.empty() && taken == input.size()) {
    request_.body.swap(input);
  } else {
    request_.body.append(input, 0, taken);
    input.erase(0, taken);
  }
  missing_ -= taken;
  return state_ = missing_ == 0 ? State::Whole : State::Body;
}

// A line of a body in chunks that is not its data, without its end.
RequestReader::State RequestReader::takeChunkLine(std::string_view line) {
  const auto malformed = [this] { return bad({400, "the body of the request is malformed: its chunks"}); };
  if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return malformed();
  if (chunk_ == Chunk::Trailer) return state_ = line.empty() ? State::Whole : State::Body;
  if (chunk_ == Chunk::DataEnd) {
    if (!line.empty()) return malformed();
    chunk_ = Chunk::Size;
    return state_ = State::Body;
  }
  const auto size = chunkSize(line);
  if (!size) return malformed();
  if (*size > limits_.body - request_.body.size())
    return bad({413, "the body is longer than " + std::to_string(limits_.body) + " bytes"});
  missing_ = *size;
  chunk_ = *size == 0 ? Chunk::Trailer : Chunk::Data;
  return state_ = State::Body;
}

RequestReader::State RequestReader::feedChunks(std::string& input) {
  size_t at = 0;  // up to here it is taken
  state_ = State::Body;
  while (state_ == State::Body) {
    if (chunk_ == Chunk::Data) {
      const size_t taken = std::min(missing_, input.size() - at);
      request_.body.append(input, at, taken);
      at += taken;
      missing_ -= taken;
      if (missing_ > 0) break;
      chunk_ = Chunk::DataEnd;
    }
    const size_t end = input.find(kChunkLineEnd, at);
    size_t size = std::min(end, input.size()) - at;
    // The first half of the line's end may be there alone.
    if (end == std::string::npos && size > 0 && input.back() == kChunkLineEnd.front()) --size;
    if (size > std::min(kLongestChunkLine, limits_.header) ||
        aroundChunks_ + size > limits_.header + limits_.body) {
      bad({413, "there is too much around the chunks of the body"});
      break;
    }
    if (end == std::string::npos) break;
    aroundChunks_ += size + kChunkLineEnd.size();
    takeChunkLine(std::string_view(input).substr(at, size));
    at += size + kChunkLineEnd.size();
  }
  input.erase(0, at);
  return state_;
}

RequestReader::State RequestReader::feed(std::string& input) {
  switch (state_) {
    case State::Header:
      return feedHeader(input);
    case State::HeaderRead:
    case State::Body:
      return feedBody(input);
    case State::Whole:
    case State::Bad:
      break;
  }
  return state_;
}

std::string responseText(const HttpResponse& response, bool close, bool withBody, bool inChunks) {
  std::string text =
      "HTTP/1.1 " + std::to_string(response.status) + " " + std::string(reasonOf(response.status)) + "\r\n";
  if (!response.contentType.empty())
    text.append("Content-Type: ").append(response.contentType).append("\r\n");
  for (const auto& [name, value] : response.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (response.stream == nullptr)
    text.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
  else if (inChunks)
    text.append("Transfer-Encoding: chunked\r\n");
  if (close) text.append("Connection: close\r\n");
  text.append("\r\n");
  if (withBody && response.stream == nullptr) text.append(response.body);
  return text;
}

std::string chunkText(std::string_view piece) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16);
  std::string text(digits.data(), end);
  text.append(kChunkLineEnd).append(piece).append(kChunkLineEnd);
  return text;
}

}  // namespace lastout::net
