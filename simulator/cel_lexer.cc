#include "simulator/cel_lexer.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "kube/ascii.h"
#include "kube/messages.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\f";
constexpr uint32_t kNoCharacter = 0xd800;  // half of a pair of UTF-16

bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isQuote(char c) { return c == '\'' || c == '"'; }

void appendCharacter(std::string& made, uint32_t point) {
  const auto add = [&made](uint32_t byte) { made += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0 | (point >> 6U));
  } else if (point < 0x10000) {
    add(0xe0 | (point >> 12U));
    add(0x80 | ((point >> 6U) & 0x3fU));
  } else {
    add(0xf0 | (point >> 18U));
    add(0x80 | ((point >> 12U) & 0x3fU));
    add(0x80 | ((point >> 6U) & 0x3fU));
  }
  add(0x80 | (point & 0x3fU));
}

}  // namespace

size_t celCharactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

char CelLexer::at(size_t offset) const {
  return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
}

// A comment goes to the end of its line.
void CelLexer::skipSpace() {
  for (;;) {
    position_ = std::min(text_.find_first_not_of(kSpaces, position_), text_.size());
    if (!text_.substr(position_).starts_with("//")) return;
    position_ = std::min(text_.find('\n', position_), text_.size());
  }
}

// A string may have the prefixes r (escapes mean nothing) and b (it is of bytes).
bool CelLexer::isAtString() const {
  size_t offset = 0;
  while (offset < 2 && std::string_view("rRbB").find(at(offset)) != std::string_view::npos) ++offset;
  return isQuote(at(offset)) && (offset < 2 || (at(0) | 0x20) != (at(1) | 0x20));
}

CelToken CelLexer::next() {
  skipSpace();
  CelToken token;
  token.at = position_;
  if (position_ == text_.size()) return token;
  if (isAtString()) return string();
  if (isWordStart(at(0))) {
    token.kind = CelToken::Kind::Word;
    token.text = word();
    return token;
  }
  if (kube::isDigit(at(0)) || (at(0) == '.' && kube::isDigit(at(1)))) return number();
  token.kind = CelToken::Kind::Symbol;
  static constexpr auto kSymbols =
      std::to_array<std::string_view>({"==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}",
                                       ",",  ".",  "+",  "-",  "*",  "/",  "%", "!", "<", ">", "?", ":"});
  for (const std::string_view symbol : kSymbols) {
    if (!text_.substr(position_).starts_with(symbol)) continue;
    position_ += symbol.size();
    token.text = symbol;
    return token;
  }
  throw CelProblem{"Syntax error: " + kube::inQuotes(text_.substr(position_, 1)) + place(token.at) +
                   " is not expected"};
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
  while (isWordStart(at(0)) || kube::isDigit(at(0))) ++position_;
  return std::string(text_.substr(begin, position_ - begin));
}

CelToken CelLexer::number() {
  static const re2::RE2 kDouble(R"((\d*\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+))");
  static const re2::RE2 kInteger(R"((?:0x([0-9a-fA-F]+)|(\d+))([uU]?))");
  CelToken token{CelToken::Kind::Constant, "", position_, {}, CelKind::Double};
  re2::StringPiece rest(text_.data() + position_, text_.size() - position_);
  std::string hexadecimal;
  std::string digits;
  std::string suffix;
  if (re2::RE2::Consume(&rest, kDouble, &digits)) {
    token.value = std::strtod(digits.c_str(), nullptr);
  } else {
    re2::RE2::Consume(&rest, kInteger, &hexadecimal, &digits, &suffix);
    token.type = suffix.empty() ? CelKind::Integer : CelKind::Unsigned;
    const std::string& written = hexadecimal.empty() ? digits : hexadecimal;
    uint64_t whole = 0;
    const auto [stop, error] = std::from_chars(written.data(), written.data() + written.size(), whole,
                                               hexadecimal.empty() ? 10 : 16);
    // 2^63 is the least integer without its sign, which the parser looks at.
    const uint64_t most = suffix.empty() ? uint64_t{1} << 63U : UINT64_MAX;
    if (error != std::errc() || whole > most)
      throw CelProblem{"Syntax error: invalid int literal" + place(token.at)};
    token.value = whole;
    if (suffix.empty() && whole < most) token.value = static_cast<int64_t>(whole);
  }
  position_ = text_.size() - rest.size();
  return token;
}

CelToken CelLexer::string() {
  CelToken token{CelToken::Kind::Constant, "", position_, {}, CelKind::Text};
  bool isRaw = false;
  for (; !isQuote(at(0)); ++position_) {
    isRaw = isRaw || (at(0) | 0x20) == 'r';
    if ((at(0) | 0x20) == 'b') token.type = CelKind::Bytes;
  }
  std::string end(1, at(0));
  if (text_.substr(position_).starts_with(std::string(3, at(0)))) end = std::string(3, at(0));
  position_ += end.size();
  std::string made;
  while (position_ < text_.size() && !text_.substr(position_).starts_with(end) &&
         (end.size() > 1 || (at(0) != '\n' && at(0) != '\r'))) {
    if (at(0) == '\\' && !isRaw)
      escape(made, token.type == CelKind::Bytes);
    else
      made += text_[position_++];
  }
  if (!text_.substr(position_).starts_with(end))
    throw CelProblem{"Syntax error: the string" + place(token.at) + " does not end"};
  position_ += end.size();
  token.value = std::move(made);
  return token;
}

void CelLexer::escape(std::string& made, bool isBytes) {
  static constexpr std::string_view kEscapes = "\\'\"`?abfnrtv";
  static constexpr std::string_view kMeanings = "\\'\"`?\a\b\f\n\r\t\v";
  const size_t begin = position_++;
  const char kind = at(0);
  if (kind != '\0') ++position_;
  if (const size_t known = kEscapes.find(kind); kind != '\0' && known != std::string_view::npos) {
    made += kMeanings[known];
  } else if (kind == 'x' || kind == 'X') {
    codePoint(made, 2, 16, isBytes, begin);
  } else if (kind == 'u' && !isBytes) {
    codePoint(made, 4, 16, isBytes, begin);
  } else if (kind == 'U' && !isBytes) {
    codePoint(made, 8, 16, isBytes, begin);
  } else if (kind >= '0' && kind <= '3') {
    --position_;
    codePoint(made, 3, 8, isBytes, begin);
  } else {
    throw CelProblem{
        "Syntax error: the escape" + place(begin) +
        " is none of \\\\ \\' \\\" \\` \\? \\a \\b \\f \\n \\r \\t \\v \\x \\u \\U and octal digits"};
  }
}

void CelLexer::codePoint(std::string& made, size_t digits, int base, bool isBytes, size_t begin) {
  const std::string_view written = text_.substr(std::min(position_, text_.size()), digits);
  uint32_t point = kNoCharacter;
  const auto [stop, error] = std::from_chars(written.data(), written.data() + written.size(), point, base);
  const bool isWhole = error == std::errc() && written.size() == digits && stop == written.data() + digits;
  const bool isCharacter = point < 0x110000 && (point < kNoCharacter || point >= 0xe000);
  if (!isWhole || !isCharacter)
    throw CelProblem{"Syntax error: the escape" + place(begin) + " is no character"};
  position_ += digits;
  if (isBytes)
    made += static_cast<char>(point);
  else
    appendCharacter(made, point);
}

}  // namespace lastout::simulator
