#include "simulator/age.h"

#include "kube/timestamp.h"

namespace lastout::simulator {
namespace {

constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kYear = 365 * kDay;

// How long an age is told in which units: up to `below` in `unit`, with the rest in `smaller` unless that is
// 0.
struct AgeUnits {
  int64_t below;
  int64_t unit;
  char name;
  int64_t smaller;
  char smallerName;
};

constexpr AgeUnits kAgeUnits[] = {
    {2 * kMinute, 1, 's', 0, ' '},     {10 * kMinute, kMinute, 'm', 1, 's'},
    {3 * kHour, kMinute, 'm', 0, ' '}, {8 * kHour, kHour, 'h', kMinute, 'm'},
    {2 * kDay, kHour, 'h', 0, ' '},    {8 * kDay, kDay, 'd', kHour, 'h'},
    {2 * kYear, kDay, 'd', 0, ' '},    {8 * kYear, kYear, 'y', kDay, 'd'},
};

}  // namespace

std::string humanDuration(int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  for (const AgeUnits& units : kAgeUnits) {
    if (seconds >= units.below) continue;
    std::string text = std::to_string(seconds / units.unit) + units.name;
    const int64_t rest = units.smaller == 0 ? 0 : seconds % units.unit / units.smaller;
    return rest == 0 ? text : text + std::to_string(rest) + units.smallerName;
  }
  return std::to_string(seconds / kYear) + "y";
}

std::string ageOf(std::string_view timestamp, int64_t now) {
  if (timestamp.empty()) return "<unknown>";
  const auto time = kube::parseTimestamp(timestamp);
  return time ? humanDuration(now - *time) : "<invalid>";
}

}  // namespace lastout::simulator
