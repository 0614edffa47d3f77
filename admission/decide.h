// decide: the one evaluator of "may this object be deleted now?" over any source of facts.
//
// Pure: no strings, no allocation, no I/O. The facts come from the live graph by index, or from a state of
// the machine by popcount; conditions and services are dense numbers in whichever of the two is asked.
// explain() finds the words.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "criticalservice/critical_service.h"
#include "graph/condition.h"

namespace lastout::admission {

// One CriticalService, compiled: its provider and criteria as numbers of conditions.
struct ServiceRule {
  uint32_t provider = 0;        // condition (Object): the provider exists
  uint32_t firstCriterion = 0;  // into ServiceRules::criteria
  uint32_t criterionCount = 0;
};

struct ServiceRules {
  std::vector<ServiceRule> services;
  std::vector<uint32_t> criteria;  // conditions, service by service
};

// Why a DELETE concerns a CriticalService (docs/verdicts.md). The object that is to be deleted is:
enum class GuardedAs : uint8_t {
  Service,   // the CriticalService itself, or the CRD of CriticalServices: its provider must be absent
  Provider,  // its provider: its criteria must hold
  ProviderAncestor,  // the Namespace, the CRD or an owner of its provider, whose deletion deletes it: as
                     // Provider while the provider is present
  Dependency,        // needed by its provider: the provider must be absent, or wait only for objects that it
                     // owns, while nothing waits for the provider
  LastoutNamespace   // lastout's own namespace: no service may be left
};

struct GuardEntry {
  GuardedAs guardedAs = GuardedAs::Provider;
  uint32_t service = 0;
};

// The effect of an admitted DELETE (admission/deletion_effect.h).
enum class DeletionEffect : uint8_t {
  Ending,  // the object goes, or, deleted in the foreground, what it runs goes
  Held,    // a finalizer of lastout's is on the object, and keeps it and what it runs
};

// The facts that decide() asks for. `exists`: the CriticalService exists (terminating counts as existing).
// `awaitsOwned`: the object of a condition is deleted in the foreground, and waits only for what it owns.
// `servicesKnown`: the CriticalServices themselves have been synced, so that "not guarded" can be believed.
template <class F>
concept Facts = requires(const F& facts, uint32_t id) {
  { facts.servicesKnown() } -> std::convertible_to<bool>;
  { facts.exists(id) } -> std::convertible_to<bool>;
  { facts.intent(id) } -> std::convertible_to<criticalservice::DeletionIntent>;
  { facts.enforcement(id) } -> std::convertible_to<criticalservice::EnforcementMode>;
  { facts.holders(id) } -> std::convertible_to<uint32_t>;
  { facts.awaitsOwned(id) } -> std::convertible_to<bool>;
  { facts.knowledge(id) } -> std::convertible_to<graph::Knowledge>;
};

enum class Reason : uint8_t {
  NotGuarded,
  CriteriaMet,       // guarded, and nothing blocks
  Held,              // a provider that lastout's finalizer keeps until its criteria hold
  ServicesUnknown,   // CriticalServices are not synced yet
  ProviderPresent,   // a CriticalService whose provider is there
  ProviderUnknown,   // a CriticalService whose provider is not seen, but its type is not known well enough
  CriterionUnmet,    // an object holds a criterion
  CriterionUnknown,  // nothing is seen to hold a criterion, but its type is not known well enough
  ServicesLeft,      // lastout's own namespace
  // decide() never returns these:
  Unconfirmed,        // the confirming read before an ALLOW failed, or went beyond its budget
  Invalid,            // a CriticalService that can never work, or may not be changed so
  Forbidden,          // a CriticalService whose writer may not do what it would have lastout do
  Protected,          // a DeletionPolicy protects the object
  ProtectionUnknown,  // whether one does cannot be found out
};

struct Verdict {
  bool allowed = true;
  // A CriticalService guards the object, as its intent lets it: an ALLOW needs a confirming read first.
  bool guarded = false;
  bool held = false;                   // the criteria of the provider itself do not count: it is held
  Reason reason = Reason::NotGuarded;  // of the first blocker, in the order of guard entries and criteria
  uint32_t guardEntry = 0;             // index of the first guard entry that blocks
  uint32_t criterion = 0;              // index within its service of the first criterion that blocks
  uint32_t unmet = 0;                  // how many blockers in all
};

// The enforcement of the CriticalServices that guard a provider: that exist, and whose intent lets them.
struct ProviderGuards {
  bool any = false;
  bool allHold = true;  // false: one of them says Deny, and wants no less than a denial

  bool isToBeHeld() const { return any && allHold; }
};

template <Facts F>
ProviderGuards providerGuards(const F& facts, std::span<const GuardEntry> guardEntries);

// Calls visit(guardEntryIndex, criterionIndex, reason) for every blocker, in order, until it returns false.
template <Facts F, class Visit>
void forEachBlocker(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
                    Visit visit, DeletionEffect deletionEffect = DeletionEffect::Ending);

// Calls visit(guardEntryIndex, condition) for every condition that must have no holder for an ALLOW: a
// confirming read looks at these (docs/verdicts.md, "Before an ALLOW"). A condition may be visited more than
// once. Where the read finds a holder, the facts are brought up to date and decided again: another condition
// may matter then.
template <Facts F, class Visit>
void forEachToConfirm(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
                      Visit visit, DeletionEffect deletionEffect = DeletionEffect::Ending);

// Returns the verdict for a DELETE of the object that has these guard entries. Never fails; unsure means
// DENY.
template <Facts F>
Verdict decide(const F& facts, const ServiceRules& rules, std::span<const GuardEntry> guardEntries,
               DeletionEffect deletionEffect = DeletionEffect::Ending);

}  // namespace lastout::admission

#include "admission/decide_impl.h"
