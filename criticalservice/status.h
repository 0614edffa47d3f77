// status.provider: what a CriticalService records about its provider, and what it means when another uid is
// seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "criticalservice/critical_service.h"

namespace lastout::criticalservice {

struct ProviderStatus {
  std::string uid;       // for status.provider.uid: the first uid seen, for ever; empty while none was seen
  bool present = false;  // seen now
  bool replaced =
      false;  // seen now, under another uid than the recorded one: another object of the same name
};

// Returns the new status.provider. `presentUid`: the uid of the existing provider; nullopt: it is absent. A
// replaced provider is guarded like the first one, and only reported: nobody but a person can say whether it
// still serves what the first one left behind (docs/decisions/replaced-provider.md).
ProviderStatus observeProvider(const CriticalService& service, std::optional<std::string_view> presentUid);

}  // namespace lastout::criticalservice
