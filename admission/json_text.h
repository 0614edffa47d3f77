// Text inside JSON strings.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lastout::admission {

// How many bytes at the beginning of `text` stand for themselves inside the quotes of a JSON string, and are
// ASCII: none of them is a quote, a backslash or a control character. Looks at eight bytes at a time, as most
// of a review is such text.
inline size_t plainLength(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = kOnes << 7;
  // High bits of bytes that are below `limit` (up to 128); those above the lowest such byte may err.
  const auto below = [](uint64_t word, uint64_t limit) { return (word - kOnes * limit) & ~word & kHighs; };
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    const uint64_t special = (word & kHighs) | below(word, 0x20) | below(word ^ (kOnes * '"'), 1) |
                             below(word ^ (kOnes * '\\'), 1);
    if (special == 0) continue;
    if constexpr (std::endian::native == std::endian::little)
      return at + static_cast<size_t>(std::countr_zero(special)) / 8;
    break;
  }
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') break;
  }
  return at;
}

}  // namespace lastout::admission
