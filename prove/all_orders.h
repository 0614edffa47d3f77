// replayAllOrders: a scenario's expectations in every order that could happen, as a report of replay.
#pragma once

#include "prove/explore.h"
#include "replay/report.h"

namespace lastout::prove {

// Proves the expectations that must hold in every run (prove/prove.h), and judges `denied` and `within`, and
// the timeline, in the written order. If a bound is met before every order was explored, the report has an
// extra outcome that did not hold.
replay::ScenarioReport replayAllOrders(const replay::Ready& ready, const Bounds& bounds = {},
                                       const OnProgress& progress = nullptr);

}  // namespace lastout::prove
