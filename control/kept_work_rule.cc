#include "control/kept_work_rule.h"

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

}  // namespace lastout::control
