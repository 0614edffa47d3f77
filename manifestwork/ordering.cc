#include "manifestwork/ordering.h"

#include <string>

namespace lastout::manifestwork {
namespace {

graph::Condition whileThere(const kube::ObjectKey& key, const std::string& uid) {
  graph::Condition condition;
  condition.kind = graph::Condition::Kind::Object;
  condition.type = key.type;
  condition.namespaceName = key.namespaceName;
  condition.name = key.name;
  condition.uid = uid;
  return condition;
}

}  // namespace

std::vector<WorkRequirement> requirementsOf(const AppliedManifestWork& applied) {
  std::vector<WorkRequirement> requirements;
  requirements.reserve(applied.resources.size());
  for (size_t i = 0; i < applied.resources.size(); ++i) {
    const AppliedResource& resource = applied.resources[i];
    if (resource.orphaned) continue;
    requirements.push_back({applied.object.key,
                            whileThere(resource.key, resource.uid),
                            {applied.object.key, "status.appliedResources[" + std::to_string(i) + "]"}});
  }
  return requirements;
}

std::vector<WorkRequirement> requirementsOf(const ManifestWork& work,
                                            std::span<const AppliedManifestWork> applied) {
  const kube::ObjectKey& key = work.object.key;
  const graph::Origin origin = {key, "spec.workload.manifests"};
  std::vector<WorkRequirement> requirements;
  for (const AppliedManifestWork& note : applied) {
    if (!isAppliedFrom(note, work)) continue;
    requirements.push_back({key, whileThere(note.object.key, note.object.meta.uid), origin});
  }
  if (requirements.empty()) {
    const kube::ObjectKey expected = {appliedManifestWorkType(), "", appliedName(key)};
    requirements.push_back({key, whileThere(expected, ""), origin});
  }
  return requirements;
}

}  // namespace lastout::manifestwork
