#include "prove/proof_change.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kube/messages.h"
#include "prove/lost_guards.h"
#include "replay/check.h"

namespace lastout::prove {

namespace {

constexpr size_t kMostWrong = 8;  // names in a sentence

// What is wrong in an end. Objects are named as people name them, as their numbers differ between two models.
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

bool expectsStuck(const replay::Ready& ready) { return ready.scenario.expect.ends == replay::Ending::Stuck; }

// An expectation in words, and the objects that it is about.
using Expected = std::map<std::string, std::vector<kube::ObjectKey>>;

// Returns what has to hold of events in every order.
Expected eventsExpectedBy(const replay::Compiled& compiled) {
  Expected expected;
  const auto words = [&](const replay::WatchedEvent& event) {
    return compiled.model.name(event.slot) + " " + std::string(replay::word(event.kind));
  };
  const auto key = [&](const replay::WatchedEvent& event) { return compiled.model.slots[event.slot].key; };
  for (const replay::WatchedEvent& event : compiled.never) expected["`never` " + words(event)] = {key(event)};
  for (const replay::BeforePair& pair : compiled.before)
    expected[words(pair.first) + " `before` " + words(pair.second)] = {key(pair.first), key(pair.second)};
  return expected;
}

std::set<kube::ObjectKey> keysOf(const cluster::Model& model, const std::vector<cluster::Slot>& slots) {
  std::set<kube::ObjectKey> keys;
  for (const cluster::Slot slot : slots) keys.insert(model.slots[slot].key);
  return keys;
}

// Returns the objects whose deletion clients ask for.
std::set<kube::ObjectKey> deletedIn(const cluster::Model& model) {
  std::set<kube::ObjectKey> keys;
  for (const cluster::ClientStep& step : model.steps) {
    if (step.verb == cluster::ClientStep::Verb::Delete && !step.dryRun)
      keys.insert(model.slots[step.object].key);
  }
  return keys;
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
    compareExpectations();
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
    if (!now_.report.unsafe || !isBeforeKnown()) return;
    if (!before_.report.unsafe) {
      add(WorseningKind::Unsafe, now_.report.unsafe->text).steps = now_.report.unsafe->steps;
      return;
    }
    std::set<std::string> former;
    for (const UnsafeCommit& commit : before_.report.proof.unsafeCommits)
      former.insert(before_.ready.compiled.model.name(commit.object));
    for (const UnsafeCommit& commit : now_.report.proof.unsafeCommits) {
      const std::string name = now_.ready.compiled.model.name(commit.object);
      if (former.contains(name)) continue;
      Counterexample example = unsafeReportOf(now_.ready, commit);
      Worsening& worse = add(WorseningKind::Unsafe, std::move(example.text));
      worse.object = name;
      worse.steps = std::move(example.steps);
    }
  }

  void compareStuck() {
    if (!now_.report.stuck || !isBeforeKnown()) return;
    if (!before_.report.stuck) {
      const WrongNames wrong = wrongIn(now_.ready, *now_.report.proof.stuck);
      add(WorseningKind::Stuck, "it can get stuck, and could not before: " + inWords(wrong)).stuck =
          now_.report.stuck;
      return;
    }
    std::vector<WrongNames> former;
    former.reserve(before_.report.proof.ends.size());
    for (const StuckEnd& end : before_.report.proof.ends) former.push_back(wrongIn(before_.ready, end));
    for (const StuckEnd& end : now_.report.proof.ends) {
      const WrongNames wrong = wrongIn(now_.ready, end);
      const auto covers = [&](const WrongNames& one) { return isWithin(wrong, one); };
      if (std::ranges::any_of(former, covers)) continue;
      isEndUnknown_ = before_.report.proof.hasMoreEnds;
      if (isEndUnknown_) return;
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

  // Notes what is expected, or asked for, no longer although all that it is about is there: a proof of less
  // may say more.
  void compareExpectations() {
    const cluster::Model& model = now_.ready.compiled.model;
    const auto isThere = [&](const kube::ObjectKey& key) { return model.find(key).has_value(); };
    std::vector<std::string> dropped;
    if (expectsStuck(now_.ready) && !expectsStuck(before_.ready))
      change_.notes.emplace_back(
          "it is expected to get stuck now, so that `before`, `never` and `exists` are not looked at in "
          "every "
          "order any more");
    if (!expectsStuck(before_.ready)) {
      const Expected current = eventsExpectedBy(now_.ready.compiled);
      for (const auto& [words, objects] : eventsExpectedBy(before_.ready.compiled)) {
        if (!current.contains(words) && std::ranges::all_of(objects, isThere)) dropped.push_back(words);
      }
      for (size_t i = 0; i < before_.ready.compiled.exists.size(); ++i) {
        const auto objects = keysOf(before_.ready.compiled.model, before_.ready.compiled.exists[i]);
        const std::string& text = before_.ready.scenario.expect.exists[i].text;
        if (std::ranges::any_of(objects, isThere) && !expectsToExist(text, objects))
          dropped.push_back("that " + text + " `exists`");
      }
    }
    if (!dropped.empty())
      change_.notes.push_back("it no longer expects " + kube::listed(dropped, kMostWrong));
    std::vector<std::string> kept;
    const std::set<kube::ObjectKey> deleted = deletedIn(model);
    for (const kube::ObjectKey& key : deletedIn(before_.ready.compiled.model)) {
      if (isThere(key) && !deleted.contains(key)) kept.push_back(kube::toString(key));
    }
    if (!kept.empty())
      change_.notes.push_back("no client deletes " + kube::listed(kept, kMostWrong) + " any more");
  }

  // Returns true if that is under `exists` now, in these words or others.
  bool expectsToExist(const std::string& text, const std::set<kube::ObjectKey>& objects) const {
    const replay::Compiled& compiled = now_.ready.compiled;
    for (size_t i = 0; i < compiled.exists.size(); ++i) {
      if (now_.ready.scenario.expect.exists[i].text == text ||
          keysOf(compiled.model, compiled.exists[i]) == objects)
        return true;
    }
    return false;
  }

  ChangeResult result() const {
    if (!change_.worse.empty()) return ChangeResult::Worse;
    if (isProven(now_.report))
      return isProven(before_.report) || !isBeforeKnown() ? ChangeResult::NotWorse : ChangeResult::Better;
    const bool isDecided = isComplete(before_.report) && isComplete(now_.report) && !isEndUnknown_ &&
                           !now_.report.proof.hasMoreEnds;
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
  bool isEndUnknown_ = false;  // of an end, whether it is among those that were found before and not kept
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
    case ChangeResult::Better:
      return "BETTER";
    case ChangeResult::NotWorse:
      return "NOT WORSE";
    case ChangeResult::New:
      return "NEW";
    case ChangeResult::Gone:
      return "GONE";
  }
  return {};
}

ProofChange compareProofs(const ProvenScenario& before, const ProvenScenario& now) {
  return Comparer(before, now).compare();
}

ProofChange unchangedScenario(ProofReport now, const std::string& formerFile) {
  ProofChange change;
  change.file = now.file;
  change.name = now.name;
  change.before = now;
  change.before->file = formerFile;
  if (!isProven(now))
    change.notes.push_back("it is still " + std::string(word(now.proof.verdict)) +
                           ", in no other way than before: its files are the same");
  change.now = std::move(now);
  return change;
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
