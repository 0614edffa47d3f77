// Uids as the graph keeps them: sixteen bytes when they are UUIDs in Kubernetes' own form, text otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lastout::graph {

enum class UidKind : uint8_t { None, Uuid, Text };

// A uid as it was given, decoded as far as it goes. Borrows its text.
struct UidKey {
  UidKind kind = UidKind::None;
  uint64_t high = 0;  // Uuid only, as is low
  uint64_t low = 0;
  std::string_view text;  // Text only
};

// "" is None; 36 characters of lower-case hexadecimal digits with dashes where a UUID has them are Uuid; all
// else is Text. So equal keys mean equal texts.
UidKey parseUid(std::string_view text);

// The text of a Uuid.
std::string formatUuid(uint64_t high, uint64_t low);

uint64_t hashUid(uint64_t seed, const UidKey& uid);

}  // namespace lastout::graph
