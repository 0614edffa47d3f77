// CelParser: from the tokens of an expression to its nodes. https://github.com/google/cel-spec
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/cel_lexer.h"
#include "simulator/cel_node.h"

namespace lastout::simulator {

struct CelOperator;

// For one expression. What the functions find wrong they throw, as CelProblem.
class CelParser {
 public:
  // `text` must outlive it.
  explicit CelParser(std::string_view text) : lexer_(text) { take(); }

  CelNode parse();
  std::string place(size_t at) const { return lexer_.place(at); }

 private:
  // Counts how deep it is while it is alive.
  class Level {
   public:
    explicit Level(int& depth);
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  CelToken take();
  bool isAt(std::string_view symbol) const;
  bool takeIf(std::string_view symbol);
  void expect(std::string_view symbol);
  [[noreturn]] void unexpected() const;

  // Operators, from the one that binds least.
  CelNode expression();
  CelNode chain(const char* symbol, CelNode::Kind kind, CelNode (CelParser::*operand)());
  CelNode disjunction();
  CelNode conjunction();
  CelNode ranked(std::span<const CelOperator> operators, CelNode left, CelNode (CelParser::*operand)());
  CelNode relation();
  CelNode sum();
  CelNode product();
  CelNode unary();
  CelNode negation(size_t at);
  CelNode primary();
  CelNode element(bool isOptional, size_t at);
  CelNode list(size_t at);
  CelNode map(size_t at);

  // Fields, items, functions and macros.
  CelNode member();
  std::string selector();
  static CelNode field(CelNode of, std::string name, bool isOptional, size_t at);
  CelNode item(CelNode of, size_t at);
  CelNode word(const CelToken& name);
  std::vector<CelNode> arguments();
  CelNode call(CelNode receiver, const std::string& name, size_t at);

  CelLexer lexer_;
  CelToken token_;
  int depth_ = 0;
};

// Thrown where something is nested deeper than kDeepestCel.
[[noreturn]] void celTooDeep();
// "a.b" of fields of words; empty: it is something else.
std::string celDottedName(const CelNode& node);
// True for a word that CEL keeps for itself, which no identifier may be.
bool isCelReserved(std::string_view word);
// True for what may be the name of a policy's variable.
bool isCelIdentifier(std::string_view text);

}  // namespace lastout::simulator
