// The definitions of decide.h's templates.
#pragma once

#include "admission/decide.h"

namespace lastout::admission {

namespace detail {

// The facts about one guard entry, each looked up once.
struct EntryFacts {
  // The entry is a provider's, and lastout's finalizer on it does what a denial would.
  bool held = false;
  // The service is there, and its intent lets it guard the object so.
  bool guards = false;
  // Neither of the two: the provider's type is not known well enough.
  bool providerPresent = false;
  bool providerGone = false;
  // For a dependency only: the provider is present, and this object may be one that it owns.
  bool providerAwaitsOwned = false;
};

// `held`: isHeld().
template <Facts F>
EntryFacts factsOf(const F& facts, const ServiceRules& rules, const GuardEntry& guardEntry,
                   bool held = false) {
  using criticalservice::DeletionIntent;
  EntryFacts result;
  result.held = held && guardEntry.guardedAs == GuardedAs::Provider;
  if (!facts.exists(guardEntry.service)) return result;
  switch (guardEntry.guardedAs) {
    case GuardedAs::Service:
      result.guards = facts.intent(guardEntry.service) == DeletionIntent::Ordered;
      break;
    case GuardedAs::Provider:
    case GuardedAs::ProviderAncestor:
    case GuardedAs::Dependency:
      result.guards = facts.intent(guardEntry.service) != DeletionIntent::OrphanResources;
      break;
    case GuardedAs::LastoutNamespace:
      result.guards = true;
      break;
  }
  if (result.guards && guardEntry.guardedAs != GuardedAs::Provider &&
      guardEntry.guardedAs != GuardedAs::LastoutNamespace) {
    const uint32_t provider = rules.services[guardEntry.service].provider;
    result.providerPresent = facts.holders(provider) > 0;
    result.providerGone = !result.providerPresent && believable(facts.knowledge(provider));
    result.providerAwaitsOwned = guardEntry.guardedAs == GuardedAs::Dependency && result.providerPresent &&
                                 facts.awaitsOwned(provider);
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
  switch (guardEntries[index].guardedAs) {
    case GuardedAs::Service:
    case GuardedAs::Dependency:
      if (found.providerGone) return true;
      if (found.providerAwaitsOwned)
        return visitCriteria(facts, rules, index, guardEntries[index].service, visit);
      return visit(index, 0, found.providerPresent ? Reason::ProviderPresent : Reason::ProviderUnknown);
    case GuardedAs::Provider:
      return visitCriteria(facts, rules, index, guardEntries[index].service, visit);
    case GuardedAs::ProviderAncestor:
      return found.providerGone || visitCriteria(facts, rules, index, guardEntries[index].service, visit);
    case GuardedAs::LastoutNamespace:
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
    if (guardEntry.guardedAs != GuardedAs::Provider || !facts.exists(guardEntry.service)) continue;
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
    if (!found.guards || found.held || guardEntries[i].guardedAs == GuardedAs::LastoutNamespace) continue;
    const ServiceRule& rule = rules.services[guardEntries[i].service];
    if (guardEntries[i].guardedAs == GuardedAs::Service ||
        (guardEntries[i].guardedAs != GuardedAs::Provider && found.providerGone)) {
      visit(i, rule.provider);
      continue;
    }
    for (uint32_t k = 0; k < rule.criterionCount; ++k) visit(i, rules.criteria[rule.firstCriterion + k]);
  }
}

template <Facts F>
Verdict decide(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
               DeletionEffect deletionEffect) {
  Verdict verdict;
  const auto count = [&](uint32_t guardEntry, uint32_t criterion, Reason reason) {
    if (verdict.unmet++ == 0) {
      verdict.allowed = false;
      verdict.reason = reason;
      verdict.guardEntry = guardEntry;
      verdict.criterion = criterion;
    }
    return true;
  };
  if (!facts.servicesKnown()) {
    count(0, 0, Reason::ServicesUnknown);
    return verdict;
  }
  verdict.held = detail::isHeld(facts, guardEntries, deletionEffect);
  for (uint32_t i = 0; i < guardEntries.size(); ++i) {
    const detail::EntryFacts found = detail::factsOf(facts, rules, guardEntries[i], verdict.held);
    verdict.guarded = verdict.guarded || found.guards;
    detail::visitGuardEntry(facts, rules, guardEntries, i, found, count);
  }
  if (verdict.guarded && verdict.allowed) verdict.reason = verdict.held ? Reason::Held : Reason::CriteriaMet;
  return verdict;
}

}  // namespace lastout::admission
