#include "protection/label_plan.h"

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

}  // namespace lastout::protection
