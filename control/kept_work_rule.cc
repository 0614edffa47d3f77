#include "control/kept_work_rule.h"

#include "criticalservice/critical_service.h"
#include "kube/well_known.h"

namespace lastout::control {

Keeping keepingOf(const WorkNow& work, const OwnedByWork& owned) {
  const Keeping ends = owned.isUnsure ? Keeping::AsItIs : Keeping::Ends;
  const bool isToBeKept = owned.guarded && !owned.lastout;
  if (!work.terminates && isToBeKept && !work.isKept) return Keeping::Begins;
  if (!work.isKept) return Keeping::AsItIs;
  if (owned.lastout) return Keeping::Ends;
  if (!work.terminates) return isToBeKept ? Keeping::AsItIs : ends;
  if (!owned.awaited) return ends;
  return owned.forsaken && !work.isHeldByOthers ? Keeping::Ends : Keeping::AsItIs;
}

bool isLastouts(const kube::ObjectKey& object, std::string_view ownNamespace) {
  static const kube::ObjectKey kDefinition = kube::crdKey(criticalservice::criticalServiceType());
  if (object == kDefinition) return true;
  if (ownNamespace.empty()) return false;
  return object.namespaceName == ownNamespace ||
         (object.type == kube::kNamespaces && object.name == ownNamespace);
}

bool isAwaited(const kube::GroupResource& type) {
  static const kube::GroupResource kCriticalServices = criticalservice::criticalServiceType();
  return type == kube::kNamespaces || type == kCriticalServices;
}

}  // namespace lastout::control
