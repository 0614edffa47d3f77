// Secrets on their way into headers, and out of messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/result.h"

namespace lastout::client {

constexpr size_t kMostTokenBytes = size_t{64} << 10;

// Returns why the text cannot be a bearer token, as the end of a sentence; nullopt: it can be one.
std::optional<std::string> tokenProblem(std::string_view token);

// Whether the text may be a header's value: no control characters, and no spaces around it.
bool isHeaderValue(std::string_view text);

// The same error without what it quotes: parsers quote what they could not read, and that may be a secret.
kube::Error withoutQuotes(kube::Error error);

}  // namespace lastout::client
