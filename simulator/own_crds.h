// The texts of deploy/crd/, compiled in: the embedded cluster serves CriticalService and DeletionPolicy
// without being given their CRDs.
#pragma once

#include <span>

#include "kube/compiled_text.h"

namespace lastout::simulator {

std::span<const kube::CompiledText> ownCrds();

}  // namespace lastout::simulator
