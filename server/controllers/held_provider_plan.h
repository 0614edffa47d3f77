// Held providers (control/held_provider_rule.h), as a view of the cluster shows them.
#pragma once

#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "control/held_provider_rule.h"

namespace lastout::server {

// A provider to which lastout adds its finalizer, or from which it removes it.
struct HeldProviderChange {
  kube::ObjectKey provider;
  std::string uid;
  control::HeldProviderAction holding = control::HeldProviderAction::AsItIs;
  // Not every CriticalService that guards it says Hold, or none guards it; the view may lag behind.
  bool isWithdrawn = false;
};

// Without `mayHold` none is to be held: each that is, is let go, whatever its criteria say.
std::vector<HeldProviderChange> heldProviderChanges(const admission::ClusterView& view, bool mayHold = true);

}  // namespace lastout::server
