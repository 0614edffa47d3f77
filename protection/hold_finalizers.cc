#include "protection/hold_finalizers.h"

#include <algorithm>

#include "kube/names.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::protection {
namespace {

// As spec.hold.finalizer has to be.
bool isHoldFinalizer(const std::string& text) {
  return kube::isQualifiedName(text) && text.find('/') != std::string::npos && reservedDomainOf(text).empty();
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

// Returns false if the text names none.
bool addFormer(std::string_view text, HoldFinalizers& finalizers) {
  bool isAny = false;
  for (size_t count = 0; !text.empty() && count < kMostFormerFinalizers; ++count) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const size_t colon = entry.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string finalizer(entry.substr(colon + 1));
    const std::string_view type = entry.substr(0, colon);
    const size_t dot = type.find('.');
    if (!isHoldFinalizer(finalizer)) continue;
    isAny = true;
    addType(dot == std::string_view::npos ? "" : std::string(type.substr(dot + 1)),
            std::string(type.substr(0, dot)), finalizer, finalizers);
  }
  return isAny;
}

void addOfSpec(const kube::Value& spec, HoldFinalizers& finalizers) {
  const std::string& finalizer = kube::textAt(spec, {"hold", "finalizer"});
  if (kube::textAt(spec, {"enforcement"}) != "Hold" || !isHoldFinalizer(finalizer)) return;
  for (const kube::Value& selection : kube::listAt(spec, {"objects"}))
    for (const kube::Value& pattern : kube::listAt(selection, {"resources"}))
      addType(kube::textAt(pattern, {"group"}), kube::textAt(pattern, {"resource"}), finalizer, finalizers);
}

bool has(const HoldFinalizers& finalizers, const kube::GroupResource& type, const std::string& finalizer) {
  const auto found = finalizers.find(type);
  return found != finalizers.end() && found->second.contains(finalizer);
}

}  // namespace

std::string_view reservedDomainOf(std::string_view finalizer) {
  const std::string_view domain = finalizer.substr(0, finalizer.find('/'));
  for (const std::string_view reserved :
       std::initializer_list<std::string_view>{"kubernetes.io", "k8s.io", kube::kLastoutGroup})
    if (domain == reserved || domain.ends_with("." + std::string(reserved))) return reserved;
  return {};
}

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
  for (const kube::Value* spec : {policy.find("spec"), policy.at({"status", "understood", "spec"})})
    if (spec != nullptr) addOfSpec(*spec, finalizers);
}

bool addOfAdmissionPolicy(const kube::Value& policy, HoldFinalizers& finalizers) {
  const std::string& finalizer = kube::textAt(policy, {"metadata", "annotations", kHoldFinalizerAnnotation});
  const bool isFormer =
      addFormer(kube::textAt(policy, {"metadata", "annotations", kFormerFinalizersAnnotation}), finalizers);
  if (!isHoldFinalizer(finalizer)) return isFormer;
  for (const kube::Value& rule : kube::listAt(policy, {"spec", "matchConstraints", "resourceRules"}))
    for (const kube::Value& group : kube::listAt(rule, {"apiGroups"}))
      for (const kube::Value& resource : kube::listAt(rule, {"resources"}))
        addType(textOf(group), textOf(resource), finalizer, finalizers);
  return true;
}

std::string formerFinalizers(const kube::Value& standing, const kube::Value& wanted) {
  HoldFinalizers before;
  HoldFinalizers now;
  addOfAdmissionPolicy(standing, before);
  addOfAdmissionPolicy(wanted, now);
  std::string text;
  size_t count = 0;
  for (const auto& [type, finalizers] : before)
    for (const std::string& finalizer : finalizers)
      if (!has(now, type, finalizer) && count++ < kMostFormerFinalizers)
        text += (text.empty() ? "" : ",") + toString(type) + ":" + finalizer;
  return text;
}

}  // namespace lastout::protection
