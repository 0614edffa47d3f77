#include "prove/promela_tokens.h"

#include <algorithm>
#include <array>

#include "kube/ascii.h"

namespace lastout::prove {

namespace {

// Those of Murphi, also the ones that have no translation: none of them is a name.
constexpr std::array<std::string_view, 41> kKeywords = {
    "alias",  "array",     "assert",      "assume",   "begin",   "by",        "case",
    "clear",  "const",     "cover",       "do",       "else",    "elsif",     "end",
    "enum",   "error",     "exists",      "for",      "forall",  "function",  "if",
    "in",     "invariant", "isundefined", "liveness", "of",      "procedure", "property",
    "put",    "record",    "return",      "rule",     "ruleset", "scalarset", "startstate",
    "switch", "then",      "type",        "undefine", "var",     "while"};

// The longer ones first.
constexpr std::array<std::string_view, 24> kSigns = {"==>", ":=", "!=", "<=", ">=", "..", "{", "}",
                                                     ":",   ";",  ",",  ".",  "(",  ")",  "[", "]",
                                                     "=",   "<",  ">",  "&",  "|",  "!",  "-", "+"};

bool isOfName(char c) {
  return kube::isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

template <class Predicate>
size_t pastAll(std::string_view text, size_t at, Predicate belongs) {
  while (at < text.size() && belongs(text[at])) ++at;
  return at;
}

}  // namespace

MurphiTokens::MurphiTokens(std::string_view text) {
  uint32_t line = 1;
  for (size_t at = 0; at < text.size() && !error_;) {
    if (isSpace(text[at])) {
      line += text[at] == '\n' ? 1 : 0;
      ++at;
    } else if (text.substr(at, 2) == "--") {
      at = pastAll(text, at, [](char c) { return c != '\n'; });
    } else {
      at = read(text, at, line);
    }
  }
  tokens_.push_back({TokenKind::End, "the end", line});
  if (error_) at_ = tokens_.size() - 1;
}

// Reads the token that begins there; returns where it ends.
size_t MurphiTokens::read(std::string_view text, size_t at, uint32_t line) {
  const auto add = [&](TokenKind kind, size_t begin, size_t end, size_t next) {
    tokens_.push_back({kind, std::string(text.substr(begin, end - begin)), line});
    return next;
  };
  if (kube::isDigit(text[at])) {
    const size_t end = pastAll(text, at, kube::isDigit);
    return add(TokenKind::Number, at, end, end);
  }
  if (isOfName(text[at])) {
    const size_t end = pastAll(text, at, isOfName);
    const bool isKeyword = std::ranges::find(kKeywords, text.substr(at, end - at)) != kKeywords.end();
    return add(isKeyword ? TokenKind::Keyword : TokenKind::Name, at, end, end);
  }
  if (text[at] == '"') {
    const size_t end = pastAll(text, at + 1, [](char c) { return c != '"' && c != '\\' && c != '\n'; });
    if (end < text.size() && text[end] == '"') return add(TokenKind::Text, at + 1, end, end + 1);
  }
  for (const std::string_view sign : kSigns)
    if (text.substr(at).starts_with(sign))
      return add(TokenKind::Sign, at, at + sign.size(), at + sign.size());
  error_ =
      kube::Error{"nothing in Murphi that has a translation begins with '" + std::string(1, text[at]) + "'",
                  {},
                  {line, 0}};
  return text.size();
}

bool MurphiTokens::is(std::string_view text) const {
  return (is(TokenKind::Keyword) || is(TokenKind::Sign)) && next().text == text;
}

bool MurphiTokens::take(std::string_view text) {
  if (!is(text)) return false;
  ++at_;
  return true;
}

void MurphiTokens::want(std::string_view text) {
  if (!take(text)) refuse("'" + std::string(text) + "' is wanted, and here is '" + next().text + "'");
}

std::string MurphiTokens::take(TokenKind kind, const std::string& what) {
  if (is(kind)) return tokens_[at_++].text;
  refuse(what + " is wanted, and here is '" + next().text + "'");
  return {};
}

void MurphiTokens::refuse(std::string message) {
  if (!error_) error_ = kube::Error{std::move(message), {}, {next().line, 0}};
  at_ = tokens_.size() - 1;
}

}  // namespace lastout::prove
