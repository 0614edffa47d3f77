// implied: a policy also protects the containers of its objects: their Namespace, and the CRD of their type.
#pragma once

#include <cstddef>

#include "protection/evaluate.h"
#include "protection/policy.h"

namespace lastout::protection {

// True if the policy implies that an object of this type, a Namespace or a CRD, is not deleted while it holds
// a protected object.
bool implies(const DeletionPolicy& policy, const kube::GroupResource& container);

inline constexpr size_t kMostHeldTold = 10;  // objects of one policy that a denial of a container names

// Returns the denial of a DELETE of `container`, which contains `object`; `denial`: of the object's own
// DELETE. For an object that the policy holds by a finalizer, returns why the container stays after its
// DELETE.
Denial impliedBy(const DeletionPolicy& policy, const kube::ObjectKey& container,
                 const kube::ObjectKey& object, const Denial& denial);

// Returns the DELETE of the object by the controller that empties a Namespace. The object must outlive it.
Request contentDeletionOf(const kube::Object& object);

// Returns why a Namespace stays after its DELETE was accepted: the policy denies the DELETE of `object` in it
// to the namespace controller, too.
Denial hangsBy(const DeletionPolicy& policy, const kube::ObjectKey& space, const kube::ObjectKey& object,
               const Denial& denial);

}  // namespace lastout::protection
