#include "simulator/cel_lexer.h"

#include <algorithm>

#include "kube/encoding.h"
#include "kube/messages.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\f";
constexpr std::string_view kOtherSymbols = "-*/%{}`";  // of CEL, and not evaluated here
constexpr int kHexBase = 16;

bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void celBeyond(const std::string& what) { throw CelProblem{what + " is not supported", true}; }

size_t celCharactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

CelToken CelLexer::next() {
  position_ = std::min(text_.find_first_not_of(kSpaces, position_), text_.size());
  CelToken token{CelToken::Kind::End, "", position_};
  if (position_ == text_.size()) return token;
  const char first = text_[position_];
  if (first == '\'' || first == '"') return {CelToken::Kind::Text, string(first), token.at};
  if (isWordStart(first)) return {CelToken::Kind::Word, word(), token.at};
  if (isDigit(first)) return {CelToken::Kind::Number, number(), token.at};
  for (const std::string_view symbol :
       {"==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", ",", ".", "+", "!", "<", ">", "?", ":"}) {
    if (!text_.substr(position_).starts_with(symbol)) continue;
    position_ += symbol.size();
    return {CelToken::Kind::Symbol, std::string(symbol), token.at};
  }
  const std::string symbol = kube::inQuotes(text_.substr(position_, 1)) + place(token.at);
  if (kOtherSymbols.find(first) != std::string_view::npos) celBeyond(symbol);
  throw CelProblem{"Syntax error: " + symbol + " is not expected"};
}

std::string CelLexer::place(size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const size_t line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
  const size_t begin = before.rfind('\n');
  const std::string_view column = begin == std::string_view::npos ? before : before.substr(begin + 1);
  return " at " + std::to_string(line) + ":" + std::to_string(celCharactersIn(column) + 1);
}

std::string CelLexer::word() {
  const size_t begin = position_;
  while (position_ < text_.size() && (isWordStart(text_[position_]) || isDigit(text_[position_])))
    ++position_;
  const char next = position_ < text_.size() ? text_[position_] : '\0';
  if (next == '\'' || next == '"') celBeyond("a string with a prefix" + place(begin));
  return std::string(text_.substr(begin, position_ - begin));
}

std::string CelLexer::number() {
  const size_t begin = position_;
  while (position_ < text_.size() && isDigit(text_[position_])) ++position_;
  const char next = position_ < text_.size() ? text_[position_] : '\0';
  const std::string_view digits = text_.substr(begin, position_ - begin);
  if (isWordStart(next) || next == '.' || digits.size() > 18) celBeyond("the number" + place(begin));
  return std::string(digits);
}

std::string CelLexer::string(char quote) {
  const size_t begin = position_++;
  if (text_.substr(begin).starts_with(std::string(3, quote)))
    celBeyond("a string in three quotes" + place(begin));
  std::string made;
  while (position_ < text_.size() && text_[position_] != quote && text_[position_] != '\n') {
    if (text_[position_] == '\\')
      escape(made);
    else
      made += text_[position_++];
  }
  if (position_ >= text_.size() || text_[position_] != quote)
    throw CelProblem{"Syntax error: the string" + place(begin) + " does not end"};
  ++position_;
  return made;
}

void CelLexer::escape(std::string& made) {
  static constexpr std::string_view kEscapes = "\\'\"`?abfnrtv";
  static constexpr std::string_view kMeanings = "\\'\"`?\a\b\f\n\r\t\v";
  const size_t begin = position_++;
  const char kind = position_ < text_.size() ? text_[position_++] : '\0';
  if (const size_t known = kEscapes.find(kind); known != std::string_view::npos) {
    made += kMeanings[known];
  } else if (kind == 'x' || kind == 'u') {
    codePoint(made, kind == 'x' ? 2 : 4, begin);
  } else {
    throw CelProblem{"Syntax error: the escape" + place(begin) +
                     " is none of \\\\ \\' \\\" \\` \\? \\a \\b \\f \\n "
                     "\\r \\t \\v \\x \\u"};
  }
}

void CelLexer::codePoint(std::string& made, size_t digits, size_t begin) {
  const std::string_view written = text_.substr(std::min(position_, text_.size()), digits);
  uint32_t point = 0;
  for (const char digit : written) {
    const size_t value = kube::kHexDigits.find(static_cast<char>(isDigit(digit) ? digit : digit | 0x20));
    if (value == std::string_view::npos || written.size() < digits) point = 0xd800;
    point = point >= 0xd800 && point < 0xe000 ? point : point * kHexBase + static_cast<uint32_t>(value);
  }
  if (written.size() < digits || (point >= 0xd800 && point < 0xe000))
    throw CelProblem{"Syntax error: the escape" + place(begin) + " is no character"};
  position_ += digits;
  if (point < 0x80) {
    made += static_cast<char>(point);
  } else if (point < 0x800) {
    made += static_cast<char>(0xc0 | (point >> 6U));
    made += static_cast<char>(0x80 | (point & 0x3fU));
  } else {
    made += static_cast<char>(0xe0 | (point >> 12U));
    made += static_cast<char>(0x80 | ((point >> 6U) & 0x3fU));
    made += static_cast<char>(0x80 | (point & 0x3fU));
  }
}

}  // namespace lastout::simulator
