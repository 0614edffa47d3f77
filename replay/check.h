// check: whether a run kept a scenario's expectations, and why not. replay/report.h judges many runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/compile.h"
#include "replay/names.h"
#include "replay/replay.h"

namespace lastout::replay {

struct Expectation {
  enum class Kind : uint8_t { Safe, Ends, Stuck, Before, Never, Denied, Exists, Within };
  // Of many runs: Every run has to keep it; or one is enough, each expectation by itself (Some) or all these
  // together in the same one (Together: what ends stuck does so in one way of many).
  enum class Scope : uint8_t { Every, Some, Together };
  Kind kind = Kind::Ends;
  Scope scope = Scope::Every;
  uint32_t index = 0;  // into what Compiled has of the kind
  std::string text;    // "ends empty", "a gone before b gone", ...
};

class Checker {
 public:
  Checker(const Scenario& scenario, const Compiled& compiled, const Names& names);

  // In the order: safety (only where lastout is there), then as in the file.
  const std::vector<Expectation>& expectations() const { return expectations_; }
  bool holds(const Expectation& expectation, const Run& run) const;
  // Of one that does not hold in this run.
  std::string whyNot(const Expectation& expectation, const Run& run) const;

 private:
  void add(Expectation::Kind kind, size_t index, std::string text);
  std::string ending(const Run& run) const;
  std::string whyGone(const std::vector<cluster::Slot>& slots, const Run& run) const;

  const Scenario& scenario_;
  const Compiled& compiled_;
  const Names& names_;
  std::vector<Expectation> expectations_;
};

// "gone", "accepted", ...
std::string_view word(cluster::EventKind kind);

}  // namespace lastout::replay
