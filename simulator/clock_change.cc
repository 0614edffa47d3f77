#include "simulator/clock_change.h"

#include <string>

#include "kube/fields.h"

namespace lastout::simulator {
namespace {

// As lastout up --speed.
constexpr double kSlowest = 0.001;
constexpr double kFastest = 1'000'000;

ApiResult<void> take(const std::string& name, const Json& value, ClockChange& change) {
  if (name == "paused" && value.is_boolean()) {
    change.paused = value.get<bool>();
    return {};
  }
  if (name == "speed" && value.is_number() && value.get<double>() >= kSlowest &&
      value.get<double>() <= kFastest) {
    change.speed = value.get<double>();
    return {};
  }
  if (name == "advance" && value.is_string()) {
    if (const auto by = kube::parseDuration(value.get<std::string>())) {
      change.advance = *by;
      return {};
    }
  }
  return tl::unexpected(badRequest(
      "a clock takes {\"paused\": true or false, \"speed\": from 0.001 to 1000000, \"advance\": \"5s\"}, any "
      "of them"));
}

}  // namespace

ApiResult<ClockChange> parseClockChange(const Json& body) {
  ClockChange change;
  for (const auto& field : body.items()) {
    if (auto taken = take(field.key(), field.value(), change); !taken) return tl::unexpected(taken.error());
  }
  return change;
}

}  // namespace lastout::simulator
