#include "replay/blockers.h"

#include <algorithm>

#include "admission/explain.h"
#include "cluster/facts.h"
#include "cluster/policies.h"
#include "kube/messages.h"
#include "protection/message.h"
#include "replay/live_graph.h"

namespace lastout::replay {

namespace {

using cluster::Slot;

template <class T>
void addOnce(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

void addHolders(const cluster::Model& model, cluster::StateRef state, uint32_t condition,
                std::vector<Slot>& out) {
  for (const cluster::ConditionHolder& holder : model.conditions[condition]) {
    if (state.presence(holder.slot) == cluster::Presence::Absent) continue;
    if (holder.mask == 0 || (state.finalizers(holder.slot) & holder.mask) != 0) addOnce(out, holder.slot);
  }
}

// What CriticalServices say.
void addServices(const cluster::Machine& machine, cluster::StateRef state, Slot slot,
                 VerdictBlockers& result) {
  const cluster::Model& model = machine.model();
  const std::vector<admission::GuardEntry>& guardEntries = model.slots[slot].guardEntries;
  if (guardEntries.empty()) return;
  const admission::Verdict verdict = machine.decide(state, slot);
  if (verdict.allowed) return;

  const LiveGraph live(model, state);
  const admission::Explanation explanation =
      admission::explain(live.graph, live.index, model.slots[slot].key, verdict);
  for (const admission::DenialCause& cause : explanation.causes) {
    if (cause.reason != admission::kRootBlocker) addOnce(result.causes, std::string(cause.message));
  }
  const auto add = [&](uint32_t guardEntry, uint32_t criterion, admission::Reason reason) {
    const admission::ServiceRule& rule = model.rules.services[guardEntries[guardEntry].service];
    if (reason == admission::Reason::ServicesLeft)
      addOnce(result.objects, model.services[guardEntries[guardEntry].service]);
    else if (reason == admission::Reason::ProviderPresent)
      addHolders(model, state, rule.provider, result.objects);
    else
      addHolders(model, state, model.rules.criteria[rule.firstCriterion + criterion], result.objects);
    return true;
  };
  admission::forEachBlocker(cluster::StateFacts(model, state), model.rules, guardEntries, add);
}

// What DeletionPolicies say.
void addPolicies(const cluster::Model& model, cluster::StateRef state, Slot slot, const Asker& asker,
                 VerdictBlockers& result) {
  if (model.policies.none()) return;
  const bool isStep = asker.actor == cluster::Actor::Client && asker.by != cluster::kNone;
  const cluster::ClientStep* step = isStep ? &model.steps[asker.by] : nullptr;
  const bool orphans = step != nullptr && model.orphans(*step);
  const cluster::PolicyRequest deletion{
      .slot = slot, .actor = asker.actor, .by = asker.by, .orphans = orphans};
  const std::vector<cluster::PolicyDenial> denials =
      !asker.isUpdate ? cluster::policyDenials(model, state, deletion)
      : isStep        ? cluster::updatePolicyDenials(model, state, asker.by)
                      : cluster::labelWriteDenials(model, state, slot);
  for (const cluster::PolicyDenial& one : denials) {
    addOnce(result.causes, one.denial.message);
    for (const Slot because : one.because) addOnce(result.objects, because);
  }
}

}  // namespace

Asker askerOf(const cluster::Model& model, const cluster::Action& action,
              const cluster::ClusterEvent& event) {
  const bool isStep = event.actor == cluster::Actor::Client && event.by != cluster::kNone;
  const bool isUpdate = isStep ? model.steps[event.by].verb == cluster::ClientStep::Verb::SetForm
                               : action.kind == cluster::Action::Kind::WriteLabels;
  return {event.actor, event.by, isUpdate};
}

VerdictBlockers unmetCriteria(const cluster::Machine& machine, cluster::StateRef state, Slot slot) {
  VerdictBlockers result;
  if (machine.model().guarded) addServices(machine, state, slot, result);
  return result;
}

VerdictBlockers blockersOf(const cluster::Machine& machine, cluster::StateRef state, Slot slot,
                           const Asker& asker) {
  VerdictBlockers result = asker.isUpdate ? VerdictBlockers{} : unmetCriteria(machine, state, slot);
  addPolicies(machine.model(), state, slot, asker, result);
  return result;
}

const VerdictBlockers& DenialCache::blockersOf(const SharedState& state, Slot slot, const Asker& asker) {
  Known& known = known_[slot];
  if (known.state != state || known.asker != asker) {
    std::vector<uint64_t> words = *state;
    known.blockers =
        replay::blockersOf(machine_, cluster::StateRef(words.data(), machine_.layout()), slot, asker);
    known.state = state;
    known.asker = asker;
  }
  return known.blockers;
}

std::string VerdictBlockers::sentence() const {
  std::vector<std::string> lines;
  lines.reserve(causes.size());
  for (const auto& cause : causes) lines.push_back(protection::onOneLine(cause));
  return kube::listed(lines);
}

}  // namespace lastout::replay
