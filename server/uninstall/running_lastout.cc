#include "server/uninstall/running_lastout.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/api_server.h"
#include "client/writes.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "server/uninstall/object_removal.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookPause{500};
// Whoever waits for a Lease looks every 2 s, and with its jitter, and a request that takes its time, takes
// one that is free within 4.4 s.
constexpr milliseconds kQuietTime{5'000};
constexpr int kMostLeaseChanges = 10;  // of one that nobody holds
constexpr size_t kMostLeft = 5;        // Pods that are named
constexpr size_t kMostPods = 100;      // that are remembered
constexpr size_t kLongestHostName = 63;
// The policy that keeps the installation while the webhook configuration stands; its binding has the same
// name.
constexpr const char* kInstallationLock = "lastout-installation";

kube::ObjectKey deploymentKey(const std::string& namespaceName, const std::string& name) {
  return {kube::kDeployments, namespaceName, name};
}

// What was seen of a Lease, and until when it has to stay so.
struct WatchedLease {
  LeaseName name;
  std::optional<Lease> lease;
  client::TimePoint until;
  int changes = 0;
};

bool isHeld(const std::optional<Lease>& lease) { return lease && !lease->holder.empty(); }

bool isSame(const std::optional<Lease>& one, const std::optional<Lease>& other) {
  if (!one || !other) return !one && !other;
  return one->resourceVersion == other->resourceVersion;
}

bool hasNoReplicas(const kube::Value& set) {
  const kube::Value* replicas = set.at({"spec", "replicas"});
  return replicas != nullptr && replicas->asInteger() != nullptr && *replicas->asInteger() == 0;
}

milliseconds quietTimeOf(const std::optional<Lease>& lease) {
  return isHeld(lease) ? kQuietTime + lease->duration : kQuietTime;
}

}  // namespace

RequestResult<LeftPods> readPods(const ObjectClient& objectClient, const std::string& namespaceName) {
  LeftPods left;
  const auto note = [&left](const char* kind, bool isPod) {
    return [&left, kind, isPod](const std::vector<client::StreamedObject>& page) {
      for (const client::StreamedObject& object : page) {
        if (!isPod && hasNoReplicas(object.content)) continue;
        if (isPod && left.pods.size() < kMostPods) left.pods.insert(object.meta.name);
        auto& names = isPod && object.meta.deletionTimestamp ? left.terminating : left.running;
        if (names.size() < kMostLeft) names.push_back(kind + (" " + object.meta.name));
      }
    };
  };
  const std::string selector = std::string("app.kubernetes.io/name=") + kInstalledName;
  const auto sets = objectClient.list({client::collectionPath(kube::kReplicaSets, namespaceName),
                                       client::Content::Whole, kMostLeft, selector},
                                      note("ReplicaSet", false));
  if (!sets) return tl::unexpected(sets.error());
  const auto pods = objectClient.list(
      {client::collectionPath(kube::kPods, namespaceName), client::Content::Metadata, kMostLeft, selector},
      note("Pod", true));
  if (!pods) return tl::unexpected(pods.error());
  return left;
}

namespace {

struct RemovedDeployments {
  std::vector<std::string> objects;  // that were there
  std::vector<std::string> scaled;   // that are left without replicas
  std::optional<Deployed> failed;    // nullopt: each that was there is deleted or scaled, or would be

  bool isNone() const { return objects.empty() && scaled.empty(); }
};

// Returns false if it is not there.
RequestResult<bool> scaleDown(const ObjectClient& objectClient, const std::string& path) {
  return objectClient.write(client::mergePatch(path, {{"spec", {{"replicas", 0}}}}));
}

RemovedDeployments removeEach(const ObjectClient& objectClient, const Patience& patience,
                              const std::string& namespaceName, UninstallReport& report) {
  RemovedDeployments result;
  PolicyLock lock(objectClient, patience, report, kInstallationLock);
  for (const std::string name : kInstalledDeployments) {
    const kube::ObjectKey key = deploymentKey(namespaceName, name);
    const std::string object = toString(key);
    const std::string path = client::objectPath(key);
    auto removed = lock.remove(key, "Background");
    const bool isProtected = !removed && isDeniedByPolicy(removed.error());
    if (isProtected) removed = scaleDown(objectClient, path);
    if (!removed) {
      report.refused(
          object, isProtected ? "be scaled to 0, while a deletion policy denies its deletion" : "be deleted",
          removed.error());
      lock.tellOpened("the Deployment");
      const bool isNothingDone = removed.error().code == 403 && result.isNone();
      result.failed = isNothingDone ? Deployed::Refused : Deployed::Left;
      return result;
    }
    if (*removed) (isProtected ? result.scaled : result.objects).push_back(object);
  }
  return result;
}

}  // namespace

bool removeScaledDeployments(const ObjectClient& objectClient, const std::string& namespaceName,
                             UninstallReport& report) {
  bool isDone = true;
  for (const std::string name : kInstalledDeployments) {
    const kube::ObjectKey key = deploymentKey(namespaceName, name);
    const auto removed = removeObject(objectClient, report.isDryRun(), client::objectPath(key), "Background");
    if (removed && !*removed) continue;
    isDone = tellRemoved(key, removed, report) && isDone;
  }
  return isDone;
}

Deployed removeDeployments(const ObjectClient& objectClient, const Patience& patience,
                           const std::string& namespaceName, milliseconds timeout, UninstallReport& report,
                           std::set<std::string>& pods) {
  const RemovedDeployments removed = removeEach(objectClient, patience, namespaceName, report);
  if (removed.failed) return *removed.failed;
  const auto did = [&](const std::string& what) {
    for (const std::string& object : removed.objects) report.did(object, what);
    for (const std::string& object : removed.scaled)
      report.did(object, "scaled to 0, as a deletion policy denies its deletion, and its Pods are gone");
  };
  std::vector<std::string> there = removed.objects;
  there.insert(there.end(), removed.scaled.begin(), removed.scaled.end());
  const std::string all =
      there.empty() ? "deployments.apps in namespace " + namespaceName : kube::listed(there);
  const Deployed gone = removed.scaled.empty() ? Deployed::Gone : Deployed::Scaled;
  const client::TimePoint deadline = patience.now() + timeout;
  for (bool isFirst = true;; isFirst = false) {
    const auto left = readPods(objectClient, namespaceName);
    if (!left) {
      report.refused("Pods and ReplicaSets in namespace " + namespaceName, "be listed", left.error());
      return Deployed::Left;
    }
    pods.insert(left->pods.begin(), left->pods.end());
    const bool isGone = left->running.empty() && left->terminating.empty();
    if (removed.isNone() && isGone && isFirst) {
      report.note(all + ": none of lastout's is there");
      return Deployed::Gone;
    }
    if (report.isDryRun()) {
      did("deleted, and its Pods waited for");
      return Deployed::WouldGo;
    }
    if (isGone) {
      did("deleted, and its Pods are gone");
      return gone;
    }
    if (patience.now() >= deadline) {
      const std::string still = (removed.scaled.empty() ? ": deleted" : ": deleted or scaled to 0") +
                                std::string(", but still there after ") +
                                std::to_string(timeout.count() / 1'000) + " s: ";
      if (left->running.empty()) {
        for (const std::string& pod : left->pods) pods.erase(pod);
        report.warn(
            all + still + kube::listed(left->terminating) +
            ", which is being deleted, maybe on a node that is dead; whether it runs the Lease tells");
        return gone;
      }
      report.problem(all + still + kube::listed(left->running) + "; run this again when they are gone");
      return Deployed::Left;
    }
    patience.pause(kLookPause);
  }
}

std::string toString(const LeaseName& name) {
  return toString(kube::ObjectKey{kube::kLeases, name.namespaceName, name.name});
}

RequestResult<std::optional<Lease>> readLeaseNow(const ObjectClient& objectClient, const LeaseName& name) {
  const auto object = objectClient.read(requestToRead(name.namespaceName, name.name).target);
  if (!object) return tl::unexpected(object.error());
  if (!*object) return std::nullopt;
  auto lease = readLease(**object);
  if (!lease) return tl::unexpected(NotDone{0, lease.error().message});
  return std::move(*lease);
}

namespace {

// The identity of a lastout that runs in a Pod begins with the Pod's host name, and has a number behind it.
bool isOneOf(const std::set<std::string>& pods, const std::string& holder) {
  return std::ranges::any_of(pods, [host = holder.substr(0, holder.rfind('_'))](const std::string& pod) {
    return !host.empty() && pod.substr(0, kLongestHostName) == host;
  });
}

// Deletes the Lease of a process that has ended: another process that waits for it then shows itself within
// seconds, and not only when the Lease expires. Returns false if it may still be there.
bool removeLeaseOfEnded(const ObjectClient& objectClient, const LeaseName& name, const Lease& lease,
                        UninstallReport& report) {
  const std::string path = requestToRead(name.namespaceName, name.name).target;
  const auto meta = objectClient.readMetadata(path);
  if (!meta || !*meta || (*meta)->resourceVersion != lease.resourceVersion) return false;
  const auto removed = objectClient.write(client::deletion(path, (*meta)->uid, lease.resourceVersion));
  if (!removed) return false;
  report.did(toString(name), "deleted, as its holder " + kube::inQuotes(lease.holder) + " has ended");
  return true;
}

}  // namespace

std::optional<FreeLeases> waitUntilFree(const ObjectClient& objectClient, const Patience& patience,
                                        const std::vector<LeaseName>& names,
                                        const std::set<std::string>& endedPods, UninstallReport& report) {
  const auto read = [&](const LeaseName& name) {
    auto lease = readLeaseNow(objectClient, name);
    if (!lease)
      report.refused(toString(name), "be read, which says whether a lastout serve runs", lease.error());
    return lease;
  };
  std::vector<WatchedLease> watched;
  for (const LeaseName& name : names) {
    auto lease = read(name);
    if (!lease) return std::nullopt;
    if (isHeld(*lease) && isOneOf(endedPods, (*lease)->holder) &&
        removeLeaseOfEnded(objectClient, name, **lease, report))
      lease->reset();
    const client::TimePoint until = patience.now() + quietTimeOf(*lease);
    watched.push_back({name, std::move(*lease), until});
  }
  const auto isWaitedFor = [&](const WatchedLease& one) { return patience.now() < one.until; };
  while (std::ranges::any_of(watched, isWaitedFor)) {
    patience.pause(kLookPause);
    for (WatchedLease& one : watched) {
      auto now = read(one.name);
      if (!now) return std::nullopt;
      if (isSame(*now, one.lease)) continue;
      if (isHeld(*now) || ++one.changes > kMostLeaseChanges) {
        const std::string who = isHeld(*now) ? kube::inQuotes((*now)->holder) : "somebody";
        report.problem(toString(one.name) + ": " + who +
                       " renews it: a lastout serve that runs there would put back what is taken away; end "
                       "it, and run this again");
        return std::nullopt;
      }
      one.lease = std::move(*now);
      one.until = patience.now() + quietTimeOf(one.lease);
    }
  }
  FreeLeases leases;
  for (WatchedLease& one : watched) leases.emplace(std::move(one.name), std::move(one.lease));
  return leases;
}

}  // namespace lastout::server
