#include "prove/proof_report.h"

#include <algorithm>
#include <iterator>

#include "kube/well_known.h"
#include "replay/goal.h"
#include "replay/stuck.h"

namespace lastout::prove {

namespace {

using cluster::Slot;

std::string counted(size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

class Reporter {
 public:
  Reporter(const replay::Ready& ready, const ProofScope& question)
      : ready_(ready),
        compiled_(ready.compiled),
        question_(question),
        machine_(compiled_.model),
        names_(compiled_.model) {}

  ProofReport report(Proof proof) const {
    ProofReport report;
    report.file = ready_.scenario.file;
    report.name = ready_.scenario.name;
    report.description = ready_.scenario.description;
    report.kubernetes = compiled_.model.kubernetes;
    report.bounds = question_.bounds;
    if (proof.unsafe) report.unsafe = unsafe("a deletion", *proof.unsafe);
    if (proof.stuck) report.stuck = stuck(*proof.stuck);
    for (const BrokenExpectation& each : proof.broken) report.broken.push_back(broken(each));
    report.assumptions = replay::assumptionsOf(ready_.scenario, compiled_);
    report.proven = proven(proof);
    report.expected = asExpected(compiled_, ready_.scenario.expect, proof);
    report.expectation = expectation(proof, report.expected);
    report.proof = std::move(proof);
    return report;
  }

  StuckReport stuck(const StuckEnd& end) const {
    StuckReport report;
    report.states = end.states;
    Narrative told;
    tell(machine_, names_, end.way, told);
    const auto lost = static_cast<std::ptrdiff_t>(told.steps.size());
    tell(machine_, names_, end.onward, told);
    report.steps.assign(told.steps.begin(), told.steps.begin() + lost);
    report.onward.assign(told.steps.begin() + lost, told.steps.end());
    for (const Slot slot : end.lost) report.lost.push_back(names_.of(slot));
    for (const Churn& churn : end.churn) addChurn(churn, report.churn);
    const replay::MomentOf inStep = [](const replay::Happening& happening) {
      return "in step " + std::to_string(happening.number);
    };
    std::vector<Slot> left = end.left;
    std::ranges::copy(replay::awaitedBySteps(compiled_, end.state), std::back_inserter(left));
    const replay::Stuckness why =
        replay::explainStuck(machine_, names_, left, end.state, told.log, ready_.scenario.unremoved, inStep);
    for (const replay::StillThere& each : why.objects) {
      report.leftovers.push_back({names_.of(each.object), each.reasons});
      if (each.isUnasked && ready_.scenario.isOfDeletions)
        report.leftovers.back().reasons.back() += " (" + wayOut(each.object) + ")";
    }
    for (replay::Leftover& step : replay::unsent(compiled_, names_, end.state))
      report.leftovers.push_back(std::move(step));
    for (const uint32_t index : end.missing) report.missing.push_back(missing(index, end, told.log));
    for (const Slot slot : why.ring) report.ring.push_back(names_.of(slot));
    return report;
  }

  Counterexample unsafe(const UnsafeCommit& commit) const {
    return unsafe("a deletion of " + names_.of(commit.object), commit.way);
  }

 private:
  // Returns what the user can do: delete it, too; or, if it may be somebody else's, narrow the criterion, or
  // wait for them.
  std::string wayOut(Slot slot) const {
    const cluster::Model& model = compiled_.model;
    const kube::ObjectKey& key = model.slots[slot].key;
    const auto isNear = [&](const cluster::ClientStep& step) {
      const kube::ObjectKey& asked = model.slots[step.object].key;
      return kube::isPartOfNamespace(key.namespaceName, asked.type, asked.namespaceName, asked.name);
    };
    const auto isNamed = [&](const criticalservice::CriticalService& service) {
      return std::ranges::find(service.criteria,
                               criticalservice::Criterion(criticalservice::SpecificResourceCriterion{key})) !=
             service.criteria.end();
    };
    const std::string would = "--delete " + kube::toString(key) + " would";
    if (key.namespaceName.empty() || std::ranges::any_of(model.steps, isNear) ||
        std::ranges::any_of(model.serviceSpecs, isNamed))
      return would;
    for (const criticalservice::CriticalService& service : model.serviceSpecs) {
      for (size_t i = 0; i < service.criteria.size(); ++i) {
        const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&service.criteria[i]);
        if (finalizer != nullptr && isAbout(*finalizer, key))
          return "nothing else in namespace " + key.namespaceName + " is to go: if it is somebody else's, " +
                 narrowing(finalizer->scope, key.namespaceName) + " in " +
                 criticalservice::fieldOf(service, i) + " of " +
                 criticalservice::nameInWords(service.meta.name);
      }
    }
    return "if it is yours, " + would + "; if it is somebody else's, they have to delete it first";
  }

  // Returns what has a criterion of that scope leave out the objects in a namespace that it counts.
  static std::string narrowing(const kube::NamespaceScope& scope, const std::string& namespaceName) {
    if (!scope.selector.empty())
      return "have the labels of namespaces/" + namespaceName + " not match finalizer.namespaces.selector";
    switch (scope.kind) {
      case kube::NamespaceScope::Kind::Within:
        return "take " + namespaceName + " out of finalizer.namespaces";
      case kube::NamespaceScope::Kind::Outside:
        return "set finalizer.namespaces, instead of exceptProviderNamespace,";
      case kube::NamespaceScope::Kind::All:
        break;
    }
    return "set finalizer.namespaces";
  }

  std::vector<NarratedStep> steps(const Way& way) const {
    Narrative told;
    tell(machine_, names_, way, told);
    return std::move(told.steps);
  }

  Counterexample unsafe(const std::string& deletion, const Way& way) const {
    return {deletion + " is committed whose criteria did not hold at its confirming read", steps(way)};
  }

  std::string text(const replay::WatchedEvent& event) const {
    return names_.of(event.slot) + " " + std::string(replay::word(event.kind));
  }

  Counterexample broken(const BrokenExpectation& each) const {
    std::string message;
    if (each.missing.empty()) message = "never " + text(each.event);
    for (const replay::WatchedEvent& event : each.missing)
      message += (message.empty() ? "" : " and ") + text(event) + " before " + text(each.event);
    return {message, steps(each.way)};
  }

  replay::Leftover missing(uint32_t index, const StuckEnd& end,
                           const std::vector<replay::Happening>& log) const {
    replay::Leftover result{.object = ready_.scenario.expect.exists[index].text, .reasons = {}};
    std::vector<uint64_t> words = end.state;
    const cluster::StateRef state(words.data(), machine_.layout());
    for (const Slot slot : compiled_.exists[index]) {
      const auto gone = std::find_if(log.rbegin(), log.rend(), [&](const replay::Happening& happening) {
        return happening.event.slot == slot && happening.event.kind == cluster::EventKind::Gone;
      });
      if (state.presence(slot) != cluster::Presence::Absent)
        result.reasons.push_back(names_.of(slot) + " is being deleted");
      else if (gone != log.rend())
        result.reasons.push_back(names_.of(slot) + " went in step " + std::to_string(gone->number) +
                                 ", and nothing creates it again");
    }
    if (result.reasons.empty()) result.reasons.emplace_back("nothing creates it");
    return result;
  }

  void addChurn(const Churn& churn, std::vector<std::string>& sentences) const {
    Narrative told;
    told.state = churn.state;
    tell(machine_, names_, {churn.action}, told);
    for (const NarratedStep& step : told.steps) {
      if (std::find(sentences.begin(), sentences.end(), step.text) == sentences.end())
        sentences.push_back(step.text);
    }
  }

  std::vector<std::string> proven(const Proof& proof) const {
    std::vector<std::string> result;
    if (proof.end != Exploration::End::Complete) return result;
    if (!proof.stuck)
      result.push_back("whatever has happened, " +
                       counted(compiled_.goal.size(), "object that was to go", "objects that were to go") +
                       " can still go: nothing gets stuck");
    if (!proof.stuck && compiled_.mustExist)
      result.push_back(
          "whatever has happened, it can still end with something there for " +
          counted(compiled_.exists.size(), "reference under `exists`", "references under `exists`"));
    if (!proof.unsafe && compiled_.model.guarded && !compiled_.model.services.empty())
      result.push_back("no deletion is committed whose criteria did not hold at its confirming read");
    if (proof.broken.empty() && question_.orders && !compiled_.before.empty())
      result.push_back(
          counted(compiled_.before.size(), "expected order of events is", "expected orders of events are") +
          " kept");
    if (proof.broken.empty() && question_.orders && !compiled_.never.empty())
      result.push_back(counted(compiled_.never.size(), "event that should never happen does not",
                               "events that should never happen do not"));
    return result;
  }

  std::string expectation(const Proof& proof, bool expected) const {
    const bool stuck = ready_.scenario.expect.ends == replay::Ending::Stuck;
    if (expected) return stuck ? "as the scenario expects" : "";
    if (!stuck) return "";
    if (proof.verdict == ProofResult::Proven)
      return "the scenario expects it to get stuck, and no order does";
    if (proof.verdict == ProofResult::Stuck)
      return "the scenario expects something else to be left at the end";
    return "the scenario expects it to get stuck";
  }

  const replay::Ready& ready_;
  const replay::Compiled& compiled_;
  const ProofScope& question_;
  cluster::Machine machine_;
  replay::Names names_;
};

}  // namespace

ProofReport reportOf(const replay::Ready& ready, const ProofScope& question, Proof proof) {
  return Reporter(ready, question).report(std::move(proof));
}

StuckReport stuckReportOf(const replay::Ready& ready, const StuckEnd& end) {
  const ProofScope question;
  return Reporter(ready, question).stuck(end);
}

Counterexample unsafeReportOf(const replay::Ready& ready, const UnsafeCommit& commit) {
  const ProofScope question;
  return Reporter(ready, question).unsafe(commit);
}

std::string_view word(ProofResult verdict) {
  switch (verdict) {
    case ProofResult::Proven:
      return "PROVEN";
    case ProofResult::Stuck:
      return "STUCK";
    case ProofResult::Unsafe:
      return "UNSAFE";
    case ProofResult::Broken:
      return "BROKEN";
    case ProofResult::Undecided:
      return "NOT DECIDED";
  }
  return {};
}

}  // namespace lastout::prove
