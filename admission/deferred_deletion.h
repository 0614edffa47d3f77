// What lastout deferred: which of the deletions that it denied are remembered, by which CriticalServices
// (docs/concepts.md, "Deferred deletions"). What becomes of them is in control/deferred_deletion.h.
#pragma once

#include "admission/decide.h"
#include "criticalservice/critical_service.h"

namespace lastout::admission {

// Whether a CriticalService remembers that the deletion of an object was deferred in which it has a guard
// entry of that role. What goes after all CriticalServices (their CRD, lastout's own namespace) none can
// remember.
constexpr bool remembers(GuardRole role, bool isItself) {
  return role == GuardRole::Provider || role == GuardRole::HoldsProvider || role == GuardRole::Dependency ||
         (role == GuardRole::Service && isItself);
}

// Whether a CriticalService wants the denied deletion deferred. A person was told no, and may have changed
// their mind.
constexpr bool isDeferred(criticalservice::DeferralMode deferral, bool byController) {
  return deferral == criticalservice::DeferralMode::Always ||
         (deferral == criticalservice::DeferralMode::Controllers && byController);
}

}  // namespace lastout::admission
