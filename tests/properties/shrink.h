// Shrinking: a smaller cluster in which the same thing still goes wrong.
#pragma once

#include <functional>

#include "tests/properties/cluster_spec.h"

namespace lastout::testing {

// Takes away steps, works, controllers, owners, finalizers and objects, as long as `fails` stays true of the
// rest.
ClusterSpec shrink(ClusterSpec spec, const std::function<bool(const ClusterSpec&)>& fails);

}  // namespace lastout::testing
