#include "graph/uid.h"

#include <array>

#include "graph/hash.h"

namespace lastout::graph {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr uint8_t kNoDigit = 0xff;

constexpr std::array<uint8_t, 256> makeDigitValues() {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = kNoDigit;
  for (uint8_t i = 0; i < kDigits.size(); ++i) values[static_cast<uint8_t>(kDigits[i])] = i;
  return values;
}
constexpr std::array<uint8_t, 256> kDigitValues = makeDigitValues();

}  // namespace

UidKey parseUid(std::string_view text) {
  UidKey key;
  if (text.empty()) return key;
  key.kind = UidKind::Text;
  key.text = text;
  if (text.size() != kShape.size()) return key;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return key;
  uint64_t halves[2] = {0, 0};
  uint8_t all = 0;  // an invalid digit leaves high bits in it
  uint32_t digits = 0;
  for (size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '-') continue;
    const uint8_t value = kDigitValues[static_cast<uint8_t>(text[i])];
    all |= value;
    uint64_t& half = halves[digits++ / 16];
    half = half << 4 | (value & 0xf);
  }
  if (all > 0xf) return key;
  return UidKey{UidKind::Uuid, halves[0], halves[1], {}};
}

std::string formatUuid(uint64_t high, uint64_t low) {
  std::string text(kShape);
  uint32_t digits = 0;
  for (char& character : text) {
    if (character == '-') continue;
    const uint64_t half = digits < 16 ? high : low;
    character = kDigits[half >> (60 - 4 * (digits % 16)) & 0xf];
    ++digits;
  }
  return text;
}

uint64_t hashUid(const UidKey& uid) {
  if (uid.kind == UidKind::Uuid) return mixHash(uid.high ^ kHashOdd, uid.low ^ kHashLast);
  return hashText(kHashLast, uid.text);
}

}  // namespace lastout::graph
