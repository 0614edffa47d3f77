// What the controllers of a LiveCluster do: planned, reviewed by others, carried out.
#include <algorithm>

#include "cluster/agenda.h"
#include "cluster/live_cluster.h"
#include "cluster/live_model.h"

namespace lastout::cluster {

namespace {

using Kind = Action::Kind;

bool isSame(const ClusterEvent& a, const ClusterEvent& b) {
  return a.kind == b.kind && a.actor == b.actor && a.slot == b.slot && a.by == b.by;
}

bool isSame(const Events& a, const Events& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ClusterEvent& left, const ClusterEvent& right) { return isSame(left, right); });
}

}  // namespace

void LiveCluster::advance(Milliseconds now) { now_ = std::max(now_, now); }

std::optional<LiveCluster::Milliseconds> LiveCluster::nextAt() const {
  const Agenda::Entry* first = agenda_->first();
  return first == nullptr ? std::nullopt : std::optional<Milliseconds>(first->due);
}

// What the action would do, tried out on the state before, which is then as it was.
void LiveCluster::rehearse(const Action& action, PlannedAction& plan) {
  live_->machine().apply(live_->before(), action, &plan.events);
  for (const ClusterEvent& event : plan.events) {
    const auto isOf = [&](const auto& known) { return known.first == event.slot; };
    if (std::none_of(plan.after.begin(), plan.after.end(), isOf))
      plan.after.emplace_back(event.slot, live_->before().object(event.slot));
  }
  settle(&action, plan.events);
}

std::optional<PlannedAction> LiveCluster::plan(Milliseconds now) {
  advance(now);
  live_->freeLeft();
  noteReadiness();
  refresh();
  const Agenda::Entry* entry = agenda_->first();
  if (entry == nullptr || entry->due > now_) return std::nullopt;
  PlannedAction plan;
  plan.action = entry->action;
  plan.due = entry->due;
  plan.serial = entry->serial;
  plan.change = changes_;
  rehearse(plan.action, plan);
  const auto request = std::find_if(plan.events.begin(), plan.events.end(), [](const ClusterEvent& event) {
    return event.kind == EventKind::Requested;
  });
  if (request == plan.events.end()) return plan;
  plan.deletes = request->slot;
  const Transition reading = live_->reading();
  DeleteRequest sent{.slot = plan.deletes, .policy = PropagationPolicy::Background};
  if (plan.action.kind == Kind::CollectorDelete) sent = collectorRequest(reading, plan.deletes);
  // Recorded: the agent insists on the uid of what it applied, not of its own AppliedManifestWork; nor does a
  // workload's controller say anything about its Pods.
  const bool withdraws =
      plan.action.kind == Kind::AgentStep && agentTask(reading, plan.action.a) == AgentTask::Withdraw;
  if (withdraws || plan.action.kind == Kind::WorkloadSync)
    sent.policy = std::nullopt;
  else if (plan.action.kind == Kind::AgentStep)
    sent.precondition = Precondition::Uid;
  plan.policy = sent.policy;
  plan.insistsOnUid = sent.precondition == Precondition::Uid;
  return plan;
}

bool LiveCluster::execute(const PlannedAction& plan, AdmissionOutcome outcome, Milliseconds now,
                          Events& events) {
  advance(now);
  const Agenda::Entry* entry = agenda_->find(plan.action);
  if (entry == nullptr || entry->serial != plan.serial) return false;
  if (plan.change != changes_) {
    PlannedAction again;
    rehearse(plan.action, again);
    if (!isSame(again.events, plan.events)) return false;
  }
  if (outcome == AdmissionOutcome::Denied && plan.deletes == kNone) {
    refuse(plan.action);
    return true;
  }
  admission::Verdict verdict;
  verdict.allowed = outcome == AdmissionOutcome::Allowed;
  Events happened;
  live_->machine().apply(live_->state(), plan.action, &happened, &verdict);
  const Action action = plan.action;
  if (action.kind == Kind::NamespaceDelete && outcome == AdmissionOutcome::Denied) noteRefusal(action.a);
  finish(&action, happened, events);
  return true;
}

// A Pod that is refused to the namespace controller ends its look for Pods.
void LiveCluster::noteRefusal(Slot content) {
  const SlotInfo& info = live_->model.slots[content];
  if (info.kind != SlotKind::Pod) return;
  live_->setDeletionRefused(content);
  noteTurn(info.namespaceSlot);
}

void LiveCluster::refuse(const Action& action) {
  const uint32_t attempt = agenda_->find(action)->attempt + 1;
  agenda_->postpone(action, now_, live_->machine().retryDelay(live_->state(), action, attempt));
}

}  // namespace lastout::cluster
