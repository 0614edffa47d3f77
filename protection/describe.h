// describe: a policy in words, for `lastout policy show`.
#pragma once

#include <string>
#include <string_view>

#include "protection/placement.h"
#include "protection/policy.h"

namespace lastout::protection {

// What becomes of resources outside the cluster where no outside controller reports an external step.
inline constexpr std::string_view kNothingOutside = "nothing outside the cluster is deleted";

// What the policy protects, and when; what lifts that; and where each part runs, and why. Several lines.
std::string describe(const DeletionPolicy& policy, PolicyMode mode);

}  // namespace lastout::protection
