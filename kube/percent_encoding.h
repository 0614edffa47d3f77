// Percent escapes in URLs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lastout::kube {

// Each "%xx" is a byte (RFC 3986, 2.1), which need not be of a character; nothing when no two hexadecimal
// digits follow a "%".
std::optional<std::string> percentDecoded(std::string_view text);

}  // namespace lastout::kube
