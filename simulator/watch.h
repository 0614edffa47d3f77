// Watch: follows the writes of a selection and tells them, one JSON text a line.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulator/answer.h"
#include "simulator/control_plane.h"
#include "simulator/exchange.h"
#include "simulator/selection.h"

namespace lastout::simulator {

struct WatchOptions {
  ServedTypePointer type;
  ListSelection selection;
  View view;
  // Sends the writes after this version; nullopt: sends what exists as ADDED, then the writes that follow.
  std::optional<uint64_t> from;
  std::optional<uint64_t> notOlderThan;  // what exists is sent as of this version or a later one
  bool bookmarks = false;
  bool isSilentAtFirst = false;          // what exists is not sent
  bool marksBeginning = false;           // a bookmark says that all that existed has been sent
  std::chrono::milliseconds timeout{0};  // the watch ends by itself after so long
};

// The plane must outlive it. A watch whose client does not keep up until the history is trimmed ends with
// 410, as does one from a version that is too old. It just ends, once it has told all, when its type is no
// longer served; what a CRD of the same name brings later is another's.
std::unique_ptr<WatchResponse> openWatch(ControlPlane& plane, WatchOptions options);

}  // namespace lastout::simulator
