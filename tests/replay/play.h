// Scenarios written into a test as YAML, and what comes of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replay/report.h"

namespace lastout::replay {

// An operator in a namespace of its own, the CRD of what it finalizes, one instance, and a CriticalService
// that names both; every name is "operator", "widgets" or "one".
extern const std::string_view kOperator;
// The same without the CriticalService.
extern const std::string_view kUnguarded;
// The operator's finalizer controller, for `spec`.
extern const std::string_view kController;

// A Scenario document whose spec is this text, and then the documents. The spec begins in line 4.
std::string scenario(std::string_view spec, std::string_view documents = kOperator);

// Of the scenarios that are shipped, in the order of their names.
std::vector<std::string> shippedFiles();

// What is wrong with it, one line each: "s.yaml:5:3: message". Empty: nothing.
std::vector<std::string> mistakes(const std::string& yaml);
// A scenario without mistakes; the files that it names stand beside `file`.
std::unique_ptr<const Ready> ready(const std::string& yaml, const std::string& file = "s.yaml");

ScenarioReport play(const std::string& yaml, const ReplayOptions& options = {});

// In one line: "empty at 10.524 s: held", "stuck at 9.270 s: failed".
std::string inOneLine(const ScenarioReport& report);
// Each expectation that failed: "ends empty: nothing changed any more ...".
std::vector<std::string> failures(const ScenarioReport& report);
// What its verdict takes for granted: "configmaps/default/a: the webhook ... allows what it is asked about".
std::vector<std::string> toldAssumptions(const std::string& yaml);
// Each line of the timeline: "0.500 s  admin creates widgets/late".
std::vector<std::string> told(const ScenarioReport& report);

}  // namespace lastout::replay
