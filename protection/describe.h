// describe: a policy in words, for `lastout policy show`.
#pragma once

#include <string>

#include "protection/placement.h"
#include "protection/policy.h"

namespace lastout::protection {

// What the policy protects, and when; what lifts that; and where each part runs, and why. Several lines.
std::string describe(const DeletionPolicy& policy, PolicyMode mode);

}  // namespace lastout::protection
