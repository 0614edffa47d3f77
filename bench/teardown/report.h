// The figures of many teardowns, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/teardown/figures.h"

namespace lastout::bench {

struct Order {
  uint32_t seed = 1;
  bool runsDeferredDeletions = true;  // lastout deletes what it deferred
  double speed = 1;                   // of the controllers' time: so many of its seconds in one of ours
  Milliseconds longestPath{0};
  Figures figures;
};

// What is not as promised, for a person: with everything that was deferred carried out, it ends empty, in
// order, no work is reported gone too early, and nobody's object goes unasked. Empty: nothing.
std::vector<std::string> shortfalls(const Order& order);

std::string oneLine(const Order& order);
// Markdown, which can be read as it is.
std::string table(const std::vector<Order>& orders);
// Times are in seconds: `wallTotal` by our clock (null where its speed changed on the way), others by the
// controllers'.
Json toJson(const Order& order);

}  // namespace lastout::bench
