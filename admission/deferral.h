// Deferral: which denied deletions are deferred, and which CriticalServices record them in their status
// (docs/concepts.md, "Deferred deletions"). control/deferred_deletion_rule.h decides when lastout runs them.
#pragma once

#include "admission/decide.h"
#include "criticalservice/critical_service.h"

namespace lastout::admission {

// Returns true if a CriticalService that guards an object as `guardedAs` records the object's deferred
// deletion. No CriticalService records the deletion of an object that must outlive all of them: their CRD,
// and lastout's own namespace.
constexpr bool recordsDeferral(GuardedAs guardedAs, bool isItself) {
  return guardedAs == GuardedAs::Provider || guardedAs == GuardedAs::ProviderAncestor ||
         guardedAs == GuardedAs::Dependency || (guardedAs == GuardedAs::Service && isItself);
}

// Returns true if a CriticalService with this mode defers the denied deletion. With Controllers it defers
// only deletions by controllers, because a person reads the denial and may change their mind.
constexpr bool isDeferred(criticalservice::DeferralMode deferral, bool byController) {
  return deferral == criticalservice::DeferralMode::Always ||
         (deferral == criticalservice::DeferralMode::Controllers && byController);
}

}  // namespace lastout::admission
