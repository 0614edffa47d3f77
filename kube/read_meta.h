// readMeta: parseMeta on a map that is being read already. Internal to kube/.
#pragma once

#include "kube/fields.h"
#include "kube/object.h"

namespace lastout::kube {

// Where metadata comes from. Of a server's only the types of the fields are checked, since the server has
// accepted the rest; of a manifest names, finalizers, labels, annotations and owners are checked, too.
enum class MetaSource : uint8_t { Server, Manifest };

// Reports to `metadata`'s errors. Leaves it to the caller whether unknown fields are wrong: in a manifest
// they are, in what a newer server sends they are not.
ObjectMeta readMeta(Fields& metadata, MetaSource source);

}  // namespace lastout::kube
