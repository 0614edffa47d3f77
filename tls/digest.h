// digest: a short name for a long text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lastout::tls {

// Returns the first so many bytes, 32 at most, of the text's SHA-256, in hexadecimal.
std::string digestOf(std::string_view text, size_t bytes);

}  // namespace lastout::tls
