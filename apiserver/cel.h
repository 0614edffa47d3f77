// CelExpression: a part of CEL, the language of matchConditions (https://cel.dev), compiled once and
// evaluated for each request.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "apiserver/json.h"

namespace lastout::apiserver {

// What an expression is about. nullptr is null; the values must outlive the evaluation.
struct CelVariables {
  const Json* object = nullptr;
  const Json* oldObject = nullptr;
  const Json* request = nullptr;  // needed where usesRequest() alone
};

inline constexpr size_t kLongestCel = 100'000;  // characters, as the API server has it
inline constexpr int kDeepestCel = 64;          // nesting of parentheses, lists, operators and fields

struct CelNode;

// The part: literals of strings and lists, true, false and null; `in`, +, ==, !=, &&, ||, ! and parentheses;
// has(); the fields of `object`, `oldObject` and `request`. `in` a list of strings is looked up by hash. Does
// not change once compiled: safe for any number of threads.
class CelExpression {
 public:
  // Fails with the API server's words for an expression that does not compile, or is no condition, and with a
  // sentence of its own for what it compiles and this part of the language lacks.
  static tl::expected<CelExpression, std::string> compile(std::string_view text);

  // Fails with the API server's words where a field is missing or a value has another type than is needed.
  tl::expected<bool, std::string> test(const CelVariables& variables) const;
  bool usesRequest() const { return usesRequest_; }

 private:
  CelExpression(std::string text, std::shared_ptr<const CelNode> root, bool usesRequest);

  std::string text_;
  std::shared_ptr<const CelNode> root_;
  bool usesRequest_ = false;
};

}  // namespace lastout::apiserver
