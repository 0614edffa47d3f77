#include "kube/timestamp.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lastout::kube {
namespace {

// Digits at [begin, begin + count) as a number; -1 when one of them is none.
int digits(std::string_view text, size_t begin, size_t count) {
  int value = 0;
  for (size_t i = begin; i < begin + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// "Z", "+02:00": seconds east of UTC.
std::optional<int64_t> zoneOffset(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  const int hours = digits(zone, 1, 2);
  const int minutes = digits(zone, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  const int64_t seconds = hours * 3600 + minutes * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::optional<int64_t> parseTimestamp(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() <= kForm.size()) return std::nullopt;
  for (const size_t i : {4, 7, 10, 13, 16}) {
    if (text[i] != kForm[i] && !(i == 10 && text[i] == 't')) return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(digits(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(digits(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(digits(text, 8, 2))));
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (digits(text, 0, 4) < 0 || !date.ok()) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return std::nullopt;
  std::string_view rest = text.substr(kForm.size());
  if (rest.front() == '.') {
    const size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return std::nullopt;
    rest.remove_prefix(end);
  }
  const auto zone = zoneOffset(rest);
  if (!zone) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + hour * 3600 + minute * 60 + second - *zone;
}

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

std::string timestampAfter(std::string_view text, std::chrono::seconds delay) {
  const auto time = parseTimestamp(text);
  return time ? timestampText(std::chrono::sys_seconds(std::chrono::seconds(*time)) + delay)
              : std::string(text);
}

}  // namespace lastout::kube
