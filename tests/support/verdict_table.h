// The verdict for a DELETE under each deletionIntent, as a table: what docs/verdicts.md says, where code can
// read it. decide() does not use it; a test holds the document, this table and decide() together.
#pragma once

#include <cstdint>

#include "criticalservice/critical_service.h"

namespace lastout::criticalservice {

enum class VerdictSubject : uint8_t {
  CriticalService,  // and the CRD of CriticalServices: allowed when each of them would be
  Provider,
  HeldProvider,      // a provider that lastout holds, by a DELETE that leaves what it runs
  ProviderAncestor,  // the namespace of the provider, and the CRD of a provider that is a custom resource
  Dependency,        // what the provider needs
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

// Some of an enumeration's values.
template <class E>
struct SetOf {
  uint8_t bits = 0;

  template <class... Values>
  static constexpr SetOf of(Values... values) {
    return {static_cast<uint8_t>((... | (1u << static_cast<uint8_t>(E{values}))))};
  }
  constexpr bool has(E value) const { return (bits >> static_cast<uint8_t>(value) & 1u) != 0; }
  friend bool operator==(const SetOf&, const SetOf&) = default;
};

// One line of the table.
struct VerdictRow {
  VerdictSubject subject = VerdictSubject::Provider;
  SetOf<DeletionIntent> intent;
  SetOf<ProviderState> provider;
  SetOf<CriteriaState> criteria;
  bool allowed = false;

  constexpr bool covers(VerdictSubject aSubject, DeletionIntent anIntent, ProviderState aProvider,
                        CriteriaState aCriteria) const {
    return subject == aSubject && intent.has(anIntent) && provider.has(aProvider) && criteria.has(aCriteria);
  }
  friend bool operator==(const VerdictRow&, const VerdictRow&) = default;
};

namespace table {

inline constexpr auto kOrdered = SetOf<DeletionIntent>::of(DeletionIntent::Ordered);
inline constexpr auto kBestEffort = SetOf<DeletionIntent>::of(DeletionIntent::BestEffortDeletion);
inline constexpr auto kOrphan = SetOf<DeletionIntent>::of(DeletionIntent::OrphanResources);
inline constexpr auto kGuarding =
    SetOf<DeletionIntent>::of(DeletionIntent::Ordered, DeletionIntent::BestEffortDeletion);

inline constexpr auto kThere = SetOf<ProviderState>::of(ProviderState::Present, ProviderState::Replaced);
inline constexpr auto kNotSeen = SetOf<ProviderState>::of(ProviderState::Unknown);
inline constexpr auto kGone = SetOf<ProviderState>::of(ProviderState::Absent);
inline constexpr auto kNotGone =
    SetOf<ProviderState>::of(ProviderState::Present, ProviderState::Replaced, ProviderState::Unknown);
inline constexpr auto kAnyProvider = SetOf<ProviderState>::of(ProviderState::Present, ProviderState::Replaced,
                                                              ProviderState::Unknown, ProviderState::Absent);

inline constexpr auto kMet = SetOf<CriteriaState>::of(CriteriaState::Met);
inline constexpr auto kUnmet = SetOf<CriteriaState>::of(CriteriaState::Unmet);
inline constexpr auto kUnknown = SetOf<CriteriaState>::of(CriteriaState::Unknown);
inline constexpr auto kAnyCriteria =
    SetOf<CriteriaState>::of(CriteriaState::Met, CriteriaState::Unmet, CriteriaState::Unknown);

}  // namespace table

// Every combination is covered by exactly one row; the rows are those of docs/verdicts.md, in its order.
inline constexpr VerdictRow kVerdicts[] = {
    {VerdictSubject::CriticalService, table::kOrdered, table::kThere, table::kAnyCriteria, false},
    {VerdictSubject::CriticalService, table::kOrdered, table::kNotSeen, table::kAnyCriteria, false},
    {VerdictSubject::CriticalService, table::kOrdered, table::kGone, table::kAnyCriteria, true},
    {VerdictSubject::CriticalService, table::kBestEffort, table::kAnyProvider, table::kAnyCriteria, true},
    {VerdictSubject::CriticalService, table::kOrphan, table::kAnyProvider, table::kAnyCriteria, true},

    {VerdictSubject::Provider, table::kGuarding, table::kAnyProvider, table::kMet, true},
    {VerdictSubject::Provider, table::kGuarding, table::kAnyProvider, table::kUnmet, false},
    {VerdictSubject::Provider, table::kGuarding, table::kAnyProvider, table::kUnknown, false},
    {VerdictSubject::Provider, table::kOrphan, table::kAnyProvider, table::kAnyCriteria, true},

    {VerdictSubject::HeldProvider, table::kGuarding, table::kAnyProvider, table::kAnyCriteria, true},
    {VerdictSubject::HeldProvider, table::kOrphan, table::kAnyProvider, table::kAnyCriteria, true},

    {VerdictSubject::ProviderAncestor, table::kGuarding, table::kGone, table::kAnyCriteria, true},
    {VerdictSubject::ProviderAncestor, table::kGuarding, table::kNotGone, table::kMet, true},
    {VerdictSubject::ProviderAncestor, table::kGuarding, table::kNotGone, table::kUnmet, false},
    {VerdictSubject::ProviderAncestor, table::kGuarding, table::kNotGone, table::kUnknown, false},
    {VerdictSubject::ProviderAncestor, table::kOrphan, table::kAnyProvider, table::kAnyCriteria, true},

    {VerdictSubject::Dependency, table::kGuarding, table::kThere, table::kAnyCriteria, false},
    {VerdictSubject::Dependency, table::kGuarding, table::kNotSeen, table::kAnyCriteria, false},
    {VerdictSubject::Dependency, table::kGuarding, table::kGone, table::kAnyCriteria, true},
    {VerdictSubject::Dependency, table::kOrphan, table::kAnyProvider, table::kAnyCriteria, true},
};

}  // namespace lastout::criticalservice
