// Timestamps: the times in Kubernetes' objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lastout::kube {

// RFC 3339, "2026-11-21T02:46:59Z", in seconds since the epoch; fractions of a second are dropped. Nothing
// when it is no such time.
std::optional<int64_t> parseTimestamp(std::string_view text);
// As Kubernetes writes them: "2026-11-21T02:46:59Z", in UTC.
std::string timestampText(std::chrono::sys_seconds time);
// The time so many seconds later; `text` as it is when it is no such time.
std::string timestampAfter(std::string_view text, std::chrono::seconds delay);

}  // namespace lastout::kube
