// implied: a policy on objects protects what holds them, too: their Namespace, and the CRD of their type.
#pragma once

#include <cstddef>

#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

// True if the policy implies that an object of this type, a Namespace or a CRD, is not deleted while it holds
// a protected object.
bool implies(const DeletionPolicy& policy, const kube::GroupResource& holder);

inline constexpr size_t kMostHeldTold = 10;  // objects of one policy that keep one holder from being gone

// Returns the denial of a DELETE of `holder`, which holds `object`, whose own DELETE the policy denies so. Of
// an object that the policy holds: why the holder is not gone once it was deleted.
Denial impliedBy(const DeletionPolicy& policy, const kube::ObjectKey& holder, const kube::ObjectKey& object,
                 const Denial& denial);

// Returns the DELETE of the object by the controller that empties a Namespace. The object must outlive it.
Request contentDeletionOf(const kube::Object& object);

// Returns why a Namespace is not gone once it was deleted, where its deletion is accepted although the policy
// denies that of `object` in it, also to the controller that empties the Namespace.
Denial hangsBy(const DeletionPolicy& policy, const kube::ObjectKey& space, const kube::ObjectKey& object,
               const Denial& denial);

}  // namespace lastout::protection
