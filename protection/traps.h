// trapIn: finds policies that would leave nobody a way to clean up a cluster, or to take lastout away.
#pragma once

#include <string>

#include "protection/policy.h"

namespace lastout::protection {

// Returns what is wrong with the policy's objects, as the end of a sentence that begins with their field:
// they are all objects at all times, or all objects by which a policy is taken back. Empty: they are no trap.
std::string trapIn(const DeletionPolicy& policy);

}  // namespace lastout::protection
