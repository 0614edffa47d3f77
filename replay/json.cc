// Reports as JSON and as JUnit XML.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/value.h"
#include "kube/well_known.h"
#include "replay/output.h"

namespace lastout::replay {

namespace {

using kube::OrderedJson;

OrderedJson secondsOf(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000.0; }

OrderedJson timeOrNull(const std::optional<std::chrono::milliseconds>& time) {
  return time ? secondsOf(*time) : OrderedJson();
}

std::string_view orderWord(Order order) {
  switch (order) {
    case Order::Written:
      return "written";
    case Order::Random:
      return "random";
    case Order::All:
      return "all";
    case Order::Recorded:
      return "recorded";
  }
  return {};
}

// What a model's run has, and a recording has not.
void toldEnd(const ScenarioReport& report, OrderedJson& told) {
  told["seed"] = report.seed;
  told["end"] = word(report.end);
  told["goalAt"] = timeOrNull(report.goalAt);
  told["actions"] = report.actions;
  told["story"] = OrderedJson::array();
  for (const Moment& moment : report.story)
    told["story"].push_back(
        {{"title", moment.title}, {"event", moment.event}, {"at", timeOrNull(moment.at)}});
  told["stillThere"] = OrderedJson::array();
  for (const Leftover& leftover : report.leftovers)
    told["stillThere"].push_back({{"object", leftover.object}, {"reasons", leftover.reasons}});
  told["ring"] = report.ring;
}

OrderedJson toldRun(const ScenarioReport& report, bool timeline) {
  OrderedJson told = {{"lastChangeAt", secondsOf(report.time)}};
  if (report.options.order != Order::Recorded) toldEnd(report, told);
  if (!timeline) return told;
  told["timeline"] = OrderedJson::array();
  for (const Line& line : report.timeline) {
    OrderedJson entry = {{"at", secondsOf(line.at)}, {"text", line.text}};
    if (line.repeats > 0) {
      entry["repeats"] = line.repeats;
      entry["until"] = secondsOf(line.until);
    }
    told["timeline"].push_back(std::move(entry));
  }
  return told;
}

OrderedJson scenarioOf(const ScenarioReport& report, bool timeline) {
  OrderedJson result = {
      {"file", report.file},        {"name", report.name},       {"description", report.description},
      {"held", report.held},        {"decided", report.decided}, {"order", orderWord(report.options.order)},
      {"runs", report.options.runs}};
  if (report.options.order != Order::Recorded)
    result["ended"] = {
        {"empty", report.ended[0]}, {"stuck", report.ended[1]}, {"undecided", report.ended[2]}};
  if (report.states) result["states"] = *report.states;
  result["expectations"] = OrderedJson::array();
  for (const ExpectationResult& outcome : report.outcomes) {
    OrderedJson entry = {{"text", outcome.text}, {"held", outcome.held}};
    if (!outcome.held) entry["whyNot"] = outcome.whyNot;
    result["expectations"].push_back(std::move(entry));
  }
  if (report.options.order == Order::All) {
    result["assumptions"] = Json::array();
    for (const Assumption& each : report.assumptions)
      result["assumptions"].push_back({{"object", each.object}, {"text", each.text}});
  }
  result["told"] = toldRun(report, timeline);
  return result;
}

// Characters that XML 1.0 does not allow are left out.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') result += c;
    }
  }
  return result;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escaped(value) + "\"";
}

std::string counts(size_t tests, size_t failures) {
  return attribute("tests", std::to_string(tests)) + attribute("failures", std::to_string(failures));
}

// What a person needs to see of a scenario that failed.
std::string failureOutput(const ScenarioReport& report) {
  return "    <system-out>" + escaped(toText(report, {.color = false, .timeline = true, .width = 100})) +
         "</system-out>\n";
}

std::string testCase(const ScenarioReport& report, const ExpectationResult& outcome) {
  std::string xml = "    <testcase" + attribute("classname", report.name) + attribute("name", outcome.text);
  if (outcome.held) return xml + "/>\n";
  return xml + ">\n      <failure" + attribute("message", outcome.whyNot) + "/>\n    </testcase>\n";
}

std::string testSuite(const ScenarioReport& report) {
  std::vector<ExpectationResult> outcomes = report.outcomes;
  if (outcomes.empty()) outcomes.push_back({.text = "replayed", .held = true, .whyNot = {}});
  const auto failures = static_cast<size_t>(std::count_if(
      outcomes.begin(), outcomes.end(), [](const ExpectationResult& outcome) { return !outcome.held; }));
  std::string xml = "  <testsuite" + attribute("name", report.name) + attribute("file", report.file) +
                    counts(outcomes.size(), failures) + ">\n";
  for (const ExpectationResult& outcome : outcomes) xml += testCase(report, outcome);
  if (failures > 0) xml += failureOutput(report);
  return xml + "  </testsuite>\n";
}

}  // namespace

std::string toJson(std::span<const ScenarioReport> reports, bool timeline) {
  OrderedJson result = {{"apiVersion", kube::kLastoutApiVersion}, {"kind", "ReplayReport"}};
  const auto held =
      std::count_if(reports.begin(), reports.end(), [](const ScenarioReport& r) { return r.held; });
  result["held"] = held;
  const auto open =
      std::count_if(reports.begin(), reports.end(), [](const ScenarioReport& r) { return !r.decided; });
  result["failed"] = static_cast<int64_t>(reports.size()) - held - open;
  result["notDecided"] = open;
  result["scenarios"] = OrderedJson::array();
  for (const ScenarioReport& report : reports) result["scenarios"].push_back(scenarioOf(report, timeline));
  return result.dump(2) + "\n";
}

std::string toJUnit(std::span<const ScenarioReport> reports) {
  std::string suites;
  size_t tests = 0;
  size_t failures = 0;
  for (const ScenarioReport& report : reports) {
    suites += testSuite(report);
    tests += std::max<size_t>(report.outcomes.size(), 1);
    failures +=
        static_cast<size_t>(std::count_if(report.outcomes.begin(), report.outcomes.end(),
                                          [](const ExpectationResult& outcome) { return !outcome.held; }));
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "lastout replay") +
         counts(tests, failures) + ">\n" + suites + "</testsuites>\n";
}

}  // namespace lastout::replay
