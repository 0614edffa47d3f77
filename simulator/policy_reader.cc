// checkPolicy and checkPolicyBinding: read a policy or a binding and word what is wrong with it.
#include <algorithm>
#include <set>
#include <utility>

#include "kube/fields.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "simulator/cel_parser.h"
#include "simulator/match_resources.h"
#include "simulator/validating_admission_policies.h"

namespace lastout::simulator {
namespace {

constexpr size_t kMostAuditAnnotations = 20;
constexpr size_t kLongestAuditAnnotation = 5 * 1024;  // bytes of its expression

// A policy or a binding, with the causes that its fields give.
class PolicyReader {
 public:
  PolicyReader(kube::Fields& spec, std::vector<StatusCause>& causes) : spec_(&spec), read_(causes) {}

  ValidatingAdmissionPolicy policy(std::string_view name);
  PolicyBinding binding();

 private:
  kube::MatchResources matchResources(kube::Fields& fields);
  std::vector<kube::RuleWithOperations> rules(kube::Fields& fields, std::string_view key);
  CelEnvironment environment(CelType result, bool hasAuthorizer = true) const;
  std::optional<ParameterKind> parameterKind();
  void variables(ValidatingAdmissionPolicy& policy);
  void validation(kube::Fields& fields, ValidatingAdmissionPolicy& policy);
  void validations(ValidatingAdmissionPolicy& policy);
  void auditAnnotations(std::string_view policyName);
  std::optional<ParameterReference> parameterReference();
  void actions(PolicyBinding& binding);

  kube::Fields* spec_;
  MatchReader read_;
  bool hasParameters_ = false;
  bool hasVariables_ = false;
  CelNames known_;  // variables, as far as they are read
};

std::vector<kube::RuleWithOperations> PolicyReader::rules(kube::Fields& fields, std::string_view key) {
  std::vector<kube::RuleWithOperations> rules;
  for (kube::Fields& each : fields.items(key)) {
    rules.push_back(read_.readRule(each));
    rules.back().names = each.strings("resourceNames");
    std::set<std::string_view> seen;
    for (size_t i = 0; i < rules.back().names.size(); ++i) {
      const std::string& name = rules.back().names[i];
      const std::string place = each.pathOf("resourceNames") + "[" + std::to_string(i) + "]";
      for (const std::string& problem : pathSegmentProblems(name))
        read_.add(invalidField(place, name, problem));
      if (!seen.insert(name).second) read_.add(duplicateField(place, name));
    }
    each.finish();
  }
  return rules;
}

kube::MatchResources PolicyReader::matchResources(kube::Fields& fields) {
  kube::MatchResources resources;
  read_.word(fields, "matchPolicy", {"Equivalent", "Exact"}, "Equivalent");
  resources.namespaceSelector = read_.readSelector(fields, "namespaceSelector");
  resources.objectSelector = read_.readSelector(fields, "objectSelector");
  resources.rules = rules(fields, "resourceRules");
  resources.excluded = rules(fields, "excludeResourceRules");
  fields.finish();
  return resources;
}

CelEnvironment PolicyReader::environment(CelType result, bool hasAuthorizer) const {
  CelEnvironment made;
  made.hasAuthorizer = hasAuthorizer;
  made.hasParameters = hasParameters_;
  made.variables = hasVariables_ ? &known_ : nullptr;
  made.result = std::move(result);
  return made;
}

std::optional<ParameterKind> PolicyReader::parameterKind() {
  auto kind = spec_->fields("paramKind");
  if (!kind) return std::nullopt;
  hasParameters_ = true;
  const std::string apiVersion = kind->string("apiVersion").value_or("");
  const auto wrong = [&](const std::vector<std::string>& problems, std::string_view value) {
    for (const std::string& problem : problems)
      read_.add(invalidField(kind->pathOf("apiVersion"), std::string(value), problem));
  };
  const size_t slash = apiVersion.find('/');
  const std::string group = slash == std::string::npos ? "" : apiVersion.substr(0, slash);
  const std::string version = slash == std::string::npos ? apiVersion : apiVersion.substr(slash + 1);
  if (apiVersion.empty()) {
    read_.add(requiredField(kind->pathOf("apiVersion")));
  } else if (version.find('/') != std::string::npos) {
    wrong({"unexpected GroupVersion string: " + apiVersion}, apiVersion);
  } else {
    if (!group.empty()) wrong(subdomainProblems(group), group);
    if (version.empty())
      wrong({"version must be specified"}, apiVersion);
    else
      wrong(dns1035LabelProblems(version), version);
  }
  const std::string name = kind->string("kind").value_or("");
  if (name.empty()) read_.add(requiredField(kind->pathOf("kind")));
  if (!name.empty() && !kube::isDns1035Label(kube::lowerCase(name)))
    read_.add(invalidField(kind->pathOf("kind"), name,
                           "may have mixed case, but should otherwise match: " +
                               dns1035LabelProblems(kube::lowerCase(name)).front()));
  kind->finish();
  return ParameterKind{apiVersion, name};
}

void PolicyReader::variables(ValidatingAdmissionPolicy& policy) {
  auto items = spec_->items("variables");
  hasVariables_ = !items.empty();
  for (kube::Fields& each : items) {
    const std::string name = each.string("name").value_or("");
    if (name.find_first_not_of(" \t\n\r") == std::string::npos)
      read_.add(requiredField(each.pathOf("name"), "name is not specified"));
    else if (!isCelIdentifier(name))
      read_.add(invalidField(each.pathOf("name"), name, "must be a valid CEL identifier"));
    auto expression = read_.readExpression(each, "expression", environment(CelKind::Dynamic), true,
                                           "expression is not specified");
    // What does not compile is known all the same: one mistake is one cause. Of two with one name the last
    // counts.
    known_.insert_or_assign(name, expression ? expression->type() : CelType());
    std::erase_if(policy.variables, [&name](const CelVariable& former) { return former.name == name; });
    if (expression) policy.variables.push_back({name, std::move(*expression)});
    each.finish();
  }
}

void PolicyReader::validation(kube::Fields& fields, ValidatingAdmissionPolicy& policy) {
  auto expression = read_.readExpression(fields, "expression", environment(CelKind::Bool), true,
                                         "expression is not specified");
  auto messageExpression =
      read_.readExpression(fields, "messageExpression", environment(CelKind::Text, false), false);
  const std::string message = fields.string("message").value_or("");
  const size_t begin = message.find_first_not_of(" \t\n\r");
  if (!message.empty() && begin == std::string::npos)
    read_.add(invalidField(fields.pathOf("message"), message, "message must be non-empty if specified"));
  else if (!message.empty() && message.find_first_of("\n\r", begin) < message.find_last_not_of(" \t\n\r"))
    read_.add(invalidField(fields.pathOf("message"), message, "message must not contain line breaks"));
  std::string reason =
      read_.word(fields, "reason", {"Forbidden", "Invalid", "RequestEntityTooLarge"}, "Invalid");
  fields.finish();
  if (expression)
    policy.validations.push_back(
        {std::move(*expression), message, std::move(messageExpression), std::move(reason)});
}

void PolicyReader::validations(ValidatingAdmissionPolicy& policy) {
  auto items = spec_->items("validations");
  if (items.empty() && spec_->items("auditAnnotations").empty())
    for (const char* list : {"validations", "auditAnnotations"})
      read_.add(requiredField(spec_->pathOf(list),
                              "validations or auditAnnotations must contain at least one item"));
  for (kube::Fields& each : items) validation(each, policy);
}

void PolicyReader::auditAnnotations(std::string_view policyName) {
  auto items = spec_->items("auditAnnotations");
  if (items.size() > kMostAuditAnnotations) {
    read_.add(invalidField(
        spec_->pathOf("auditAnnotations"), items.size(),
        "must not have more than " + std::to_string(kMostAuditAnnotations) + " auditAnnotations"));
    return;
  }
  std::set<std::string, std::less<>> keys;
  for (kube::Fields& each : items) {
    const std::string key = each.string("key").value_or("");
    for (const std::string& problem : qualifiedNameProblems(std::string(policyName) + "/" + key))
      read_.add(invalidField(each.pathOf("key"), key, problem));
    const std::string path = each.pathOf("valueExpression");
    if (each.string("valueExpression").value_or("").size() > kLongestAuditAnnotation) {
      read_.add(requiredField(
          path, "must not exceed " + std::to_string(kLongestAuditAnnotation) + " bytes in length"));
    } else if (const auto value = read_.readExpression(each, "valueExpression", environment(CelKind::Dynamic),
                                                       true, "valueExpression is not specified");
               value && value->type().kind != CelKind::Text && value->type().kind != CelKind::Null) {
      read_.add(invalidField(path, std::string(value->text()),
                             "must evaluate to one of [string null_type] but got " + nameOf(value->type())));
    }
    if (!keys.insert(key).second) read_.add(duplicateField(each.pathOf("key"), key));
    each.finish();
  }
}

ValidatingAdmissionPolicy PolicyReader::policy(std::string_view name) {
  ValidatingAdmissionPolicy policy;
  policy.failureIsIgnored = read_.word(*spec_, "failurePolicy", {"Fail", "Ignore"}, "Fail") == "Ignore";
  policy.parameterKind = parameterKind();
  const std::string path = spec_->pathOf("matchConstraints");
  if (auto constraints = spec_->fields("matchConstraints")) {
    policy.matches = matchResources(*constraints);
    if (policy.matches.rules.empty()) read_.add(requiredField(path + ".resourceRules"));
  } else {
    read_.add(requiredField(path));
  }
  policy.matchConditions = read_.readConditions(*spec_, environment(CelKind::Bool));
  variables(policy);
  validations(policy);
  auditAnnotations(name);
  policy.warnings = read_.warnings(policy.failureIsIgnored);
  spec_->finish();
  return policy;
}

// Which objects the binding's parameters are: its name or its labels.
std::optional<ParameterReference> PolicyReader::parameterReference() {
  auto reference = spec_->fields("paramRef");
  if (!reference) return std::nullopt;
  ParameterReference made;
  made.name = reference->string("name").value_or("");
  made.namespaceName = reference->string("namespace").value_or("");
  const std::string& name = made.name;
  const bool hasSelector = reference->has("selector");
  for (const std::string& problem : name.empty() ? std::vector<std::string>() : pathSegmentProblems(name))
    read_.add(invalidField(reference->pathOf("name"), name, problem));
  if (!name.empty() && hasSelector)
    for (const char* key : {"name", "selector"})
      read_.add(forbiddenField(reference->pathOf(key), "name and selector are mutually exclusive"));
  if (hasSelector) made.selector = read_.readSelector(*reference, "selector");
  if (name.empty() && !hasSelector)
    read_.add(requiredField(reference->path(), "one of name or selector must be specified"));
  const std::string action = read_.word(*reference, "parameterNotFoundAction", {"Deny", "Allow"}, "");
  if (action.empty()) read_.add(requiredField(reference->pathOf("parameterNotFoundAction")));
  made.isNeeded = action == "Deny";
  reference->finish();
  return made;
}

void PolicyReader::actions(PolicyBinding& binding) {
  const auto actions = spec_->strings("validationActions");
  const std::string path = spec_->pathOf("validationActions");
  std::set<std::string, std::less<>> seen;
  for (size_t i = 0; i < actions.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    if (actions[i] != "Deny" && actions[i] != "Warn" && actions[i] != "Audit")
      read_.add(notSupported(place, actions[i], {"Audit", "Deny", "Warn"}));
    if (!seen.insert(actions[i]).second) read_.add(duplicateField(place, actions[i]));
  }
  binding.denies = seen.contains("Deny");
  binding.warns = seen.contains("Warn");
  if (binding.denies && binding.warns)
    read_.add(invalidField(path, actions,
                           "must not contain both Deny and Warn (repeating the same validation failure "
                           "information in the API response and headers serves no purpose)"));
  if (actions.empty()) read_.add(requiredField(path, "at least one validation action is required"));
}

PolicyBinding PolicyReader::binding() {
  PolicyBinding binding;
  binding.policy = spec_->string("policyName").value_or("");
  if (binding.policy.empty()) read_.add(requiredField(spec_->pathOf("policyName")));
  for (const std::string& problem :
       binding.policy.empty() ? std::vector<std::string>() : subdomainProblems(binding.policy))
    read_.add(invalidField(spec_->pathOf("policyName"), binding.policy, problem));
  binding.parameter = parameterReference();
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
    causes.push_back(requiredField("spec"));
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
  return readAll(policy, [&](PolicyReader& reader) {
    return reader.policy(stringAt(policy, {"metadata", "name"}));
  });
}

ApiResult<PolicyBinding> checkPolicyBinding(const Json& binding) {
  return readAll(binding, [](PolicyReader& reader) { return reader.binding(); });
}

}  // namespace lastout::simulator
