#include "criticalservice/finalizer_removers.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "criticalservice/remover_finder.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::criticalservice {
namespace {

using OfType = RemoverFinder::OfType;

struct BuiltInRemover {
  std::string_view finalizer;
  std::string_view name;
};

constexpr std::string_view kCollector = "the garbage collector";
constexpr std::string_view kControllerManager = "kube-controller-manager";
constexpr std::string_view kAgent = "its agent";

// By their whole names: other controllers use names below kubernetes.io, too, such as
// "snapshot.storage.kubernetes.io/volumesnapshot-bound-protection".
constexpr BuiltInRemover kBuiltInRemovers[] = {
    {kube::kForegroundFinalizer, kCollector},
    {kube::kOrphanFinalizer, kCollector},
    {kube::kCrdCleanupFinalizer, "kube-apiserver"},
    {kube::kNamespaceSpecFinalizer, kControllerManager},
    {kube::kJobTrackingFinalizer, kControllerManager},
    {kube::kPvcProtectionFinalizer, kControllerManager},
    {kube::kPvProtectionFinalizer, kControllerManager},
    {kube::kPvControllerFinalizer, kControllerManager},
    {kube::kResourceClaimFinalizer, kControllerManager},
    {kube::kVacProtectionFinalizer, kControllerManager},
    {kube::kServiceCidrFinalizer, kControllerManager},
    {manifestwork::kWorkFinalizer, kAgent},
    {manifestwork::kAppliedFinalizer, kAgent},
};

// Those that the attacher of a CSI driver sets, which has the driver's name in them.
std::set<OfType> attachersFinalizers(const std::vector<const kube::Object*>& objects) {
  std::set<OfType> found;
  for (const kube::Object* object : objects) {
    if (object->key.type != kube::kPersistentVolumes && object->key.type != kube::kVolumeAttachments)
      continue;
    for (const std::string& finalizer : object->meta.finalizers)
      if (finalizer.starts_with(kube::kAttacherFinalizerPrefix)) found.emplace(object->key.type, finalizer);
  }
  return found;
}

}  // namespace

std::string_view builtInRemoverOf(std::string_view finalizer) {
  const auto* const found = std::ranges::find(kBuiltInRemovers, finalizer, &BuiltInRemover::finalizer);
  if (found != std::end(kBuiltInRemovers)) return found->name;
  return finalizer.starts_with(kube::kFinalizerDomain) ? "lastout" : "";
}

bool hasForeignFinalizer(const kube::ObjectMeta& meta) {
  return std::ranges::any_of(
      meta.finalizers, [](const std::string& finalizer) { return builtInRemoverOf(finalizer).empty(); });
}

std::vector<OutsideRemover> findOutsideRemovers(const std::vector<const kube::Object*>& objects,
                                                const kube::ResourceMap& types) {
  std::vector<OutsideRemover> all;
  const auto look = [&](const char* name, std::string_view finalizer, const kube::GroupResource& from) {
    const auto carries = [&](const kube::Object* object) {
      return object->key.type == from && kube::hasFinalizer(object->meta, finalizer);
    };
    if (std::ranges::any_of(objects, carries)) all.push_back({name, std::string(finalizer), from});
  };
  look("cloud-controller-manager", kube::kLoadBalancerFinalizer, kube::kServices);
  look("external-provisioner", kube::kProvisionerFinalizer, kube::kPersistentVolumes);
  for (const kube::UsageFinalizer& usage : kube::kUsageFinalizers)
    look("kube-controller-manager", usage.finalizer, usage.type);
  for (const OfType& what : attachersFinalizers(objects))
    all.push_back({"external-attacher", what.second, what.first});
  if (all.empty()) return all;
  const RemoverFinder finder(objects, types);
  std::erase_if(all, [&](const OutsideRemover& one) {
    return finder.isOfService({one.from, one.finalizer});
  });
  return all;
}

}  // namespace lastout::criticalservice
