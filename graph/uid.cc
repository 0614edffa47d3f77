#include "graph/uid.h"

#include <bit>
#include <cstring>

#include "graph/hash.h"
#include "kube/encoding.h"

namespace lastout::graph {

namespace {

constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kEach = 0x0101010101010101;  // times a byte: that byte eight times

// The eight hexadecimal digits of a word in the order of memory, as a number; sets `bad` when some are none.
uint64_t parseDigits(uint64_t word, uint64_t& bad) {
  const uint64_t values = (word & kEach * 0x0f) + (word >> 6 & kEach) * 9;
  const uint64_t letters = (values + kEach * 6) >> 4 & kEach;
  bad |= (values & kEach * 0xf0) | (word ^ (values + kEach * '0' + letters * ('a' - '0' - 10)));
  uint64_t number = __builtin_bswap64(values);
  number = (number | number >> 4) & 0x00ff00ff00ff00ff;
  number = (number | number >> 8) & 0x0000ffff0000ffff;
  return (number | number >> 16) & 0xffffffff;
}

uint64_t wordOf(const char* first, const char* second) {
  char bytes[8];
  std::memcpy(bytes, first, 4);
  std::memcpy(bytes + 4, second, 4);
  uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  return word;
}

}  // namespace

UidKey parseUid(std::string_view text) {
  UidKey key;
  if (text.empty()) return key;
  key.kind = UidKind::Text;
  key.text = text;
  if (text.size() != kShape.size()) return key;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return key;
  const char* at = text.data();
  uint64_t bad = 0;
  const uint64_t a = parseDigits(wordOf(at, at + 4), bad);
  const uint64_t b = parseDigits(wordOf(at + 9, at + 14), bad);
  const uint64_t c = parseDigits(wordOf(at + 19, at + 24), bad);
  const uint64_t d = parseDigits(wordOf(at + 28, at + 32), bad);
  if (bad != 0) return key;
  return UidKey{UidKind::Uuid, a << 32 | b, c << 32 | d, {}};
}

std::string formatUuid(uint64_t high, uint64_t low) {
  std::string text(kShape);
  uint32_t digits = 0;
  for (char& character : text) {
    if (character == '-') continue;
    const uint64_t half = digits < 16 ? high : low;
    character = kube::kHexDigits[half >> (60 - 4 * (digits % 16)) & 0xf];
    ++digits;
  }
  return text;
}

uint64_t hashUid(uint64_t seed, const UidKey& uid) {
  if (uid.kind == UidKind::Uuid) return mixHash(uid.high ^ seed, uid.low ^ kHashLast);
  return hashText(seed ^ kHashLast, uid.text);
}

}  // namespace lastout::graph
