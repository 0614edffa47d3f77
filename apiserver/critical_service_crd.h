// The text of deploy/crd/criticalservices.yaml, compiled in: the embedded cluster serves CriticalService
// without being given its CRD.
#pragma once

#include <string_view>

namespace lastout::apiserver {

extern const std::string_view kCriticalServiceCrd;

}  // namespace lastout::apiserver
