// Hashing of names and ids for the graph's indexes. 32 bits; the high ones choose the slot
// (graph/hash_index.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace lastout::graph {

// Both halves of a product mixed: every bit of the result depends on every bit of both factors.
inline uint64_t mixHash(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline constexpr uint64_t kHashOdd = 0x9ddfea08eb382d69;
inline constexpr uint64_t kHashLast = 0xc3a5c85c97cb3127;

inline uint64_t hashNumber(uint64_t seed, uint64_t value) { return mixHash(seed ^ value, kHashOdd); }

// The first `size` bytes, 1 to 7 of them, as a number; without a call, which is what memcpy of an unknown
// size costs.
inline uint64_t shortWord(const char* at, size_t size) {
  if (size >= 4) {
    uint32_t first = 0;
    uint32_t last = 0;
    std::memcpy(&first, at, 4);
    std::memcpy(&last, at + size - 4, 4);
    return uint64_t{last} << 32 | first;
  }
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(at[i])}; };
  return byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
}

// `seed` carries what was hashed before.
inline uint64_t hashText(uint64_t seed, std::string_view text) {
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ (left * kHashLast);
  uint64_t word = 0;
  for (; left > 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    hash = mixHash(hash ^ word, kHashOdd);
  }
  if (text.size() >= 8) {
    std::memcpy(&word, text.data() + text.size() - 8, 8);  // its first bytes may have been hashed already
    hash = mixHash(hash ^ word, kHashOdd);
  } else if (left > 0) {
    hash = mixHash(hash ^ shortWord(at, left), kHashOdd);
  }
  return hash;
}

inline uint32_t finishHash(uint64_t hash) { return static_cast<uint32_t>(mixHash(hash, kHashLast) >> 32); }

}  // namespace lastout::graph
