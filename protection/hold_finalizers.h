// hold_finalizers: the finalizers by which objects of a type are held for DeletionPolicies. The policies name
// them, and so do the ValidatingAdmissionPolicies made of them, also when the policies are gone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::protection {

// On the ValidatingAdmissionPolicies of a policy that holds: its finalizer.
inline constexpr std::string_view kHoldFinalizerAnnotation = "lastout.dev/hold-finalizer";

using HoldFinalizers = std::map<kube::GroupResource, std::set<std::string>>;

// Adds the types and the finalizer that a DeletionPolicy names. It need not be one that parsePolicy()
// accepts.
void addOfDeletionPolicy(const kube::Value& policy, HoldFinalizers& finalizers);

// Adds the types and the finalizer that a ValidatingAdmissionPolicy names. Returns false if it has no such
// annotation.
bool addOfAdmissionPolicy(const kube::Value& policy, HoldFinalizers& finalizers);

}  // namespace lastout::protection
