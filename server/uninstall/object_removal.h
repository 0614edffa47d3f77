// Deleting single objects while lastout is uninstalled, and saying what became of each.
#pragma once

#include <string>

#include "kube/object_key.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// Deletes one object, in whatever version it is; in a dry run looks whether it is there. False: it is not.
// `policy`: as of client::deletion().
RequestResult<bool> removeObject(const ObjectClient& objectClient, bool dryRun, const std::string& path,
                                 const std::string& policy = {});

// Reports what removeObject() answered about the object. Returns false if the object may still be there.
bool tellRemoved(const kube::ObjectKey& object, const RequestResult<bool>& answer, UninstallReport& report);

// True if a ValidatingAdmissionPolicy that lastout makes of a DeletionPolicy denied the request. Once its
// binding is deleted API servers deny nothing more, each within kInForceAfter (protection/policy_status.h).
bool isDeniedByPolicy(const NotDone& refusal);

}  // namespace lastout::server
