// output: reports as text for people, and as JSON, JUnit XML and JSON lines for programs. docs/scenarios.md
// has the forms.
#pragma once

#include <span>
#include <string>

#include "replay/report.h"

namespace lastout::replay {

struct TextStyle {
  bool color = false;     // ANSI colours
  bool timeline = false;  // tells everything that happened; else what the scenario names, and what is wrong
  size_t width = 100;     // where the description is wrapped
};

std::string toText(const ScenarioReport& report, const TextStyle& style);
// The last line: how many held.
std::string summary(std::span<const ScenarioReport> reports, const TextStyle& style);

std::string toJson(std::span<const ScenarioReport> reports, bool timeline);
std::string toJUnit(std::span<const ScenarioReport> reports);
// The told run in the form of tests/recordings: what was there, then one event a line, `t` in virtual
// seconds.
std::string toTrace(const Ready& ready, const ScenarioReport& report);

}  // namespace lastout::replay
