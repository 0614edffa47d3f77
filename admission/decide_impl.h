// The definitions of decide.h's templates.
#pragma once

#include "admission/decide.h"

namespace lastout::admission {

namespace detail {

// What is known of one stake, looked up once.
struct Look {
  bool held = false;    // in a provider whose finalizer does what a denial would
  bool guards = false;  // the service is there, and its intent lets it guard in this role
  bool providerPresent =
      false;  // seen; when neither this nor providerGone, its type is not known well enough
  bool providerGone = false;
  bool providerAwaitsOwned = false;  // present: what it owns may be this; of a dependency alone
};

// `held`: isHeld().
template <Facts F>
Look look(const F& facts, const Rules& rules, const Stake& stake, bool held = false) {
  using criticalservice::DeletionIntent;
  Look result;
  result.held = held && stake.role == Role::Provider;
  if (!facts.exists(stake.service)) return result;
  switch (stake.role) {
    case Role::Service:
      result.guards = facts.intent(stake.service) == DeletionIntent::Ordered;
      break;
    case Role::Provider:
    case Role::HoldsProvider:
    case Role::Dependency:
      result.guards = facts.intent(stake.service) != DeletionIntent::OrphanResources;
      break;
    case Role::LastoutNamespace:
      result.guards = true;
      break;
  }
  if (result.guards && stake.role != Role::Provider && stake.role != Role::LastoutNamespace) {
    const uint32_t provider = rules.services[stake.service].provider;
    result.providerPresent = facts.holders(provider) > 0;
    result.providerGone = !result.providerPresent && believable(facts.knowledge(provider));
    result.providerAwaitsOwned =
        stake.role == Role::Dependency && result.providerPresent && facts.awaitsOwned(provider);
  }
  return result;
}

// Visits the unmet criteria of one service; returns false when the visitor wants no more.
template <Facts F, class Visit>
bool visitCriteria(const F& facts, const Rules& rules, uint32_t stake, uint32_t service, Visit& visit) {
  const ServiceRule& rule = rules.services[service];
  for (uint32_t i = 0; i < rule.criterionCount; ++i) {
    const uint32_t condition = rules.criteria[rule.firstCriterion + i];
    if (facts.holders(condition) > 0) {
      if (!visit(stake, i, Reason::CriterionUnmet)) return false;
    } else if (!believable(facts.knowledge(condition))) {
      if (!visit(stake, i, Reason::CriterionUnknown)) return false;
    }
  }
  return true;
}

// Visits what blocks through one stake; returns false when the visitor wants no more.
template <Facts F, class Visit>
bool visitStake(const F& facts, const Rules& rules, std::span<const Stake> stakes, uint32_t index,
                const Look& found, Visit& visit) {
  if (!found.guards || found.held) return true;
  switch (stakes[index].role) {
    case Role::Service:
    case Role::Dependency:
      if (found.providerGone) return true;
      if (found.providerAwaitsOwned) return visitCriteria(facts, rules, index, stakes[index].service, visit);
      return visit(index, 0, found.providerPresent ? Reason::ProviderPresent : Reason::ProviderUnknown);
    case Role::Provider:
      return visitCriteria(facts, rules, index, stakes[index].service, visit);
    case Role::HoldsProvider:
      return found.providerGone || visitCriteria(facts, rules, index, stakes[index].service, visit);
    case Role::LastoutNamespace:
      return visit(index, 0, Reason::ServicesLeft);
  }
  return true;
}

// The finalizer does for each CriticalService that guards the provider what a denial would.
template <Facts F>
bool isHeld(const F& facts, std::span<const Stake> stakes, Manner manner) {
  return manner == Manner::Held && providerGuards(facts, stakes).isToBeHeld();
}

}  // namespace detail

template <Facts F>
ProviderGuards providerGuards(const F& facts, std::span<const Stake> stakes) {
  ProviderGuards guards;
  for (const Stake& stake : stakes) {
    if (stake.role != Role::Provider || !facts.exists(stake.service)) continue;
    if (facts.intent(stake.service) == criticalservice::DeletionIntent::OrphanResources) continue;
    guards.any = true;
    guards.allHold =
        guards.allHold && facts.enforcement(stake.service) == criticalservice::EnforcementMode::Hold;
  }
  return guards;
}

template <Facts F, class Visit>
void forEachBlocker(const F& facts, const Rules& rules, std::span<const Stake> stakes, Visit visit,
                    Manner manner) {
  if (!facts.servicesKnown()) {
    visit(0, 0, Reason::ServicesUnknown);
    return;
  }
  const bool held = detail::isHeld(facts, stakes, manner);
  for (uint32_t i = 0; i < stakes.size(); ++i) {
    const detail::Look found = detail::look(facts, rules, stakes[i], held);
    if (!detail::visitStake(facts, rules, stakes, i, found, visit)) return;
  }
}

template <Facts F, class Visit>
void forEachToConfirm(const F& facts, const Rules& rules, std::span<const Stake> stakes, Visit visit,
                      Manner manner) {
  const bool held = detail::isHeld(facts, stakes, manner);
  for (uint32_t i = 0; i < stakes.size(); ++i) {
    const detail::Look found = detail::look(facts, rules, stakes[i], held);
    if (!found.guards || found.held || stakes[i].role == Role::LastoutNamespace) continue;
    const ServiceRule& rule = rules.services[stakes[i].service];
    if (stakes[i].role == Role::Service || (stakes[i].role != Role::Provider && found.providerGone)) {
      visit(i, rule.provider);
      continue;
    }
    for (uint32_t k = 0; k < rule.criterionCount; ++k) visit(i, rules.criteria[rule.firstCriterion + k]);
  }
}

template <Facts F>
Decision decide(const F& facts, const Rules& rules, std::span<const Stake> stakes, Manner manner) {
  Decision decision;
  const auto count = [&](uint32_t stake, uint32_t criterion, Reason reason) {
    if (decision.unmet++ == 0) {
      decision.allowed = false;
      decision.reason = reason;
      decision.stake = stake;
      decision.criterion = criterion;
    }
    return true;
  };
  if (!facts.servicesKnown()) {
    count(0, 0, Reason::ServicesUnknown);
    return decision;
  }
  decision.held = detail::isHeld(facts, stakes, manner);
  for (uint32_t i = 0; i < stakes.size(); ++i) {
    const detail::Look found = detail::look(facts, rules, stakes[i], decision.held);
    decision.guarded = decision.guarded || found.guards;
    detail::visitStake(facts, rules, stakes, i, found, count);
  }
  if (decision.guarded && decision.allowed)
    decision.reason = decision.held ? Reason::Held : Reason::CriteriaMet;
  return decision;
}

}  // namespace lastout::admission
