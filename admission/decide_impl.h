// The definitions of decide.h's templates.
#pragma once

#include "admission/decide.h"

namespace lastout::admission {

namespace detail {

// The facts about one guard entry, each looked up once.
struct EntryFacts {
  // The entry is a provider's, and lastout's finalizer on it does what a denial would.
  bool held = false;
  // The service is there, and its intent lets it guard in this role.
  bool guards = false;
  // Neither of the two: the provider's type is not known well enough.
  bool providerPresent = false;
  bool providerGone = false;
  // Of a dependency alone: the provider is present, and what it owns may be this object.
  bool providerAwaitsOwned = false;
};

// `held`: isHeld().
template <Facts F>
EntryFacts factsOf(const F& facts, const ServiceRules& rules, const GuardEntry& guardEntry,
                   bool held = false) {
  using criticalservice::DeletionIntent;
  EntryFacts result;
  result.held = held && guardEntry.role == GuardRole::Provider;
  if (!facts.exists(guardEntry.service)) return result;
  switch (guardEntry.role) {
    case GuardRole::Service:
      result.guards = facts.intent(guardEntry.service) == DeletionIntent::Ordered;
      break;
    case GuardRole::Provider:
    case GuardRole::ProviderAncestor:
    case GuardRole::Dependency:
      result.guards = facts.intent(guardEntry.service) != DeletionIntent::OrphanResources;
      break;
    case GuardRole::LastoutNamespace:
      result.guards = true;
      break;
  }
  if (result.guards && guardEntry.role != GuardRole::Provider &&
      guardEntry.role != GuardRole::LastoutNamespace) {
    const uint32_t provider = rules.services[guardEntry.service].provider;
    result.providerPresent = facts.holders(provider) > 0;
    result.providerGone = !result.providerPresent && believable(facts.knowledge(provider));
    result.providerAwaitsOwned =
        guardEntry.role == GuardRole::Dependency && result.providerPresent && facts.awaitsOwned(provider);
  }
  return result;
}

// Visits the unmet criteria of one service; returns false when the visitor wants no more.
template <Facts F, class Visit>
bool visitCriteria(const F& facts, const ServiceRules& rules, uint32_t guardEntry, uint32_t service,
                   Visit& visit) {
  const ServiceRule& rule = rules.services[service];
  for (uint32_t i = 0; i < rule.criterionCount; ++i) {
    const uint32_t condition = rules.criteria[rule.firstCriterion + i];
    if (facts.holders(condition) > 0) {
      if (!visit(guardEntry, i, Reason::CriterionUnmet)) return false;
    } else if (!believable(facts.knowledge(condition))) {
      if (!visit(guardEntry, i, Reason::CriterionUnknown)) return false;
    }
  }
  return true;
}

// Visits what blocks through one guard entry; returns false when the visitor wants no more.
template <Facts F, class Visit>
bool visitGuardEntry(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
                     uint32_t index, const EntryFacts& found, Visit& visit) {
  if (!found.guards || found.held) return true;
  switch (guardEntries[index].role) {
    case GuardRole::Service:
    case GuardRole::Dependency:
      if (found.providerGone) return true;
      if (found.providerAwaitsOwned)
        return visitCriteria(facts, rules, index, guardEntries[index].service, visit);
      return visit(index, 0, found.providerPresent ? Reason::ProviderPresent : Reason::ProviderUnknown);
    case GuardRole::Provider:
      return visitCriteria(facts, rules, index, guardEntries[index].service, visit);
    case GuardRole::ProviderAncestor:
      return found.providerGone || visitCriteria(facts, rules, index, guardEntries[index].service, visit);
    case GuardRole::LastoutNamespace:
      return visit(index, 0, Reason::ServicesLeft);
  }
  return true;
}

// The finalizer does for each CriticalService that guards the provider what a denial would.
template <Facts F>
bool isHeld(const F& facts, std::span<const GuardEntry> guardEntries, DeletionEffect deletionEffect) {
  return deletionEffect == DeletionEffect::Held && providerGuards(facts, guardEntries).isToBeHeld();
}

}  // namespace detail

template <Facts F>
ProviderGuards providerGuards(const F& facts, std::span<const GuardEntry> guardEntries) {
  ProviderGuards guards;
  for (const GuardEntry& guardEntry : guardEntries) {
    if (guardEntry.role != GuardRole::Provider || !facts.exists(guardEntry.service)) continue;
    if (facts.intent(guardEntry.service) == criticalservice::DeletionIntent::OrphanResources) continue;
    guards.any = true;
    guards.allHold =
        guards.allHold && facts.enforcement(guardEntry.service) == criticalservice::EnforcementMode::Hold;
  }
  return guards;
}

template <Facts F, class Visit>
void forEachBlocker(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
                    Visit visit, DeletionEffect deletionEffect) {
  if (!facts.servicesKnown()) {
    visit(0, 0, Reason::ServicesUnknown);
    return;
  }
  const bool held = detail::isHeld(facts, guardEntries, deletionEffect);
  for (uint32_t i = 0; i < guardEntries.size(); ++i) {
    const detail::EntryFacts found = detail::factsOf(facts, rules, guardEntries[i], held);
    if (!detail::visitGuardEntry(facts, rules, guardEntries, i, found, visit)) return;
  }
}

template <Facts F, class Visit>
void forEachToConfirm(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
                      Visit visit, DeletionEffect deletionEffect) {
  const bool held = detail::isHeld(facts, guardEntries, deletionEffect);
  for (uint32_t i = 0; i < guardEntries.size(); ++i) {
    const detail::EntryFacts found = detail::factsOf(facts, rules, guardEntries[i], held);
    if (!found.guards || found.held || guardEntries[i].role == GuardRole::LastoutNamespace) continue;
    const ServiceRule& rule = rules.services[guardEntries[i].service];
    if (guardEntries[i].role == GuardRole::Service ||
        (guardEntries[i].role != GuardRole::Provider && found.providerGone)) {
      visit(i, rule.provider);
      continue;
    }
    for (uint32_t k = 0; k < rule.criterionCount; ++k) visit(i, rules.criteria[rule.firstCriterion + k]);
  }
}

template <Facts F>
Decision decide(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
                DeletionEffect deletionEffect) {
  Decision decision;
  const auto count = [&](uint32_t guardEntry, uint32_t criterion, Reason reason) {
    if (decision.unmet++ == 0) {
      decision.allowed = false;
      decision.reason = reason;
      decision.guardEntry = guardEntry;
      decision.criterion = criterion;
    }
    return true;
  };
  if (!facts.servicesKnown()) {
    count(0, 0, Reason::ServicesUnknown);
    return decision;
  }
  decision.held = detail::isHeld(facts, guardEntries, deletionEffect);
  for (uint32_t i = 0; i < guardEntries.size(); ++i) {
    const detail::EntryFacts found = detail::factsOf(facts, rules, guardEntries[i], decision.held);
    decision.guarded = decision.guarded || found.guards;
    detail::visitGuardEntry(facts, rules, guardEntries, i, found, count);
  }
  if (decision.guarded && decision.allowed)
    decision.reason = decision.held ? Reason::Held : Reason::CriteriaMet;
  return decision;
}

}  // namespace lastout::admission
