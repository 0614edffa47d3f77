#include "protection/label_plan.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lastout::protection {
namespace {

std::optional<std::string> valueOf(const kube::Labels& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

LabelPatch planLabels(const LabelUpkeep& upkeep, const kube::Labels& labels) {
  const auto protection = valueOf(labels, upkeep.protection.key);
  const auto wanted = upkeep.isProtected ? std::optional(upkeep.protection.value) : std::nullopt;
  const bool takesAway = protection && protection != wanted;
  const auto exemption = upkeep.isExempt || takesAway ? std::optional(upkeep.exemption.value) : std::nullopt;
  LabelPatch patch;
  if (protection != wanted) patch[upkeep.protection.key] = wanted;
  if (valueOf(labels, upkeep.exemption.key) != exemption) patch[upkeep.exemption.key] = exemption;
  return patch;
}

LabelsPlan planLabels(const std::vector<UpkeepOfObject>& upkeeps, const kube::Labels& labels) {
  LabelsPlan plan;
  std::set<std::string> keys;
  for (const UpkeepOfObject& one : upkeeps) {
    const LabelUpkeep& upkeep = one.upkeep;
    if (keys.contains(upkeep.protection.key) || keys.contains(upkeep.exemption.key)) continue;
    keys.insert({upkeep.protection.key, upkeep.exemption.key});
    LabelPatch patch = planLabels(upkeep, labels);
    if (patch.empty()) continue;
    const auto protection = patch.find(upkeep.protection.key);
    if (protection != patch.end()) (protection->second ? plan.setsProtection : plan.takesProtection) = true;
    if (plan.setsProtection) plan.repairAfter = std::max(plan.repairAfter, upkeep.repairAfter);
    plan.patch.merge(std::move(patch));
    plan.policies.push_back(one.policy);
  }
  return plan;
}

}  // namespace lastout::protection
