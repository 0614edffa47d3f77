// confirmedVerdict: a verdict whose ALLOW rests on reads of the API server, not on watches.
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

// Judges a DELETE by the guard entries that the view knows, and confirms an ALLOW with reads. An object that
// a read finds counts as if the view had shown it. `asked`: reads that began after the DELETE arrived, to be
// used instead of new ones.
ConfirmedVerdict confirmedVerdict(LiveView& view, ConfirmingReads& reads, const kube::ObjectKey& object,
                                  admission::DeletionEffect deletionEffect, TimePoint deadline,
                                  std::optional<ConfirmingReads::Asked> asked = std::nullopt);

// Whether a DELETE of the object that ends it would be allowed now: by all CriticalServices that guard it by
// now, and by what is there now. Fails with why that could not be confirmed.
tl::expected<bool, std::string> isConfirmedToGo(LiveView& view, ConfirmingReads& reads,
                                                CurrentServices& services, const kube::ObjectKey& object,
                                                TimePoint deadline);

}  // namespace lastout::server
