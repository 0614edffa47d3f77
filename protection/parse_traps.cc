// Policies that would leave nobody a way to clean up a cluster, or to take lastout away; and policies that
// say less than they seem to.
#include <algorithm>
#include <string_view>

#include "kube/well_known.h"
#include "protection/read_parts.h"

namespace lastout::protection {
namespace {

// Someone names what is selected, or has labelled it: the selection is not whatever lacks a label.
bool isNarrow(const Selection& selection) {
  using Operator = kube::SelectorRequirement::Operator;
  const auto isPositive = [](const kube::SelectorRequirement& one) {
    return one.op == Operator::In || one.op == Operator::Exists;
  };
  return !selection.namespaces.empty() || !selection.names.empty() ||
         std::any_of(selection.labels.requirements.begin(), selection.labels.requirements.end(), isPositive);
}

// Something has to be there for the case to hold: not whatever lacks a field or spec.replicas.
bool needsSomething(const Case& one) {
  return one.key || one.ancestor || !one.children.empty() || (one.field && !one.field->whenAbsent) ||
         (one.activity && *one.activity != Activity::Replicas);
}

// Objects by which API servers deny deletions, and that have to go for that to end.
bool isWayOutOfAdmission(const ResourcePattern& pattern) {
  constexpr std::string_view kWays[] = {"validatingwebhookconfigurations", "mutatingwebhookconfigurations",
                                        "validatingadmissionpolicies", "validatingadmissionpolicybindings"};
  return pattern.group == kube::kAdmissionRegistrationGroup &&
         std::ranges::find(kWays, pattern.resource) != std::ranges::end(kWays);
}

}  // namespace

std::string trapIn(const DeletionPolicy& policy) {
  if (!policy.when.empty() && std::ranges::all_of(policy.when, needsSomething)) return {};
  for (const Selection& selection : policy.objects) {
    if (isNarrow(selection)) continue;
    for (const ResourcePattern& pattern : selection.resources) {
      if (pattern.resource == "*" || pattern.group == "*")
        return "match everything, and nothing that has to be there says when they are protected: nobody "
               "could "
               "clean up the cluster; give spec.when with a label, or a field that is not Protected when "
               "absent, "
               "a labelSelector with a label that has to be there, namespaces or names";
      if (isWayOutOfAdmission(pattern))
        return "are all " + pattern.resource +
               ": lastout could not be uninstalled; give names or a labelSelector";
    }
  }
  return {};
}

kube::Errors warningsOf(const PolicyManifest& manifest) {
  const DeletionPolicy& policy = manifest.policy;
  const auto isKept = [&](const Case& one) { return policy.keepsWhatProtects(&one); };
  if (!policy.blocksAny(Block::Unprotect) || policy.keepsWhatProtects(nullptr) ||
      std::ranges::any_of(policy.when, isKept))
    return {};
  const kube::Value* blocks = manifest.object.content.at({"spec", "blocks"});
  return {
      {"spec.blocks lists Unprotect, which denies no update here: it keeps labels and annotations, and no "
       "case of "
       "spec.when names one, nor do spec.objects select by labels; whoever may write an object may change "
       "the "
       "fields that protect it",
       manifest.object.file, blocks == nullptr ? manifest.object.content.position : blocks->position}};
}

}  // namespace lastout::protection
