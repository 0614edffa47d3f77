#include "prove/lost_protections.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cluster/machine.h"
#include "cluster/policies.h"
#include "kube/messages.h"

namespace lastout::prove {

namespace {

using cluster::Model;
using cluster::Slot;

bool isThere(const Model& model, uint32_t policy) {
  const Slot slot = model.policies.all[policy].slot;
  return slot == cluster::kNone || mayBeThere(model, slot);
}

// Calls visit(policy) for each policy that may deny the object's deletion, or hold it.
template <class Visit>
void eachProtector(const Model& model, Slot slot, Visit visit) {
  if (model.policies.none()) return;
  const auto visitAll = [&](const auto& protections) {
    for (const auto& one : protections) {
      if (isThere(model, one.policy)) visit(model.policies.all[one.policy].policy);
    }
  };
  visitAll(model.policies.ofDelete[slot]);
  visitAll(model.policies.ofHold[slot]);
}

// Their names; `block`: of those that block that, too.
std::vector<std::string> protectorsOf(const Model& model, Slot slot,
                                      std::optional<protection::Block> block = std::nullopt) {
  std::set<std::string> names;
  eachProtector(model, slot, [&](const protection::DeletionPolicy& policy) {
    if (!block || policy.blocksAny(*block)) names.insert(policy.meta.name);
  });
  return {names.begin(), names.end()};
}

// How a cluster is at the beginning.
class Start {
 public:
  explicit Start(const Model& model) : machine_(model), words_(machine_.initial()) {}
  cluster::StateRef ref() { return {words_.data(), machine_.layout()}; }

 private:
  cluster::Machine machine_;
  std::vector<uint64_t> words_;
};

class ProtectionComparer {
 public:
  ProtectionComparer(const Model& before, const Model& now)
      : before_(before), now_(now), atStartBefore_(before), atStartNow_(now) {}

  std::vector<LostGuard> compare() {
    if (before_.policies.none()) return {};
    std::map<std::vector<std::string>, std::vector<Slot>> unprotected;  // by the policies that did it
    std::set<Slot> found;
    for (Slot slot = 0; slot < before_.slots.size(); ++slot) {
      const std::optional<Slot> now = slotOf(now_, before_.slots[slot].key);
      std::vector<std::string> policies = protectorsOf(before_, slot);
      if (!now || !mayBeThere(before_, slot) || policies.empty()) continue;
      if (!protectorsOf(now_, *now).empty()) policies = formerDenials(slot, *now);
      if (policies.empty()) {
        compareUnprotection(slot, *now);
        continue;
      }
      unprotected[std::move(policies)].push_back(slot);
      found.insert(slot);
    }
    // Namespaces and CRDs for what is in them, unless that was found already.
    for (Slot slot = 0; slot < before_.slots.size(); ++slot) {
      const cluster::SlotInfo& info = before_.slots[slot];
      const auto isFound = [&](Slot content) { return found.contains(content); };
      const std::optional<Slot> now = slotOf(now_, info.key);
      if (info.content.empty() || !now || isFound(slot) || std::ranges::any_of(info.content, isFound))
        continue;
      std::vector<std::string> policies = formerDenials(slot, *now);
      if (!policies.empty()) unprotected[std::move(policies)].push_back(slot);
    }
    for (const auto& [policies, slots] : unprotected) loseProtection(policies, slots);
    return std::move(lost_);
  }

 private:
  void lose(std::string object, std::string text) { lost_.push_back({std::move(object), std::move(text)}); }

  // The names of the policies that denied somebody's deletion of the object at the beginning, for a reason
  // that is there still, where now no policy does.
  std::vector<std::string> formerDenials(Slot before, Slot now) {
    using cluster::Actor;
    for (const Actor actor :
         {Actor::Client, Actor::Agent, Actor::Collector, Actor::Lifecycle, Actor::CrdCleanup,
          Actor::Workloads, Actor::Finalizers, Actor::TimeToLive, Actor::ReplicaSets}) {
      for (const bool orphans : {false, true}) {
        cluster::PolicyRequest request{.slot = now, .actor = actor, .by = cluster::kNone, .orphans = orphans};
        if (cluster::isDeniedByPolicy(now_, atStartNow_.ref(), request)) continue;
        request.slot = before;
        if (!cluster::isDeniedByPolicy(before_, atStartBefore_.ref(), request)) continue;
        std::vector<std::string> names = standingDenials(request);
        if (!names.empty()) return names;
      }
    }
    return formerDenialsOfSteps(before, now);
  }

  // The same of the clients' own steps, which a policy may exempt by their users.
  std::vector<std::string> formerDenialsOfSteps(Slot before, Slot now) {
    using cluster::Actor;
    using Verb = cluster::ClientStep::Verb;
    for (const uint32_t step : before_.slots[before].steps) {
      const cluster::ClientStep& asked = before_.steps[step];
      const cluster::PolicyRequest request{
          .slot = before, .actor = Actor::Client, .by = step, .orphans = before_.orphans(asked)};
      if (asked.verb != Verb::Delete || !cluster::isDeniedByPolicy(before_, atStartBefore_.ref(), request))
        continue;
      const bool isAllowed = std::ranges::any_of(now_.slots[now].steps, [&](uint32_t other) {
        const cluster::ClientStep& again = now_.steps[other];
        const cluster::PolicyRequest repeated{
            .slot = now, .actor = Actor::Client, .by = other, .orphans = now_.orphans(again)};
        return again.verb == Verb::Delete && again.as == asked.as &&
               !cluster::isDeniedByPolicy(now_, atStartNow_.ref(), repeated);
      });
      std::vector<std::string> names = isAllowed ? standingDenials(request) : std::vector<std::string>();
      if (!names.empty()) return names;
    }
    return {};
  }

  // Returns the policies that denied a request in the former model for something that is still there.
  std::vector<std::string> standingDenials(const cluster::PolicyRequest& request) {
    std::vector<std::string> names;
    for (const cluster::PolicyDenial& denial :
         cluster::policyDenials(before_, atStartBefore_.ref(), request)) {
      const bool stands = std::ranges::all_of(
          denial.because, [&](Slot because) { return slotOf(now_, before_.slots[because].key).has_value(); });
      if (stands) names.push_back(denial.denial.policy);
    }
    return names;
  }

  // Whether somebody may take away what protects an object that is protected still.
  void compareUnprotection(Slot slot, Slot now) {
    const std::vector<std::string> policies = protectorsOf(before_, slot, protection::Block::Unprotect);
    if (policies.empty() || !protectorsOf(now_, now, protection::Block::Unprotect).empty()) return;
    lose(before_.name(slot), "what protects " + before_.name(slot) +
                                 " may be taken away from it, which DeletionPolicy " +
                                 kube::listed(policies, kMostGuarded) + " blocked before");
  }

  void loseProtection(const std::vector<std::string>& policies, const std::vector<Slot>& slots) {
    std::vector<std::string> objects;
    objects.reserve(slots.size());
    for (const Slot slot : slots) objects.push_back(before_.name(slot));
    lose(objects.front(), kube::listed(objects, kMostGuarded) + (objects.size() == 1 ? " is" : " are") +
                              " no longer protected as by DeletionPolicy " +
                              kube::listed(policies, kMostGuarded) + " before");
  }

  const Model& before_;
  const Model& now_;
  Start atStartBefore_;
  Start atStartNow_;
  std::vector<LostGuard> lost_;
};

}  // namespace

bool mayBeThere(const Model& model, Slot slot) {
  const cluster::SlotInfo& info = model.slots[slot];
  return info.presentAtStart || std::ranges::any_of(info.steps, [&](uint32_t step) {
           return model.steps[step].verb == cluster::ClientStep::Verb::Create;
         });
}

std::optional<Slot> slotOf(const Model& model, const kube::ObjectKey& key) {
  const std::optional<Slot> slot = model.find(key);
  return slot && mayBeThere(model, *slot) ? slot : std::nullopt;
}

bool protectsAny(const Model& model) {
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    if (mayBeThere(model, slot) && !protectorsOf(model, slot).empty()) return true;
  }
  return false;
}

std::vector<LostGuard> lostProtections(const Model& before, const Model& now) {
  return ProtectionComparer(before, now).compare();
}

}  // namespace lastout::prove
