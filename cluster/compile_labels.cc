// The labels that policies keep on objects (protection/label_plan.h): what lastout writes on an object in
// each of its forms, for each set of policies that may be there.
#include <algorithm>
#include <string>

#include "cluster/compile_policies.h"
#include "cluster/forms.h"
#include "protection/label_plan.h"

namespace lastout::cluster {
namespace {

// Each may be there or not: twice the plans for each more.
constexpr size_t kMostLabelPolicies = 4;

// The policies that are there, of those that keep labels on an object.
std::vector<protection::UpkeepOfObject> upkeepsOf(const Model& model, const Labelling& labelling,
                                                  size_t present, const kube::Object& object) {
  std::vector<protection::UpkeepOfObject> upkeeps;
  for (size_t i = 0; i < labelling.policies.size(); ++i) {
    const protection::DeletionPolicy& policy = model.policies.all[labelling.policies[i]].policy;
    if ((present >> i & 1) != 0 && protection::concerns(policy, object.key, object.meta.labels))
      upkeeps.push_back({policy.meta.name, *policy.labels});
  }
  return upkeeps;
}

kube::Labels patched(kube::Labels labels, const protection::LabelPatch& patch) {
  for (const auto& [key, value] : patch) {
    if (value)
      labels[key] = *value;
    else
      labels.erase(key);
  }
  return labels;
}

// A policy that is no object of the model is there all the time.
bool canBe(const Model& model, const Labelling& labelling, size_t present) {
  for (size_t i = 0; i < labelling.policies.size(); ++i)
    if (model.policies.all[labelling.policies[i]].slot == kNone && (present >> i & 1) == 0) return false;
  return true;
}

}  // namespace

kube::Result<void> addLabelling(Model& model, Slot slot) {
  Labelling& labelling = model.policies.ofLabels[slot];
  for (uint32_t number = 0; number < model.policies.all.size(); ++number) {
    const protection::DeletionPolicy& policy = model.policies.all[number].policy;
    if (policy.labels && std::ranges::any_of(policy.objects, [&](const protection::Selection& selection) {
          return std::ranges::any_of(selection.resources, [&](const protection::ResourcePattern& pattern) {
            return pattern.matches(model.slots[slot].key.type);
          });
        }))
      labelling.policies.push_back(number);
  }
  if (labelling.policies.size() > kMostLabelPolicies)
    return tl::unexpected(kube::Error{"more than " + std::to_string(kMostLabelPolicies) +
                                          " DeletionPolicies keep labels on " + model.name(slot) +
                                          ", which is more than can be simulated",
                                      {},
                                      {}});
  std::ranges::sort(labelling.policies, {}, [&](uint32_t number) -> const std::string& {
    return model.policies.all[number].policy.meta.name;
  });
  if (!labelling.policies.empty()) labelling.writes.resize(size_t{1} << labelling.policies.size());
  return {};
}

kube::Result<void> growLabelledForms(Model& model, const PolicyFacts& facts, Slot slot) {
  Labelling& labelling = model.policies.ofLabels[slot];
  for (size_t present = 1; present < labelling.writes.size(); ++present) {
    if (!canBe(model, labelling, present)) continue;
    Labelling::Write& write = labelling.writes[present];
    while (write.forms.size() < model.slots[slot].forms.size()) {
      const auto form = static_cast<uint8_t>(write.forms.size());
      const kube::Object object = facts.objectOf(model, slot, {form, false, true, 0});
      const protection::LabelsPlan plan =
          protection::planLabels(upkeepsOf(model, labelling, present, object), object.meta.labels);
      ObjectForm next = model.slots[slot].forms[form];
      if (!plan.patch.empty()) {
        next.labels = patched(object.meta.labels, plan.patch);
        next.annotations = object.meta.annotations;
        next.isRepaired = plan.repairAfter.count() > 0;
      }
      const auto number = plan.patch.empty() ? kube::Result<uint8_t>(form) : formNumber(model, slot, next);
      if (!number) return tl::unexpected(number.error());
      write.forms.push_back(*number);
      // As it was created, it waits for nobody.
      const bool waits = plan.setsProtection && form != 0;
      write.wait.push_back(waits ? plan.repairAfter : std::chrono::seconds(0));
    }
  }
  return {};
}

}  // namespace lastout::cluster
