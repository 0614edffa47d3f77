// Scaling a provider to nothing: it leaves the provider as dead as deleting it does.
#pragma once

#include <string_view>

#include "kube/value.h"

namespace lastout::admission {

// How the denial of a deletion begins where it denies scaling.
inline constexpr std::string_view kScalingIsGuarded = "scaling to zero is guarded like deletion: ";

// Whether an object, or the Scale of one, asks for no replicas although it asked for some before. Of a Scale
// a missing spec.replicas is none (autoscaling/v1 leaves zeros out); any other object without it does not
// say.
bool scalesToZero(const kube::Value& before, const kube::Value& after);

}  // namespace lastout::admission
