// Reports as JSON and as JUnit XML.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "kube/value.h"
#include "kube/well_known.h"
#include "replay/junit.h"
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
    result["assumptions"] = OrderedJson::array();
    for (const Assumption& each : report.assumptions)
      result["assumptions"].push_back({{"object", each.object}, {"text", each.text}});
  }
  result["told"] = toldRun(report, timeline);
  return result;
}

JUnitSuite suiteOf(const ScenarioReport& report) {
  JUnitSuite suite{.name = report.name, .file = report.file, .cases = {}, .output = {}};
  for (const ExpectationResult& outcome : report.outcomes)
    suite.cases.push_back(
        {.name = outcome.text, .failure = outcome.held ? std::nullopt : std::optional(outcome.whyNot)});
  if (suite.cases.empty()) suite.cases.push_back({.name = "replayed", .failure = std::nullopt});
  if (failuresIn(suite) > 0) suite.output = toText(report, {.color = false, .timeline = true, .width = 100});
  return suite;
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
  std::vector<JUnitSuite> suites;
  suites.reserve(reports.size());
  for (const ScenarioReport& report : reports) suites.push_back(suiteOf(report));
  return toJUnit("lastout replay", suites);
}

}  // namespace lastout::replay
