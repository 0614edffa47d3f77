// How bytes are written as text: hexadecimal digits, Base64, percent escapes, queries; and a hash that is the
// same on every machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/result.h"

namespace lastout::kube {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// Returns the two hexadecimal digits of a byte.
inline std::string hexOf(unsigned char byte) { return {kHexDigits[byte >> 4U], kHexDigits[byte & 15U]}; }

// Returns the bytes in Base64 (RFC 4648, with padding): how JSON carries certificates and patches.
std::string toBase64(std::string_view bytes);
// Returns the bytes; nullopt: the text is not Base64. Passes over line breaks between the characters.
std::optional<std::string> fromBase64(std::string_view text);

// Returns the text with "%XX" for each byte that is no letter, no digit and not one of `plain`: by default
// those that RFC 3986 leaves unreserved.
std::string percentEncoded(std::string_view text, std::string_view plain = "-._~");
// Returns the text with a byte for each "%xx" (RFC 3986, 2.1), which need not be of a character; nullopt: no
// two hexadecimal digits follow a "%".
std::optional<std::string> percentDecoded(std::string_view text);

// The parameters of a query, the part of a URL after its "?". Of one given twice the first counts, as for API
// servers.
using Query = std::map<std::string, std::string, std::less<>>;

// Reads pieces between "&", each a key and, after its first "=", a value; "+" is a space and %xx a byte (URL
// Standard, application/x-www-form-urlencoded). Fails on a "%" that no two hexadecimal digits follow.
Result<Query> parseQuery(std::string_view text);

inline constexpr uint64_t kHashBasis = 0xcbf29ce484222325U;

// Returns the FNV-1a hash of the text, 64 bits, begun at `basis`: the same on every machine, which std::hash
// is not.
constexpr uint64_t stableHash(std::string_view text, uint64_t basis = kHashBasis) {
  uint64_t hash = basis;
  for (const char character : text) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3U;
  return hash;
}

}  // namespace lastout::kube
