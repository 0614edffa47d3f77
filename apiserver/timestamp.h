// Times as the API writes them: "2026-11-21T02:46:55Z", whole seconds in UTC.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lastout::apiserver {

std::string timestampText(std::chrono::sys_seconds time);
// Nothing when the text is no such time.
std::optional<std::chrono::sys_seconds> parseTimestamp(std::string_view text);
// The time so many seconds later; `text` as it is when it is no such time.
std::string timestampAfter(std::string_view text, std::chrono::seconds delay);

}  // namespace lastout::apiserver
