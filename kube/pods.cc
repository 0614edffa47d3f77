#include "kube/pods.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
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

bool isReleased(const Value& volume) {
  const std::string& phase = textAt(volume, {"status", "phase"});
  return phase == "Released" || phase == "Failed";  // Failed: it could not be reclaimed after that
}

// As isBeingUsed() of kube-controller-manager's pv-protection has it.
bool mayBeInUse(const Value& volume) {
  const std::string& phase = textAt(volume, {"status", "phase"});
  return phase.empty() || phase == "Bound";
}

bool hasToBeReleased(const Value* volume, bool hasClaim) {
  return hasClaim || (volume != nullptr && textAt(*volume, {"status", "phase"}) == "Bound");
}

bool isBound(const ObjectKey& claim, const std::optional<ObjectKey>& volumeOfClaim, const ObjectKey& volume,
             const std::optional<ObjectKey>& claimOfVolume) {
  if (claimOfVolume) return *claimOfVolume == claim && volumeOfClaim.value_or(volume) == volume;
  return volumeOfClaim == volume;
}

bool isSuspended(const Value& job) {
  const Value* suspend = job.at({"spec", "suspend"});
  return suspend != nullptr && suspend->asBool() != nullptr && *suspend->asBool();
}

bool hasEnded(const Value& job) {
  const auto is = [&](std::string_view condition) {
    const Value* found = statusCondition(job, condition);
    return found != nullptr && textAt(*found, {"status"}) == "True";
  };
  return is("Complete") || is("Failed");
}

const std::string& nodeOf(const Object& pod) { return textAt(pod.content, {"spec", "nodeName"}); }

bool isWithoutNode(const Object& pod) { return !pod.meta.uid.empty() && nodeOf(pod).empty(); }

bool isShutDown(const Object& pod) {
  return pod.meta.deletionTimestamp && pod.meta.deletionGracePeriodSeconds == 0;
}

std::string nodeThatEnds(const Object& pod) {
  const bool hasStopped =
      pod.meta.deletionTimestamp ? isShutDown(pod) : isFinalPhase(textAt(pod.content, {"status", "phase"}));
  return hasStopped ? std::string() : nodeOf(pod);
}

std::string notReadyStatus(const Value& node) {
  const Value* ready = statusCondition(node, "Ready");
  const std::string status = ready == nullptr ? "True" : textAt(*ready, {"status"});
  return status == "True" ? std::string() : status;
}

bool isOutOfService(const Value& node) {
  const Value::List& taints = listAt(node, {"spec", "taints"});
  return std::any_of(taints.begin(), taints.end(),
                     [](const Value& taint) { return textAt(taint, {"key"}) == kOutOfServiceTaint; });
}

uint32_t firstOrdinalOf(const Value& statefulSet) {
  const Value* start = statefulSet.at({"spec", "ordinals", "start"});
  const int64_t* number = start == nullptr ? nullptr : start->asInteger();
  const bool isNumber = number != nullptr && *number > 0 && *number <= std::numeric_limits<int32_t>::max();
  return isNumber ? static_cast<uint32_t>(*number) : 0;
}

}  // namespace lastout::kube
