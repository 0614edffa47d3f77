#include "protection/hold_finalizers.h"

#include <algorithm>

#include "kube/names.h"
#include "kube/text_at.h"

namespace lastout::protection {
namespace {

// As spec.hold.finalizer has to be.
bool isHoldFinalizer(const std::string& text) {
  return kube::isQualifiedName(text) && text.find('/') != std::string::npos;
}

// Types that are not named one by one are never held, and subresources are no types.
void addType(const std::string& group, const std::string& resource, const std::string& finalizer,
             HoldFinalizers& finalizers) {
  if (group == "*" || resource.empty() || resource.find_first_of("*/") != std::string::npos) return;
  finalizers[{group, resource}].insert(finalizer);
}

std::string textOf(const kube::Value& value) {
  const std::string* text = value.asString();
  return text == nullptr ? "" : *text;
}

bool has(const HoldFinalizers& finalizers, const kube::GroupResource& type, const std::string& finalizer) {
  const auto found = finalizers.find(type);
  return found != finalizers.end() && found->second.contains(finalizer);
}

}  // namespace

void addOfPolicy(const DeletionPolicy& policy, HoldFinalizers& finalizers) {
  if (!policy.hold) return;
  for (const Selection& selection : policy.objects)
    for (const ResourcePattern& pattern : selection.resources)
      addType(pattern.group, pattern.resource, policy.hold->finalizer, finalizers);
}

std::vector<std::string> releasableFinalizers(const KnownFinalizers& known, const DeletionPolicy* counts,
                                              const kube::GroupResource& type, const kube::ObjectMeta& meta) {
  const Hold* const hold = counts == nullptr ? nullptr : &*counts->hold;
  const auto isKept = [&](const std::string& finalizer) {
    return hold != nullptr &&
           (finalizer == hold->finalizer ||
            std::ranges::find(hold->finalizersOfOthers, finalizer) != hold->finalizersOfOthers.end());
  };
  std::vector<std::string> releasable;
  for (const std::string& finalizer : meta.finalizers)
    if (has(known.all, type, finalizer) && !has(known.unclear, type, finalizer) && !isKept(finalizer))
      releasable.push_back(finalizer);
  return releasable;
}

void addOfDeletionPolicy(const kube::Value& policy, HoldFinalizers& finalizers) {
  const std::string& finalizer = kube::textAt(policy, {"spec", "hold", "finalizer"});
  if (kube::textAt(policy, {"spec", "enforcement"}) != "Hold" || !isHoldFinalizer(finalizer)) return;
  for (const kube::Value& selection : kube::listAt(policy, {"spec", "objects"}))
    for (const kube::Value& pattern : kube::listAt(selection, {"resources"}))
      addType(kube::textAt(pattern, {"group"}), kube::textAt(pattern, {"resource"}), finalizer, finalizers);
}

bool addOfAdmissionPolicy(const kube::Value& policy, HoldFinalizers& finalizers) {
  const std::string& finalizer = kube::textAt(policy, {"metadata", "annotations", kHoldFinalizerAnnotation});
  if (!isHoldFinalizer(finalizer)) return false;
  for (const kube::Value& rule : kube::listAt(policy, {"spec", "matchConstraints", "resourceRules"}))
    for (const kube::Value& group : kube::listAt(rule, {"apiGroups"}))
      for (const kube::Value& resource : kube::listAt(rule, {"resources"}))
        addType(textOf(group), textOf(resource), finalizer, finalizers);
  return true;
}

}  // namespace lastout::protection
