// Held providers (control/held_provider.h), as a view of the cluster shows them.
#pragma once

#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "control/held_provider.h"

namespace lastout::server {

// A provider whose finalizer of lastout's is to be set, or to be taken off.
struct HoldingChange {
  kube::ObjectKey provider;
  std::string uid;
  control::HoldFinalizerAction holding = control::HoldFinalizerAction::AsItIs;
  // Nobody wants it held, or not everybody, as far as the view was told, which may lag behind.
  bool isUnwanted = false;
};

// Without `mayHold` none is to be held: each that is, is let go, whatever its criteria say.
std::vector<HoldingChange> holdingsToChange(const admission::ClusterView& view, bool mayHold = true);

}  // namespace lastout::server
