// The verdict for a DELETE under each deletionIntent, as a table: what docs/verdicts.md says, where code can
// read it. decide() does not use it; a test holds the document, this table and decide() together.
#pragma once

#include <cstdint>
#include <optional>

#include "criticalservice/critical_service.h"

namespace lastout::criticalservice {

enum class Subject : uint8_t {
  CriticalService,  // and the CRD of CriticalServices: allowed when each of them would be
  Provider,
  HoldsProvider,  // the namespace of the provider, and the CRD of a provider that is a custom resource
};

enum class ProviderState : uint8_t {
  Present,
  Replaced,  // present, with another uid than the recorded one
  Unknown,   // not seen, and its type is not known well enough to believe that
  Absent,
};

enum class CriteriaState : uint8_t {
  Met,
  Unmet,
  Unknown,  // none is unmet, and of one or more too little is known
};

// One line of the table; what is left out may be anything.
struct VerdictRow {
  Subject subject = Subject::Provider;
  DeletionIntent intent = DeletionIntent::Ordered;
  std::optional<ProviderState> provider;
  std::optional<CriteriaState> criteria;
  bool allowed = false;

  constexpr bool covers(Subject aSubject, DeletionIntent anIntent, ProviderState aProvider,
                        CriteriaState aCriteria) const {
    return subject == aSubject && intent == anIntent && (!provider || *provider == aProvider) &&
           (!criteria || *criteria == aCriteria);
  }
};

// Every combination is covered by exactly one row.
inline constexpr VerdictRow kVerdicts[] = {
    {Subject::CriticalService, DeletionIntent::Ordered, ProviderState::Present, {}, false},
    {Subject::CriticalService, DeletionIntent::Ordered, ProviderState::Replaced, {}, false},
    {Subject::CriticalService, DeletionIntent::Ordered, ProviderState::Unknown, {}, false},
    {Subject::CriticalService, DeletionIntent::Ordered, ProviderState::Absent, {}, true},
    {Subject::CriticalService, DeletionIntent::BestEffortDeletion, {}, {}, true},
    {Subject::CriticalService, DeletionIntent::OrphanResources, {}, {}, true},

    {Subject::Provider, DeletionIntent::Ordered, {}, CriteriaState::Met, true},
    {Subject::Provider, DeletionIntent::Ordered, {}, CriteriaState::Unmet, false},
    {Subject::Provider, DeletionIntent::Ordered, {}, CriteriaState::Unknown, false},
    {Subject::Provider, DeletionIntent::BestEffortDeletion, {}, CriteriaState::Met, true},
    {Subject::Provider, DeletionIntent::BestEffortDeletion, {}, CriteriaState::Unmet, false},
    {Subject::Provider, DeletionIntent::BestEffortDeletion, {}, CriteriaState::Unknown, false},
    {Subject::Provider, DeletionIntent::OrphanResources, {}, {}, true},

    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Absent, {}, true},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Present, CriteriaState::Met, true},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Present, CriteriaState::Unmet, false},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Present, CriteriaState::Unknown, false},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Replaced, CriteriaState::Met, true},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Replaced, CriteriaState::Unmet, false},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Replaced, CriteriaState::Unknown, false},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Unknown, CriteriaState::Met, true},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Unknown, CriteriaState::Unmet, false},
    {Subject::HoldsProvider, DeletionIntent::Ordered, ProviderState::Unknown, CriteriaState::Unknown, false},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Absent, {}, true},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Present, CriteriaState::Met,
     true},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Present, CriteriaState::Unmet,
     false},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Present,
     CriteriaState::Unknown, false},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Replaced, CriteriaState::Met,
     true},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Replaced,
     CriteriaState::Unmet, false},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Replaced,
     CriteriaState::Unknown, false},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Unknown, CriteriaState::Met,
     true},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Unknown, CriteriaState::Unmet,
     false},
    {Subject::HoldsProvider, DeletionIntent::BestEffortDeletion, ProviderState::Unknown,
     CriteriaState::Unknown, false},
    {Subject::HoldsProvider, DeletionIntent::OrphanResources, {}, {}, true},
};

}  // namespace lastout::criticalservice
