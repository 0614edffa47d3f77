#include "kube/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "kube/ascii.h"

namespace lastout::kube {
namespace {

using Data = Value::Data;

bool isOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

size_t digitsAt(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && isDigit(text[end])) ++end;
  return end - begin;
}

// A std::from_chars that fails does not tell too large from too small; strtod does, and no locale is ever set
// here.
std::optional<Data> number(std::string_view text, bool negative) {
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return negative ? -value : value;
}

// All of `digits` in `base` as an integer, or as a double when it is too large for one.
std::optional<Data> integer(std::string_view digits, int base, bool negative) {
  const std::string signedDigits = (negative ? "-" : "") + std::string(digits);
  int64_t value = 0;
  const auto parsed =
      std::from_chars(signedDigits.data(), signedDigits.data() + signedDigits.size(), value, base);
  if (parsed.ec == std::errc()) return value;
  if (base == 10) return number(digits, negative);
  double large = 0;
  for (const char c : digits) large = large * base + (isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  if (std::isinf(large)) return std::nullopt;
  return large;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool isFloat(std::string_view text) {
  const size_t whole = digitsAt(text, 0);
  size_t end = whole;
  size_t fraction = 0;
  if (end < text.size() && text[end] == '.') {
    fraction = digitsAt(text, end + 1);
    end += 1 + fraction;
  }
  if (whole + fraction == 0) return false;
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    ++end;
    if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
    const size_t exponent = digitsAt(text, end);
    if (exponent == 0) return false;
    end += exponent;
  }
  return end == text.size();
}

bool isHex(char c) { return isDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
bool isOctal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

std::optional<Data> resolvePlainScalar(std::string_view text) {
  if (isOneOf(text, {"", "~", "null", "Null", "NULL"})) return std::monostate();
  if (isOneOf(text, {"true", "True", "TRUE"})) return true;
  if (isOneOf(text, {"false", "False", "FALSE"})) return false;
  if (isOneOf(text, {".nan", ".NaN", ".NAN"})) return std::nullopt;
  if (text.starts_with("0o") && text.size() > 2 && std::ranges::all_of(text.substr(2), isOctal)) {
    return integer(text.substr(2), 8, false);
  }
  if (text.starts_with("0x") && text.size() > 2 && std::ranges::all_of(text.substr(2), isHex)) {
    return integer(text.substr(2), 16, false);
  }
  const bool negative = text.front() == '-';
  const std::string_view unsignedText = negative || text.front() == '+' ? text.substr(1) : text;
  if (isOneOf(unsignedText, {".inf", ".Inf", ".INF"})) return std::nullopt;
  if (!unsignedText.empty() && std::ranges::all_of(unsignedText, isDigit))
    return integer(unsignedText, 10, negative);
  if (isFloat(unsignedText)) return number(unsignedText, negative);
  return std::string(text);
}

std::optional<std::string> mapKey(Value::Data data) {
  if (auto* text = std::get_if<std::string>(&data)) return std::move(*text);
  if (const auto* truth = std::get_if<bool>(&data)) return *truth ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&data)) return std::to_string(*whole);
  const auto* real = std::get_if<double>(&data);
  if (real == nullptr) return std::nullopt;
  // sigs.k8s.io/yaml writes it with the fewest digits that tell a 32-bit number.
  std::array<char, 32> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(*real),
                                     std::chars_format::general);
  return std::string(text.data(), written.ptr);
}

}  // namespace lastout::kube
