#include "server/controllers/held_providers.h"

#include <set>

#include "admission/guard_index.h"

namespace lastout::server {
namespace {

using admission::Holding;

admission::HoldingFacts factsOf(const admission::ClusterView& view, const kube::ObjectKey& provider,
                                graph::ObjectId object) {
  const admission::GraphFacts facts(view.graph(), view.guards());
  const admission::ProviderGuards guards = admission::providerGuards(facts, view.guards().stakes(provider));
  return {.terminates = view.graph().isTerminating(object),
          .isHeld = view.heldObjects().contains(provider),
          .endsAnyway = admission::mannerOf(view.graph(), object) == admission::Manner::Ending,
          .isToBeHeld = guards.isToBeHeld(),
          .mayEnd = view.decide(provider).allowed,
          .isUnsure = !facts.servicesKnown()};
}

// What is held, or wanted to be.
std::set<kube::ObjectKey> candidates(const admission::ClusterView& view) {
  std::set<kube::ObjectKey> providers = view.heldObjects();
  for (const criticalservice::CriticalService* service : view.services()) {
    if (service->enforcement == criticalservice::EnforcementMode::Hold) providers.insert(service->provider);
  }
  return providers;
}

}  // namespace

std::vector<HoldingChange> holdingsToChange(const admission::ClusterView& view) {
  std::vector<HoldingChange> changes;
  for (const kube::ObjectKey& provider : candidates(view)) {
    const auto object = view.graph().find(provider);
    if (!object) continue;
    const admission::HoldingFacts facts = factsOf(view, provider, *object);
    const Holding holding = admission::holdingOf(facts);
    if (holding == Holding::AsItIs) continue;
    const bool isUnwanted =
        holding == Holding::Ends || (holding == Holding::LetsItGo && !view.decide(provider).guarded);
    changes.push_back({provider, view.graph().uid(*object), holding, isUnwanted});
  }
  return changes;
}

std::vector<HoldingChange> holdingsToLetGo(const admission::ClusterView& view) {
  std::vector<HoldingChange> changes;
  for (const kube::ObjectKey& provider : view.heldObjects()) {
    if (const auto object = view.graph().find(provider))
      changes.push_back({provider, view.graph().uid(*object), Holding::Ends, true});
  }
  return changes;
}

}  // namespace lastout::server
