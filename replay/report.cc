#include "replay/report.h"

#include <algorithm>
#include <iterator>

#include "replay/goal.h"
#include "replay/stuck.h"

namespace lastout::replay {

namespace {

using Scope = Expectation::Scope;

// Goes through the runs, and remembers which of them decide about the expectations.
class ExpectationJudge {
 public:
  ExpectationJudge(const Checker& checker, Replayer& replayer)
      : checker_(checker), replayer_(replayer), tallies_(checker.expectations().size()) {}

  uint32_t run(const ReplayOptions& options, const OnRun& progress, std::array<uint32_t, 3>& ended) {
    Run run;
    uint32_t number = 0;
    while (number < options.runs) {
      const uint64_t seed = options.seed + number;
      replayer_.run({.order = options.order, .seed = seed}, run);
      ++ended[static_cast<size_t>(run.end)];
      judge(run);
      ++number;
      if (progress && !progress(number)) break;
    }
    return number;
  }

  // The run to tell: the first that failed what every run must keep, else the first that showed all the
  // others.
  uint64_t toTell(uint64_t otherwise) const {
    if (anyFailed_) return firstFailed_;
    return anyTogether_ ? firstTogether_ : otherwise;
  }

  ExpectationResult outcome(size_t i, const Run& told) const {
    const Expectation& expectation = checker_.expectations()[i];
    const Tally& tally = tallies_[i];
    ExpectationResult outcome{.text = expectation.text, .held = true, .whyNot = {}};
    switch (expectation.scope) {
      case Scope::Every:
        outcome.held = tally.failed == 0;
        outcome.whyNot = tally.whyNot;
        if (tally.failed > 0 && runs_ > 1)
          outcome.whyNot += " (seed " + std::to_string(tally.firstFailure) + "; so in " +
                            std::to_string(tally.failed) + " of " + std::to_string(runs_) + " runs)";
        break;
      case Scope::Some:
        outcome.held = tally.failed < runs_;
        if (!outcome.held) outcome.whyNot = tally.whyNot;
        break;
      case Scope::Together:  // where no run shows them all, the told one says what was missing
        outcome.held = anyTogether_ || checker_.holds(expectation, told);
        if (!outcome.held) outcome.whyNot = checker_.whyNot(expectation, told);
        break;
    }
    return outcome;
  }

 private:
  // How one expectation fared.
  struct Tally {
    uint32_t failed = 0;        // runs
    uint64_t firstFailure = 0;  // seed
    std::string whyNot;         // then
  };

  void judge(const Run& run) {
    bool every = true;
    bool others = true;
    for (size_t i = 0; i < tallies_.size(); ++i) {
      const Expectation& expectation = checker_.expectations()[i];
      if (checker_.holds(expectation, run)) continue;
      (expectation.scope == Scope::Every ? every : others) = false;
      if (tallies_[i].failed++ > 0) continue;
      tallies_[i].firstFailure = run.options.seed;
      tallies_[i].whyNot = checker_.whyNot(expectation, run);
    }
    ++runs_;
    note(!every, run.options.seed, anyFailed_, firstFailed_);
    note(others, run.options.seed, anyTogether_, firstTogether_);
  }

  static void note(bool now, uint64_t seed, bool& any, uint64_t& first) {
    if (now && !any) first = seed;
    any = any || now;
  }

  const Checker& checker_;
  Replayer& replayer_;
  std::vector<Tally> tallies_;  // by expectation
  uint32_t runs_ = 0;
  bool anyFailed_ = false;  // what every run must keep
  uint64_t firstFailed_ = 0;
  bool anyTogether_ = false;  // a run showed all the others
  uint64_t firstTogether_ = 0;
};

void tellStory(const Ready& ready, const Names& names, const Run& run, ScenarioReport& report) {
  for (size_t i = 0; i < ready.scenario.story.size(); ++i) {
    const WatchedEvent& event = ready.compiled.story[i];
    Moment moment{.title = ready.scenario.story[i].title,
                  .event = names.of(event.slot) + " " + std::string(word(event.kind)),
                  .at = std::nullopt};
    const First& first = run.first(event.slot, event.kind);
    if (first.happened()) moment.at = std::chrono::milliseconds(first.at);
    report.story.push_back(std::move(moment));
  }
}

void tellStuckness(const Ready& ready, const Replayer& replayer, const Names& names, const Run& run,
                   ScenarioReport& report) {
  std::vector<cluster::Slot> left = leftOfGoal(ready.compiled, run.state);
  std::ranges::copy(awaitedBySteps(ready.compiled, run.state), std::back_inserter(left));
  const Stuckness stuckness =
      explainStuck(replayer.machine(), names, left, run.state, report.log, ready.scenario.unremoved);
  for (const StillThere& each : stuckness.objects)
    report.leftovers.push_back({names.of(each.object), each.reasons});
  for (Leftover& step : unsent(ready.compiled, names, run.state)) report.leftovers.push_back(std::move(step));
  for (const cluster::Slot slot : stuckness.ring) report.ring.push_back(names.of(slot));
}

}  // namespace

ScenarioReport replay(const Ready& ready, const ReplayOptions& options, const OnRun& progress) {
  const Names names(ready.compiled.model);
  const Checker checker(ready.scenario, ready.compiled, names);
  Replayer replayer(ready.compiled);
  ExpectationJudge judge(checker, replayer);

  ScenarioReport report;
  report.file = ready.scenario.file;
  report.name = ready.scenario.name;
  report.description = ready.scenario.description;
  report.options = options;
  report.options.runs = judge.run(options, progress, report.ended);

  Run told;
  report.seed = judge.toTell(options.seed);
  replayer.run({.order = options.order, .seed = report.seed}, told, &report.log);
  report.end = told.end;
  report.time = told.time;
  report.goalAt = told.goalAt;
  report.actions = told.actions;
  report.timeline = narrate(replayer.machine(), names, report.log);
  tellStory(ready, names, told, report);
  if (told.end == End::Stuck) tellStuckness(ready, replayer, names, told, report);
  for (size_t i = 0; i < checker.expectations().size(); ++i)
    report.outcomes.push_back(judge.outcome(i, told));
  report.held = std::all_of(report.outcomes.begin(), report.outcomes.end(),
                            [](const ExpectationResult& o) { return o.held; });
  return report;
}

std::string_view word(End end) {
  switch (end) {
    case End::Empty:
      return "empty";
    case End::Stuck:
      return "stuck";
    case End::Undecided:
      return "undecided";
  }
  return {};
}

}  // namespace lastout::replay
