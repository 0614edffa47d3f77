// Which write of a controller an object needs (simulator/controller_loop.h).
#pragma once

#include <optional>

#include "simulator/control_plane.h"
#include "simulator/mutation.h"

namespace lastout::simulator {

// Whether objects of this type have such writes at all.
bool hasControllerWrites(const kube::GroupResource& type);
// What is to be written because of this object, as it is stored now; nothing when all is as it should be.
// There may be more to do after that write.
std::optional<Mutation> controllerWriteOf(ControlPlane& plane, const kube::ObjectKey& key)
    LASTOUT_REQUIRES(plane.mutex);

}  // namespace lastout::simulator
