// The guard of the annotations by which users force and confirm the deletion of what a policy holds: whoever
// sets one makes lastout delete, and has to be allowed to do so without it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "protection/policy.h"

namespace lastout::protection {

// Returns a ValidatingAdmissionPolicy and its binding: to set the force annotation, or the confirmation, a
// user must be allowed to delete the object; to confirm, all objects of its children's types, too: in the
// object's namespace or, where children can be in others (ChildrenTest::namespaceName, owner references, a
// cluster-scoped object), in all namespaces. Empty: the policy holds nothing, or does not require it.
std::vector<nlohmann::ordered_json> forceGuardOf(const DeletionPolicy& policy);

}  // namespace lastout::protection
