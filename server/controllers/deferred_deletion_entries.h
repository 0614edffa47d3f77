// DeferredDeletionEntry: a deletion that lastout runs or reports on: one that a CriticalService records, one
// in which a work's agent failed, or one that an annotation asks for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/api_server.h"
#include "control/deferred_deletion_rule.h"
#include "criticalservice/deferred_deletion.h"
#include "kube/object_key.h"
#include "kube/value.h"
#include "server/controllers/annotation_events.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/controllers/work_finalizer_plan.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// One deferred deletion, and the CriticalServices whose status has it.
struct DeferredDeletionEntry {
  struct StatusEntry {
    std::string service;
    std::string uid;
    criticalservice::DeferredDeletion deletion;  // as it is recorded there
    bool isWanted = false;
  };
  criticalservice::DeferredDeletion deletion;  // the one that counts: a person's, or else the latest
  bool byController = true;                    // by its own word
  control::RequestProof proof = control::RequestProof::None;
  bool isWanted = false;    // a CriticalService that records it wants lastout to run it
  bool isRevoked = true;    // none that records it can come to want that: it is to be forgotten
  bool isProvider = false;  // of one of them: others wait for it
  // No CriticalService guards the object, but this provider, which is gone, may have needed it: lastout
  // deletes it only if Kubernetes would.
  std::optional<kube::ObjectKey> neededBy;
  std::vector<StatusEntry> statusEntries;
  // The work whose agent failed in the deletion, and its uid, if no CriticalService records the deletion.
  std::string work;
  std::string workUid;
  // The object's annotation asks for it: its value, until when that counts, and a CriticalService that guards
  // the object, with its uid.
  std::string annotation;
  int64_t until = 0;
  std::string guard;
  std::string guardUid;
};

// Returns one entry for each object, providers first.
std::vector<DeferredDeletionEntry> deferredDeletionEntriesIn(const ViewOfWorks& works,
                                                             const Requesters& requesters,
                                                             const AnnotationsNow& annotations = {});

// Reads the CriticalService of that name from the API server; nullopt: it does not exist. Fails with why it
// cannot be read.
tl::expected<std::optional<kube::Value>, std::string> readRecordingService(
    client::ApiServer& server, const LiveView& view, const std::string& service,
    std::chrono::milliseconds patience);

}  // namespace lastout::server
