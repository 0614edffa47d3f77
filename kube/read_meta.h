// readMeta: parseMeta on a map that is being read already. Internal to kube/.
#pragma once

#include "kube/fields.h"
#include "kube/object.h"

namespace lastout::kube {

// What is checked besides the types of the fields: nothing of what a server has accepted, whatever its rules
// are; of a manifest also names, finalizers, labels, annotations and owners.
enum class MetaSource : uint8_t { Server, Manifest };

// Reports to `metadata`'s errors. Leaves it to the caller whether unknown fields are wrong: in a manifest
// they are, in what a newer server sends they are not.
ObjectMeta readMeta(Fields& metadata, MetaSource source);

}  // namespace lastout::kube
