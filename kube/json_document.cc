#include "kube/json_document.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace lastout::kube {
namespace {

std::string jsonProblem(simdjson::error_code code, size_t deepest) {
  switch (code) {
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::DEPTH_ERROR:
      return "lists and maps are nested more than " + std::to_string(deepest) + " deep";
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    default:
      return simdjson::error_message(code);
  }
}

template <class Whole>
bool fits(std::string_view digits) {
  Whole value;
  return std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc();
}

// Of valid JSON, with ".0" behind whole numbers that do not fit 64 bits: without it the library refuses them,
// and Go writes a double such as 1e20 so.
std::string withWidePoints(std::string_view text) {
  constexpr size_t kShortest = 19;  // digits that may not fit
  std::string wide;
  bool inString = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = inString ? std::min(text.find_first_of("\"\\", at), text.size())
                                : std::min(text.find_first_of("\"-0123456789", at), text.size());
    wide.append(text.substr(at, end - at));
    at = end;
    if (at == text.size()) break;
    if (text[at] == '\\' || text[at] == '"') {
      if (text[at] == '"') inString = !inString;
      const std::string_view sign = text.substr(at, text[at] == '"' ? 1 : 2);
      wide.append(sign);
      at += sign.size();
      continue;
    }
    const std::string_view number = text.substr(at, text.find_first_not_of("+-.eE0123456789", at) - at);
    wide.append(number);
    at += number.size();
    const bool isWhole = number.find_first_of(".eE") == std::string_view::npos;
    if (isWhole && number.size() >= kShortest && !fits<int64_t>(number) && !fits<uint64_t>(number))
      wide.append(".0");
  }
  return wide;
}

}  // namespace

struct JsonDocument::Usual {
  simdjson::dom::parser parser;
  bool isTaken = false;
};

JsonDocument::JsonDocument(std::string_view text, size_t deepest) {
  thread_local Usual usual;
  if (text.size() <= kUsualBytes && !usual.isTaken) {
    usual_ = &usual;
    usual.isTaken = true;
  } else {
    larger_ = std::make_unique<simdjson::dom::parser>();
  }
  simdjson::error_code failed = parse(text, deepest);
  if (failed == simdjson::NUMBER_ERROR) failed = parse(withWidePoints(text), deepest);
  if (failed != simdjson::SUCCESS) problem_ = jsonProblem(failed, deepest);
}

simdjson::error_code JsonDocument::parse(std::string_view text, size_t deepest) {
  simdjson::dom::parser& parser = usual_ != nullptr ? usual_->parser : *larger_;
  const size_t maxDepth = deepest + 1;  // which is never reached
  if (parser.capacity() < text.size() || parser.max_depth() != maxDepth) {
    const size_t capacity = std::max(text.size(), usual_ != nullptr ? kUsualBytes : 0);
    if (const auto failed = parser.allocate(capacity, maxDepth); failed != simdjson::SUCCESS) return failed;
  }
  return parser.parse(text.data(), text.size()).get(root_);
}

JsonDocument::~JsonDocument() {
  if (usual_ != nullptr) usual_->isTaken = false;
}

}  // namespace lastout::kube
