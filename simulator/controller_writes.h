// Which write of a controller an object needs (simulator/controller_loop.h).
#pragma once

#include <optional>

#include "simulator/control_plane.h"
#include "simulator/mutation.h"

namespace lastout::simulator {

// Returns true if controllers write objects of this type.
bool hasControllerWrites(const kube::GroupResource& type);
// Returns the write that this object, as it is stored now, needs next; nullopt: it needs none. After that
// write it may need another.
std::optional<Mutation> controllerWriteOf(ControlPlane& plane, const kube::ObjectKey& key)
    LASTOUT_REQUIRES(plane.mutex);

}  // namespace lastout::simulator
