// hold_finalizers: by which finalizers objects of a type are held for DeletionPolicies. The policies say it,
// and so do the ValidatingAdmissionPolicies that were made of them, when the policies are gone.
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

// Adds what a DeletionPolicy, which need not be one that parsePolicy() accepts, says of its types and its
// finalizer.
void addOfDeletionPolicy(const kube::Value& policy, HoldFinalizers& finalizers);

// Adds what a ValidatingAdmissionPolicy with the annotation says. Returns false if it has none.
bool addOfAdmissionPolicy(const kube::Value& policy, HoldFinalizers& finalizers);

}  // namespace lastout::protection
