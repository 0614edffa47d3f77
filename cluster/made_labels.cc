// The labels of what the controllers of workloads make: ReplicaSets, Pods and claims that no file has.
#include <algorithm>
#include <string_view>

#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

// A value that nobody knows beforehand: a selector can only ask whether there is one.
constexpr const char* kAny = "unknown";
// The Pods of StatefulSets have it, too.
constexpr std::string_view kRevision = kube::kDaemonSetRevisionLabel;

void add(kube::Labels& labels, std::string_view name, const std::string& value) {
  labels.insert_or_assign(std::string(name), value);
}

}  // namespace

const kube::Object* manifestBehind(const Builder& builder, Slot slot) {
  if (builder.sources[slot] != nullptr) return builder.sources[slot];
  const std::vector<OwnerLink>& owners = builder.model.slots[slot].owners;
  const auto controller = std::ranges::find_if(owners, &OwnerLink::controller);
  const bool isKnown = controller != owners.end() && controller->owner != kNone;
  return isKnown ? manifestBehind(builder, controller->owner) : nullptr;
}

const kube::Value* podTemplateOf(const Builder& builder, Slot workload) {
  const kube::Object* manifest = manifestBehind(builder, workload);
  if (manifest == nullptr) return nullptr;
  const kube::Value* made = manifest->content.at({"spec", "jobTemplate", "spec", "template"});
  return made == nullptr ? manifest->content.at({"spec", "template"}) : made;
}

kube::Labels podLabelsOf(const Builder& builder, Slot workload) {
  const SlotInfo& info = builder.model.slots[workload];
  const kube::Value* made = podTemplateOf(builder, workload);
  kube::Labels labels =
      made == nullptr ? kube::Labels() : criticalservice::labelsAt(*made, {"metadata", "labels"});
  switch (info.kind) {
    case SlotKind::ReplicaSet:
      // One that is written down has it in its template.
      if (builder.content(workload) == nullptr)
        add(labels, "pod-template-hash", info.key.name.substr(info.key.name.rfind('-') + 1));
      break;
    case SlotKind::StatefulSet:
      add(labels, kRevision, kAny);
      break;
    case SlotKind::DaemonSet:
      add(labels, kRevision, kAny);
      add(labels, "pod-template-generation", kAny);
      break;
    case SlotKind::Job:
      add(labels, "job-name", info.key.name);
      add(labels, "controller-uid", kAny);
      if (!kube::hasLaterPodLabels(builder.model.kubernetes)) break;
      add(labels, "batch.kubernetes.io/job-name", info.key.name);
      add(labels, "batch.kubernetes.io/controller-uid", kAny);
      break;
    default:
      break;
  }
  return labels;
}

void labelPod(Model& model, Slot workload, Slot pod, size_t ordinal) {
  kube::Labels& labels = model.slots[pod].forms.front().labels;
  labels = model.slots[workload].podLabels;
  if (model.slots[workload].kind != SlotKind::StatefulSet) return;
  add(labels, "statefulset.kubernetes.io/pod-name", model.slots[pod].key.name);
  if (kube::hasLaterPodLabels(model.kubernetes))
    add(labels, "apps.kubernetes.io/pod-index", std::to_string(ordinal));
}

kube::Labels claimLabelsOf(const kube::Value& statefulSet, const kube::Value& claimTemplate) {
  kube::Labels labels = criticalservice::labelsAt(claimTemplate, {"metadata", "labels"});
  for (const auto& [name, value] :
       criticalservice::labelsAt(statefulSet, {"spec", "selector", "matchLabels"}))
    labels.insert_or_assign(name, value);
  return labels;
}

}  // namespace lastout::cluster
