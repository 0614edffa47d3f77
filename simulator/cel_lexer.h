// CelLexer: from the text of an expression to its words, strings, numbers and symbols.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lastout::simulator {

// The end of each sentence that refuses what other CEL evaluates.
inline constexpr const char* kSupportedCel =
    "this API server evaluates strings, integers, lists, true, false, null, in, +, ==, !=, <, <=, >, >=, &&, "
    "||, "
    "!, ?:, (), has(), size(), startsWith(), endsWith(), contains(), all(), exists(), filter(), map(), and "
    "fields and items of object, oldObject and request, and in policies authorizer and variables";

struct CelToken {
  enum class Kind : uint8_t { End, Word, Text, Number, Symbol };
  Kind kind = Kind::End;
  std::string text;  // of a Text what it stands for
  size_t at = 0;     // where it begins
};

// Thrown by the lexer and the parser, and caught by parseCel(): the words of the first problem.
struct CelProblem {
  std::string words;
  bool isBeyond = false;  // the API server compiles it; this part of CEL lacks something
};
// Throws for what is CEL and not of this part of it.
[[noreturn]] void celBeyond(const std::string& what);

// In UTF-8, of which each character has one byte that is no continuation.
size_t celCharactersIn(std::string_view text);

// `text` must outlive it.
class CelLexer {
 public:
  explicit CelLexer(std::string_view text) : text_(text) {}

  CelToken next();                     // throws CelProblem
  std::string place(size_t at) const;  // " at line:column", as compilers count

 private:
  std::string word();
  std::string number();
  std::string string(char quote);
  void escape(std::string& made);
  void codePoint(std::string& made, size_t digits, size_t begin);

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace lastout::simulator
