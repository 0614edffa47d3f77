// implied: a policy on objects protects what holds them, too: their Namespace, and the CRD of their type.
#pragma once

#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

// True if the policy implies that an object of this type, a Namespace or a CRD, is not deleted while it holds
// a protected object.
bool implies(const DeletionPolicy& policy, const kube::GroupResource& holder);

// Returns the denial of a DELETE of `holder`, which holds `object`, whose own DELETE the policy denies so.
Denial impliedBy(const DeletionPolicy& policy, const kube::ObjectKey& holder, const kube::ObjectKey& object,
                 const Denial& denial);

}  // namespace lastout::protection
