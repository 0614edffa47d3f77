// The deletions that are to be carried out, or of which at least is to be known what becomes of them: what
// all CriticalServices remember, and in what works' agents have failed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/api_server.h"
#include "control/deferred_deletion.h"
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
    criticalservice::DeferredDeletion deletion;  // as it is remembered there
    bool isWanted = false;
  };
  criticalservice::DeferredDeletion deletion;  // the one that counts: a person's, or else the latest
  bool byController = true;                    // by its own word
  control::RequestProof proof = control::RequestProof::None;
  bool isWanted = false;    // by one of the status entries
  bool isUnwanted = true;   // by all of them
  bool isProvider = false;  // of one of them: others wait for it
  // Nobody guards it; that provider, which is gone, may have needed it. It goes where it would go anyway.
  std::optional<kube::ObjectKey> neededBy;
  std::vector<StatusEntry> statusEntries;
  // A work's agent failed in it, and nobody remembers it: the work, and its uid.
  std::string work;
  std::string workUid;
  // The object's annotation asks for it: its value, until when that counts, and a CriticalService that guards
  // the object, with its uid.
  std::string annotation;
  int64_t until = 0;
  std::string guard;
  std::string guardUid;
};

// One for each object. Providers come first.
std::vector<DeferredDeletionEntry> deferredDeletionEntriesIn(const ViewOfWorks& works,
                                                             const Requesters& requesters,
                                                             const AnnotationsNow& annotations = {});

// The CriticalService of that name as the API server has it now; nullopt: it is not there. Fails with why
// that cannot be told.
tl::expected<std::optional<kube::Value>, std::string> readRemembering(client::ApiServer& server,
                                                                      const LiveView& view,
                                                                      const std::string& service,
                                                                      std::chrono::milliseconds patience);

}  // namespace lastout::server
