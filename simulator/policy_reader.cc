// checkPolicy and checkPolicyBinding: read a policy or a binding and word what is wrong with it.
#include <algorithm>
#include <set>
#include <utility>

#include "kube/fields.h"
#include "kube/well_known.h"
#include "simulator/match_resources.h"
#include "simulator/validating_admission_policies.h"

namespace lastout::simulator {
namespace {

bool isIdentifier(std::string_view text) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && isLetter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

// A policy or a binding, with the causes that its fields give.
class PolicyReader {
 public:
  PolicyReader(kube::Fields& spec, std::vector<StatusCause>& causes) : spec_(&spec), read_(causes) {}

  ValidatingAdmissionPolicy policy();
  PolicyBinding binding();

 private:
  kube::MatchResources matchResources(kube::Fields& fields);
  std::vector<kube::RuleWithOperations> rules(kube::Fields& fields, std::string_view key);
  void variables(ValidatingAdmissionPolicy& policy);
  PolicyValidation validation(kube::Fields& fields, CelExpression expression);
  void validations(ValidatingAdmissionPolicy& policy);
  void actions(PolicyBinding& binding);

  kube::Fields* spec_;
  MatchReader read_;
  std::map<std::string, CelType> known_;  // variables, as far as they are read
};

std::vector<kube::RuleWithOperations> PolicyReader::rules(kube::Fields& fields, std::string_view key) {
  std::vector<kube::RuleWithOperations> rules;
  for (kube::Fields& each : fields.items(key)) {
    rules.push_back(read_.readRule(each));
    rules.back().names = each.strings("resourceNames");
    each.finish();
  }
  return rules;
}

kube::MatchResources PolicyReader::matchResources(kube::Fields& fields) {
  kube::MatchResources resources;
  resources.rules = rules(fields, "resourceRules");
  resources.excluded = rules(fields, "excludeResourceRules");
  resources.namespaceSelector = read_.readSelector(fields, "namespaceSelector");
  resources.objectSelector = read_.readSelector(fields, "objectSelector");
  read_.word(fields, "matchPolicy", {"Equivalent", "Exact"}, "Equivalent");
  fields.finish();
  return resources;
}

void PolicyReader::variables(ValidatingAdmissionPolicy& policy) {
  for (kube::Fields& each : spec_->items("variables")) {
    const std::string name = each.string("name").value_or("");
    if (name.empty())
      read_.required(each.pathOf("name"));
    else if (!isIdentifier(name))
      read_.wrong(each.pathOf("name"), name, "name is not a valid CEL identifier");
    else if (known_.contains(name))
      read_.duplicate(each.pathOf("name"), name);
    auto expression = read_.readExpression(
        each, "expression", {.hasAuthorizer = true, .variables = &known_, .result = CelType::Dynamic});
    // What does not compile is known all the same: one mistake is one cause.
    known_.emplace(name, expression ? expression->type() : CelType::Dynamic);
    if (expression) policy.variables.push_back({name, std::move(*expression)});
    each.finish();
  }
}

PolicyValidation PolicyReader::validation(kube::Fields& fields, CelExpression expression) {
  PolicyValidation made{std::move(expression), fields.string("message").value_or(""), std::nullopt, ""};
  if (made.message.find('\n') != std::string::npos)
    read_.wrong(fields.pathOf("message"), made.message, "message must not contain line breaks");
  made.messageExpression =
      read_.readExpression(fields, "messageExpression",
                           {.hasAuthorizer = false, .variables = &known_, .result = CelType::Text}, false);
  made.reason = read_.word(fields, "reason",
                           {"Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"}, "Invalid");
  return made;
}

void PolicyReader::validations(ValidatingAdmissionPolicy& policy) {
  auto items = spec_->items("validations");
  if (items.empty() && spec_->items("auditAnnotations").empty())
    read_.required(spec_->pathOf("validations"),
                   "validations or auditAnnotations must contain at least one item");
  for (kube::Fields& each : items) {
    auto expression = read_.readExpression(
        each, "expression", {.hasAuthorizer = true, .variables = &known_, .result = CelType::Bool});
    if (expression) {
      policy.validations.push_back(validation(each, std::move(*expression)));
      each.finish();
    }
  }
}

ValidatingAdmissionPolicy PolicyReader::policy() {
  ValidatingAdmissionPolicy policy;
  spec_->any("paramKind");
  spec_->any("auditAnnotations");
  const std::string path = spec_->pathOf("matchConstraints");
  if (auto constraints = spec_->fields("matchConstraints")) {
    policy.matches = matchResources(*constraints);
    if (policy.matches.rules.empty()) read_.required(path + ".resourceRules");
  } else {
    read_.required(path);
  }
  policy.matchConditions = read_.readConditions(*spec_, {.hasAuthorizer = true, .variables = nullptr});
  variables(policy);
  validations(policy);
  policy.failureIsIgnored = read_.word(*spec_, "failurePolicy", {"Fail", "Ignore"}, "Fail") == "Ignore";
  policy.warnings = read_.warnings(policy.failureIsIgnored);
  spec_->finish();
  return policy;
}

void PolicyReader::actions(PolicyBinding& binding) {
  const auto actions = spec_->strings("validationActions");
  const std::string path = spec_->pathOf("validationActions");
  if (actions.empty()) read_.required(path);
  std::set<std::string, std::less<>> seen;
  for (size_t i = 0; i < actions.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    if (!seen.insert(actions[i]).second) read_.duplicate(place, actions[i]);
    if (actions[i] != "Deny" && actions[i] != "Warn" && actions[i] != "Audit")
      read_.notSupported(place, actions[i], {"Audit", "Deny", "Warn"});
  }
  binding.denies = seen.contains("Deny");
  binding.warns = seen.contains("Warn");
  if (binding.denies && binding.warns)
    read_.wrong(path, "Deny, Warn",
                "must not contain both Deny and Warn (repeating the same validation failure "
                "information in the API response and headers serves no purpose)");
}

PolicyBinding PolicyReader::binding() {
  PolicyBinding binding;
  binding.policy = spec_->string("policyName").value_or("");
  if (binding.policy.empty()) read_.required(spec_->pathOf("policyName"));
  spec_->any("paramRef");
  if (auto resources = spec_->fields("matchResources")) binding.matches = matchResources(*resources);
  actions(binding);
  spec_->finish();
  return binding;
}

template <class Read>
auto readAll(const Json& object, Read read) -> ApiResult<decltype(read(std::declval<PolicyReader&>()))> {
  const std::string kind(stringAt(object, {"kind"}));
  const std::string name(stringAt(object, {"metadata", "name"}));
  kube::Errors errors;
  std::vector<StatusCause> causes;
  const kube::Value value = kube::fromJson(object);
  kube::Fields fields(value, "", "", errors);
  fields.allow({"apiVersion", "kind", "metadata", "status"});
  auto spec = fields.fields("spec");
  if (!spec) {
    MatchReader(causes).required("spec");
    if (errors.empty()) return tl::unexpected(invalid(kind, kube::kAdmissionRegistrationGroup, name, causes));
  }
  decltype(read(std::declval<PolicyReader&>())) made;
  if (spec) {
    PolicyReader reader(*spec, causes);
    made = read(reader);
  }
  fields.finish();
  if (!errors.empty())
    return tl::unexpected(badRequest(kind + " in version \"v1\" cannot be handled as a " + kind + ": " +
                                     errors.front().message));
  if (!causes.empty()) return tl::unexpected(invalid(kind, kube::kAdmissionRegistrationGroup, name, causes));
  made.name = name;
  return made;
}

}  // namespace

ApiResult<ValidatingAdmissionPolicy> checkPolicy(const Json& policy) {
  return readAll(policy, [](PolicyReader& reader) { return reader.policy(); });
}

ApiResult<PolicyBinding> checkPolicyBinding(const Json& binding) {
  return readAll(binding, [](PolicyReader& reader) { return reader.binding(); });
}

}  // namespace lastout::simulator
