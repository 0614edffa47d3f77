#include "simulator/validating_admission_policies.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/status_reason.h"
#include "kube/well_known.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kBindingKind = "ValidatingAdmissionPolicyBinding";
constexpr int64_t kMostCostOfConditions = 2'500'000;
constexpr size_t kLongestMessage = 5 * 1024;  // bytes, of a messageExpression

// What one validation, or an error, comes to.
struct PolicyRefusal {
  std::string message;
  std::string reason;
};

std::string trimmedText(const std::string& text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// One policy's answer to one request.
class PolicyReview {
 public:
  PolicyReview(const ValidatingAdmissionPolicy& policy, const CelVariables& variables)
      : policy_(policy), variables_(variables) {}

  std::vector<PolicyRefusal> refusals() const;

 private:
  std::string messageOf(const PolicyValidation& validation, CelRun& run) const;

  const ValidatingAdmissionPolicy& policy_;
  const CelVariables& variables_;
};

std::string PolicyReview::messageOf(const PolicyValidation& validation, CelRun& run) const {
  if (validation.messageExpression) {
    const std::string made = trimmedText(run.text(*validation.messageExpression).value_or(""));
    if (!made.empty() && made.size() <= kLongestMessage && made.find('\n') == std::string::npos) return made;
  }
  const std::string fixed = trimmedText(validation.message);
  return fixed.empty() ? "failed expression: " + trimmedText(validation.expression.text()) : fixed;
}

std::vector<PolicyRefusal> PolicyReview::refusals() const {
  std::vector<PolicyRefusal> refusals;
  const auto failed = [&](std::string why) {
    if (!policy_.failureIsIgnored) refusals.push_back({std::move(why), "Invalid"});
  };
  CelRun conditions(variables_, nullptr, kMostCostOfConditions);
  const auto concerned = allHold(policy_.matchConditions, conditions);
  if (!concerned) failed(concerned.error());
  if (!concerned || !*concerned) return refusals;
  CelRun run(variables_, &policy_.variables);
  for (const PolicyValidation& validation : policy_.validations) {
    const auto holds = run.test(validation.expression);
    if (!holds)
      failed(holds.error());
    else if (!*holds)
      refusals.push_back({messageOf(validation, run), validation.reason});
  }
  return refusals;
}

// As API servers name an object whose name is not known (of a deletecollection).
std::string shownName(const ReviewRequest& request) {
  return request.name.empty() ? "Unknown" : request.name;
}

ApiError policyDenial(const ReviewRequest& request, const std::string& message,
                      const PolicyRefusal& refusal) {
  ApiError denial = forbidden(request.type, shownName(request), message);
  denial.reason = refusal.reason;
  denial.code = kube::codeOfReason(refusal.reason).value_or(422);
  denial.details["causes"] = Json::array({{{"message", message}}});
  return denial;
}

// Without rules a binding is for all that its selectors match.
bool binds(const PolicyBinding& binding, const ReviewRequest& request) {
  return !binding.matches || matches(*binding.matches, request);
}

// Each object that the binding refers to is the policy's `params` once; without a reference that is null.
std::vector<PolicyRefusal> refusalsOf(const ValidatingAdmissionPolicy& policy, const PolicyBinding& binding,
                                      CelVariables variables, const PolicyQuestions& questions) {
  if (!policy.parameterKind || !binding.parameter) return PolicyReview(policy, variables).refusals();
  auto parameters = questions.parameters(*policy.parameterKind, *binding.parameter);
  if (parameters && parameters->empty() && binding.parameter->isNeeded)
    parameters =
        tl::unexpected(std::string("no params found for policy binding with `Deny` parameterNotFoundAction"));
  std::vector<PolicyRefusal> refusals;
  if (!parameters) {
    if (!policy.failureIsIgnored)
      refusals.push_back({"failed to configure binding: " + parameters.error(), "Invalid"});
    return refusals;
  }
  for (const auto& parameter : *parameters) {
    variables.parameter = parameter.get();
    std::ranges::move(PolicyReview(policy, variables).refusals(), std::back_inserter(refusals));
  }
  return refusals;
}

void askPolicy(const ValidatingAdmissionPolicies::Bound& bound, const ReviewRequest& request,
               const CelVariables& variables, const PolicyQuestions& questions, PolicyVerdict& verdict) {
  for (const PolicyBinding& binding : bound.bindings) {
    if (!binds(binding, request)) continue;
    const std::string which =
        "ValidatingAdmissionPolicy '" + bound.policy->name + "' with binding '" + binding.name + "'";
    for (const PolicyRefusal& refusal : refusalsOf(*bound.policy, binding, variables, questions)) {
      if (binding.warns)
        verdict.warnings.push_back("Validation failed for " + which + ": " + refusal.message);
      if (binding.denies && !verdict.denial)
        verdict.denial = policyDenial(request, which + " denied request: " + refusal.message, refusal);
    }
  }
}

// API servers pass over what decides about policies themselves, so that there is always a way out.
bool isExempt(const ReviewRequest& request) {
  return request.type.group == kube::kAdmissionRegistrationGroup &&
         request.type.resource.find("admissionpolic") != std::string::npos;
}

}  // namespace

bool isPolicyKind(std::string_view kind) {
  return kind == "ValidatingAdmissionPolicy" || kind == kBindingKind;
}

ApiResult<std::vector<std::string>> checkPolicyOrBinding(const Json& object) {
  if (stringAt(object, {"kind"}) == kBindingKind) {
    auto binding = checkPolicyBinding(object);
    if (!binding) return tl::unexpected(std::move(binding.error()));
    return {};
  }
  auto policy = checkPolicy(object);
  if (!policy) return tl::unexpected(std::move(policy.error()));
  return std::move(policy->warnings);
}

ApiResult<void> ValidatingAdmissionPolicies::put(const Json& policyOrBinding) {
  const std::string name(stringAt(policyOrBinding, {"metadata", "name"}));
  if (stringAt(policyOrBinding, {"kind"}) == kBindingKind) {
    auto binding = checkPolicyBinding(policyOrBinding);
    if (!binding) return tl::unexpected(std::move(binding.error()));
    const kube::MutexLock lock(mutex_);
    bindings_.insert_or_assign(name, std::move(*binding));
    published_.reset();
    return {};
  }
  auto policy = checkPolicy(policyOrBinding);
  if (!policy) return tl::unexpected(std::move(policy.error()));
  const kube::MutexLock lock(mutex_);
  policies_.insert_or_assign(name, std::make_shared<const ValidatingAdmissionPolicy>(std::move(*policy)));
  published_.reset();
  return {};
}

void ValidatingAdmissionPolicies::remove(std::string_view kind, std::string_view name) {
  const kube::MutexLock lock(mutex_);
  if (kind == kBindingKind) {
    if (const auto found = bindings_.find(name); found != bindings_.end()) bindings_.erase(found);
  } else if (const auto found = policies_.find(name); found != policies_.end()) {
    policies_.erase(found);
  }
  published_.reset();
}

std::shared_ptr<const ValidatingAdmissionPolicies::List> ValidatingAdmissionPolicies::snapshot() const {
  const kube::MutexLock lock(mutex_);
  if (!published_) published_ = bound();
  return published_;
}

std::shared_ptr<const ValidatingAdmissionPolicies::List> ValidatingAdmissionPolicies::bound() const {
  std::map<std::string_view, std::vector<PolicyBinding>> bindings;  // by policy
  for (const auto& [name, binding] : bindings_) bindings[binding.policy].push_back(binding);
  auto list = std::make_shared<List>();
  for (const auto& [name, policy] : policies_)
    if (const auto found = bindings.find(name); found != bindings.end()) {
      list->index.add(policy->matches, list->bound.size());
      list->bound.push_back({policy, std::move(found->second)});
    }
  return list;
}

PolicyVerdict reviewByPolicies(const ValidatingAdmissionPolicies::List& policies,
                               const ReviewRequest& request, PolicyQuestions questions) {
  PolicyVerdict verdict;
  if (policies.bound.empty() || isExempt(request)) return verdict;
  std::vector<size_t> candidates = policies.index.candidates(request);
  std::erase_if(candidates,
                [&](size_t position) { return !matches(policies.bound[position].policy->matches, request); });
  if (candidates.empty()) return verdict;
  const Json attributes = attributesOf(request);
  const CelAuthorizer authorizer{std::move(questions.mayDo),
                                 {.verb = {},
                                  .group = request.type.group,
                                  .resource = request.type.resource,
                                  .subresource = request.subresource,
                                  .namespaceName = namespaceOf(request),
                                  .name = request.name,
                                  .path = {}}};
  const CelVariables variables{request.object, request.oldObject, &attributes, &authorizer, nullptr};
  for (const size_t position : candidates)
    askPolicy(policies.bound[position], request, variables, questions, verdict);
  return verdict;
}

}  // namespace lastout::simulator
