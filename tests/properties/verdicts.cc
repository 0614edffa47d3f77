#include "tests/properties/verdicts.h"

#include <algorithm>

#include "cluster/facts.h"
#include "tests/properties/plain_mirror.h"

namespace lastout::testing {

namespace {

using admission::DeletionEffect;
using admission::Reason;
using admission::Verdict;
using cluster::Slot;

struct Answer {
  Verdict verdict;
  std::vector<PlainBlocker> blockers;  // sorted
};

// `name` gives the name of a service by its number.
template <admission::Facts F, class Name>
Answer answer(const F& facts, const admission::ServiceRules& rules,
              std::span<const admission::GuardEntry> guardEntries, Name name, DeletionEffect deletionEffect) {
  Answer result{.verdict = admission::decide(facts, rules, guardEntries, deletionEffect), .blockers = {}};
  const auto add = [&](uint32_t guardEntry, uint32_t criterion, Reason reason) {
    if (reason == Reason::ServicesUnknown) return true;
    const bool isCriterion = reason == Reason::CriterionUnmet || reason == Reason::CriterionUnknown;
    result.blockers.push_back({std::string(name(guardEntries[guardEntry].service)),
                               isCriterion ? static_cast<int>(criterion) : -1, reason});
    return true;
  };
  admission::forEachBlocker(facts, rules, guardEntries, add, deletionEffect);
  std::sort(result.blockers.begin(), result.blockers.end());
  return result;
}

std::string text(bool guarded, const std::vector<PlainBlocker>& blockers) {
  std::string result = guarded ? "guarded" : "not guarded";
  for (const PlainBlocker& blocker : blockers)
    result += ", reason " + std::to_string(static_cast<int>(blocker.reason)) + " of " + blocker.service +
              "[" + std::to_string(blocker.criterion) + "]";
  return result;
}

// What decide() says must be the sum of its blockers, and both what the document says.
std::string difference(const Answer& answer, const PlainVerdict& verdict) {
  const Verdict& found = answer.verdict;
  const bool unsure = found.reason == Reason::ServicesUnknown;
  const bool sum =
      unsure || (found.allowed == answer.blockers.empty() && found.unmet == answer.blockers.size());
  if (sum && unsure != verdict.servicesKnown && found.allowed == verdict.allowed &&
      answer.blockers == verdict.blockers && found.guarded == verdict.guarded && found.held == verdict.held &&
      (found.reason == Reason::Held) == (verdict.held && verdict.allowed))
    return {};
  return text(found.guarded, answer.blockers) + (sum ? "" : " (not what decide says)") +
         "; the document says: " + text(verdict.guarded, verdict.blockers);
}

std::string onGraph(GraphMirror& mirror, const kube::ObjectKey& key, const PlainVerdict& verdict,
                    DeletionEffect deletionEffect = DeletionEffect::Ending) {
  return disagreementOnGraph(mirror.graph(), mirror.index(), key, verdict, deletionEffect);
}

}  // namespace

std::string disagreementOnGraph(const graph::Graph& graph, const admission::GuardIndex& index,
                                const kube::ObjectKey& key, const PlainVerdict& verdict,
                                DeletionEffect deletionEffect) {
  const Answer found = answer(
      admission::GraphFacts(graph, index), index.rules(), index.guardEntries(key),
      [&](uint32_t service) { return index.service(service).meta.name; }, deletionEffect);
  const std::string text = difference(found, verdict);
  return text.empty() ? text : "DELETE of " + kube::toString(key) + " on the graph: " + text;
}

std::string disagreement(const cluster::Machine& machine, const cluster::StateRef& state, GraphMirror& mirror,
                         const PlainCluster& plain, Slot slot) {
  const cluster::Model& model = machine.model();
  const kube::ObjectKey& key = model.slots[slot].key;
  for (const DeletionEffect deletionEffect : {DeletionEffect::Ending, DeletionEffect::Held}) {
    const PlainVerdict verdict = verdictByTheDocument(plain, key, deletionEffect);
    const Answer onState = answer(
        cluster::StateFacts(model, state), model.rules, model.slots[slot].guardEntries,
        [&](uint32_t service) { return std::string_view(model.slots[model.services[service]].key.name); },
        deletionEffect);
    if (const std::string found = difference(onState, verdict); !found.empty())
      return "DELETE of " + model.name(slot) + " on the state: " + found;
    if (deletionEffect == DeletionEffect::Ending && machine.criteriaAreMet(state, slot) != verdict.allowed)
      return "criteriaAreMet of " + model.name(slot) + " says otherwise than the document";
    if (std::string found = onGraph(mirror, key, verdict, deletionEffect); !found.empty()) return found;
  }
  return {};
}

std::string disagreementWhenUnsure(const cluster::Model& model, GraphMirror& mirror,
                                   const PlainCluster& plain, Slot slot, Coverage& coverage) {
  PlainCluster unsure = plain;
  graph::Graph& graph = mirror.graph();
  const kube::ObjectKey& key = model.slots[slot].key;
  std::string found;
  for (const kube::GroupResource& type : typesNamedBy(model.serviceSpecs)) {
    for (const graph::Knowledge knowledge :
         {graph::Knowledge::Unknown, graph::Knowledge::Stale, graph::Knowledge::Absent,
          graph::Knowledge::Forbidden, graph::Knowledge::Unserved}) {
      unsure.knowledge[type] = knowledge;
      graph.setKnowledge(graph.internType(type), knowledge);
      const PlainVerdict verdict = verdictByTheDocument(unsure, key);
      if (!verdict.servicesKnown) coverage.count(Reason::ServicesUnknown);
      for (const PlainBlocker& blocker : verdict.blockers) coverage.count(blocker.reason);
      if (found.empty()) found = onGraph(mirror, key, verdict);
    }
    unsure.knowledge[type] = graph::Knowledge::Synced;
    graph.setKnowledge(graph.internType(type), graph::Knowledge::Synced);
  }
  return found;
}

}  // namespace lastout::testing
