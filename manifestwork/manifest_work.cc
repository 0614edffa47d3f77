#include "manifestwork/manifest_work.h"

#include <algorithm>
#include <utility>

#include "kube/well_known.h"

namespace lastout::manifestwork {
namespace {

constexpr std::string_view kShorthandNamespace = "cluster1";

}  // namespace

kube::GroupResource manifestWorkType() { return {std::string(kube::kWorkGroup), "manifestworks"}; }

kube::GroupResource appliedManifestWorkType() {
  return {std::string(kube::kWorkGroup), "appliedmanifestworks"};
}

bool DeleteOption::orphans(const kube::ObjectKey& object) const {
  if (policy == PropagationPolicy::Foreground) return false;
  return policy == PropagationPolicy::Orphan ||
         std::ranges::find(orphaningRules, object) != orphaningRules.end();
}

std::string appliedName(const kube::ObjectKey& work) { return work.namespaceName + "-" + work.name; }

AppliedManifestWork appliedBy(const ManifestWork& work) {
  AppliedManifestWork applied;
  applied.object.apiVersion = kube::kWorkApiVersion;
  applied.object.kind = kAppliedKind;
  applied.object.key = {appliedManifestWorkType(), "", appliedName(work.object.key)};
  applied.object.meta.name = applied.object.key.name;
  applied.object.meta.finalizers = {std::string(kAppliedFinalizer)};
  applied.object.file = work.object.file;
  applied.manifestWorkName = work.object.key.name;
  for (const kube::Object& manifest : work.manifests) {
    applied.resources.push_back({manifest.key, manifest.meta.uid, work.deleteOption.orphans(manifest.key)});
  }
  return applied;
}

bool isAppliedFrom(const AppliedManifestWork& applied, const ManifestWork& work) {
  if (applied.manifestWorkName != work.object.key.name) return false;
  return !applied.hubHash.empty() || applied.object.key.name == appliedName(work.object.key);
}

kube::Value completeShorthand(kube::Value document) {
  const kube::Value* kind = document.find("kind");
  const kube::Value* spec = document.find("spec");
  if (kind == nullptr || kind->asString() == nullptr || *kind->asString() != "ManifestWork") return document;
  if (spec == nullptr || (spec->asString() == nullptr && spec->asList() == nullptr)) return document;

  for (kube::Member& member : std::get<kube::Value::Map>(document.data)) {
    if (member.key != "metadata" || member.value.find("namespace") != nullptr) continue;
    auto* metadata = std::get_if<kube::Value::Map>(&member.value.data);
    if (metadata == nullptr) continue;  // parseObject reports it
    const kube::Position position = member.value.position;
    metadata->push_back({"namespace", position, kube::Value{std::string(kShorthandNamespace), position}});
  }
  return document;
}

}  // namespace lastout::manifestwork
