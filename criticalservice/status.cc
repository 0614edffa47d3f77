#include "criticalservice/status.h"

namespace lastout::criticalservice {

ProviderStatus observeProvider(const CriticalService& service, std::optional<std::string_view> presentUid) {
  ProviderStatus status;
  status.uid = service.providerUid;
  status.present = presentUid.has_value();
  if (!presentUid || presentUid->empty())
    return status;  // a manifest that was never applied has no uid to compare
  if (status.uid.empty()) status.uid = *presentUid;
  status.replaced = status.uid != *presentUid;
  return status;
}

}  // namespace lastout::criticalservice
