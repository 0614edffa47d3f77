// report: what came of replaying one scenario, once or many times, or a recording, as words and numbers for
// every kind of output.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replay/assumptions.h"
#include "replay/batch.h"
#include "replay/check.h"
#include "replay/narrate.h"
#include "replay/replay.h"
#include "replay/stuck.h"

namespace lastout::replay {

struct ReplayOptions {
  Order order = Order::Written;
  uint64_t seed = 1;  // of the first run; each run after it has the next one
  uint32_t runs = 1;  // in written order all runs are the same
};

// One expectation, over all runs.
struct ExpectationResult {
  std::string text;
  bool held = false;
  std::string whyNot;
};

// A named moment of the scenario's story.
struct Moment {
  std::string title;
  std::string event;  // "deployments/... gone"
  std::optional<std::chrono::milliseconds> at;
};

struct ScenarioReport {
  std::string file;
  std::string name;
  std::string description;
  ReplayOptions options;
  std::array<uint32_t, 3> ended{};  // how many runs ended so, by End
  std::optional<uint64_t> states;   // Order::All: how many were looked at
  bool held = false;                // every outcome
  bool decided =
      true;  // false: a bound was met before everything was looked at, and nothing failed until then
  std::vector<ExpectationResult> outcomes;
  std::vector<Assumption> assumptions;  // Order::All: that the outcomes rest on
  // The rest is of one run: the first that failed an expectation, else the first that showed the end. Of a
  // recording it is the time and the timeline.
  uint64_t seed = 1;
  End end = End::Undecided;
  std::chrono::milliseconds time{0};                // of its last change
  std::optional<std::chrono::milliseconds> goalAt;  // everything that should be gone was gone
  uint32_t actions = 0;
  std::vector<Moment> story;
  std::vector<Leftover> leftovers;  // End::Stuck
  std::vector<std::string> ring;    // End::Stuck: objects that wait for each other, in a ring
  std::vector<Line> timeline;
  std::vector<Happening> log;
};

// Called after each run, with how many are done; returns false to stop, and then the report is of those.
using OnRun = std::function<bool(uint32_t)>;

ScenarioReport replay(const Ready& ready, const ReplayOptions& options, const OnRun& progress = nullptr);

std::string_view word(End end);  // "empty", "stuck", "undecided"

}  // namespace lastout::replay
