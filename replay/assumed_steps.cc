// Assumptions about what the steps of a scenario lead to: other labels, and less claims and volumes.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "criticalservice/pod_needs.h"
#include "kube/api_calls.h"
#include "kube/pods.h"
#include "kube/selector.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::kNone;
using cluster::ObjectForm;
using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;

class LedToBySteps {
 public:
  explicit LedToBySteps(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    for (const auto& [key, object] : notes_.manifests) {
      for (const kube::CalledWebhook& webhook : kube::webhooksOf(key.type, object->content))
        if (!webhook.isOfLastout()) addWebhook(*object, webhook);
      if (key.type == kube::kValidatingAdmissionPolicyBindings)
        addPolicy(*object, {kube::kValidatingAdmissionPolicies, "", policyNameOf(*object)});
      if (key.type == kube::kMutatingAdmissionPolicyBindings)
        addPolicy(*object, {kube::kMutatingAdmissionPolicies, "", policyNameOf(*object)});
    }
    for (const cluster::Interception* call : notes_.calls()) addService(*call);
    for (const std::vector<Slot>& slots : notes_.compiled.exists) {
      for (const Slot slot : slots) {
        if (model_.slots[slot].kind == SlotKind::PersistentVolume) addVolume(slot);
        if (model_.slots[slot].kind == SlotKind::PersistentVolumeClaim) addClaim(slot);
      }
    }
  }

 private:
  void addWebhook(const kube::Object& configuration, const kube::CalledWebhook& webhook) {
    add(configuration, "the webhook " + configuration.key.name + "/" + webhook.name,
        [&](const SlotInfo& info, const kube::Labels& labels, const kube::Labels* ofSpace) {
          const kube::ReviewedOperations asked = kube::reviewedOperations(
              webhook, info.key, labels, ofSpace, notes_.servedVersionsOf(info.key.type));
          return std::tuple(asked.onUpdate, asked.onDelete, asked.onCleanup, asked.onVolumeRelease);
        });
  }

  static std::string policyNameOf(const kube::Object& binding) {
    return kube::textAt(binding.content, {"spec", "policyName"});
  }

  void addPolicy(const kube::Object& binding, const kube::ObjectKey& key) {
    const kube::Object* policy = notes_.object(key);
    if (policy == nullptr) return;
    const kube::Value* matched = policy->content.at({"spec", "matchConstraints"});
    const kube::Value* bound = binding.content.at({"spec", "matchResources"});
    add(binding, "the policy " + key.name,
        [&](const SlotInfo&, const kube::Labels& labels, const kube::Labels* ofSpace) {
          return std::pair(isSelected(matched, labels, ofSpace), isSelected(bound, labels, ofSpace));
        });
  }

  static bool isSelected(const kube::Value* resources, const kube::Labels& labels,
                         const kube::Labels* ofSpace) {
    return resources == nullptr || resources->asMap() == nullptr ||
           (kube::selectorIn(*resources, "objectSelector").matches(labels) &&
            (ofSpace == nullptr || kube::selectorIn(*resources, "namespaceSelector").matches(*ofSpace)));
  }

  // Adds it if it is asked about an object of the goal by some of the labels that this has some time, or its
  // namespace, and not by others. `asked(info, labels, labels of the namespace)`.
  template <class Asked>
  void add(const kube::Object& object, const std::string& name, Asked asked) {
    std::vector<Slot> changed;
    for (const Slot slot : notes_.compiled.goal)
      if (isChanged(slot, asked)) changed.push_back(slot);
    if (!changed.empty())
      notes_.add(object.key, name + " is asked about " + notes_.names.list(changed) +
                                 " as the labels at the start select: labels that change are not followed");
  }

  template <class Asked>
  bool isChanged(Slot slot, Asked asked) const {
    const SlotInfo& info = model_.slots[slot];
    const Slot space = notes_.spaceOf(slot);
    const auto isAsked = [&](const kube::Labels& labels, const ObjectForm* ofSpace) {
      if (ofSpace == nullptr) return asked(info, labels, nullptr);
      kube::Labels withName = ofSpace->labels;  // API servers put the name back
      withName[std::string(kube::kNamespaceNameLabel)] = model_.slots[space].key.name;
      return asked(info, labels, &withName);
    };
    const std::vector<ObjectForm> none;
    const std::vector<ObjectForm>& spaces = space == kNone ? none : model_.slots[space].forms;
    const auto first = isAsked(info.forms.front().labels, spaces.empty() ? nullptr : &spaces.front());
    return std::ranges::any_of(info.forms, [&](const ObjectForm& form) {
      if (spaces.empty()) return isAsked(form.labels, nullptr) != first;
      return std::ranges::any_of(
          spaces, [&](const ObjectForm& ofSpace) { return isAsked(form.labels, &ofSpace) != first; });
    });
  }

  // Adds the Service of a call that selects a Pod by some of the labels that this has some time.
  void addService(const cluster::Interception& call) {
    const kube::Object* service = notes_.object(call.serviceKey);
    if (service == nullptr) return;
    const kube::Labels selector = criticalservice::labelsAt(service->content, {"spec", "selector"});
    std::vector<Slot> changed;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      const SlotInfo& info = model_.slots[slot];
      if (info.kind != SlotKind::Pod || info.key.namespaceName != call.serviceKey.namespaceName) continue;
      const auto isSelected = [&](const ObjectForm& form) {
        return criticalservice::selects(selector, form.labels);
      };
      if (std::ranges::any_of(info.forms, isSelected) && !std::ranges::all_of(info.forms, isSelected))
        changed.push_back(slot);
    }
    if (!changed.empty())
      notes_.add(service->key, notes_.nameOf(service->key) + " selects " + notes_.names.list(changed) +
                                   " as the labels at the start say: labels that change are not followed");
  }

  // Adds a volume that is to stay, and that Kubernetes has its storage's provisioner delete after its claim.
  void addVolume(Slot slot) {
    const SlotInfo& info = model_.slots[slot];
    const kube::Object* volume = notes_.object(info.key);
    if (volume == nullptr ||
        kube::textAt(volume->content, {"spec", "persistentVolumeReclaimPolicy"}) != "Delete")
      return;
    const auto claim = kube::claimOf(volume->content);
    if (claim && (!model_.find(*claim) || notes_.isGoal(*claim)))
      notes_.add(info.key, notes_.names.of(slot) + " stays without " + notes_.nameOf(*claim) +
                               ": its reclaim policy is Delete, which is not followed");
  }

  // Adds a claim that is to stay, and that a StatefulSet deletes once it has been scaled down.
  void addClaim(Slot claim) {
    const kube::ObjectKey& key = model_.slots[claim].key;
    for (const cluster::ClientStep& step : model_.steps) {
      const SlotInfo& set = model_.slots[step.object];
      const kube::Object* source = notes_.object(set.key);
      if (step.verb != cluster::ClientStep::Verb::SetReplicas || set.kind != SlotKind::StatefulSet ||
          source == nullptr || set.key.namespaceName != key.namespaceName)
        continue;
      const std::string& policy =
          kube::textAt(source->content, {"spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"});
      const auto ordinal = ordinalOf(*source, key.name);
      if (policy == "Delete" && ordinal && *ordinal >= kube::firstOrdinalOf(source->content) + step.value)
        notes_.add(key, notes_.nameOf(key) + " stays when " + notes_.names.of(step.object) +
                            " is scaled to " + std::to_string(step.value) +
                            ": that it deletes such claims (whenScaled) is not followed");
    }
  }

  // Returns the number of the Pod whose claim has the name; nullopt: it is no claim of the StatefulSet.
  static std::optional<int64_t> ordinalOf(const kube::Object& set, std::string_view claim) {
    for (const kube::Value& made : kube::listAt(set.content, {"spec", "volumeClaimTemplates"})) {
      const std::string prefix = kube::textAt(made, {"metadata", "name"}) + "-" + set.key.name + "-";
      if (!claim.starts_with(prefix)) continue;
      int64_t ordinal = 0;
      const char* end = claim.data() + claim.size();
      const auto read = std::from_chars(claim.data() + prefix.size(), end, ordinal);
      if (read.ec == std::errc() && read.ptr == end) return ordinal;
    }
    return std::nullopt;
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
};

}  // namespace

void assumeOfSteps(AssumptionNotes& notes) { LedToBySteps(notes).find(); }

}  // namespace lastout::replay
