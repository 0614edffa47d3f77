// Recorded deletions: those that the CriticalServices of a cluster defer, for `lastout deferred`: listed, and
// cancelled.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "client/discovery.h"
#include "criticalservice/deferred_deletion.h"
#include "kube/result.h"

namespace lastout::server {

// One deletion in the status of one CriticalService.
struct RecordedDeletion {
  std::string service;
  std::string serviceUid;
  criticalservice::DeferredDeletion deletion;
  // Of the object: "Waiting": it is there, and not being deleted; "Terminating"; "Gone": lastout is about to
  // forget the deletion; "Unknown": it cannot be read.
  std::string state = "Unknown";
};

struct RecordedDeletions {
  std::vector<RecordedDeletion> all;      // in the order of their CriticalServices
  std::map<std::string, size_t> unclear;  // by CriticalService: how many cannot be understood
};

// Reads those whose objects are meant, and 1,000 of these objects, one by one; the states of the others stay
// Unknown. Fails with the API server's words, and if it serves no CriticalServices.
kube::Result<RecordedDeletions> recordedDeletions(
    client::ApiServer& server, const client::Discovery& discovery,
    const std::function<bool(const kube::ObjectKey& object)>& isMeant);

// Takes the deletion off its CriticalService, as that is now, and writes an Event that says so. Returns false
// if it is not recorded any more. Fails with the API server's words. `untold`: why there is no Event.
kube::Result<bool> cancelDeletion(client::ApiServer& server, const RecordedDeletion& recorded,
                                  std::chrono::sys_seconds now, std::string& untold);

}  // namespace lastout::server
