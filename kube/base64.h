// Base64 (RFC 4648, with padding): how JSON carries certificates and patches.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lastout::kube {

std::string toBase64(std::string_view bytes);
// The bytes; nothing when the text is no Base64. Line breaks between the characters are passed over.
std::optional<std::string> fromBase64(std::string_view text);

}  // namespace lastout::kube
