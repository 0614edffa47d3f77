// hold_finalizers: the finalizers by which objects of a type are held for DeletionPolicies. The policies name
// them, and so do the ValidatingAdmissionPolicies made of them, also when the policies are gone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/value.h"
#include "protection/policy.h"

namespace lastout::protection {

// On the ValidatingAdmissionPolicies of a policy that holds: its finalizer.
inline constexpr std::string_view kHoldFinalizerAnnotation = "lastout.dev/hold-finalizer";
// Beside it: by which finalizers the policy held objects of which types before it was changed, as
// "secrets:example.com/held,databases.example.com:example.com/held".
inline constexpr std::string_view kFormerFinalizersAnnotation = "lastout.dev/former-hold-finalizers";
inline constexpr size_t kMostFormerFinalizers = 100;  // that are kept of one policy

// The domains of finalizers that lastout never takes off for a policy: those of Kubernetes, and its own.
// Returns the one of this finalizer; empty: it is none of them.
std::string_view reservedDomainOf(std::string_view finalizer);

using HoldFinalizers = std::map<kube::GroupResource, std::set<std::string>>;

// Adds the types and the finalizer of a policy; nothing if it does not hold.
void addOfPolicy(const DeletionPolicy& policy, HoldFinalizers& finalizers);

// What policies say of finalizers, as a whole.
struct KnownFinalizers {
  // Of current and former policies: lastout may take them off objects of these types.
  HoldFinalizers all;
  // Of current policies that lastout does not understand: it does not know which objects they hold.
  HoldFinalizers unclear;
};

// Returns the finalizers that hold the object for no policy any more, in its order. `counts`: the policy that
// counts for it; nullptr: none does. A finalizer that this one calls another operator's is left alone.
std::vector<std::string> releasableFinalizers(const KnownFinalizers& known, const DeletionPolicy* counts,
                                              const kube::GroupResource& type, const kube::ObjectMeta& meta);

// Adds the types and the finalizer that a DeletionPolicy names, as it stands and in the form that its status
// keeps. It need not be one that parsePolicy() accepts.
void addOfDeletionPolicy(const kube::Value& policy, HoldFinalizers& finalizers);

// Adds the types and the finalizers that a ValidatingAdmissionPolicy names. Returns false if it has no such
// annotation.
bool addOfAdmissionPolicy(const kube::Value& policy, HoldFinalizers& finalizers);

// Returns kFormerFinalizersAnnotation for the ValidatingAdmissionPolicy that is to stand in the place of the
// other: all that this one names and the new one does not. Empty: there is none.
std::string formerFinalizers(const kube::Value& standing, const kube::Value& wanted);

}  // namespace lastout::protection
