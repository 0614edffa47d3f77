#include "net/request_reader.h"

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <limits>
#include <optional>

#include "kube/names.h"

namespace lastout::net {
namespace {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;

std::string toText(boost::beast::string_view text) { return {text.data(), text.size()}; }

// "application/json" of "Application/JSON; charset=utf-8".
std::string mediaType(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (!header.empty() && (header.back() == ' ' || header.back() == '\t')) header.remove_suffix(1);
  return kube::lowerCase(header);
}

}  // namespace

struct RequestReader::Parser {
  explicit Parser(const RequestLimits& given) : limits(given) {
    beast.header_limit(std::numeric_limits<std::uint32_t>::max());  // feedHeader looks
    beast.body_limit(limits.body);
  }

  State bad(int code, std::string why) {
    status = code;
    problem = std::move(why);
    return state = State::Bad;
  }
  State refused(BeastError error);
  State takeHeader();
  State feedHeader(std::string& input);
  State feedBody(std::string& input);

  RequestLimits limits;
  http::request_parser<http::empty_body> beast;  // of the header; the body is taken beside it
  State state = State::Header;
  size_t searched = 0;  // bytes of a header's beginning that do not hold its end
  HttpRequest request;
  bool hasLength = false;
  size_t missing = 0;  // bytes of the body
  int status = 400;
  std::string problem;
};

RequestReader::State RequestReader::Parser::refused(BeastError error) {
  if (error == http::error::body_limit)
    return bad(413, "the body is longer than " + std::to_string(limits.body) + " bytes");
  if (error == http::error::header_limit)
    return bad(431, "the header is longer than " + std::to_string(limits.header) + " bytes");
  return bad(400, "this is no HTTP request: " + error.message());
}

// What Beast lets pass and is not understood here, and what handlers want to know.
RequestReader::State RequestReader::Parser::takeHeader() {
  const auto& message = beast.get();
  const size_t hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11))
    return bad(400, "an HTTP/1.1 request needs one Host header");
  // An API server says the length. Beast 1.74 trips over a last chunk that comes byte by byte.
  if (message.count(http::field::transfer_encoding) != 0)
    return bad(411, "the length of the body has to be said; Transfer-Encoding is not understood");
  if (!message[http::field::content_encoding].empty() &&
      !boost::beast::iequals(message[http::field::content_encoding], "identity"))
    return bad(415, "a body with a Content-Encoding is not understood");
  hasLength = beast.content_length().has_value();
  missing = beast.content_length().value_or(0);  // within the limit, as Beast has looked
  request.method = toText(message.method_string());
  const std::string target = toText(message.target());
  const size_t question = std::min(target.find('?'), target.size());
  request.path = target.substr(0, question);
  if (question < target.size()) request.query = target.substr(question + 1);
  request.host = toText(message[http::field::host]);
  request.contentType = mediaType(toText(message[http::field::content_type]));
  request.accept = toText(message[http::field::accept]);
  request.authorization = toText(message[http::field::authorization]);
  return state = State::HeaderRead;
}

// Beast gets the header in one piece: what it thinks of one near the limit depends on how it came.
RequestReader::State RequestReader::Parser::feedHeader(std::string& input) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t end = input.find(kEnd, searched);
  const size_t size = end == std::string::npos ? input.size() : end + kEnd.size();
  if (size > limits.header) return refused(http::error::header_limit);
  if (end == std::string::npos) {
    searched = size - std::min(size, kEnd.size() - 1);
    return state;
  }
  BeastError error;
  for (size_t taken = 0; taken < size && !error && !beast.is_header_done();)
    taken += beast.put(boost::asio::const_buffer(input.data() + taken, size - taken), error);
  if (error) return refused(error);
  input.erase(0, size);
  return takeHeader();
}

RequestReader::State RequestReader::Parser::feedBody(std::string& input) {
  const size_t taken = std::min(missing, input.size());
  if (request.body.empty() && taken == input.size()) {
    request.body.swap(input);
  } else {
    request.body.append(input, 0, taken);
    input.erase(0, taken);
  }
  missing -= taken;
  return state = missing == 0 ? State::Whole : State::Body;
}

RequestReader::RequestReader(const RequestLimits& limits) : parser_(std::make_unique<Parser>(limits)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::feed(std::string& input) {
  Parser& parser = *parser_;
  switch (parser.state) {
    case State::Header:
      return parser.feedHeader(input);
    case State::HeaderRead:
    case State::Body:
      return parser.feedBody(input);
    case State::Whole:
    case State::Bad:
      break;
  }
  return parser.state;
}

int RequestReader::status() const { return parser_->status; }
const std::string& RequestReader::problem() const { return parser_->problem; }
HttpRequest& RequestReader::request() { return parser_->request; }
bool RequestReader::keepAlive() const { return parser_->beast.get().keep_alive(); }
bool RequestReader::hasLength() const { return parser_->hasLength; }
bool RequestReader::expectsContinue() const {
  return boost::beast::iequals(parser_->beast.get()[http::field::expect], "100-continue");
}

std::string responseText(const HttpResponse& response, bool close, bool withBody) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(response.status));
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " + toText(reason) + "\r\n";
  if (!response.contentType.empty())
    text.append("Content-Type: ").append(response.contentType).append("\r\n");
  for (const auto& [name, value] : response.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  text.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
  if (close) text.append("Connection: close\r\n");
  text.append("\r\n");
  if (withBody) text.append(response.body);
  return text;
}

}  // namespace lastout::net
