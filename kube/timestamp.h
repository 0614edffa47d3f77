// parseTimestamp: the times in Kubernetes' objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lastout::kube {

// RFC 3339, "2026-11-21T02:46:59Z", in seconds since the epoch; fractions of a second are dropped. Nothing
// when it is no such time.
std::optional<int64_t> parseTimestamp(std::string_view text);

}  // namespace lastout::kube
