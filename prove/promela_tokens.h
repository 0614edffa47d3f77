// The words and signs of a Murphi model (promela_tokens.cc). Internal to prove/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"

namespace lastout::prove {

enum class TokenKind : uint8_t { Name, Keyword, Number, Text, Sign, End };

struct MurphiToken {
  TokenKind kind = TokenKind::End;
  std::string text;
  uint32_t line = 0;
};

// The tokens of a model, taken from the front. Once something is refused there are none left, so that whoever
// reads comes to an end; what he has made of them is worth nothing then.
class MurphiTokens {
 public:
  explicit MurphiTokens(std::string_view text);

  const MurphiToken& next() const { return tokens_[at_]; }
  bool is(TokenKind kind) const { return next().kind == kind; }
  bool is(std::string_view text) const;  // a keyword or a sign
  bool isOver() const { return is(TokenKind::End); }

  // Takes the next token if it is that keyword or sign.
  bool take(std::string_view text);
  // Takes it, or refuses the model.
  void want(std::string_view text);
  // Takes a name, a number or a text in quotes, or refuses the model.
  std::string take(TokenKind kind, const std::string& what);
  void skip() { at_ += isOver() ? 0 : 1; }
  std::string name() { return take(TokenKind::Name, "a name"); }

  void refuse(std::string message);
  const std::optional<kube::Error>& error() const { return error_; }  // the first

 private:
  size_t read(std::string_view text, size_t at, uint32_t line);

  std::vector<MurphiToken> tokens_;  // the last is an End
  size_t at_ = 0;
  std::optional<kube::Error> error_;
};

}  // namespace lastout::prove
