#include "server/webhook/admission_policy.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "client/api_server.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
namespace {

bool isLeaving(const kube::Value& object) {
  return !kube::textAt(object, {"metadata", "deletionTimestamp"}).empty();
}

bool contains(const kube::Value& value, std::initializer_list<std::string_view> list, std::string_view word) {
  return std::ranges::any_of(kube::listAt(value, list), [&](const kube::Value& each) {
    return each.asString() != nullptr && *each.asString() == word;
  });
}

// It denies, of all objects that the policy is about.
bool denies(const kube::Value& binding, const std::string& policy) {
  if (isLeaving(binding) || kube::textAt(binding, {"spec", "policyName"}) != policy ||
      binding.at({"spec", "matchResources"}) != nullptr)
    return false;
  return contains(binding, {"spec", "validationActions"}, "Deny");
}

bool isEmpty(const kube::Value* value) {
  if (value == nullptr || value->isNull()) return true;
  if (value->asMap() != nullptr) return value->asMap()->empty();
  return value->asList() != nullptr && value->asList()->empty();
}

bool isAboutEverything(const kube::Value& rule) {
  const std::string scope = kube::textAt(rule, {"scope"});
  const bool isOfWrites = contains(rule, {"operations"}, "*") || (contains(rule, {"operations"}, "CREATE") &&
                                                                  contains(rule, {"operations"}, "UPDATE"));
  return isOfWrites && contains(rule, {"apiGroups"}, "*") && contains(rule, {"apiVersions"}, "*") &&
         contains(rule, {"resources"}, "*/*") && isEmpty(rule.find("resourceNames")) &&
         (scope.empty() || scope == "*");
}

bool isAboutEveryWrite(const kube::Value& policy) {
  const kube::Value* constraints = policy.at({"spec", "matchConstraints"});
  if (constraints == nullptr) return false;
  for (const char* narrower : {"namespaceSelector", "objectSelector", "excludeResourceRules"}) {
    if (!isEmpty(constraints->find(narrower))) return false;
  }
  return std::ranges::any_of(kube::listAt(*constraints, {"resourceRules"}), isAboutEverything);
}

bool areThese(const kube::Value::List& parts, const std::vector<std::string_view>& expressions) {
  return std::ranges::equal(parts, expressions, {},
                            [](const kube::Value& part) { return kube::textAt(part, {"expression"}); });
}

}  // namespace

bool says(const kube::Value& policy, const PolicyTerms& terms) {
  return policy.at({"spec", "paramKind"}) == nullptr &&
         kube::textAt(policy, {"spec", "failurePolicy"}) != "Ignore" && isAboutEveryWrite(policy) &&
         areThese(kube::listAt(policy, {"spec", "matchConditions"}), terms.conditions) &&
         areThese(kube::listAt(policy, {"spec", "variables"}), terms.variables) &&
         areThese(kube::listAt(policy, {"spec", "validations"}), terms.validations);
}

const PolicyTerms& deleteWhenFreeTerms() {
  static const PolicyTerms kTerms{
      "lastout-delete-when-free",
      {R"(object != null && has(object.metadata) && has(object.metadata.annotations) &&
'lastout.dev/delete-when-free' in object.metadata.annotations)",
       R"(oldObject == null || !has(oldObject.metadata) || !has(oldObject.metadata.annotations) ||
!('lastout.dev/delete-when-free' in oldObject.metadata.annotations) ||
object.metadata.annotations['lastout.dev/delete-when-free'] !=
  oldObject.metadata.annotations['lastout.dev/delete-when-free'])"},
      {"has(request.name) ? request.name : ''", "has(request.namespace) ? request.namespace : ''"},
      {R"(authorizer.group(request.resource.group).resource(request.resource.resource).namespace(variables.namespace)
  .name(variables.name).check('delete').allowed())"}};
  return kTerms;
}

AdmissionPolicy::AdmissionPolicy(const std::shared_ptr<client::Access>& access, PolicyTerms terms,
                                 LogSink log, std::chrono::milliseconds patience)
    : terms_(std::move(terms)),
      name_(terms_.name),
      log_(std::move(log)),
      patience_(patience),
      server_(newControllerServer(*access)),
      problems_(log_, "the ValidatingAdmissionPolicy " + name_ + " cannot be read: ",
                "the ValidatingAdmissionPolicy " + name_ + " can be read again"),
      loop_([this] { lookAgain(); }, std::chrono::milliseconds(1'000)) {}

void AdmissionPolicy::stop() {
  loop_.stop([this] { server_->stop(); });
}

// An API server from before 1.30 has no such type, and so no such policy.
RequestResult<std::optional<kube::Value>> AdmissionPolicy::read(const kube::GroupResource& type) {
  return ObjectClient(*server_, patience_).read(client::objectPath({type, "", name_}));
}

tl::expected<bool, std::string> AdmissionPolicy::look() {
  const auto policy = read(kube::kValidatingAdmissionPolicies);
  if (!policy) return tl::unexpected(policy.error().why);
  if (!*policy || isLeaving(**policy) || !says(**policy, terms_)) return false;
  const auto binding = read(kube::kValidatingAdmissionPolicyBindings);
  if (!binding) return tl::unexpected(binding.error().why);
  return *binding && denies(**binding, name_);
}

std::optional<bool> AdmissionPolicy::isEnforced() const {
  const Found found = found_;
  return found == Found::Nothing ? std::nullopt : std::optional(found == Found::Enforced);
}

void AdmissionPolicy::lookAgain() {
  const auto now = look();
  if (loop_.isStopping()) return;
  problems_.note(now ? "" : now.error());
  loop_.wakeAt(std::chrono::steady_clock::now() + (now ? kLookAgain : kLookAgainSoon));
  if (!now) return;
  const Found found = *now ? Found::Enforced : Found::NotEnforced;
  const Found before = found_.exchange(found);
  if (found == before || (before == Found::Nothing && !*now)) return;
  log_(Level::Info,
       "the ValidatingAdmissionPolicy " + name_ + (*now ? " is enforced" : " is not enforced any more"));
}

}  // namespace lastout::server
