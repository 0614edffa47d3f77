// Makes sure that no `lastout serve` is left that would restore what uninstalling removes: deletes the
// Deployments, and waits until nobody renews the Lease.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/controllers/lease.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// The label app.kubernetes.io/name of its Pods.
inline constexpr const char* kInstalledName = "lastout";
inline constexpr const char* kInstalledSecret = "lastout-tls";  // with its certificate
// As deploy/ calls its Deployments, and once called the only one.
inline constexpr std::array kInstalledDeployments{"lastout-controller", "lastout-webhook", "lastout"};

// ReplicaSets with replicas, and Pods of lastout's, the first few of each ("Pod lastout-5d").
struct LeftPods {
  std::vector<std::string> running;      // or to be run
  std::vector<std::string> terminating;  // Pods whose deletion was asked for
  std::set<std::string> pods;            // the names of all of them, up to 100
};
RequestResult<LeftPods> readPods(const ObjectClient& objectClient, const std::string& namespaceName);

// What became of the Deployments.
enum class Deployed : uint8_t {
  Gone,
  Scaled,   // the same, but some stand without replicas, as a DeletionPolicy denies their deletion
  WouldGo,  // it is a dry run
  Refused,  // they stand as before; the report says why
  Left,     // some may be deleted, and some of it may still run; the report says why
};
// Deletes the Deployments in that namespace, and before that the binding of the policy that locks them, and
// waits until their ReplicaSets and Pods are gone. A Pod that is being deleted stays until its node says that
// it has ended: of a node that is dead it is waited for until the timeout, and no longer. Whether it still
// runs the Lease tells. A Deployment whose deletion a DeletionPolicy denies is scaled to 0 instead: as long
// as lastout runs it keeps that policy in force. `pods`: the names of Pods that were there before; afterwards
// of all that have ended.
Deployed removeDeployments(const ObjectClient& objectClient, const Patience& patience,
                           const std::string& namespaceName, std::chrono::milliseconds timeout,
                           UninstallReport& report, std::set<std::string>& pods);

// Deletes those that were scaled, once no policy denies that any more. Returns false if one may be left.
bool removeScaledDeployments(const ObjectClient& objectClient, const std::string& namespaceName,
                             UninstallReport& report);

struct LeaseName {
  std::string namespaceName;
  std::string name;
  auto operator<=>(const LeaseName&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};
std::string toString(const LeaseName& name);

// nullopt: it does not exist.
RequestResult<std::optional<Lease>> readLeaseNow(const ObjectClient& objectClient, const LeaseName& name);

using FreeLeases = std::map<LeaseName, std::optional<Lease>>;  // as they were seen; nullopt: there is none
// Waits until no process can hold any of these Leases. A Lease that does not exist, or was released, must
// stay so for 5 s, because a waiting process tries about every 2 s; a held Lease must stay unchanged for its
// duration and those 5 s. Uses only this process's clock, as LeaseElection. A Lease whose
// holder is one of `endedPods` is deleted first, and then watched as one that does not exist. Returns nullopt
// if a running process holds one, or one cannot be read; the report says which.
std::optional<FreeLeases> waitUntilFree(const ObjectClient& objectClient, const Patience& patience,
                                        const std::vector<LeaseName>& names,
                                        const std::set<std::string>& endedPods, UninstallReport& report);

}  // namespace lastout::server
