#include "control/owner_now.h"

namespace lastout::control {

admission::OwnerNow ownerNow(const OwnerFacts& facts) {
  using admission::OwnerNow;
  if (!facts.isThere) return facts.isTypeBelieved ? OwnerNow::Gone : OwnerNow::Staying;
  if (!facts.terminates) return OwnerNow::Staying;
  return facts.orphans ? OwnerNow::Orphaning : OwnerNow::Leaving;
}

}  // namespace lastout::control
