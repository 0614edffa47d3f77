// known_types: whether a cluster has the types and the fields that a DeletionPolicy names. A policy with a
// misspelt one is understood, and protects less than it says.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "kube/value.h"
#include "protection/policy.h"

namespace lastout::protection {

// The types of a cluster, as far as policies name them.
struct KnownTypes {
  // Nothing serves a type of the pattern, and that is certain.
  std::function<bool(const ResourcePattern& pattern)> isMissing;
  std::vector<kube::GroupResource> served;  // all, for messages
  // Returns the CustomResourceDefinition of a type; nullptr: it has none, as built-in types, or the
  // definition cannot be read. Fields of such a type are not compared.
  std::function<const kube::Value*(const kube::GroupResource& type)> definitionOf;
};

// Returns a sentence for each type that a policy is about, counts children of or reads lists from, and that
// the cluster does not serve; and for each field that protects (of the objects, of children, of listers) and
// that the structural schema of its type does not have: in every served version of the objects, in one at
// least of children and listers. Each names the nearest name that is there. Fields of ancestors are not
// compared: labels say the types of these.
std::vector<std::string> unknownTypes(const DeletionPolicy& policy, const KnownTypes& known);

// Returns the types of which unknownTypes() compares fields.
std::set<kube::GroupResource> typesWithFields(const DeletionPolicy& policy);

// Returns the sentences as one, at most ten of them; empty: there are none.
std::string joinedUnknown(const std::vector<std::string>& sentences);

}  // namespace lastout::protection
