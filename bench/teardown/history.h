// What a recording of `lastout up` (docs/recordings.md) says of a teardown.
#pragma once

#include <chrono>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/teardown/fleet.h"

namespace lastout::bench {

// In the controllers' time, from their clock's zero.
struct Lifetime {
  std::optional<Milliseconds> askedAt;    // a controller first sent a DELETE for it that was reviewed
  std::optional<Milliseconds> deletedAt;  // first marked as being deleted, or gone
  std::optional<Milliseconds> goneAt;
};

struct TeardownHistory {
  std::map<kube::ObjectKey, Lifetime> objects;  // by their names; of one that came again, the last
  std::map<kube::ObjectKey, Lifetime> works;    // the same of ManifestWorks
  Milliseconds begunAt{0};                      // the first ManifestWork was deleted
  Milliseconds lastAt{0};                       // of anything that has happened
  int denied = 0;                               // DELETEs of controllers
  int deletedByLastout = 0;                     // DELETEs by lastout that were accepted
  std::vector<std::string> unasked;             // of these, objects that nobody else had asked to delete
};

// Ends the program when a line is none of a recording.
TeardownHistory readHistory(std::istream& recording);

}  // namespace lastout::bench
