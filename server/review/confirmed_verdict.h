// confirmedVerdict: a verdict in which all that an ALLOW rests on was read once more, past all caches.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "server/review/confirming_reads.h"
#include "server/review/current_services.h"
#include "server/watch/live_view.h"

namespace lastout::server {

struct ConfirmedVerdict {
  admission::PreliminaryVerdict judged;
  std::optional<std::string> unconfirmed;  // why that could not be found out; then `judged` says nothing
};

// Judges a DELETE in that manner. What a read finds counts as if it had been known. Who guards the object is
// not asked here. `asked`: reads that began after the DELETE was asked for, and need not be made again.
ConfirmedVerdict confirmedVerdict(LiveView& view, ConfirmingReads& reads, const kube::ObjectKey& object,
                                  admission::DeletionEffect deletionEffect, TimePoint deadline,
                                  std::optional<ConfirmingReads::Asked> asked = std::nullopt);

// Whether a DELETE of the object that ends it would be allowed now: by all CriticalServices that guard it by
// now, and by what is there now. Fails with why that could not be confirmed.
tl::expected<bool, std::string> isConfirmedToGo(LiveView& view, ConfirmingReads& reads,
                                                CurrentServices& services, const kube::ObjectKey& object,
                                                TimePoint deadline);

}  // namespace lastout::server
