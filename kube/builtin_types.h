// The types that are known before any CustomResourceDefinition was read.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace lastout::kube {

struct KnownType {
  std::string_view group;
  std::string_view version;  // the preferred one
  std::string_view resource;
  std::string_view kind;  // the singular is this in lower case
  bool namespaced;
  std::array<std::string_view, 2> shortNames;  // empty ones at the end
};

// In Kubernetes 1.26 itself, and the admission policies of 1.30, in the order in which a word without a group
// prefers them.
std::span<const KnownType> builtInTypes();

// Defined by the CRDs of lastout and of Open Cluster Management.
std::span<const KnownType> wellKnownCustomTypes();

}  // namespace lastout::kube
