// ClockChange: what a client may do to the controllers' clock.
#pragma once

#include <chrono>
#include <optional>

#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

struct ClockChange {
  std::optional<double> speed;
  std::optional<bool> paused;
  std::chrono::milliseconds advance{0};
};

// {"paused": true, "speed": 100, "advance": "5s"}, any of them. 400 for anything else.
ApiResult<ClockChange> parseClockChange(const Json& body);

}  // namespace lastout::simulator
