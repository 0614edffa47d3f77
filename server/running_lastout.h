// How uninstalling sees to it that no `lastout serve` is left that would put back what it takes away: the
// Deployment goes, and nobody may renew the Lease.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "server/lease.h"
#include "server/requests.h"
#include "server/uninstall_report.h"

namespace lastout::server {

// As deploy/ calls its Deployment, and labels its Pods (app.kubernetes.io/name).
inline constexpr const char* kInstalledName = "lastout";

// Deletes one object, in whatever version it is; in a dry run looks whether it is there. False: it is not.
Answered<bool> removeObject(const Requests& requests, bool dryRun, const std::string& path,
                            const std::string& policy = {});

// What became of the Deployment.
enum class Deployed : uint8_t {
  Gone,
  WouldGo,  // it is a dry run
  Left,     // some of it may still run; the report says why
};
// Deletes the Deployment in that namespace, and waits until its ReplicaSets and Pods are gone.
Deployed removeDeployment(const Requests& requests, const Patience& patience,
                          const std::string& namespaceName, std::chrono::milliseconds timeout,
                          UninstallReport& report);

struct LeaseName {
  std::string namespaceName;
  std::string name;
  auto operator<=>(const LeaseName&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
std::string toString(const LeaseName& name);

struct LeaseSeen {
  std::optional<Lease> lease;  // nothing: there is none
  bool isRenewed = false;      // its holder runs
};
// Looks at the Lease until it is given back or expires, or somebody renews it, which takes no longer than it
// lasts. By this process's clock alone, as a LeaseElection.
Answered<LeaseSeen> waitUntilFree(const Requests& requests, const Patience& patience, const LeaseName& name);

}  // namespace lastout::server
