#include "server/controllers/held_provider_plan.h"

#include <set>

#include "admission/guard_index.h"

namespace lastout::server {
namespace {

using control::HeldProviderAction;

// A provider that is there.
struct SeenProvider {
  const kube::ObjectKey& key;
  graph::ObjectId object;
};

// A view, for the plan.
class ViewOfProviders {
 public:
  ViewOfProviders(const admission::ClusterView& view, bool mayHold)
      : view_(view), facts_(view.graph(), view.guards()), mayHold_(mayHold) {}

  bool mayHold() const { return mayHold_; }
  bool isUnsure() const { return !facts_.servicesKnown(); }
  bool terminates(const SeenProvider& one) const { return view_.graph().isTerminating(one.object); }
  bool isHeld(const SeenProvider& one) const { return view_.heldObjects().contains(one.key); }
  bool endsAnyway(const SeenProvider& one) const {
    return admission::deletionEffectOf(view_.graph(), one.object) == admission::DeletionEffect::Ending;
  }
  bool isToBeHeld(const SeenProvider& one) const {
    return admission::providerGuards(facts_, view_.guards().guardEntries(one.key)).isToBeHeld();
  }
  bool mayEnd(const SeenProvider& one) const { return view_.decide(one.key).allowed; }

 private:
  const admission::ClusterView& view_;
  const admission::GraphFacts facts_;
  const bool mayHold_;
};

// What is held, or wanted to be.
std::set<kube::ObjectKey> candidates(const admission::ClusterView& view) {
  std::set<kube::ObjectKey> providers = view.heldObjects();
  for (const criticalservice::CriticalService* service : view.services()) {
    if (service->enforcement == criticalservice::EnforcementMode::Hold) providers.insert(service->provider);
  }
  return providers;
}

}  // namespace

std::vector<HeldProviderChange> heldProviderChanges(const admission::ClusterView& view, bool mayHold) {
  std::vector<HeldProviderChange> changes;
  const ViewOfProviders facts(view, mayHold);
  for (const kube::ObjectKey& provider : candidates(view)) {
    const auto object = view.graph().find(provider);
    if (!object) continue;
    const HeldProviderAction holding = control::planHeldProvider(facts, SeenProvider{provider, *object});
    if (holding == HeldProviderAction::AsItIs) continue;
    const bool isWithdrawn = holding == HeldProviderAction::Ends ||
                             (holding == HeldProviderAction::LetsItGo && !view.decide(provider).guarded);
    changes.push_back({provider, view.graph().uid(*object), holding, isWithdrawn});
  }
  return changes;
}

}  // namespace lastout::server
