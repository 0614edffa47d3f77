#include "criticalservice/pod_templates.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "kube/names.h"
#include "kube/resource_map.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

struct EarlierTemplates {
  const kube::GroupResource* workload;
  const kube::GroupResource* type;  // of the objects that keep them
};

constexpr EarlierTemplates kEarlierTemplates[] = {
    {&kube::kDeployments, &kube::kReplicaSets},
    {&kube::kStatefulSets, &kube::kControllerRevisions},
    {&kube::kDaemonSets, &kube::kControllerRevisions},
};

int64_t numberAt(const kube::Value& value, std::initializer_list<std::string_view> path, int64_t missing) {
  const kube::Value* found = value.at(path);
  const int64_t* number = found == nullptr ? nullptr : found->asInteger();
  return number == nullptr ? missing : *number;
}

bool hasPods(const kube::Object& object) {
  const kube::Value& content = object.content;
  if (object.key.type != kube::kReplicaSets) return true;
  return numberAt(content, {"spec", "replicas"}, 1) > 0 || numberAt(content, {"status", "replicas"}, 0) > 0 ||
         numberAt(content, {"status", "terminatingReplicas"}, 0) > 0;
}

// As `kubectl rollout status` reads it; of a StatefulSet that is rolled out in parts, or by hand, all of it
// counts.
bool isRolledOut(const kube::Object& object) {
  const kube::Value& content = object.content;
  if (numberAt(content, {"status", "observedGeneration"}, -1) < object.meta.generation) return false;
  const auto count = [&](std::string_view field) { return numberAt(content, {"status", field}, 0); };
  if (object.key.type == kube::kDaemonSets)
    return count("updatedNumberScheduled") >= count("currentNumberScheduled") + count("numberMisscheduled");
  return object.key.type == kube::kStatefulSets && count("updatedReplicas") >= count("replicas");
}

PodTemplate read(const kube::Object& object, const kube::Value& content) {
  PodTemplate podTemplate;
  podTemplate.needs = podNeeds(object, content);
  podTemplate.account = {object.key.namespaceName, serviceAccountOf(content)};
  const kube::Value* secrets = content.at({"spec", "imagePullSecrets"});
  podTemplate.pullsByItself =
      secrets != nullptr && secrets->asList() != nullptr && !secrets->asList()->empty();
  podTemplate.podLabels = labelsAt(content, {"metadata", "labels"});
  podTemplate.uid = object.meta.uid;
  podTemplate.createdAt = kube::textAt(object.content, {"metadata", "creationTimestamp"});
  podTemplate.hasPods = hasPods(object);
  podTemplate.isRolledOut = isRolledOut(object);
  for (const kube::OwnerReference& owner : object.meta.ownerReferences) {
    podTemplate.owners.push_back({std::string(kube::groupOf(owner.apiVersion)), owner.kind, owner.name});
    if (!owner.controller) continue;
    podTemplate.controller = podTemplate.owners.back();
    podTemplate.controllerUid = owner.uid;
  }
  return podTemplate;
}

// Another object may have had its controller's name.
bool isControlledBy(const PodTemplate& child, const kube::ObjectKey& key, const PodTemplate& owner) {
  const bool isOther = !child.controllerUid.empty() && !owner.uid.empty() && child.controllerUid != owner.uid;
  return child.controller && !isOther && means(*child.controller, key);
}

}  // namespace

bool means(const OwnerName& owner, const kube::ObjectKey& object) {
  if (owner.name != object.name || owner.group != object.type.group) return false;
  if (const kube::ResourceType* type = kube::ResourceMap::builtIn().findKind(owner.group, owner.kind))
    return type->type == object.type;
  const std::string kind = kube::lowerCase(owner.kind);
  return !kind.empty() && kube::ResourceMap::builtIn().find(object.type) == nullptr &&
         object.type.resource.starts_with(kind.substr(0, kind.size() - 1));  // policy, policies
}

std::optional<kube::GroupResource> typeOfEarlierTemplates(const kube::GroupResource& workload) {
  for (const EarlierTemplates& earlier : kEarlierTemplates)
    if (*earlier.workload == workload) return *earlier.type;
  return std::nullopt;
}

bool keepsEarlierTemplates(const kube::GroupResource& type) {
  return std::ranges::any_of(kEarlierTemplates,
                             [&](const EarlierTemplates& earlier) { return *earlier.type == type; });
}

bool PodTemplates::put(const kube::Object& object) {
  const kube::Value* content = podTemplateOf(object);
  if (content == nullptr) return remove(object.key);
  PodTemplate podTemplate = read(object, *content);
  PodTemplate& known = known_[object.key];
  if (known == podTemplate) return false;
  known = std::move(podTemplate);
  return true;
}

const PodTemplate* PodTemplates::find(const kube::ObjectKey& key) const {
  const auto known = known_.find(key);
  return known == known_.end() ? nullptr : &known->second;
}

RunningTemplates PodTemplates::running(const kube::ObjectKey& key) const {
  const PodTemplate* present = find(key);
  if (present == nullptr) return {};
  const auto type = typeOfEarlierTemplates(key.type);
  if (!type || (*type == kube::kControllerRevisions && present->isRolledOut)) return {{present}, 0};
  RunningTemplates running;
  for (auto child = known_.lower_bound({*type, key.namespaceName, ""});
       child != known_.end() && child->first.type == *type && child->first.namespaceName == key.namespaceName;
       ++child) {
    if (child->second.hasPods && isControlledBy(child->second, key, *present))
      running.templates.push_back(&child->second);
  }
  running.earlier = running.templates.size();
  std::ranges::stable_sort(running.templates, {}, &PodTemplate::createdAt);
  if (running.earlier > kMostEarlierTemplates) running.templates.resize(kMostEarlierTemplates);
  running.templates.insert(running.templates.begin(), present);
  return running;
}

}  // namespace lastout::criticalservice
