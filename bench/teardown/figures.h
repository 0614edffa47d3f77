// What one teardown shows: the figures of the table.
#pragma once

#include <string>
#include <vector>

#include "bench/teardown/history.h"

namespace lastout::bench {

// All in the controllers' time.
struct Figures {
  bool isEmpty = false;
  std::vector<std::string> left;  // what did not end: objects, and works
  int worksLeft = 0;
  std::vector<std::string> early;  // works that were gone before what they had applied, and what that was
  Milliseconds total{0};           // from the first work's deletion until the last object was gone
  std::vector<Milliseconds>
      waits;               // of each provider that went: from when it was asked for and its criteria held
  int providersStuck = 0;  // their criteria hold, and they are there
  int providersEarly = 0;  // went before their criteria held
  int denied = 0;
  int deletedByLastout = 0;
  std::vector<std::string> unasked;
};

Figures figuresOf(const Fleet& fleet, const TeardownHistory& history);

}  // namespace lastout::bench
