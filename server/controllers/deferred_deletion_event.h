// DeferredDeletionEvent: a change of a deferred deletion, for the log, Events and metrics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "criticalservice/deferred_deletion.h"
#include "server/controllers/event_writer.h"

namespace lastout::server {

struct DeferredDeletionEvent {
  enum class Kind : uint8_t {
    Recorded,     // it was denied, and lastout will run it
    NotRecorded,  // it was denied, and could not be recorded: no room, no time, or no CriticalService to
                  // record it
    Deleted,      // the API server has accepted it
    TakenBack,    // nobody wants it any more
    Refused,      // it cannot be done now, and is tried again
    Ignored,      // an annotation asks for it, and does not count
  };
  Kind kind = Kind::Recorded;
  criticalservice::DeferredDeletion deletion;
  // The object that the Event is about: a CriticalService that records the deletion, or the
  // AppliedManifestWork that is kept for it; an empty name: none is known.
  std::string regarding;
  std::string regardingUid;
  std::string why = {};  // of a refusal; and of what was taken back or is ignored, why
  bool isOfWork = false;
};

std::string_view toString(
    DeferredDeletionEvent::Kind kind);  // the label of a metric: "remembered" for Recorded
// Returns the Event about `regarding`; its message also goes to the log.
Event eventOf(const DeferredDeletionEvent& news);

}  // namespace lastout::server
