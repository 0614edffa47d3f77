// Reports as text.
#include <algorithm>

#include "replay/output.h"
#include "replay/writer.h"

namespace lastout::replay {

namespace {

size_t countHeld(const std::vector<ExpectationResult>& outcomes) {
  return static_cast<size_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                           [](const ExpectationResult& outcome) { return outcome.held; }));
}

std::string ending(const ScenarioReport& report) {
  const bool recorded = report.options.order == Order::Recorded;
  if (recorded && report.outcomes.empty()) return "nobody reviewed a DELETE: there is no verdict to compare";
  if (recorded)
    return std::to_string(countHeld(report.outcomes)) + " of " + std::to_string(report.outcomes.size()) +
           " verdicts as recorded";
  if (report.states) return "every order, in " + std::to_string(*report.states) + " states";
  if (report.options.runs > 1) {
    std::string text = std::to_string(report.options.runs) + " runs: ";
    std::string_view separator;
    for (const End end : {End::Empty, End::Stuck, End::Undecided}) {
      const uint32_t count = report.ended[static_cast<size_t>(end)];
      if (count == 0) continue;
      ((text += separator) += std::to_string(count) + " ") += word(end);
      separator = ", ";
    }
    return text;
  }
  switch (report.end) {
    case End::Empty:
      return "ends empty at " + seconds(report.goalAt.value_or(report.time));
    case End::Stuck:
      return "ends stuck: nothing changes after " + seconds(report.time);
    case End::Undecided:
      return "undecided: still changing after " + seconds(report.time);
  }
  return {};
}

void writeTimeline(Writer& writer, const ScenarioReport& report) {
  writer.heading(report.options.order == Order::Random
                     ? "What happened, with seed " + std::to_string(report.seed)
                     : "What happened");
  for (const Line& each : report.timeline) {
    std::string text = each.text;
    if (each.repeats == 1) text += writer.dim(" (once more at " + seconds(each.until) + ")");
    if (each.repeats > 1)
      text +=
          writer.dim(" (" + std::to_string(each.repeats) + " times more, until " + seconds(each.until) + ")");
    if (each.tone == Line::Tone::Denied) text = writer.yellow(text);
    if (each.tone == Line::Tone::Gone) text = writer.bold(text);
    writer.timed(seconds(each.at), text);
  }
}

void writeStory(Writer& writer, const ScenarioReport& report) {
  writer.heading("The story");
  for (size_t i = 0; i < report.story.size(); ++i) {
    const Moment& moment = report.story[i];
    writer.timed(moment.at ? seconds(*moment.at) : "never", std::to_string(i + 1) + ". " + moment.title);
  }
}

void writeLeftovers(Writer& writer, const ScenarioReport& report) {
  writer.heading("Still there, and why");
  for (const Leftover& leftover : report.leftovers) {
    writer.line("    " + leftover.object);
    for (const std::string& reason : leftover.reasons) writer.line("        " + reason);
  }
  if (report.ring.empty()) return;
  writer.heading(report.ring.size() == 1 ? "It waits for itself" : "They wait for each other");
  for (size_t i = 0; i < report.ring.size(); ++i)
    writer.line("    " + report.ring[i] + " waits for " + report.ring[(i + 1) % report.ring.size()]);
}

void writeOutcomes(Writer& writer, const ScenarioReport& report, bool all) {
  writer.heading("Expected");
  for (const ExpectationResult& outcome : report.outcomes) {
    if (outcome.held && all) writer.line("    " + writer.green("held  ") + "  " + outcome.text);
    if (!outcome.held)
      writer.line("    " + writer.red("FAILED") + "  " + outcome.text + ": " + outcome.whyNot);
  }
}

}  // namespace

std::string toText(const ScenarioReport& report, const TextStyle& style) {
  Writer writer(style);
  const std::string verdict = report.held      ? writer.green("held  ")
                              : report.decided ? writer.red("FAILED")
                                               : writer.yellow("NOT DECIDED");
  writer.line(verdict + "  " + writer.bold(report.name) + "  " + ending(report) + "  " +
              writer.dim("(" + report.file + ")"));
  if (style.timeline) {
    writer.paragraph(report.description);
    writeTimeline(writer, report);
  }
  for (const Assumption& each : report.assumptions) writer.assumption(each.text);
  // Of many runs each has its own times.
  const bool story = !report.story.empty() && (style.timeline || report.options.runs == 1);
  if (story) writeStory(writer, report);
  const bool explain = style.timeline || !report.held;
  if (explain && !report.leftovers.empty()) writeLeftovers(writer, report);
  if (explain && !report.outcomes.empty()) writeOutcomes(writer, report, style.timeline);
  if (!report.held && report.options.order == Order::Random)
    writer.line("\n  See this run: lastout replay --order random --seed " + std::to_string(report.seed) +
                " --runs 1 --timeline " + report.file);
  if (style.timeline || story || explain) writer.line();
  return writer.take();
}

std::string summary(std::span<const ScenarioReport> reports, const TextStyle& style) {
  const Writer writer(style);
  const auto held = static_cast<size_t>(std::count_if(
      reports.begin(), reports.end(), [](const ScenarioReport& report) { return report.held; }));
  const bool recorded = !reports.empty() && reports.front().options.order == Order::Recorded;
  const std::string all = std::to_string(reports.size()) + (recorded ? " recording" : " scenario") +
                          (reports.size() == 1 ? ": " : "s: ");
  if (held == reports.size())
    return all + writer.green(recorded ? "all verdicts as recorded" : "all expectations held") + "\n";
  const auto open = static_cast<size_t>(std::count_if(
      reports.begin(), reports.end(), [](const ScenarioReport& report) { return !report.decided; }));
  std::string text = all + std::to_string(held) + " held";
  if (held + open < reports.size())
    text += ", " + writer.red(std::to_string(reports.size() - held - open) + " failed");
  if (open > 0) text += ", " + writer.yellow(std::to_string(open) + " not decided");
  return text + "\n";
}

}  // namespace lastout::replay
