// CelExpression: a part of CEL, the language of matchConditions and of admission policies (https://cel.dev),
// compiled once and evaluated for each request.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "simulator/cel_type.h"
#include "simulator/json.h"
#include "simulator/user.h"

namespace lastout::simulator {

// The names that an expression may use, and its result's type.
struct CelEnvironment {
  bool hasAuthorizer = false;
  bool asksAuthorizer = true;  // false: what needs it compiles, and is not evaluated
  bool hasParameters = false;
  // The fields of `variables`. nullptr: there is no such name.
  const CelNames* variables = nullptr;
  CelType result = CelKind::Bool;  // Dynamic: any
  // The names of a CRD's rule with their types, and the Objects among these. nullptr: `object`, `oldObject`,
  // `request` and `namespaceObject`, as admission has them.
  const CelNames* names = nullptr;
  const CelObjects* objects = nullptr;
};

// Answers calls of `authorizer`. `mayDo` returns whether the user of the request may do something.
struct CelAuthorizer {
  std::function<bool(const AccessAttributes&)> mayDo;
  AccessAttributes requestResource;  // without a verb
};

// The values of the names, which must outlive the evaluation. nullptr: null. A CRD's rule calls the first two
// `self` and `oldSelf`.
struct CelVariables {
  const Json* object = nullptr;
  const Json* oldObject = nullptr;
  const Json* request = nullptr;  // needed only if it uses that
  const CelAuthorizer* authorizer = nullptr;
  const Json* parameter = nullptr;  // `params`
};

inline constexpr size_t kLongestCel = 100'000;  // characters, as the API server has it
inline constexpr int kDeepestCel = 64;          // nesting of parentheses, lists, operators and fields
// The API server bounds the cost of an expression, and of all of a policy together. Here, only asking the
// authorizer has a cost; so an expression asks it twice at most.
inline constexpr int64_t kCostOfCheck = 350'000;
inline constexpr int64_t kMostCostOfExpression = 1'000'000;
inline constexpr int64_t kMostCostOfPolicy = 10'000'000;

struct CelNode;

// Compiled is all of CEL as API servers know it. Evaluated are strings, integers, lists, true, false and
// null; `in`, +, ==, !=, <, <=, >, >=, &&, ||, !, ?: and parentheses; has(), size(), startsWith(),
// endsWith(), contains(); all(), exists(), exists_one(), filter() and map() with one name; the fields and
// items of `object`, `oldObject`, `request`, `params`, `variables`, `self` and `oldSelf`; and the calls from
// `authorizer` to allowed(). `in` looks a string up in a list by hash. A compiled expression does not change:
// safe for any number of threads.
class CelExpression {
 public:
  // Fails with the API server's words for an expression that does not compile, or evaluates to another type.
  // What compiles and is not evaluated here is an expression whose evaluation always fails.
  static tl::expected<CelExpression, std::string> compile(std::string_view text,
                                                          const CelEnvironment& environment = {});

  // Returns the result. Fails with the API server's words where a field is missing, or a value has the wrong
  // type.
  tl::expected<bool, std::string> test(const CelVariables& variables) const;
  bool uses(std::string_view name) const { return uses_.contains(name); }  // of a value: "request"
  const CelType& type() const;
  // Says what it needs that is not evaluated here; empty: it is evaluated.
  std::string_view beyond() const;
  const std::string& text() const { return text_; }  // its beginning, for messages

 private:
  friend class CelRun;
  CelExpression(std::string text, std::shared_ptr<const CelNode> root,
                std::set<std::string, std::less<>> uses);
  std::string failure(std::string_view why) const;

  std::string text_;
  std::shared_ptr<const CelNode> root_;
  std::set<std::string, std::less<>> uses_;
};

// One of the `variables` of a policy.
struct CelVariable {
  std::string name;
  CelExpression expression;
};

class CelValue;

// The evaluation of a policy's expressions for one request: a variable is evaluated once, when it is first
// asked for; the cost of all of it is bounded. For one thread.
class CelRun {
 public:
  // Keeps references to both. `definitions` may be nullptr: there are none.
  CelRun(const CelVariables& variables, const std::vector<CelVariable>* definitions,
         int64_t budget = kMostCostOfPolicy);
  ~CelRun();
  CelRun(const CelRun&) = delete;
  CelRun& operator=(const CelRun&) = delete;

  tl::expected<bool, std::string> test(const CelExpression& expression);
  // nullopt: it evaluates to no text, or fails.
  std::optional<std::string> text(const CelExpression& expression);

  // For the evaluation: returns the variable's value.
  const tl::expected<CelValue, std::string>& variable(const std::string& name);
  // For the evaluation: returns false when the budget is used up.
  bool pay(int64_t cost);
  const CelVariables& variables() const { return variables_; }

 private:
  const CelVariables& variables_;
  const std::vector<CelVariable>* definitions_;
  int64_t budget_;
  std::map<std::string, tl::expected<CelValue, std::string>, std::less<>> known_;
};

}  // namespace lastout::simulator
