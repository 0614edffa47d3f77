#include "manifestwork/manifest_work.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kube/well_known.h"

namespace lastout::manifestwork {
namespace {

constexpr std::string_view kShorthandNamespace = "cluster1";

}  // namespace

kube::GroupResource manifestWorkType() { return {std::string(kube::kWorkGroup), "manifestworks"}; }

kube::GroupResource appliedManifestWorkType() { return kube::kAppliedManifestWorks; }

kube::GroupResource replicaSetType() { return {std::string(kube::kWorkGroup), "manifestworkreplicasets"}; }

bool isMadeBy(const kube::ObjectMeta& work, const kube::ObjectKey& replicaSet) {
  // A label of this name, or one that begins with it: newer hubs write a hash into the label, and the name
  // into an annotation.
  constexpr std::string_view kMadeBy = "work.open-cluster-management.io/manifestworkreplicaset";
  const auto names = [&](const kube::Labels& written, char between) {
    const std::string name = replicaSet.namespaceName + between + replicaSet.name;
    return std::ranges::any_of(written, [&](const auto& one) {
      return std::string_view(one.first).starts_with(kMadeBy) && one.second == name;
    });
  };
  return names(work.labels, '.') || names(work.annotations, '/');
}

bool waitsForWorks(const kube::Value& replicaSet) {
  return kube::textAt(replicaSet, {"spec", "cascadeDeletionPolicy"}) == "Foreground";
}

std::optional<TimeToLive> timeToLiveOf(const kube::Value& work) {
  const kube::Value* seconds = work.at({"spec", "deleteOption", "ttlSecondsAfterFinished"});
  if (seconds == nullptr || seconds->asInteger() == nullptr) return std::nullopt;
  const kube::Value* complete = kube::statusCondition(work, "Complete");
  const bool isComplete = complete != nullptr && kube::textAt(*complete, {"status"}) == "True";
  const bool mayBe =
      std::ranges::any_of(kube::listAt(work, {"spec", "manifestConfigs"}), [](const kube::Value& config) {
        return std::ranges::any_of(kube::listAt(config, {"conditionRules"}), [](const kube::Value& rule) {
          return kube::textAt(rule, {"condition"}) == "Complete";
        });
      });
  if (!isComplete && !mayBe) return std::nullopt;
  return TimeToLive{.seconds = std::clamp<int64_t>(*seconds->asInteger(), 0, INT32_MAX),
                    .isComplete = isComplete};
}

bool DeleteOption::orphans(const kube::ObjectKey& object) const {
  if (onlyReads(object)) return true;
  if (policy == PropagationPolicy::Foreground) return false;
  return policy == PropagationPolicy::Orphan ||
         std::ranges::find(orphaningRules, object) != orphaningRules.end();
}

bool DeleteOption::onlyReads(const kube::ObjectKey& object) const {
  return std::ranges::find(readOnly, object) != readOnly.end();
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
