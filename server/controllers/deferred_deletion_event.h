// DeferredDeletionEvent: what becomes of a deletion that was deferred, for the log, Events and metrics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "criticalservice/deferred_deletion.h"
#include "server/controllers/event_writer.h"

namespace lastout::server {

struct DeferredDeletionEvent {
  enum class Kind : uint8_t {
    Remembered,  // it was denied, and will be carried out
    Dropped,     // it was denied, and could not be remembered: no room, no time, or nobody to remember it
    Deleted,     // the API server has accepted it
    TakenBack,   // nobody wants it any more
    Refused,     // it cannot be done now, and is tried again
    Ignored,     // an annotation asks for it, and does not count
  };
  Kind kind = Kind::Remembered;
  criticalservice::DeferredDeletion deletion;
  // The CriticalService that remembers it, or one of them, or the AppliedManifestWork that is kept for it; an
  // empty name: none is known.
  std::string holder;
  std::string holderUid;
  std::string why = {};  // of a refusal; and of what was taken back or is ignored, why
  bool isOfWork = false;
};

std::string_view toString(DeferredDeletionEvent::Kind kind);  // "remembered", for metrics
// About the holder; its message is for the log, too.
Event eventOf(const DeferredDeletionEvent& news);

}  // namespace lastout::server
