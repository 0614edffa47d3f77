#include "prove/lost_guards.h"

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
using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::EnforcementMode;

constexpr size_t kMostGuarded = 5;  // names in a sentence

// True if the object is there from the beginning, or a step may create it.
bool mayBeThere(const Model& model, Slot slot) {
  const cluster::SlotInfo& info = model.slots[slot];
  return info.presentAtStart || std::ranges::any_of(info.steps, [&](uint32_t step) {
           return model.steps[step].verb == cluster::ClientStep::Verb::Create;
         });
}

// nullopt: it is never there.
std::optional<Slot> slotOf(const Model& model, const kube::ObjectKey& key) {
  const std::optional<Slot> slot = model.find(key);
  return slot && mayBeThere(model, *slot) ? slot : std::nullopt;
}

bool guards(const CriticalService& service) { return service.intent != DeletionIntent::OrphanResources; }

// What one criterion asks, by all services of its provider.
struct GuardingCriterion {
  Criterion criterion;
  bool isAtStart = false;  // false: only once a step has created its CriticalService
  bool isLenient = true;   // it is met where its type is not installed
  // The strongest of those that ask for it, and whose that is.
  DeletionIntent intent = DeletionIntent::OrphanResources;
  std::string service;
};

struct GuardedProvider {
  std::vector<std::string> services;
  std::map<std::string, GuardingCriterion> criteria;  // by their words
  std::vector<criticalservice::DependencySpec> dependencies;
  EnforcementMode enforcement = EnforcementMode::Hold;  // one that says Deny is enough
  bool guardsScaling = false;
};

using GuardedProviders = std::map<kube::ObjectKey, GuardedProvider>;

// The providers that are there, with what guards them.
GuardedProviders providersOf(const Model& model) {
  GuardedProviders providers;
  for (size_t i = 0; i < model.serviceSpecs.size(); ++i) {
    const CriticalService& service = model.serviceSpecs[i];
    if (!guards(service) || service.criteria.empty() || !slotOf(model, service.provider)) continue;
    GuardedProvider& provider = providers[service.provider];
    provider.services.push_back(criticalservice::nameInWords(service.meta.name));
    provider.guardsScaling = provider.guardsScaling || service.guardsScaling;
    provider.dependencies.push_back(service.dependencies);
    if (service.enforcement == EnforcementMode::Deny) provider.enforcement = EnforcementMode::Deny;
    const bool isAtStart = model.slots[model.services[i]].presentAtStart;
    for (const Criterion& criterion : criticalservice::writtenCriteria(service)) {
      GuardingCriterion& known = provider.criteria[criticalservice::toString(criterion)];
      known.criterion = criterion;
      known.isAtStart = known.isAtStart || isAtStart;
      known.isLenient = known.isLenient && isMetIfNotInstalled(criterion);
      if (!isWeaker(service.intent, known.intent)) continue;
      known.intent = service.intent;
      known.service = provider.services.back();
    }
  }
  return providers;
}

// True if what the criterion waits for is there, or could be.
bool isAbout(const Model& model, const Criterion& criterion) {
  if (const auto* resource = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion))
    return slotOf(model, resource->object).has_value();
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  const std::string crd = kube::toString(type);
  return std::ranges::any_of(model.slots, [&](const cluster::SlotInfo& slot) {
    return slot.key.type == type || (slot.role == cluster::ModelRole::Crd && slot.key.name == crd);
  });
}

class GuardComparer {
 public:
  GuardComparer(const Model& before, const Model& now)
      : before_(before), now_(now), atStartBefore_(before), atStartNow_(now) {}

  GuardComparison compare() {
    if (!before_.guarded) return std::move(result_);
    former_ = providersOf(before_);
    if (!now_.guarded) {
      if (!former_.empty() || protectsAny(before_))
        lose("", "lastout is not there any more (`guard: false`), so nothing is guarded");
      return std::move(result_);
    }
    current_ = providersOf(now_);
    for (const auto& [key, provider] : former_) compareProvider(key, provider);
    compareDeferral();
    compareOthers();
    comparePolicies();
    return std::move(result_);
  }

 private:
  void lose(std::string object, std::string text) {
    result_.lost.push_back({std::move(object), std::move(text)});
  }

  void compareProvider(const kube::ObjectKey& key, const GuardedProvider& provider) {
    const std::string name = kube::toString(key);
    if (!slotOf(now_, key)) return comparePlace(key, provider);
    const auto current = current_.find(key);
    if (current == current_.end()) {
      std::vector<std::string> criteria;
      for (const auto& [words, criterion] : provider.criteria) criteria.push_back(words);
      return lose(name, name +
                            " may be deleted at any time: no CriticalService guards it any more. Before, " +
                            kube::listed(provider.services, kMostGuarded) + " kept it while there was " +
                            kube::listed(criteria, kMostGuarded));
    }
    for (const auto& [words, criterion] : provider.criteria)
      compareCriterion(name, words, criterion, current->second);
    compareIntents(name, provider, current->second);
    if (isWeaker(provider.enforcement, current->second.enforcement))
      lose(name, current->second.enforcement == EnforcementMode::Hold
                     ? name +
                           " may be deleted before its criteria hold, and then waits by its finalizer: that "
                           "cannot be taken back, and was denied before (`enforcement: Hold`)"
                     : "no finalizer keeps " + name +
                           " any more where API servers do not ask lastout (`enforcement: Deny`)");
    if (provider.guardsScaling && !current->second.guardsScaling)
      lose(name, name + " may be scaled to zero at any time: that is guarded no longer");
  }

  // Compares which of the CriticalServices may go before their provider, after which nothing guards it.
  void compareIntents(const std::string& provider, const GuardedProvider& former,
                      const GuardedProvider& current) {
    std::map<std::string, std::vector<std::string>> criteria;  // by the CriticalService that may go
    for (const auto& [words, criterion] : former.criteria) {
      const auto found = current.criteria.find(words);
      if (found != current.criteria.end() && isWeaker(criterion.intent, found->second.intent))
        criteria[found->second.service].push_back(words);
    }
    for (const auto& [service, words] : criteria)
      lose(service, service + " may be deleted before " + provider + " (`deletionIntent: " +
                        std::string(toString(current.criteria.at(words.front()).intent)) +
                        "`), and no longer waits for " + kube::listed(words, kMostGuarded) + " then");
  }

  // Compares whether lastout deletes later what it denied; of use where it denies something in both.
  void compareDeferral() {
    if (!before_.runsDeferredDeletions || now_.runsDeferredDeletions) return;
    if ((former_.empty() && !protectsAny(before_)) || (current_.empty() && !protectsAny(now_))) return;
    lose("",
         "lastout no longer deletes later, by itself, what it denied to controllers, nor keeps works until "
         "then "
         "(`carryOut: false`)");
  }

  // The provider is gone. A service that meant it, and stays, has to mean something else that is there.
  void comparePlace(const kube::ObjectKey& key, const GuardedProvider& provider) {
    const std::string name = kube::toString(key);
    for (const CriticalService& service : now_.serviceSpecs) {
      const std::string words = criticalservice::nameInWords(service.meta.name);
      if (std::ranges::find(provider.services, words) == provider.services.end()) continue;
      if (!guards(service) || current_.contains(service.provider)) continue;
      return lose(kube::toString(service.provider), words + " guards nothing any more: its provider " +
                                                        kube::toString(service.provider) + " is not there");
    }
    result_.notes.push_back(name + " is not there any more, and was guarded by " +
                            kube::listed(provider.services, kMostGuarded));
  }

  void compareCriterion(const std::string& provider, const std::string& words,
                        const GuardingCriterion& criterion, const GuardedProvider& current) {
    const auto found = current.criteria.find(words);
    if (found == current.criteria.end()) {
      if (!isAbout(now_, criterion.criterion))
        result_.notes.push_back(provider + " no longer waits for " + words + ", which is not there either");
      else
        lose(provider, provider + " may be deleted while there is " + words + ": no criterion of " +
                           kube::listed(current.services, kMostGuarded) + " names that any more");
      return;
    }
    if (criterion.isAtStart && !found->second.isAtStart)
      lose(provider, provider + " may be deleted while there is " + words +
                         ", until a step creates the CriticalService that names it");
    if (!criterion.isLenient && found->second.isLenient)
      lose(provider, provider + " no longer waits for " + words +
                         " where that type is not installed (`ifNotInstalled: Met`)");
  }

  // True if lastout decides the DELETE for the sake of a provider that is guarded in both models.
  bool isGuardedFor(const Model& model, Slot slot, const kube::ObjectKey& provider) const {
    return std::ranges::any_of(model.slots[slot].guardEntries, [&](const admission::GuardEntry& entry) {
      return entry.service < model.serviceSpecs.size() && guards(model.serviceSpecs[entry.service]) &&
             model.serviceSpecs[entry.service].provider == provider;
    });
  }

  // Compares the objects that are guarded because a provider needs them.
  void compareOthers() {
    for (const auto& [key, provider] : former_) {
      const auto current = current_.find(key);
      if (current == current_.end()) continue;
      std::vector<std::string> objects;
      for (Slot slot = 0; slot < before_.slots.size(); ++slot) {
        const kube::ObjectKey& object = before_.slots[slot].key;
        if (object.type == criticalservice::criticalServiceType() || !isGuardedFor(before_, slot, key))
          continue;
        const std::optional<Slot> now = slotOf(now_, object);
        if (now && !isGuardedFor(now_, *now, key)) objects.push_back(kube::toString(object));
      }
      if (objects.empty()) continue;
      const bool isWanted = provider.dependencies == current->second.dependencies;
      const std::string words = kube::listed(objects, kMostGuarded);
      const std::string name = kube::toString(key);
      if (isWanted)
        result_.notes.push_back(name + " no longer needs " + words + ", so that is guarded no longer");
      else
        lose(objects.front(), words + " may be deleted at any time: `guard.dependencies` of " +
                                  kube::listed(current->second.services, kMostGuarded) + " leaves out that " +
                                  name + " needs it");
    }
  }

  // --- DeletionPolicies

  static bool isThere(const Model& model, uint32_t policy) {
    const Slot slot = model.policies.all[policy].slot;
    return slot == cluster::kNone || mayBeThere(model, slot);
  }

  // Calls visit(policy) for each policy that may deny the object's deletion, or hold it.
  template <class Visit>
  static void eachProtector(const Model& model, Slot slot, Visit visit) {
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
  static std::vector<std::string> protectorsOf(const Model& model, Slot slot,
                                               std::optional<protection::Block> block = std::nullopt) {
    std::set<std::string> names;
    eachProtector(model, slot, [&](const protection::DeletionPolicy& policy) {
      if (!block || policy.blocksAny(*block)) names.insert(policy.meta.name);
    });
    return {names.begin(), names.end()};
  }

  static bool protectsAny(const Model& model) {
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if (mayBeThere(model, slot) && !protectorsOf(model, slot).empty()) return true;
    }
    return false;
  }

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

  void comparePolicies() {
    if (before_.policies.none()) return;
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

  // How a cluster is at the beginning.
  class Start {
   public:
    explicit Start(const Model& model) : machine_(model), words_(machine_.initial()) {}
    cluster::StateRef ref() { return {words_.data(), machine_.layout()}; }

   private:
    cluster::Machine machine_;
    std::vector<uint64_t> words_;
  };

  const Model& before_;
  const Model& now_;
  Start atStartBefore_;
  Start atStartNow_;
  GuardedProviders former_;
  GuardedProviders current_;
  GuardComparison result_;
};

}  // namespace

GuardComparison compareGuards(const Model& before, const Model& now) {
  return GuardComparer(before, now).compare();
}

}  // namespace lastout::prove
