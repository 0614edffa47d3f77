// isPreferredVersion: the order of an API group's versions.
#pragma once

#include <string_view>

namespace lastout::kube {

// Whether clients are to prefer `version` to `other`: generally available ("v2") before beta ("v1beta3")
// before alpha, then higher numbers first; anything else comes last, in the order of the alphabet
// (Kubernetes' "Version priority").
bool isPreferredVersion(std::string_view version, std::string_view other);

}  // namespace lastout::kube
