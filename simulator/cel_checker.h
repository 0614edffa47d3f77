// CelChecker: gives each node of an expression its type, and says what does not fit.
// https://github.com/google/cel-spec/blob/master/doc/langdef.md#gradual-type-checking
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/cel_node.h"
#include "simulator/cel_parser.h"

namespace lastout::simulator {

// For one expression. What the functions find wrong they throw, as CelProblem.
class CelChecker {
 public:
  // Both must outlive it.
  CelChecker(const CelParser& parser, const CelEnvironment& environment)
      : parser_(parser), environment_(environment) {}

  // Completes the nodes: their types, and what words and calls mean to the evaluation.
  void check(CelNode& node);
  const std::set<std::string, std::less<>>& uses() const { return uses_; }  // the names of values
  const std::string& beyond() const { return beyond_; }  // the first of what is not evaluated

 private:
  // Names what is CEL and not evaluated here.
  void notEvaluated(const std::string& what, const CelNode& node);
  [[noreturn]] void fail(const std::string& why, const CelNode& node) const;
  [[noreturn]] void noOverload(const CelNode& node, std::string_view function) const;
  // Returns the type of the function's result for the operands; fails when it takes none such.
  CelType resultOf(const CelNode& node, std::string_view function) const;
  CelType foldedOver(const CelNode& node) const;
  // A step from `authorizer` to its answer is evaluated where a function takes it, or ?: chooses one.
  void holdsNoAccess(const CelNode& node);

  void word(CelNode& node);
  void field(CelNode& node);
  bool dottedName(CelNode& node);
  CelType fieldOf(const CelType& type, const CelNode& node) const;
  void index(CelNode& node);
  void list(CelNode& node);
  void map(CelNode& node);
  CelType joined(const CelType& one, const CelNode& next) const;
  void membership(CelNode& node);
  void call(CelNode& node);
  void checkLiterals(const CelNode& node) const;
  void macro(CelNode& node);
  std::vector<CelType> ranged(const CelNode& node) const;

  const CelParser& parser_;
  const CelEnvironment& environment_;
  std::vector<std::pair<std::string, CelType>> locals_;  // that the macros around it bind
  std::set<std::string, std::less<>> uses_;
  std::string beyond_;
};

}  // namespace lastout::simulator
