// What admission policies and their bindings match.
#include <algorithm>
#include <string_view>
#include <vector>

#include "kube/fields.h"
#include "kube/selector.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

// Reads {resourceRules, excludeResourceRules, namespaceSelector, objectSelector}.
kube::CalledWebhook matchedBy(const kube::Value* resources) {
  kube::CalledWebhook matched;
  kube::Errors ignored;  // what cannot be understood is left out
  const auto readRules = [&](std::string_view field, std::vector<kube::RuleWithOperations>& rules) {
    if (resources == nullptr || resources->asMap() == nullptr) return;
    kube::Fields fields(*resources, "", "", ignored);
    for (kube::Fields& rule : fields.items(field)) {
      rules.push_back(kube::readRule(rule));
      rules.back().names = rule.strings("resourceNames");
    }
  };
  readRules("resourceRules", matched.matches.rules);
  readRules("excludeResourceRules", matched.matches.excluded);
  if (resources != nullptr) {
    matched.matches.namespaceSelector = kube::selectorIn(*resources, "namespaceSelector");
    matched.matches.objectSelector = kube::selectorIn(*resources, "objectSelector");
  }
  return matched;
}

// A MutatingAdmissionPolicy cannot match DELETE; its `*` means all other operations.
void leaveOutDeletes(kube::CalledWebhook& policy) {
  for (kube::RuleWithOperations& rule : policy.matches.rules) {
    if (std::ranges::find(rule.operations, "*") != rule.operations.end())
      rule.operations = {"CREATE", "UPDATE", "CONNECT"};
    std::erase(rule.operations, "DELETE");
  }
}

}  // namespace

kube::CalledWebhook requestsOfPolicy(const kube::Object& policy) {
  kube::CalledWebhook matched = matchedBy(policy.content.at({"spec", "matchConstraints"}));
  if (policy.key.type == kube::kMutatingAdmissionPolicies) leaveOutDeletes(matched);
  return matched;
}

kube::CalledWebhook requestsOfBinding(const kube::Object& binding) {
  kube::CalledWebhook matched = matchedBy(binding.content.at({"spec", "matchResources"}));
  if (matched.matches.rules.empty()) {
    kube::RuleWithOperations& all = matched.matches.rules.emplace_back();
    all.operations = all.groups = all.versions = {"*"};
    all.resources = {"*/*"};  // with subresources
  }
  return matched;
}

}  // namespace lastout::replay
