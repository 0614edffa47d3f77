#include "simulator/match_index.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace lastout::simulator {
namespace {

constexpr const char* kAny = "*";

// The groups and resources of the rules; without rules all of them.
std::set<kube::GroupResource> typesOf(const std::vector<kube::RuleWithOperations>& rules) {
  if (rules.empty()) return {{kAny, kAny}};
  std::set<kube::GroupResource> types;
  for (const kube::RuleWithOperations& rule : rules)
    for (const std::string& group : rule.groups)
      for (const std::string& resource : rule.resources)
        types.insert({group, resource.substr(0, resource.find('/'))});
  return types;
}

// The key of a label without which the selector matches nothing; nullptr: it may match without any.
const std::string* neededLabel(const kube::LabelSelector& selector) {
  using Operator = kube::SelectorRequirement::Operator;
  const auto needs = [](const kube::SelectorRequirement& requirement) {
    return requirement.op == Operator::In || requirement.op == Operator::Exists;
  };
  const auto found = std::ranges::find_if(selector.requirements, needs);
  return found == selector.requirements.end() ? nullptr : &found->key;
}

std::set<std::string> labelKeysOf(const ReviewRequest& request) {
  std::set<std::string> keys;
  for (const Json* object : {request.object, request.oldObject}) {
    if (object == nullptr) continue;
    for (const auto& [key, value] : labelsOf(*object)) keys.insert(key);
  }
  return keys;
}

}  // namespace

void MatchIndex::add(const kube::MatchResources& resources, size_t position) {
  const std::string* label = neededLabel(resources.objectSelector);
  for (const kube::GroupResource& type : typesOf(resources.rules)) {
    Positions& positions = byType_[type];
    (label == nullptr ? positions.ofAll : positions.ofLabelled[*label]).push_back(position);
  }
}

std::vector<size_t> MatchIndex::candidates(const ReviewRequest& request) const {
  std::vector<size_t> found;
  const std::set<std::string> labels = labelKeysOf(request);
  const auto take = [&found](const std::vector<size_t>& positions) {
    found.insert(found.end(), positions.begin(), positions.end());
  };
  for (const std::string& group : {request.type.group, std::string(kAny)}) {
    for (const std::string& resource : {request.type.resource, std::string(kAny)}) {
      const auto positions = byType_.find({group, resource});
      if (positions == byType_.end()) continue;
      take(positions->second.ofAll);
      for (const std::string& label : labels)
        if (const auto labelled = positions->second.ofLabelled.find(label);
            labelled != positions->second.ofLabelled.end())
          take(labelled->second);
    }
  }
  std::sort(found.begin(), found.end());  // several of the types may be of one
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace lastout::simulator
