#include "simulator/cel.h"

#include <algorithm>
#include <utility>

#include "kube/messages.h"
#include "simulator/cel_evaluation.h"
#include "simulator/cel_node.h"

namespace lastout::simulator {
namespace {

constexpr size_t kShownCel = 400;  // bytes of an expression in an error; printable() shows fewer

}  // namespace

CelExpression::CelExpression(std::string text, std::shared_ptr<const CelNode> root,
                             std::set<std::string, std::less<>> uses)
    : text_(std::move(text)), root_(std::move(root)), uses_(std::move(uses)) {}

tl::expected<CelExpression, std::string> CelExpression::compile(std::string_view text,
                                                                const CelEnvironment& environment) {
  auto program = compileCel(text, environment);
  if (!program) return tl::unexpected(std::move(program.error()));
  CelNode root = std::move(program->root);
  if (!program->beyond.empty()) root = celNode(CelNode::Kind::Beyond, root.type, std::move(program->beyond));
  return CelExpression(std::string(text.substr(0, kShownCel)),
                       std::make_shared<const CelNode>(std::move(root)), std::move(program->uses));
}

std::string_view CelExpression::beyond() const {
  return root_->kind == CelNode::Kind::Beyond ? std::string_view(root_->name) : std::string_view();
}

const CelType& CelExpression::type() const { return root_->type; }

std::string CelExpression::failure(std::string_view why) const {
  return "expression '" + kube::printable(text_) + "' resulted in error: " + kube::printable(why);
}

tl::expected<bool, std::string> CelExpression::test(const CelVariables& variables) const {
  return CelRun(variables, nullptr).test(*this);
}

CelRun::CelRun(const CelVariables& variables, const std::vector<CelVariable>* definitions, int64_t budget)
    : variables_(variables), definitions_(definitions), budget_(budget) {}

CelRun::~CelRun() = default;

bool CelRun::pay(int64_t cost) {
  budget_ -= cost;
  return budget_ >= 0;
}

const tl::expected<CelValue, std::string>& CelRun::variable(const std::string& name) {
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  const auto defined = std::ranges::find(*definitions_, name, &CelVariable::name);
  known_.emplace(name, tl::unexpected("variable " + kube::inQuotes(name) + " refers to itself"));
  CelResult result = CelEvaluation(*this).result(*defined->expression.root_);
  if (!result)
    result = tl::unexpected("composited variable " + kube::inQuotes(name) +
                            " fails to evaluate: " + result.error());
  return known_.insert_or_assign(name, std::move(result)).first->second;
}

tl::expected<bool, std::string> CelRun::test(const CelExpression& expression) {
  const CelResult result = CelEvaluation(*this).result(*expression.root_);
  if (!result) return tl::unexpected(expression.failure(result.error()));
  if (!result->get().is_boolean()) return tl::unexpected(expression.failure("no such overload"));
  return result->get().get<bool>();
}

std::optional<std::string> CelRun::text(const CelExpression& expression) {
  const CelResult result = CelEvaluation(*this).result(*expression.root_);
  if (!result || !result->get().is_string()) return std::nullopt;
  return result->get().get<std::string>();
}

}  // namespace lastout::simulator
