#include "apiserver/timestamp.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace lastout::apiserver {
namespace {

constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";  // d: a digit

bool hasShape(std::string_view text) {
  if (text.size() != kShape.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !digit : text[i] != kShape[i]) return false;
  }
  return true;
}

int digitsAt(std::string_view text, size_t from, size_t count) {
  int number = 0;
  std::from_chars(text.data() + from, text.data() + from + count, number);
  return number;
}

}  // namespace

std::string timestampText(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<size_t>(length)};
}

std::optional<std::chrono::sys_seconds> parseTimestamp(std::string_view text) {
  if (!hasShape(text)) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(digitsAt(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(digitsAt(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(digitsAt(text, 8, 2)))};
  const int hours = digitsAt(text, 11, 2);
  const int minutes = digitsAt(text, 14, 2);
  const int seconds = digitsAt(text, 17, 2);
  if (!date.ok() || hours > 23 || minutes > 59 || seconds > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hours) + std::chrono::minutes(minutes) +
         std::chrono::seconds(seconds);
}

std::string timestampAfter(std::string_view text, std::chrono::seconds delay) {
  const auto time = parseTimestamp(text);
  return time ? timestampText(*time + delay) : std::string(text);
}

}  // namespace lastout::apiserver
