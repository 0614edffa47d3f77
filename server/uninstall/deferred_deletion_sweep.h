// Finds the deletions that CriticalServices record when lastout is uninstalled, and removes the records.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "criticalservice/deferred_deletion.h"
#include "kube/resource_map.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// A CriticalService whose status has something in deferredDeletions or deferredDeletionsDropped.
struct ServiceWithDeferredDeletions {
  std::string name;
  std::string uid;
  std::string resourceVersion;
  criticalservice::DeferredDeletions deferredDeletions;
  size_t unread =
      0;  // members of deferredDeletions that cannot be understood: somebody's deletions all the same
};

struct StandingServices {
  size_t count = 0;  // all of them
  std::vector<ServiceWithDeferredDeletions> withDeferredDeletions;
  size_t deletions() const;  // that all of these record
};

// `type`: that of CriticalServices, as it is served.
RequestResult<StandingServices> readServices(const ObjectClient& objectClient,
                                             const kube::ResourceType& type);

// One line for each deletion that is waiting, the first 20; those that cannot be understood by their number.
void tellWaiting(const StandingServices& services, UninstallReport& report);

// Removes all recorded deletions from all of them, also those that were recorded meanwhile.
void forgetAll(const ObjectClient& objectClient, const kube::ResourceType& type,
               const StandingServices& services, UninstallReport& report);

}  // namespace lastout::server
