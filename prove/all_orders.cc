#include "prove/all_orders.h"

#include <algorithm>

#include "prove/prove.h"
#include "replay/goal.h"

namespace lastout::prove {

namespace {

using Kind = replay::Expectation::Kind;

enum class Finding : uint8_t { Holds, Fails, Open };  // Open: the same event broke another expectation first

// Reads expectations off a proof.
class ProofReader {
 public:
  ProofReader(const replay::Ready& ready, const Proof& proof)
      : compiled_(ready.compiled),
        proof_(proof),
        endsStuck_(ready.scenario.expect.ends == replay::Ending::Stuck),
        layout_(ready.compiled.model) {}

  // What the proof says of it; nothing where the written order has to.
  std::optional<Finding> find(const replay::Expectation& expectation) const {
    switch (expectation.kind) {
      case Kind::Safe:
        return proof_.unsafe ? Finding::Fails : Finding::Holds;
      case Kind::Ends:
        if (onlyMisses()) return std::nullopt;
        return proof_.stuck.has_value() == endsStuck_ ? Finding::Holds : Finding::Fails;
      case Kind::Stuck:
        return proof_.stuck && isLeft(expectation.index) ? Finding::Holds : Finding::Fails;
      case Kind::Before:
        if (endsStuck_) return std::nullopt;
        return findOrder(compiled_.before[expectation.index]);
      case Kind::Never:
        if (endsStuck_) return std::nullopt;
        return findNever(expectation.index);
      case Kind::Exists:
        return findExisting(expectation.index);
      case Kind::Denied:
      case Kind::Within:
        return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  // Everything is gone that was to go, and something else with it.
  bool onlyMisses() const {
    if (!proof_.stuck || proof_.stuck->missing.empty()) return false;
    std::vector<uint64_t> words = proof_.stuck->state;
    return replay::goalHolds(compiled_, cluster::StateRef(words.data(), layout_));
  }

  // Of an order that misses it, or, where it is said of a stuck end, of that end.
  std::optional<Finding> findExisting(uint32_t index) const {
    if (!proof_.stuck) return endsStuck_ ? Finding::Fails : Finding::Holds;
    if (endsStuck_) {
      std::vector<uint64_t> words = proof_.stuck->state;
      const cluster::StateRef state(words.data(), layout_);
      return replay::exists(compiled_, state, index) ? Finding::Holds : Finding::Fails;
    }
    const std::vector<uint32_t>& missing = proof_.stuck->missing;
    if (std::ranges::find(missing, index) != missing.end()) return Finding::Fails;
    return std::nullopt;
  }

  bool isLeft(uint32_t index) const {
    std::vector<uint64_t> words = proof_.stuck->state;
    const cluster::StateRef state(words.data(), layout_);
    const std::vector<cluster::Slot>& slots = compiled_.stuck[index];
    return std::any_of(slots.begin(), slots.end(),
                       [&](cluster::Slot slot) { return state.presence(slot) != cluster::Presence::Absent; });
  }

  // A proof looks at each event until it breaks something once.
  const BrokenExpectation* brokenBy(uint32_t bit) const {
    const auto found = std::find_if(proof_.broken.begin(), proof_.broken.end(),
                                    [&](const BrokenExpectation& broken) { return broken.event.bit == bit; });
    return found == proof_.broken.end() ? nullptr : &*found;
  }

  Finding findOrder(const replay::BeforePair& pair) const {
    const BrokenExpectation* broken = brokenBy(pair.second.bit);
    if (broken == nullptr) return Finding::Holds;
    const bool missed =
        std::any_of(broken->missing.begin(), broken->missing.end(),
                    [&](const replay::WatchedEvent& missing) { return missing.bit == pair.first.bit; });
    return missed ? Finding::Fails : Finding::Open;
  }

  Finding findNever(uint32_t written) const {
    Finding finding = Finding::Holds;
    for (const replay::WatchedEvent& event : compiled_.never) {
      const BrokenExpectation* broken = event.written == written ? brokenBy(event.bit) : nullptr;
      if (broken != nullptr && broken->missing.empty()) return Finding::Fails;
      if (broken != nullptr) finding = Finding::Open;
    }
    return finding;
  }

  const replay::Compiled& compiled_;
  const Proof& proof_;
  bool endsStuck_;
  cluster::Layout layout_;
};

void tell(Finding finding, const replay::Expectation& expectation, const std::string& file,
          replay::ExpectationResult& outcome) {
  outcome.held = finding == Finding::Holds;
  outcome.whyNot.clear();
  if (outcome.held) return;
  if (finding == Finding::Open)
    outcome.whyNot = "not decided, because the same event broke another expectation";
  else if (expectation.scope == replay::Expectation::Scope::Together)
    outcome.whyNot = "in no order";
  else
    outcome.whyNot = "not in every order; `lastout prove " + file + "` tells which";
}

replay::ExpectationResult unfinished(const Bounds& bounds, const Proof& proof) {
  const std::string bound = proof.end == Exploration::End::MemoryBound
                                ? std::to_string(bounds.bytes >> 20) + " MiB of memory"
                                : std::to_string(bounds.states) + " states";
  return {.text = "every order was looked at",
          .held = false,
          .whyNot = "the bound of " + bound + " was met after " + std::to_string(proof.states) +
                    " states; lastout prove can set another"};
}

}  // namespace

replay::ScenarioReport replayAllOrders(const replay::Ready& ready, const Bounds& bounds,
                                       const OnProgress& progress) {
  replay::ScenarioReport report = replay::replay(ready, {});
  const ProofScope question{.bounds = bounds, .orders = ready.scenario.expect.ends != replay::Ending::Stuck};
  const Proof proof = proveScenario(ready.compiled, question, progress);
  report.options.order = replay::Order::All;
  report.states = proof.states;
  report.assumptions = replay::assumptionsOf(ready.scenario, ready.compiled);

  const replay::Names names(ready.compiled.model);
  const replay::Checker checker(ready.scenario, ready.compiled, names);
  const ProofReader reader(ready, proof);
  for (size_t i = 0; i < report.outcomes.size(); ++i) {
    const replay::Expectation& expectation = checker.expectations()[i];
    if (const std::optional<Finding> finding = reader.find(expectation))
      tell(*finding, expectation, report.file, report.outcomes[i]);
  }
  if (proof.end != Exploration::End::Complete) {
    report.decided = std::any_of(report.outcomes.begin(), report.outcomes.end(),
                                 [](const replay::ExpectationResult& o) { return !o.held; });
    report.outcomes.push_back(unfinished(bounds, proof));
  }
  report.held = std::all_of(report.outcomes.begin(), report.outcomes.end(),
                            [](const replay::ExpectationResult& o) { return o.held; });
  return report;
}

}  // namespace lastout::prove
