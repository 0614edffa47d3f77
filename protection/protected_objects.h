// protected_objects: what policies say to a DELETE of each of some objects, which are all that there is.
#pragma once

#include <unordered_map>
#include <vector>

#include "kube/object.h"
#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

using Denials = std::unordered_map<kube::ObjectKey, std::vector<Denial>>;

// Returns the objects whose DELETE, by a person of whom nothing is known, a policy denies, or accepts and
// then holds: each policy that does, in their order; then, of a Namespace or a CRD, those that protect an
// object in it. An owner reference without a uid means the object of that kind and name. Objects that are
// being deleted are among them.
Denials denialsOf(const std::vector<DeletionPolicy>& policies, std::vector<kube::Object> objects,
                  const kube::ResourceMap& types);

}  // namespace lastout::protection
