// The definitions of decide.h's templates.
#pragma once

#include "admission/decide.h"

namespace lastout::admission {

namespace detail {

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

}  // namespace detail

template <Facts F, class Visit>
void forEachBlocker(const F& facts, const Rules& rules, std::span<const Stake> stakes, Visit visit) {
  using criticalservice::DeletionIntent;
  if (!facts.servicesKnown()) {
    visit(0, 0, Reason::ServicesUnknown);
    return;
  }
  for (uint32_t i = 0; i < stakes.size(); ++i) {
    const uint32_t service = stakes[i].service;
    if (!facts.exists(service)) continue;
    const DeletionIntent intent = facts.intent(service);
    const uint32_t provider = rules.services[service].provider;
    const bool providerGone = facts.holders(provider) == 0 && believable(facts.knowledge(provider));
    bool more = true;
    switch (stakes[i].role) {
      case Role::Service:
        if (intent == DeletionIntent::Ordered && !providerGone) more = visit(i, 0, Reason::ProviderPresent);
        break;
      case Role::Provider:
        if (intent != DeletionIntent::OrphanResources) more = detail::visitCriteria(facts, rules, i, service, visit);
        break;
      case Role::HoldsProvider:
        if (intent != DeletionIntent::OrphanResources && !providerGone)
          more = detail::visitCriteria(facts, rules, i, service, visit);
        break;
      case Role::LastoutNamespace:
        more = visit(i, 0, Reason::ServicesLeft);
        break;
    }
    if (!more) return;
  }
}

template <Facts F>
Decision decide(const F& facts, const Rules& rules, std::span<const Stake> stakes) {
  Decision decision;
  for (const Stake& stake : stakes) decision.guarded = decision.guarded || facts.exists(stake.service);
  if (decision.guarded) decision.reason = Reason::CriteriaMet;
  forEachBlocker(facts, rules, stakes, [&](uint32_t stake, uint32_t criterion, Reason reason) {
    if (decision.unmet++ == 0) {
      decision.allowed = false;
      decision.reason = reason;
      decision.stake = stake;
      decision.criterion = criterion;
    }
    return true;
  });
  return decision;
}

}  // namespace lastout::admission
