#include "prove/tell.h"

#include <algorithm>

#include "replay/blockers.h"

namespace lastout::prove {

namespace {

using cluster::Action;
using cluster::Actor;
using cluster::EventKind;
using cluster::Slot;

// Tells one action, from the state before it.
class Teller {
 public:
  Teller(const cluster::Machine& machine, const replay::Names& names, const Action& action,
         std::vector<uint64_t> before)
      : machine_(machine),
        model_(machine.model()),
        names_(names),
        action_(action),
        before_(std::move(before)) {
    after_ = before_;
    machine_.apply(view(after_), action_, &events_);
  }

  const std::vector<uint64_t>& after() const { return after_; }

  std::vector<replay::Happening> happenings(uint32_t number) {
    std::vector<replay::Happening> result;
    for (const cluster::ClusterEvent& event : events_) {
      result.push_back({.event = event,
                        .action = action_,
                        .number = number,
                        .object = view(after_).object(event.slot),
                        .state = event.kind == EventKind::Denied
                                     ? std::make_shared<const std::vector<uint64_t>>(after_)
                                     : nullptr});
    }
    return result;
  }

  // Empty: nothing worth a step.
  NarratedStep told(const std::vector<replay::Happening>& happenings) {
    NarratedStep step;
    for (const replay::Line& line : replay::narrate(machine_, names_, happenings)) {
      step.text += (step.text.empty() ? "" : "; ") + line.text;
      if (line.tone != replay::Line::Tone::Plain) step.tone = line.tone;
    }
    if (action_.kind == Action::Kind::Confirm && step.text.empty()) step.text = unconfirmed();
    if (!step.text.empty()) step.text += consequence();
    return step;
  }

 private:
  cluster::StateRef view(std::vector<uint64_t>& words) const { return {words.data(), machine_.layout()}; }

  Slot deleted() const {
    switch (action_.actor) {
      case Actor::Client:
        return model_.steps[action_.a].object;
      case Actor::Agent: {
        auto words = before_;
        return model_.links[model_.works[action_.a].firstLink + view(words).work(action_.a).next].object;
      }
      default:
        return action_.a;
    }
  }

  // Of a deletion that goes on although its criteria do not hold.
  std::string unconfirmed() {
    const Slot slot = deleted();
    const replay::VerdictBlockers blockers = replay::unmetCriteria(machine_, view(before_), slot);
    if (blockers.none()) return {};
    return "nobody looks again before " + names_.of(slot) + " is deleted, although " + blockers.sentence();
  }

  // What follows from it that the event itself does not say.
  std::string consequence() {
    for (const cluster::ClusterEvent& event : events_) {
      if (event.kind == EventKind::Denied && !isNotFound(event)) return refusal(event);
      if (event.kind == EventKind::Gone) return stillThere(event.slot);
    }
    return {};
  }

  static bool isNotFound(const cluster::ClusterEvent& event) {
    return event.refused != nullptr && std::string_view(event.refused) == "NotFound";
  }

  std::string refusal(const cluster::ClusterEvent& event) const {
    switch (event.actor) {
      case Actor::Agent:
        return "; it forgets it";
      case Actor::Client: {
        const cluster::ClientStep& step = model_.steps[event.by];
        const bool again = step.verb == cluster::ClientStep::Verb::Delete && !step.dryRun && step.retry;
        return again ? "; it asks again" : "";
      }
      case Actor::Collector:
      case Actor::Lifecycle:
      case Actor::Workloads:
      case Actor::TimeToLive:
      case Actor::ReplicaSets:
      case Actor::Lastout:
        return "; it tries again";
      default:
        return {};
    }
  }

  // The truth promise (docs/concepts.md): a work is not gone before what it applied.
  std::string stillThere(Slot slot) {
    const cluster::SlotInfo& info = model_.slots[slot];
    if (info.kind != cluster::SlotKind::ManifestWork || info.work == cluster::kNone) return {};
    const cluster::Work& work = model_.works[info.work];
    std::vector<Slot> left;
    for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
      const Slot object = model_.links[link].object;
      if (model_.links[link].orphans) continue;
      if (view(after_).presence(object) != cluster::Presence::Absent) left.push_back(object);
    }
    if (left.empty()) return {};
    return ", although " + names_.list(left) + (left.size() == 1 ? " is" : " are") + " still there";
  }

  const cluster::Machine& machine_;
  const cluster::Model& model_;
  const replay::Names& names_;
  Action action_;
  std::vector<uint64_t> before_;
  std::vector<uint64_t> after_;
  cluster::Events events_;
};

}  // namespace

void tell(const cluster::Machine& machine, const replay::Names& names, const Way& way, Narrative& told) {
  if (told.state.empty()) told.state = machine.initial();
  for (const Action& action : way) {
    Teller step(machine, names, action, told.state);
    std::vector<replay::Happening> happenings = step.happenings(static_cast<uint32_t>(told.steps.size() + 1));
    NarratedStep words = step.told(happenings);
    told.state = step.after();
    if (words.text.empty()) continue;
    told.steps.push_back(std::move(words));
    std::move(happenings.begin(), happenings.end(), std::back_inserter(told.log));
  }
}

}  // namespace lastout::prove
