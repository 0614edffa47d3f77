#include <array>
#include <cctype>

#include "kube/ascii.h"
#include "kube/fields.h"
#include "kube/messages.h"

namespace lastout::kube {
namespace {

struct Unit {
  std::string_view name;
  int64_t milliseconds;
};
constexpr std::array<Unit, 4> kUnits = {{{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr int64_t kLongest = int64_t{100} * 365 * 24 * 3'600'000;  // 100 years

std::string_view takeWhile(std::string_view& text, bool (*wanted)(char)) {
  size_t length = 0;
  while (length < text.size() && wanted(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

// digits[.digits] of a unit in milliseconds; -1 when it is too long, -2 when it is no whole number of
// milliseconds.
constexpr int64_t kTooLong = -1;
constexpr int64_t kTooFine = -2;
int64_t multiply(std::string_view whole, std::string_view fraction, int64_t unit) {
  int64_t total = 0;
  for (const char c : whole) {
    total = total * 10 + (c - '0');
    if (total > kLongest / unit) return kTooLong;
  }
  total *= unit;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  // Units are of the form 2^a 3^b 5^c with a, b, c at most 8: more digits than that never make a whole
  // number.
  if (fraction.size() > 8) return kTooFine;
  int64_t scaled = 0;
  int64_t scale = 1;
  for (const char c : fraction) {
    scaled = scaled * 10 + (c - '0');
    scale *= 10;
  }
  if (scaled * unit % scale != 0) return kTooFine;
  return total + scaled * unit / scale;
}

Error bad(std::string_view text, std::string_view why) {
  return {inQuotes(text) + " " + std::string(why), "", {}};
}

}  // namespace

Result<std::chrono::milliseconds> parseDuration(std::string_view text) {
  if (text == "0") return std::chrono::milliseconds(0);
  if (text.empty()) return tl::unexpected(bad(text, "is no duration; write 30s, 250ms or 1h30m"));
  if (text.front() == '-') return tl::unexpected(bad(text, "is negative; a duration is 0 or more"));
  int64_t total = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view whole = takeWhile(rest, isDigit);
    std::string_view fraction;
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      fraction = takeWhile(rest, isDigit);
    }
    const std::string_view name = takeWhile(rest, [](char c) { return !isDigit(c) && c != '.'; });
    if (whole.empty() && fraction.empty())
      return tl::unexpected(bad(text, "is no duration; write 30s, 250ms or 1h30m"));
    if (name.empty()) return tl::unexpected(bad(text, "has no unit; write 30s, 250ms or 1h30m"));
    int64_t unit = 0;
    for (const Unit& known : kUnits) {
      if (known.name == name) unit = known.milliseconds;
    }
    if (unit == 0) return tl::unexpected(bad(text, "has a unit other than h, m, s and ms"));
    const int64_t part = multiply(whole, fraction, unit);
    if (part == kTooFine) return tl::unexpected(bad(text, "is no whole number of milliseconds"));
    if (part == kTooLong || total > kLongest - part)
      return tl::unexpected(bad(text, "is longer than 100 years"));
    total += part;
  }
  return std::chrono::milliseconds(total);
}

}  // namespace lastout::kube
