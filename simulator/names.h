// What holds for the metadata of every type: which object a body means, names, labels, annotations,
// finalizers, owners.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/json.h"
#include "simulator/served_type.h"
#include "simulator/status.h"

namespace lastout::simulator {

// What a request's path says of the object in its body.
struct RequestTarget {
  std::string_view namespaceName;  // "" for cluster-scoped types
  std::string_view name;           // "" where the body alone names the object (create)
};

// Holds the body's apiVersion, kind, metadata.namespace and metadata.name against the path, and writes what
// may be missing (the namespace, and apiVersion and kind of a built-in type) into the body. Fails with 400
// when they differ or when metadata is not formed as metadata is, with 422 when a custom resource has another
// kind. A body's namespace means nothing in a cluster-scoped type and is dropped.
ApiResult<void> matchTarget(const ServedType& type, const RequestTarget& target, Json& object);

// The resourceVersion that the object says it has; empty: it says none, and "0" is none.
std::string_view givenVersion(const Json& object);

// A new object has no resourceVersion: fails with the API server's 500 (it has no reason).
ApiResult<void> refuseResourceVersion(const Json& object);

// What is wrong with metadata, for invalid(); empty when nothing is: also more finalizers and owners than the
// machine holds (cluster/model.h), however many a body names. Wants what matchTarget() let pass, and a
// name unless `named` is false (then generateName will make one). Rules that compare with the stored object
// are not here.
std::vector<StatusCause> metadataProblems(const ServedType& type, const Json& object, bool named = true);

}  // namespace lastout::simulator
