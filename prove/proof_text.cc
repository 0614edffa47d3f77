// Proofs as text.
#include <algorithm>
#include <cstdio>

#include "kube/messages.h"
#include "prove/proof_change.h"
#include "prove/proof_report.h"
#include "replay/writer.h"

namespace lastout::prove {

namespace {

// As a sentence begins; a reference stays as it is.
std::string capitalized(std::string text) {
  const bool reference = text.substr(0, text.find(' ')).find('/') != std::string::npos;
  if (!reference && !text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string withSeparators(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string decimals(double value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string megabytes(uint64_t bytes) { return decimals(static_cast<double>(bytes) / (1 << 20), "%.0f MiB"); }

// "10,584 states, 48,674 transitions, 0.02 s", and the Kubernetes that it is about, if that is an old one.
std::string size(const ProofReport& report) {
  return withSeparators(report.proof.states) + (report.proof.states == 1 ? " state, " : " states, ") +
         withSeparators(report.proof.transitions) + " transitions, " +
         decimals(report.time.count(), "%.2f s") +
         (report.kubernetes == kube::kNewestKubernetes
              ? ""
              : ", Kubernetes " + std::string(toString(report.kubernetes)));
}

std::string painted(const replay::Writer& writer, ProofResult verdict) {
  const std::string text(word(verdict));
  switch (verdict) {
    case ProofResult::Proven:
      return writer.green(text);
    case ProofResult::Undecided:
      return writer.yellow(text);
    default:
      return writer.red(text);
  }
}

constexpr size_t kMostLost = 8;  // names in a sentence

void writeSteps(replay::Writer& writer, const std::vector<NarratedStep>& steps, size_t before = 0) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string number = std::to_string(before + i + 1) + ".";
    const std::string padding(number.size() < 5 ? 5 - number.size() : 0, ' ');
    writer.wrapped("  " + padding + number + " ", "        ", capitalized(steps[i].text));
  }
}

void writeUndecided(replay::Writer& writer, const ProofReport& report) {
  switch (report.proof.end) {
    case Exploration::End::Complete:
      return;
    case Exploration::End::StateBound:
      return writer.paragraph("The bound of " + withSeparators(report.bounds.states) +
                              " states was met before everything was looked at; --max-states sets another.");
    case Exploration::End::MemoryBound:
      return writer.paragraph(
          "The bound of " + megabytes(report.bounds.bytes) +
          " of memory was met before everything was looked at; --max-memory sets another.");
    case Exploration::End::Stopped:
      return writer.paragraph("It was stopped before everything was looked at.");
  }
}

void writeProven(replay::Writer& writer, const ProofReport& report) {
  if (report.proven.empty()) return;
  writer.paragraph("In every order:");
  for (const std::string& sentence : report.proven) writer.wrapped("  - ", "    ", sentence);
}

void writeAssumptions(replay::Writer& writer, const ProofReport& report) {
  for (const replay::Assumption& each : report.assumptions) writer.assumption(each.text);
  const size_t count = report.assumptions.size();
  if (report.isStrict && count > 0)
    writer.paragraph("It rests on " + std::to_string(count) + (count == 1 ? " assumption" : " assumptions") +
                     ": a failure by --strict.");
}

void writeEnd(replay::Writer& writer, const StuckReport& stuck) {
  const std::string way = stuck.onward.empty()
                              ? std::string("From there")
                              : "At the soonest after " + std::to_string(stuck.onward.size()) +
                                    (stuck.onward.size() == 1 ? " more step" : " more steps");
  if (stuck.churn.empty()) {
    writer.paragraph(way +
                     (stuck.onward.empty() ? " nothing changes any more." : ", nothing changes any more."));
    return;
  }
  writer.paragraph(way + ", it goes round and round in " + withSeparators(stuck.states) +
                   " states that lead only to each other:");
  for (const std::string& sentence : stuck.churn) writer.wrapped("  - ", "    ", sentence);
}

void writeObjects(replay::Writer& writer, const std::string& heading,
                  const std::vector<replay::Leftover>& objects) {
  writer.heading(heading);
  for (const replay::Leftover& object : objects) {
    writer.line("    " + object.object);
    for (const std::string& reason : object.reasons) writer.wrapped("        ", "          ", reason);
  }
}

void writeStuck(replay::Writer& writer, const StuckReport& stuck, const replay::TextStyle& style) {
  writer.heading(stuck.steps.empty() ? "It is stuck from the beginning" : "A shortest way to get stuck");
  writeSteps(writer, stuck.steps);
  if (!stuck.lost.empty()) {
    writer.line();
    writer.paragraph(
        "From here, whatever follows, there will always be: " + kube::listed(stuck.lost, kMostLost) + ".");
  }
  if (style.timeline && !stuck.onward.empty()) {
    writer.heading("A shortest way on from there");
    writeSteps(writer, stuck.onward, stuck.steps.size());
    writer.line();
  }
  writeEnd(writer, stuck);
  if (!stuck.leftovers.empty()) writeObjects(writer, "Still there then, and why", stuck.leftovers);
  if (!stuck.missing.empty()) writeObjects(writer, "Expected to exist, and not there then", stuck.missing);
  if (stuck.ring.empty()) return;
  writer.heading(stuck.ring.size() == 1 ? "It waits for itself" : "They wait for each other");
  for (const std::string& object : stuck.ring) writer.line("    " + object + ", for");
  writer.line("    " + stuck.ring.front());
}

void writeCounterexample(replay::Writer& writer, const std::string& heading, const Counterexample& example) {
  writer.heading(heading);
  writeSteps(writer, example.steps);
}

std::string painted(const replay::Writer& writer, ChangeResult result) {
  const std::string text(word(result));
  if (result == ChangeResult::Worse) return writer.red(text);
  return result == ChangeResult::Undecided ? writer.yellow(text) : writer.green(text);
}

// "PROVEN before, STUCK now"
std::string verdictsOf(const ProofChange& change) {
  std::string text;
  if (change.before) text += std::string(word(change.before->proof.verdict)) + " before";
  if (change.now) text += (text.empty() ? "" : ", ") + std::string(word(change.now->proof.verdict)) + " now";
  return text.empty() ? text : text + "  ";
}

// What shows a worsening; of several ways to get stuck, that of the first.
void writeEvidence(replay::Writer& writer, const ProofChange& change, const replay::TextStyle& style) {
  bool isStuckTold = false;
  for (const Worsening& each : change.worse) {
    if (each.kind == WorseningKind::Unsafe)
      writeCounterexample(writer, "A shortest way to an unsafe commit", {each.text, each.steps});
    if (each.kind == WorseningKind::Broken)
      writeCounterexample(writer, capitalized(each.text), {each.text, each.steps});
    if (!each.stuck || isStuckTold) continue;
    writeStuck(writer, *each.stuck, style);
    isStuckTold = true;
  }
}

}  // namespace

std::string toText(const ProofChange& change, const replay::TextStyle& style) {
  replay::Writer writer(style);
  writer.line(painted(writer, change.result) + "  " + writer.bold(change.name) + "  " + verdictsOf(change) +
              writer.dim("(" + change.file + ")"));
  for (const Worsening& each : change.worse) writer.wrapped("  - ", "    ", each.text);
  for (const std::string& note : change.notes) writer.paragraph(capitalized(note) + ".");
  if (!change.before && change.now) writeAssumptions(writer, *change.now);
  writeEvidence(writer, change, style);
  if (!change.worse.empty()) writer.line();
  return writer.take();
}

std::string summary(std::span<const ProofChange> changes, const std::string& folder,
                    const replay::TextStyle& style) {
  const replay::Writer writer(style);
  std::string text = "Compared with " + folder + ": ";
  bool isFirst = true;
  for (const ChangeResult result : kChangeResults) {
    const auto count =
        std::ranges::count_if(changes, [&](const ProofChange& change) { return change.result == result; });
    if (count == 0) continue;
    text += (isFirst ? "" : ", ") + std::to_string(count) + " " + painted(writer, result);
    isFirst = false;
  }
  return text + "\n";
}

std::string toText(const ProofReport& report, const replay::TextStyle& style) {
  replay::Writer writer(style);
  writer.line(painted(writer, report.proof.verdict) + "  " + writer.bold(report.name) + "  " + size(report) +
              "  " + writer.dim("(" + report.file + ")"));
  if (!report.expectation.empty()) writer.paragraph(capitalized(report.expectation) + ".");
  if (style.timeline) writer.paragraph(report.description);
  writeUndecided(writer, report);
  writeProven(writer, report);
  writeAssumptions(writer, report);
  if (report.unsafe) writeCounterexample(writer, "A shortest way to an unsafe commit", *report.unsafe);
  for (const Counterexample& each : report.broken)
    writeCounterexample(writer, "A shortest way to break: " + each.text, each);
  if (report.stuck) writeStuck(writer, *report.stuck, style);
  if (report.unsafe || report.stuck || !report.broken.empty()) writer.line();
  return writer.take();
}

std::string summary(std::span<const ProofReport> reports, const replay::TextStyle& style) {
  const replay::Writer writer(style);
  std::string text = std::to_string(reports.size()) + (reports.size() == 1 ? " scenario: " : " scenarios: ");
  bool first = true;
  for (const ProofResult verdict : {ProofResult::Proven, ProofResult::Stuck, ProofResult::Unsafe,
                                    ProofResult::Broken, ProofResult::Undecided}) {
    const auto count = std::count_if(reports.begin(), reports.end(),
                                     [&](const ProofReport& r) { return r.proof.verdict == verdict; });
    if (count == 0) continue;
    text += (first ? "" : ", ") + std::to_string(count) + " " + painted(writer, verdict);
    first = false;
  }
  return text + "\n";
}

}  // namespace lastout::prove
