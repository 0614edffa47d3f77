// What DeletionPolicies leave in an API server when lastout goes: ValidatingAdmissionPolicies and bindings,
// which API servers go on to evaluate without any lastout, and finalizers on the objects that they hold.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/discovery.h"
#include "protection/hold_finalizers.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// A ValidatingAdmissionPolicy, or a binding, that lastout made of a DeletionPolicy.
struct MadeAdmissionPolicy {
  std::string name;
  bool namesFinalizer = false;  // it says by which finalizer the policy holds, also when that is gone
};

struct StandingPolicies {
  size_t count = 0;  // DeletionPolicies
  std::vector<MadeAdmissionPolicy> made;
  std::vector<MadeAdmissionPolicy> bindings;
  // As the policies say, and what was made of them. A finalizer of a policy that is gone, and of which
  // nothing else is left either, is not among them.
  protection::HoldFinalizers finalizers;
};

// Reads them. Where API servers do not serve ValidatingAdmissionPolicies there are none.
RequestResult<StandingPolicies> readPolicies(const ObjectClient& objectClient,
                                             const client::Discovery& served);

// Deletes the bindings: API servers deny nothing for DeletionPolicies any more, each within kInForceAfter
// (protection/policy_status.h). Returns false if there were none, or none could be deleted.
bool removeBindings(const ObjectClient& objectClient, const StandingPolicies& policies,
                    UninstallReport& report);

// Deletes the policies without bindings, which deny nothing. `isSwept`: no finalizer is left. Otherwise those
// that name one stay, so that it is found the next time.
void removeMadePolicies(const ObjectClient& objectClient, const StandingPolicies& policies, bool isSwept,
                        UninstallReport& report);

}  // namespace lastout::server
