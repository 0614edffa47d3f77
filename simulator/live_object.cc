#include "simulator/live_object.h"

#include <algorithm>
#include <limits>
#include <set>

#include "cluster/build.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::simulator {
namespace {

// Each once; a list may be as long as a body.
void addFinalizers(const Json* list, std::vector<std::string>& out) {
  if (list == nullptr || !list->is_array()) return;
  std::set<std::string, std::less<>> known(out.begin(), out.end());
  for (const Json& item : *list) {
    if (item.is_string() && known.insert(item.get_ref<const std::string&>()).second) out.push_back(item);
  }
}

void addOwners(const Json& object, std::vector<cluster::LiveOwner>& out) {
  const Json* references = at(object, {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return;
  std::set<std::string_view> known;
  for (const Json& reference : *references) {
    if (!known.insert(stringAt(reference, {"uid"})).second) continue;
    out.push_back({std::string(stringAt(reference, {"uid"})), trueAt(reference, {"controller"}),
                   trueAt(reference, {"blockOwnerDeletion"})});
  }
}

void addClaims(const Json* podSpec, std::vector<std::string>& out) {
  const Json* volumes = podSpec == nullptr ? nullptr : at(*podSpec, {"volumes"});
  if (volumes == nullptr || !volumes->is_array()) return;
  for (const Json& volume : *volumes) {
    const std::string_view claim = stringAt(volume, {"persistentVolumeClaim", "claimName"});
    if (!claim.empty()) out.emplace_back(claim);
  }
}

// What does not fit is more than the machine takes, and refused there.
uint32_t replicasOf(const Json& object) {
  const Json* replicas = at(object, {"spec", "replicas"});
  if (replicas == nullptr || !replicas->is_number_integer()) return 1;
  return static_cast<uint32_t>(
      std::clamp<int64_t>(replicas->get<int64_t>(), 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

std::vector<std::pair<kube::ObjectKey, const Json*>> manifestsOf(const Json& manifestWork,
                                                                 const kube::ResourceMap& types) {
  std::vector<std::pair<kube::ObjectKey, const Json*>> manifests;
  const Json* list = at(manifestWork, {"spec", "workload", "manifests"});
  if (list == nullptr || !list->is_array()) return manifests;
  for (const Json& manifest : *list) {
    const kube::ResourceType* type =
        types.findKind(kube::groupOf(stringAt(manifest, {"apiVersion"})), stringAt(manifest, {"kind"}));
    const std::string_view name = stringAt(manifest, {"metadata", "name"});
    if (type == nullptr || name.empty()) continue;
    std::string space;
    if (type->namespaced) space = stringAt(manifest, {"metadata", "namespace"});
    if (type->namespaced && space.empty()) space = "default";
    manifests.push_back({{type->type, std::move(space), std::string(name)}, &manifest});
  }
  return manifests;
}

cluster::LiveObject liveObjectOf(const kube::ObjectKey& key, const Json& object,
                                 const kube::ResourceMap& types) {
  cluster::LiveObject live;
  live.key = key;
  live.uid = stringAt(object, {"metadata", "uid"});
  addFinalizers(at(object, {"metadata", "finalizers"}), live.finalizers);
  if (key.type == kube::kNamespaces) addFinalizers(at(object, {"spec", "finalizers"}), live.finalizers);
  addOwners(object, live.owners);
  if (key.type.group == kube::kAppsGroup) {
    live.replicas = replicasOf(object);
    addClaims(at(object, {"spec", "template", "spec"}), live.claims);
  } else if (key.type == kube::kPods) {
    addClaims(at(object, {"spec"}), live.claims);
  } else if (key.type == manifestwork::manifestWorkType()) {
    for (auto& [applied, manifest] : manifestsOf(object, types)) live.applies.push_back(std::move(applied));
    live.appliedName = manifestwork::appliedName(key);
  }
  return live;
}

}  // namespace lastout::simulator
