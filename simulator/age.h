// Ages as kubectl shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lastout::simulator {

// "5s", "3m20s", "47h", "5d", "2y": two units while the first is small, as `kubectl get` has it.
std::string humanDuration(int64_t seconds);

// The time from `timestamp` (RFC 3339) to `now`, in seconds since the epoch: "<unknown>" when it is empty,
// "<invalid>" when it is no time or in the future.
std::string ageOf(std::string_view timestamp, int64_t now);

}  // namespace lastout::simulator
