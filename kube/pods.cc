#include "kube/pods.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "kube/well_known.h"

namespace lastout::kube {
namespace {

constexpr std::string_view kOutOfServiceTaint = "node.kubernetes.io/out-of-service";

std::optional<ObjectKey> keyAt(const Value& content, const GroupResource& type,
                               std::initializer_list<std::string_view> space,
                               std::initializer_list<std::string_view> name) {
  if (textAt(content, name).empty()) return std::nullopt;
  return ObjectKey{type, textAt(content, space), textAt(content, name)};
}

}  // namespace

// As PodUsesPVC() of kube-controller-manager's pvc-protection finds them.
std::vector<MountedClaim> claimsOf(const Value* podSpec, std::string_view podName) {
  std::vector<MountedClaim> claims;
  if (podSpec == nullptr) return claims;
  for (const Value& volume : listAt(*podSpec, {"volumes"})) {
    const std::string& claim = textAt(volume, {"persistentVolumeClaim", "claimName"});
    if (!claim.empty()) claims.push_back({claim});
    if (volume.find("ephemeral") != nullptr)
      claims.push_back({std::string(podName) + "-" + textAt(volume, {"name"}), true});
  }
  return claims;
}

std::optional<ObjectKey> volumeOf(const Value& claim) {
  return keyAt(claim, kPersistentVolumes, {}, {"spec", "volumeName"});
}

std::optional<ObjectKey> claimOf(const Value& volume) {
  return keyAt(volume, kPersistentVolumeClaims, {"spec", "claimRef", "namespace"},
               {"spec", "claimRef", "name"});
}

bool isReleased(const Value& volume) { return textAt(volume, {"status", "phase"}) == "Released"; }

bool isBound(const ObjectKey& claim, const std::optional<ObjectKey>& volumeOfClaim, const ObjectKey& volume,
             const std::optional<ObjectKey>& claimOfVolume) {
  if (claimOfVolume) return *claimOfVolume == claim && volumeOfClaim.value_or(volume) == volume;
  return volumeOfClaim == volume;
}

std::string nodeThatEnds(const Object& pod) {
  const bool hasStopped =
      isFinalPhase(textAt(pod.content, {"status", "phase"})) ||
      (pod.meta.deletionTimestamp && pod.meta.deletionGracePeriodSeconds.value_or(1) == 0);
  return hasStopped ? std::string() : textAt(pod.content, {"spec", "nodeName"});
}

std::string whyPodsStay(const Value& node) {
  const Value* ready = statusCondition(node, "Ready");
  const std::string status = ready == nullptr ? "True" : textAt(*ready, {"status"});
  const Value::List& taints = listAt(node, {"spec", "taints"});
  const bool isOutOfService = std::any_of(taints.begin(), taints.end(), [](const Value& taint) {
    return textAt(taint, {"key"}) == kOutOfServiceTaint;
  });
  return status == "True" || isOutOfService ? std::string() : "its condition Ready is " + status;
}

}  // namespace lastout::kube
