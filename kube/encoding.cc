#include "kube/encoding.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "kube/messages.h"

namespace lastout::kube {
namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kBase64Group = 4;  // digits for three bytes

constexpr std::string_view kLettersAndDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

std::optional<std::string> formDecoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percentDecoded(spaced);
}

}  // namespace

std::string toBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * kBase64Group);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view three = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8U | (k < three.size() ? static_cast<unsigned char>(three[k]) : 0U);
    for (size_t k = 0; k < kBase64Group; ++k)
      text += k <= three.size() ? kBase64Digits[bits >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> fromBase64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / kBase64Group * 3);
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char character : text) {
    if (character == '\n' || character == '\r') continue;
    const size_t digit = kBase64Digits.find(character);
    if (character == '=') {
      ++padding;
    } else if (digit == std::string_view::npos || padding > 0) {
      return std::nullopt;
    } else {
      bits = bits << 6U | static_cast<uint32_t>(digit);
      if (++digits % kBase64Group != 0) continue;
      for (const unsigned shift : {16U, 8U, 0U}) bytes += static_cast<char>(bits >> shift & 255U);
      bits = 0;
    }
  }
  const size_t left = digits % kBase64Group;  // 2 digits hold one byte more, 3 digits two
  if (left == 1 || padding != (left == 0 ? 0 : kBase64Group - left)) return std::nullopt;
  if (left == 2) bytes += static_cast<char>(bits >> 4U & 255U);
  if (left == 3) {
    bytes += static_cast<char>(bits >> 10U & 255U);
    bytes += static_cast<char>(bits >> 2U & 255U);
  }
  return bytes;
}

std::string percentEncoded(std::string_view text, std::string_view plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char character : text) {
    if (kLettersAndDigits.find(character) != std::string_view::npos ||
        plain.find(character) != std::string_view::npos) {
      encoded += character;
      continue;
    }
    const auto byte = static_cast<unsigned char>(character);
    encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return encoded;
}

std::optional<std::string> percentDecoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const char* const end = digits.data() + digits.size();
    unsigned char byte = 0;
    if (digits.size() < 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end) return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

Result<Query> parseQuery(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
    if (piece.empty()) continue;
    const size_t equals = std::min(piece.find('='), piece.size());
    auto key = formDecoded(piece.substr(0, equals));
    auto value = formDecoded(piece.substr(std::min(piece.size(), equals + 1)));
    if (!key || !value) {
      return tl::unexpected(
          Error{"the query parameter " + inQuotes(piece) + " has an escape that is none", "", {}});
    }
    query.emplace(std::move(*key), std::move(*value));
  }
  return query;
}

}  // namespace lastout::kube
