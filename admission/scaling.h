// Scaling a provider to zero: it stops the provider's Pods just as a deletion does.
#pragma once

#include <string_view>

#include "kube/value.h"

namespace lastout::admission {

// How the denial of a deletion begins where it denies scaling.
inline constexpr std::string_view kScalingIsGuarded = "scaling to zero is guarded like deletion: ";

// Returns true if an update sets spec.replicas of an object, or of its Scale, from more than zero to zero. In
// a Scale a missing spec.replicas means zero (autoscaling/v1 omits zeros); in any other object it means
// nothing.
bool scalesToZero(const kube::Value& before, const kube::Value& after);

}  // namespace lastout::admission
