#include "prove/proof_change.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kube/messages.h"
#include "prove/lost_guards.h"

namespace lastout::prove {

namespace {

constexpr size_t kMostWrong = 8;  // names in a sentence

// What is wrong in an end, by names that mean the same in two models.
struct WrongNames {
  std::set<std::string> left;
  std::set<std::string> missing;
};

WrongNames wrongIn(const replay::Ready& ready, const StuckEnd& end) {
  WrongNames wrong;
  for (const cluster::Slot slot : end.left) wrong.left.insert(ready.compiled.model.name(slot));
  for (const uint32_t index : end.missing) wrong.missing.insert(ready.scenario.expect.exists[index].text);
  return wrong;
}

bool isWithin(const WrongNames& part, const WrongNames& whole) {
  return std::ranges::includes(whole.left, part.left) && std::ranges::includes(whole.missing, part.missing);
}

bool isComplete(const ProofReport& report) { return report.proof.end == Exploration::End::Complete; }

bool isProven(const ProofReport& report) { return report.proof.verdict == ProofResult::Proven; }

// "namespaces/team-a and widgets.example.com/team-a/one stay"
std::string inWords(const WrongNames& wrong) {
  std::string text;
  if (!wrong.left.empty())
    text = kube::listed({wrong.left.begin(), wrong.left.end()}, kMostWrong) +
           (wrong.left.size() == 1 ? " stays" : " stay");
  if (!wrong.missing.empty())
    text += (text.empty() ? "there is no " : ", and there is no ") +
            kube::listed({wrong.missing.begin(), wrong.missing.end()}, kMostWrong);
  return text.empty() ? "a step of the scenario is never sent" : text;
}

class Comparer {
 public:
  Comparer(const ProvenScenario& before, const ProvenScenario& now) : before_(before), now_(now) {}

  ProofChange compare() {
    change_.file = now_.report.file;
    change_.name = now_.report.name;
    compareUnsafe();
    compareStuck();
    compareBroken();
    compareGuarded();
    compareAssumptions();
    change_.result = result();
    noteVerdicts();
    change_.before = before_.report;
    change_.now = now_.report;
    return std::move(change_);
  }

 private:
  // Whether something that was not found before was not there.
  bool isBeforeKnown() const { return isComplete(before_.report); }

  Worsening& add(WorseningKind kind, std::string text) {
    change_.worse.push_back(
        {.kind = kind, .text = std::move(text), .object = {}, .steps = {}, .stuck = std::nullopt});
    return change_.worse.back();
  }

  void compareUnsafe() {
    if (!now_.report.unsafe || before_.report.unsafe || !isBeforeKnown()) return;
    add(WorseningKind::Unsafe, now_.report.unsafe->text).steps = now_.report.unsafe->steps;
  }

  void compareStuck() {
    if (!now_.report.stuck || !isBeforeKnown()) return;
    if (!before_.report.stuck) {
      const WrongNames wrong = wrongIn(now_.ready, *now_.report.proof.stuck);
      add(WorseningKind::Stuck, "it can get stuck, and could not before: " + inWords(wrong)).stuck =
          now_.report.stuck;
      return;
    }
    if (before_.report.proof.hasMoreEnds) return;
    std::vector<WrongNames> former;
    former.reserve(before_.report.proof.ends.size());
    for (const StuckEnd& end : before_.report.proof.ends) former.push_back(wrongIn(before_.ready, end));
    for (const StuckEnd& end : now_.report.proof.ends) {
      const WrongNames wrong = wrongIn(now_.ready, end);
      const auto covers = [&](const WrongNames& one) { return isWithin(wrong, one); };
      if (std::ranges::any_of(former, covers)) continue;
      add(WorseningKind::StuckEnd, "another way to get stuck: " + inWords(wrong)).stuck =
          stuckReportOf(now_.ready, end);
    }
  }

  void compareBroken() {
    if (!isBeforeKnown()) return;
    for (const Counterexample& each : now_.report.broken) {
      const auto isSame = [&](const Counterexample& other) { return other.text == each.text; };
      if (std::ranges::any_of(before_.report.broken, isSame)) continue;
      add(WorseningKind::Broken, "an order breaks: " + each.text).steps = each.steps;
    }
  }

  void compareGuarded() {
    GuardComparison guards = compareGuards(before_.ready.compiled.model, now_.ready.compiled.model);
    for (LostGuard& lost : guards.lost)
      add(WorseningKind::Guard, std::move(lost.text)).object = std::move(lost.object);
    change_.notes = std::move(guards.notes);
  }

  // One more is worse, except where nothing was proven before, and something is now.
  void compareAssumptions() {
    const bool isGain = isProven(now_.report) && !isProven(before_.report) && isBeforeKnown();
    for (const replay::Assumption& each : now_.report.assumptions) {
      const auto isSame = [&](const replay::Assumption& other) {
        return other.object == each.object && other.claim == each.claim;
      };
      const auto former = std::ranges::find_if(before_.report.assumptions, isSame);
      if (former != before_.report.assumptions.end()) {
        if (former->text != each.text)
          change_.notes.push_back("it assumes the same as before for another reason: " + each.text);
        continue;
      }
      if (isGain)
        change_.notes.push_back("it assumes what it did not before: " + each.text);
      else
        add(WorseningKind::Assumption, "it assumes what it did not before: " + each.text).object =
            each.object;
    }
  }

  ChangeResult result() const {
    if (!change_.worse.empty()) return ChangeResult::Worse;
    if (isProven(now_.report))
      return isProven(before_.report) || !isBeforeKnown() ? ChangeResult::NotWorse : ChangeResult::Better;
    const bool isDecided = isComplete(before_.report) && isComplete(now_.report) &&
                           !before_.report.proof.hasMoreEnds && !now_.report.proof.hasMoreEnds;
    return isDecided ? ChangeResult::NotWorse : ChangeResult::Undecided;
  }

  std::string whyUndecided() const {
    for (const auto& [report, when] :
         {std::pair(&before_.report, "before"), std::pair(&now_.report, "now")}) {
      if (!isComplete(*report))
        return std::string("a bound was met before every order was looked at, of how it is ") + when +
               "; --max-states and --max-memory set other bounds";
    }
    return "it gets stuck in more than " + std::to_string(kMostEnds) +
           " ways, which is more than are compared";
  }

  void noteVerdicts() {
    const std::string before(word(before_.report.proof.verdict));
    if (change_.result == ChangeResult::Undecided) {
      change_.notes.push_back(whyUndecided());
      return;
    }
    const bool isWrong = !isProven(now_.report);
    const bool isSame = now_.report.proof.verdict == before_.report.proof.verdict;
    const bool isNewlyWrong = std::ranges::any_of(
        change_.worse, [](const Worsening& one) { return one.kind < WorseningKind::Guard; });
    if (isWrong && isSame && !isNewlyWrong)
      change_.notes.push_back("it is still " + before + ", in no other way than before");
  }

  const ProvenScenario& before_;
  const ProvenScenario& now_;
  ProofChange change_;
};

}  // namespace

std::string_view word(WorseningKind kind) {
  switch (kind) {
    case WorseningKind::Unsafe:
      return "new-unsafe";
    case WorseningKind::Stuck:
      return "new-stuck";
    case WorseningKind::StuckEnd:
      return "new-stuck-end";
    case WorseningKind::Broken:
      return "new-broken";
    case WorseningKind::Guard:
      return "lost-guard";
    case WorseningKind::Assumption:
      return "new-assumption";
  }
  return {};
}

std::string_view word(ChangeResult result) {
  switch (result) {
    case ChangeResult::Worse:
      return "WORSE";
    case ChangeResult::Undecided:
      return "NOT DECIDED";
    case ChangeResult::New:
      return "NEW";
    case ChangeResult::Gone:
      return "GONE";
    case ChangeResult::Better:
      return "BETTER";
    case ChangeResult::NotWorse:
      return "NOT WORSE";
  }
  return {};
}

ProofChange compareProofs(const ProvenScenario& before, const ProvenScenario& now) {
  return Comparer(before, now).compare();
}

ProofChange addedScenario(ProofReport now, const std::string& why) {
  ProofChange change;
  change.file = now.file;
  change.name = now.name;
  change.result = ChangeResult::New;
  change.now = std::move(now);
  change.notes.push_back(why.empty()
                             ? "there is nothing to compare it with"
                             : "it could not be read before, so there is nothing to compare it with: " + why);
  return change;
}

ProofChange removedScenario(const std::string& file, const std::string& name) {
  ProofChange change;
  change.file = file;
  change.name = name;
  change.result = ChangeResult::Gone;
  return change;
}

}  // namespace lastout::prove
