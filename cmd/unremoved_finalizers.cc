#include "cmd/unremoved_finalizers.h"

#include <algorithm>

#include "criticalservice/finalizer_removers.h"
#include "kube/well_known.h"

namespace lastout::cmd {

void UnremovedFinalizers::add(const std::vector<kube::Object>& objects) {
  for (const kube::Object& object : objects) {
    for (const std::string& finalizer : object.meta.finalizers) {
      if (!isRemoved(object.key.type, finalizer))
        found_.insert(finalizer + " of " + toString(object.key.type));
    }
  }
}

// What the machine takes for removed outside of the files, nobody removes here.
bool UnremovedFinalizers::isRemoved(const kube::GroupResource& type, const std::string& finalizer) const {
  const auto removes = [&](const replay::ScenarioController& controller) {
    return controller.finalizer == finalizer && controller.from == type;
  };
  if (std::ranges::any_of(controllers_, removes)) return true;
  if (finalizer.starts_with(kube::kFinalizerDomain)) return isLastoutInside_;
  return !criticalservice::builtInRemoverOf(finalizer).empty() && !kube::isUsageFinalizer(type, finalizer);
}

}  // namespace lastout::cmd
