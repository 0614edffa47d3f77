// check: whether a run, or many, kept a scenario's expectations, and why not.
//
// Some expectations hold of every run (`ends: empty`, `before`, `never`, `within`, safety). Others say what
// can happen
// (`ends: stuck`, `stuck`, `denied`): of many runs in random order, one that shows it is enough.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/compile.h"
#include "scenarios/names.h"
#include "scenarios/replay.h"

namespace lastout::scenarios {

struct Expectation {
  enum class Kind : uint8_t { Safe, Ends, Stuck, Before, Never, Denied, Within };
  Kind kind = Kind::Ends;
  uint32_t index = 0;    // into what Compiled has of the kind
  bool everyRun = true;  // else one run is enough
  std::string text;      // "ends empty", "a gone before b gone", ...
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
  void add(Expectation::Kind kind, size_t index, bool everyRun, std::string text);
  std::string ending(const Run& run) const;

  const Scenario& scenario_;
  const Compiled& compiled_;
  const Names& names_;
  std::vector<Expectation> expectations_;
};

// "gone", "accepted", ...
std::string_view word(cluster::EventKind kind);

}  // namespace lastout::scenarios
