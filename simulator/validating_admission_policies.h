// ValidatingAdmissionPolicies: the ValidatingAdmissionPolicies that are stored, their bindings, and what they
// say to a request. https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/locks.h"
#include "simulator/admission_review.h"
#include "simulator/cel.h"
#include "simulator/json.h"
#include "simulator/match_resources.h"
#include "simulator/status.h"

namespace lastout::simulator {

struct PolicyValidation {
  CelExpression expression;  // true: the request may go on
  std::string message;       // of its denial, where messageExpression gives none
  std::optional<CelExpression> messageExpression;
  std::string reason;  // of its denial's Status
};

// The kind whose objects a policy takes as its `params`.
struct ParameterKind {
  std::string apiVersion;
  std::string kind;
};

// Selects the parameters of a binding: the object of this name, or all that the selector matches.
struct ParameterReference {
  std::string name;           // empty: goes by the selector
  std::string namespaceName;  // empty: that of the request's object, if the kind is namespaced
  kube::LabelSelector selector;
  bool isNeeded = false;  // parameterNotFoundAction: Deny
};

struct ValidatingAdmissionPolicy {
  std::string name;
  std::optional<ParameterKind> parameterKind;
  kube::MatchResources matches;
  std::vector<MatchCondition> matchConditions;
  std::vector<CelVariable> variables;
  std::vector<PolicyValidation> validations;
  bool failureIsIgnored = false;
  std::vector<std::string> warnings;  // for whoever writes it: expressions that are not evaluated
};

struct PolicyBinding {
  std::string name;
  std::string policy;
  std::optional<ParameterReference> parameter;
  std::optional<kube::MatchResources>
      matches;  // nullopt: all that the policy matches; without rules: any request
  bool denies = false;
  bool warns = false;
};

// ValidatingAdmissionPolicy or ValidatingAdmissionPolicyBinding.
bool isPolicyKind(std::string_view kind);

// Fails as checkPolicy() or checkPolicyBinding() does. Returns the warnings to answer the write with.
ApiResult<std::vector<std::string>> checkPolicyOrBinding(const Json& object);

// Fail with 400 for what has the wrong type or an unknown field, and with 422 and all causes for what the API
// server would not accept. Expressions beyond CelExpression's part of CEL fail for every request; audit
// annotations are checked, and not evaluated. matchPolicy Equivalent counts as Exact.
ApiResult<ValidatingAdmissionPolicy> checkPolicy(const Json& policy);
ApiResult<PolicyBinding> checkPolicyBinding(const Json& binding);

// The policies and bindings that are in force. Safe for any number of threads.
class ValidatingAdmissionPolicies {
 public:
  // A policy with those of its bindings that there are, both in the order of their names. A policy without a
  // binding, and a binding without its policy, do nothing.
  struct Bound {
    std::shared_ptr<const ValidatingAdmissionPolicy> policy;
    std::vector<PolicyBinding> bindings;
  };
  struct List {
    std::vector<Bound> bound;
    MatchIndex index;  // of what the policies match
  };

  // Add a policy or binding or replace the one of that name; fail, changing nothing, as the checks do.
  ApiResult<void> put(const Json& policyOrBinding);
  void remove(std::string_view kind, std::string_view name);
  // Returns the policies in force, immutable, for one request.
  std::shared_ptr<const List> snapshot() const;

 private:
  std::shared_ptr<const List> bound() const LASTOUT_REQUIRES(mutex_);

  mutable kube::Mutex mutex_;
  std::map<std::string, std::shared_ptr<const ValidatingAdmissionPolicy>, std::less<>> policies_
      LASTOUT_GUARDED_BY(mutex_);
  std::map<std::string, PolicyBinding, std::less<>> bindings_ LASTOUT_GUARDED_BY(mutex_);
  // Made when it is asked for; nullptr: something has changed since.
  mutable std::shared_ptr<const List> published_ LASTOUT_GUARDED_BY(mutex_);
};

struct PolicyVerdict {
  std::optional<ApiError> denial;     // nullopt: go on
  std::vector<std::string> warnings;  // for warningHeader(), with a denial, too
};

using PolicyParameters = std::vector<std::shared_ptr<const Json>>;

// What policies ask about a request besides its objects.
struct PolicyQuestions {
  std::function<bool(const AccessAttributes&)> mayDo;  // whether the request's user may
  // Returns the objects that a binding refers to, none if there are none. Fails with the API server's words
  // where that kind is not served, or cannot be meant.
  std::function<tl::expected<PolicyParameters, std::string>(const ParameterKind&, const ParameterReference&)>
      parameters;
};

// Returns the verdict of the policies on a request. The first denial counts, with the code and the reason of
// its validation (422 Invalid by default).
PolicyVerdict reviewByPolicies(const ValidatingAdmissionPolicies::List& policies,
                               const ReviewRequest& request, PolicyQuestions questions);

}  // namespace lastout::simulator
