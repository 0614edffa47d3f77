// allOrders: a scenario's expectations in every order that could happen, as a report of replay.
#pragma once

#include "prove/explore.h"
#include "replay/report.h"

namespace lastout::prove {

// What has to hold of every run is proven (prove/prove.h); `denied` and `within` are judged by the
// written order, and so is everything that is told. Where a bound is met before every order was looked at, an
// outcome of its own says so, and it did not hold.
replay::ScenarioReport replayAllOrders(const replay::Ready& ready, const Bounds& bounds = {},
                                       const OnProgress& progress = nullptr);

}  // namespace lastout::prove
