// References: how people name objects, on the command line and in scenario files.
//
//   deployments.apps/finalizer-namespace/finalizer-deployment     type/namespace/name
//   coolresources.my.crd.group/some-instance                      type/name (cluster-scoped, or -n given)
//   deployment/x -n y        deploy/x -n y                        kubectl's own form
//   manifestworks/cluster1/*                                      `*` and `?` match within one segment
//   (patterns only)
#pragma once

#include <string>
#include <string_view>

#include "kube/object_key.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::kube {

// An ObjectKey whose namespace and name may hold `*` and `?`. A namespaced type written without a namespace
// has `anyNamespace`: it matches in every namespace (scenario shorthand; unique or an error, as the caller
// needs).
struct ObjectPattern {
  ObjectKey key;
  bool anyNamespace = false;
  bool hasGlob() const;
  bool matches(const ObjectKey& other) const;
};

Result<ObjectPattern> parsePattern(std::string_view text, const ResourceMap& types);
// As parsePattern, but no globs, and a namespaced type must have its namespace ("deployment/x" alone is an
// error that shows how to write it).
Result<ObjectKey> parseReference(std::string_view text, const ResourceMap& types);

}  // namespace lastout::kube
