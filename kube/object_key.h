// GroupResource and ObjectKey: the names that everything else is keyed by.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lastout::kube {

// An API type without its version: {"apps", "deployments"}; the core group is "".
struct GroupResource {
  std::string group;
  std::string resource;
  auto operator<=>(const GroupResource&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// One object. namespaceName is empty for cluster-scoped types.
struct ObjectKey {
  GroupResource type;
  std::string namespaceName;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

std::string toString(const GroupResource& type);  // "deployments.apps", "pods"
// Returns "deployments.apps/finalizer-namespace/finalizer-deployment", for people: two keys may have one
// text.
std::string toString(const ObjectKey& key);

// The name of the CRD that defines a type: "<resource>.<group>".
std::string crdName(const GroupResource& type);
// The CustomResourceDefinition itself.
ObjectKey crdKey(const GroupResource& type);
// The other way round: the type that a CRD of this name defines.
GroupResource definedBy(std::string_view crdName);
// The same as parts of `crdName`; the group is empty if the name has no dot, as no CRD's has.
struct DefinedNames {
  std::string_view group;
  std::string_view resource;
};
DefinedNames definedNames(std::string_view crdName);

// Returns the hash of whatever has the hash `seed`, and of that part after it. Each part is hashed by itself
// and then mixed in, so that {"a", "bc"} and {"ab", "c"} have nothing in common.
size_t hashAfter(size_t seed, std::string_view part) noexcept;

}  // namespace lastout::kube

template <>
struct std::hash<lastout::kube::GroupResource> {
  size_t operator()(const lastout::kube::GroupResource& type) const noexcept;
};
template <>
struct std::hash<lastout::kube::ObjectKey> {
  size_t operator()(const lastout::kube::ObjectKey& key) const noexcept;
};
