#include "admission/json_cursor.h"

#include "admission/json_text.h"
#include "kube/parse.h"
#include "kube/source_text.h"

namespace lastout::admission {
namespace {

bool isDigit(char character) { return character >= '0' && character <= '9'; }

std::optional<uint32_t> hexDigit(char character) {
  if (isDigit(character)) return static_cast<uint32_t>(character - '0');
  const char lower = static_cast<char>(character | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<uint32_t>(lower - 'a' + 10);
  return std::nullopt;
}

}  // namespace

bool JsonCursor::fail(std::string_view what) {
  if (problem_.empty()) problem_ = std::string(what) + " (byte " + std::to_string(at_ + 1) + ")";
  return false;
}

void JsonCursor::stepOverBlanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

bool JsonCursor::comesTo(char character) {
  stepOverBlanks();
  return !failed() && isAt(character);
}

size_t JsonCursor::begin() {
  stepOverBlanks();
  return at_;
}

void JsonCursor::finish() {
  stepOverBlanks();
  if (!failed() && at_ < text_.size()) fail("something follows the end of the JSON text");
}

bool JsonCursor::enter(char opening) {
  stepOverBlanks();
  if (failed()) return false;
  if (!isAt(opening)) return fail(opening == '{' ? "a map was expected" : "a list was expected");
  if (depth_ == kDeepest)
    return fail("lists and maps are nested more than " + std::to_string(kDeepest) + " deep");
  ++at_;
  ++depth_;
  maps_ = (maps_ << 1) | (opening == '{' ? 1U : 0U);
  return true;
}

bool JsonCursor::leave(char closing) {
  stepOverBlanks();
  if (!isAt(closing)) return false;
  ++at_;
  --depth_;
  maps_ >>= 1;
  return true;
}

bool JsonCursor::goesOn(char closing) {
  if (failed()) return false;
  stepOverBlanks();
  if (isAt(',')) {
    ++at_;
    return true;
  }
  if (leave(closing)) return false;
  return fail(at_ == text_.size() ? "the JSON text ends too early"
                                  : std::string("a comma or ") + closing + " was expected");
}

std::string JsonCursor::nextKey() {
  stepOverBlanks();
  const size_t begin = at_;
  if (!keyAndColon()) return {};
  const std::string_view raw = text_.substr(begin, text_.find_last_of('"', at_ - 1) - begin + 1);
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  const auto decoded = kube::parseJson(raw, "");
  if (decoded && decoded->asString() != nullptr) return *decoded->asString();
  fail("a key is not understood");
  return {};
}

bool JsonCursor::keyAndColon() {
  stepOverBlanks();
  if (!isAt('"')) return fail("a key in quotes was expected");
  if (!string()) return false;
  stepOverBlanks();
  if (!isAt(':')) return fail("a colon was expected");
  ++at_;
  return true;
}

std::optional<uint32_t> JsonCursor::fourDigits() {
  uint32_t unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const auto digit = at_ < text_.size() ? hexDigit(text_[at_]) : std::nullopt;
    if (!digit) {
      fail("\\u needs four hexadecimal digits");
      return std::nullopt;
    }
    unit = unit << 4 | *digit;
  }
  return unit;
}

// Behind the backslash.
bool JsonCursor::escape() {
  if (at_ == text_.size()) return fail("a string has no end");
  const char kind = text_[at_++];
  if (kind != 'u')
    return std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos || fail("no such escape");
  const auto first = fourDigits();
  if (!first) return false;
  if (*first < 0xD800 || *first > 0xDFFF) return true;
  if (*first > 0xDBFF || text_.substr(at_, 2) != "\\u") return fail("half of a surrogate pair");
  at_ += 2;
  const auto second = fourDigits();
  if (!second) return false;
  return (*second >= 0xDC00 && *second <= 0xDFFF) || fail("half of a surrogate pair");
}

// At the opening quote.
bool JsonCursor::string() {
  ++at_;
  while (true) {
    at_ += plainLength(text_.substr(at_));
    if (at_ == text_.size()) return fail("a string has no end");
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '"') {
      ++at_;
      return true;
    }
    if (byte == '\\') {
      ++at_;
      if (!escape()) return false;
    } else if (byte < 0x20) {
      return fail("a control character stands in a string");
    } else {
      const size_t length = kube::utf8Length(text_.substr(at_));
      if (length == 0) return fail("this is not UTF-8");
      at_ += length;
    }
  }
}

bool JsonCursor::digits() {
  if (at_ == text_.size() || !isDigit(text_[at_])) return fail("a digit was expected");
  while (at_ < text_.size() && isDigit(text_[at_])) ++at_;
  return true;
}

bool JsonCursor::number() {
  if (isAt('-')) ++at_;
  if (isAt('0')) {
    ++at_;
  } else if (!digits()) {
    return false;
  }
  if (isAt('.')) {
    ++at_;
    if (!digits()) return false;
  }
  if (!isAt('e') && !isAt('E')) return true;
  ++at_;
  if (isAt('+') || isAt('-')) ++at_;
  return digits();
}

bool JsonCursor::word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return fail("this is no JSON");
  at_ += word.size();
  return true;
}

bool JsonCursor::scalar() {
  if (at_ == text_.size()) return fail("the JSON text ends too early");
  switch (text_[at_]) {
    case '"':
      return string();
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      if (isAt('-') || isDigit(text_[at_])) return number();
      if (kube::utf8Length(text_.substr(at_)) == 0) return fail("this is not UTF-8");
      return fail("this is no JSON");
  }
}

bool JsonCursor::startMember() { return (maps_ & 1) == 0 || keyAndColon(); }

// Goes inwards until a scalar, or an empty list or map, is stepped over.
bool JsonCursor::startValue() {
  while (true) {
    stepOverBlanks();
    if (!isAt('{') && !isAt('[')) return scalar();
    const bool isMap = isAt('{');
    if (!enter(isMap ? '{' : '[')) return false;
    if (leave(isMap ? '}' : ']')) return true;
    if (!startMember()) return false;
  }
}

bool JsonCursor::endsMember() { return goesOn((maps_ & 1) != 0 ? '}' : ']'); }

std::string_view JsonCursor::skip() {
  if (failed()) return {};
  stepOverBlanks();
  const size_t begin = at_;
  const size_t outside = depth_;
  if (!startValue()) return {};
  while (depth_ > outside) {
    const bool another = endsMember();
    if (another && (!startMember() || !startValue())) return {};
    if (failed()) return {};
  }
  return text_.substr(begin, at_ - begin);
}

}  // namespace lastout::admission
