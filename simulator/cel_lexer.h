// CelLexer: from the text of an expression to its words, strings, numbers and symbols.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/cel_type.h"
#include "simulator/json.h"

namespace lastout::simulator {

struct CelToken {
  enum class Kind : uint8_t { End, Word, Constant, Symbol };
  Kind kind = Kind::End;
  std::string text;                 // of a Word or Symbol
  size_t at = 0;                    // where it begins
  Json value = {};                  // of a Constant
  CelKind type = CelKind::Dynamic;  // of a Constant
};

// Thrown by the lexer, the parser and the checker, and caught by compileCel(): the words of the first
// problem.
struct CelProblem {
  std::string words;
};

// In UTF-8, of which each character has one byte that is no continuation.
size_t celCharactersIn(std::string_view text);

// `text` must outlive it.
class CelLexer {
 public:
  explicit CelLexer(std::string_view text) : text_(text) {}

  CelToken next();                     // throws CelProblem
  std::string place(size_t at) const;  // " at line:column", as compilers count

 private:
  char at(size_t offset) const;
  void skipSpace();
  bool isAtString() const;
  std::string word();
  CelToken number();
  CelToken string();
  void escape(std::string& made, bool isBytes);
  void codePoint(std::string& made, size_t digits, int base, bool isBytes, size_t begin);

  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace lastout::simulator
