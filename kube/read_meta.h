// readMeta: parseMeta on a map that is being read already. Internal to kube/.
#pragma once

#include "kube/fields.h"
#include "kube/object.h"

namespace lastout::kube {

// Reports to `metadata`'s errors. Leaves it to the caller whether unknown fields are wrong: in a manifest
// they are, in what a newer server sends they are not.
ObjectMeta readMeta(Fields& metadata);

}  // namespace lastout::kube
