// CelEvaluation: evaluates the nodes of one expression, for one request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "simulator/cel_node.h"

namespace lastout::simulator {

// A step from `authorizer` to its answer: the question so far, or the answer.
struct CelAccess {
  AccessAttributes wanted;
  bool allowed = false;
};

// The result of an expression: a reference to a value, a value of its own, or a step of `authorizer`.
class CelValue {
 public:
  explicit CelValue(const Json* there);
  explicit CelValue(Json made) : made_(std::move(made)) {}
  explicit CelValue(CelAccess access) : access_(std::move(access)) {}

  const Json& get() const { return there_ != nullptr ? *there_ : made_; }
  const CelAccess& access() const { return *access_; }  // only if isAccess(type)
  // Returns `part`, which lies in get(): as a reference where this value is one, or else as a copy.
  CelValue partOf(const Json& part) const {
    return there_ != nullptr ? CelValue(&part) : CelValue(Json(part));
  }

 private:
  const Json* there_ = nullptr;
  Json made_;
  std::optional<CelAccess> access_;
};

using CelResult = tl::expected<CelValue, std::string>;
using CelTruth = tl::expected<bool, std::string>;

// For one thread.
class CelEvaluation {
 public:
  explicit CelEvaluation(CelRun& run) : run_(run) {}

  // Returns the result. Fails once the expression has cost too much, also where an operator ignores failures.
  CelResult result(const CelNode& root);

 private:
  CelResult value(const CelNode& node);
  CelTruth truth(const CelNode& node);

  CelResult variable(const std::string& name) const;
  CelResult defined(const CelNode& node);
  CelResult list(const CelNode& node);
  CelResult field(const CelNode& node);
  CelResult item(const CelNode& node);
  CelTruth has(const CelNode& node);
  CelResult sum(const CelNode& node);
  CelTruth areEqual(const CelNode& node);
  CelTruth isOrdered(const CelNode& node);
  CelTruth isIn(const CelNode& node);
  CelTruth connected(const CelNode& node, bool decisive);
  CelResult chosen(const CelNode& node);

  CelResult call(const CelNode& node);
  CelResult access(CelFunction function, CelAccess access, std::string text);
  CelResult size(const Json& of) const;

  CelTruth quantified(const CelNode& node, bool decisive);
  CelTruth isOne(const CelNode& node);
  CelResult filtered(const CelNode& node);
  CelResult transformed(const CelNode& node);
  // Returns the items of a list, or the keys of a map.
  CelResult itemsOf(const CelNode& node);

  CelRun& run_;
  std::vector<std::pair<std::string_view, const Json*>> locals_;
  int64_t cost_ = 0;
  bool isTooCostly_ = false;
};

}  // namespace lastout::simulator
