// implied: a policy also protects the containers of its objects: their Namespace, and the CRD of their type.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "protection/evaluate.h"
#include "protection/fact_index.h"
#include "protection/policy.h"

namespace lastout::protection {

// True if the policy implies that an object of this type, a Namespace or a CRD, is not deleted while it holds
// a protected object.
bool implies(const DeletionPolicy& policy, const kube::GroupResource& container);

// True if objects of the type may keep their Namespace or CRD by the policy, so that lastout has to list them
// for a DELETE of these. `listed`: of a policy with listedBy, what its listers list now.
bool isSoughtInContainers(const DeletionPolicy& policy, const kube::ResourceType& type,
                          const ListedKinds& listed);

// Says what becomes of Namespaces and CRDs by the policy while lastout may not list these types, of which
// there is one, with how somebody gives it the right.
std::string unreadableTypes(const DeletionPolicy& policy, const std::vector<std::string>& types);

// Says how somebody has lastout read types, as part of a sentence: "let lastout's accounts list it, by a
// ClusterRole with …".
std::string howToGiveReads(std::string_view types);

inline constexpr size_t kMostHeldTold = 10;  // objects of one policy that a denial of a container names

// Returns the denial of a DELETE of `container`, which contains `object`; `denial`: of the object's own
// DELETE. For an object that the policy holds by a finalizer, returns why the container stays after its
// DELETE.
Denial impliedBy(const DeletionPolicy& policy, const kube::ObjectKey& container,
                 const kube::ObjectKey& object, const Denial& denial);

// Returns the DELETE of the object by the controller that empties a Namespace. The object must outlive it.
Request contentDeletionOf(const kube::Object& object);

// True if a Namespace may go although lastout may not list a type: by `namespaces: Imply`, and as what the
// policy protects stays while that controller empties the Namespace. It might not with failurePolicy: Ignore,
// if the controller were exempt, or if objects beside it protected it (listers, children), which may go
// first.
bool letsNamespacesGoUnseen(const DeletionPolicy& policy);

// Returns why a Namespace stays after its DELETE was accepted: the policy denies the DELETE of `object` in it
// to the namespace controller, too.
Denial hangsBy(const DeletionPolicy& policy, const kube::ObjectKey& space, const kube::ObjectKey& object,
               const Denial& denial);

}  // namespace lastout::protection
