// The figures of many teardowns, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "bench/teardown/figures.h"

namespace lastout::bench {

struct TeardownOrder {
  uint32_t seed = 1;
  bool runsDeferredDeletions = true;  // lastout deletes what it deferred
  double speed = 1;                   // of the controllers' time: so many of its seconds in one of ours
  Milliseconds longestPath{0};
  Figures figures;
};

// Returns the broken promises, for a person: with deferred deletions the teardown ends empty and in order, no
// work is reported gone too early, and lastout deletes only requested objects. Empty: all are kept.
std::vector<std::string> shortfalls(const TeardownOrder& order);

std::string oneLine(const TeardownOrder& order);
// Markdown, which can be read as it is.
std::string table(const std::vector<TeardownOrder>& orders);
// Times are in seconds: `wallTotal` by our clock (null where its speed changed on the way), others by the
// controllers'.
Json toJson(const TeardownOrder& order);

}  // namespace lastout::bench
