#include "scenarios/blockers.h"

#include <algorithm>

#include "admission/explain.h"
#include "cluster/facts.h"
#include "scenarios/live_graph.h"

namespace lastout::scenarios {

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

}  // namespace

Blockers blockersOf(const cluster::Machine& machine, cluster::StateRef state, Slot slot) {
  const cluster::Model& model = machine.model();
  const std::vector<admission::Stake>& stakes = model.slots[slot].stakes;
  Blockers result;
  if (!model.guarded || stakes.empty()) return result;
  const admission::Decision decision = machine.decide(state, slot);
  if (decision.allowed) return result;

  const LiveGraph live(model, state);
  const admission::Explanation explanation =
      admission::explain(live.graph, live.index, model.slots[slot].key, decision);
  for (const admission::Cause& cause : explanation.causes) {
    if (cause.reason != admission::kRootBlocker) addOnce(result.causes, std::string(cause.message));
  }
  const auto add = [&](uint32_t stake, uint32_t criterion, admission::Reason reason) {
    const admission::ServiceRule& rule = model.rules.services[stakes[stake].service];
    if (reason == admission::Reason::ServicesLeft)
      addOnce(result.objects, model.services[stakes[stake].service]);
    else if (reason == admission::Reason::ProviderPresent)
      addHolders(model, state, rule.provider, result.objects);
    else
      addHolders(model, state, model.rules.criteria[rule.firstCriterion + criterion], result.objects);
    return true;
  };
  admission::forEachBlocker(cluster::StateFacts(model, state), model.rules, stakes, add);
  return result;
}

const Blockers& Denials::blockersOf(const SharedState& state, Slot slot) {
  Known& known = known_[slot];
  if (known.state != state) {
    std::vector<uint64_t> words = *state;
    known.blockers =
        scenarios::blockersOf(machine_, cluster::StateRef(words.data(), machine_.layout()), slot);
    known.state = state;
  }
  return known.blockers;
}

std::string Blockers::sentence() const {
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) {
    if (i > 0) text += i + 1 == causes.size() ? " and " : ", ";
    text += causes[i];
  }
  return text;
}

}  // namespace lastout::scenarios
