// CelParser: from the tokens of an expression to its nodes, with their types as far as they are known.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/cel_lexer.h"
#include "simulator/cel_node.h"

namespace lastout::simulator {

// For one expression. What the functions find wrong they throw, as CelProblem.
class CelParser {
 public:
  // `text` and `environment` must outlive it.
  CelParser(std::string_view text, const CelEnvironment& environment)
      : environment_(environment), lexer_(text) {
    take();
  }

  CelProgram parse();

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
  [[noreturn]] void unsupportedFunction(const std::string& name, size_t at) const;
  [[noreturn]] void noOverload(const char* function, std::initializer_list<CelType> types, size_t at) const;
  void want(CelType type, const CelNode& node, const char* function, size_t at) const;

  // Operators, from the one that binds least: cel_parser.cc.
  CelNode expression();
  CelNode chain(const char* symbol, const char* function, CelNode::Kind kind,
                CelNode (CelParser::*operand)());
  CelNode disjunction();
  CelNode conjunction();
  CelNode relation();
  CelNode related(const CelToken& sign, CelNode left, CelNode right) const;
  CelNode equality(const CelToken& sign, CelNode left, CelNode right) const;
  CelNode order(const CelToken& sign, CelNode left, CelNode right) const;
  CelNode membership(CelNode left, CelNode right, size_t at) const;
  CelNode sum();
  CelNode unary();
  CelNode primary();
  CelNode list();

  // Names, fields, items, functions and macros: cel_members.cc.
  CelNode member();
  CelNode item(CelNode node);
  CelNode field(CelNode node, const std::string& name, size_t at) const;
  CelNode call(CelNode receiver, const std::string& name, size_t at);
  CelNode macro(CelNode many, CelNode::Kind kind, size_t at);
  CelNode sizeOf(CelNode of, size_t at) const;
  CelNode word(const CelToken& name);
  CelNode function(const CelToken& name);

  const CelEnvironment& environment_;
  CelLexer lexer_;
  CelToken token_;
  std::vector<std::string> locals_;  // that the macros around it bind
  int depth_ = 0;
  bool usesRequest_ = false;
};

CelNode celNode(CelNode::Kind kind, CelType type, std::string name = {});
// Thrown where something is nested deeper than kDeepestCel.
[[noreturn]] void celTooDeep();
std::string nameOf(CelType type);

}  // namespace lastout::simulator
