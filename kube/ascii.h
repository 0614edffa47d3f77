// Characters by their ASCII class, whatever the locale.
#pragma once

namespace lastout::kube {

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace lastout::kube
