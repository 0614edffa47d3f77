// TeardownUnderWay: the deletions that wait for lastout when it is uninstalled; without it they happen in any
// order.
#pragma once

#include <set>

#include "client/discovery.h"
#include "kube/object_key.h"
#include "protection/hold_finalizers.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/deferred_deletion_sweep.h"
#include "server/uninstall/finalizer_sweep.h"
#include "server/uninstall/policy_sweep.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// Objects that are being deleted and carry a finalizer of lastout's.
using WaitingObjects = RequestResult<std::set<kube::ObjectKey>>;

struct TeardownUnderWay {
  RequestResult<StandingServices> services;  // and the deletions that they record
  WaitingObjects works;                      // AppliedManifestWorks
  WaitingObjects providers;
  WaitingObjects held;  // for DeletionPolicies

  bool isKnown() const { return services && works && providers && held; }
  bool isAny() const;  // as far as is known
};

// None, where their type is not served.
RequestResult<StandingServices> readServicesNow(const ObjectClient& objectClient,
                                                const client::Discovery& served);

TeardownUnderWay readTeardown(const ObjectClient& objectClient, const client::Discovery& served);

// Tells what waits, and what becomes of it without lastout; the first 20 of each.
void tellTeardown(const TeardownUnderWay& teardown, UninstallReport& report);

// Complains about each part that is not known.
void tellUnknown(const TeardownUnderWay& teardown, UninstallReport& report);

// Returns the types whose objects may carry a finalizer of lastout's own: AppliedManifestWorks and types of
// providers; and, added to these, those of DeletionPolicies that hold. With each the finalizers of policies,
// beside those of lastout's domain, which count for all of them.
protection::HoldFinalizers typesWithFinalizers(const protection::HoldFinalizers& held);

}  // namespace lastout::server
