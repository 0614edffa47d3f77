#include "server/running_lastout.h"

#include <algorithm>
#include <vector>

#include "client/writes.h"
#include "kube/quoting.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;

constexpr int kMostRemoveConflicts = 10;
constexpr milliseconds kLookPause{500};
constexpr milliseconds kShortestLease{5'000};  // whoever renews it does so every 2 s
constexpr size_t kMostLeft = 5;                // Pods that are named

std::string appsPath(const std::string& namespaceName) {
  return "/apis/apps/v1/namespaces/" + client::percentEncoded(namespaceName);
}

std::string podsPath(const std::string& namespaceName) {
  return "/api/v1/namespaces/" + client::percentEncoded(namespaceName) + "/pods";
}

// ReplicaSets and Pods of lastout's, the first few.
Answered<std::vector<std::string>> leftIn(const Requests& requests, const std::string& namespaceName) {
  std::vector<std::string> left;
  const auto note = [&left](const char* kind) {
    return [&left, kind](const std::vector<client::StreamedObject>& page) {
      for (const client::StreamedObject& object : page) {
        if (left.size() < kMostLeft) left.push_back(kind + (" " + object.meta.name));
      }
    };
  };
  const std::string selector = std::string("app.kubernetes.io/name=") + kInstalledName;
  const auto sets = requests.list(appsPath(namespaceName) + "/replicasets", client::Content::Metadata,
                                  kMostLeft, note("ReplicaSet"), selector);
  if (!sets) return tl::unexpected(sets.error());
  const auto pods =
      requests.list(podsPath(namespaceName), client::Content::Metadata, kMostLeft, note("Pod"), selector);
  if (!pods) return tl::unexpected(pods.error());
  return left;
}

std::string namesIn(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Answered<std::optional<Lease>> readLeaseNow(const Requests& requests, const LeaseName& name) {
  const auto object = requests.read(requestToRead(name.namespaceName, name.name).target);
  if (!object) return tl::unexpected(object.error());
  if (!*object) return std::nullopt;
  auto lease = readLease(**object);
  if (!lease) return tl::unexpected(NotDone{0, lease.error().message});
  return std::move(*lease);
}

}  // namespace

Answered<bool> removeObject(const Requests& requests, bool dryRun, const std::string& path,
                            const std::string& policy) {
  for (int conflicts = 0;; ++conflicts) {
    const auto meta = requests.readMetadata(path);
    if (!meta) return tl::unexpected(meta.error());
    if (!*meta) return false;
    if (dryRun) return true;
    const auto written =
        requests.write(client::deletion(path, (*meta)->uid, (*meta)->resourceVersion, policy));
    if (written || !isConflict(written.error()) || conflicts == kMostRemoveConflicts) return written;
  }
}

Deployed removeDeployment(const Requests& requests, const Patience& patience,
                          const std::string& namespaceName, milliseconds timeout, UninstallReport& report) {
  const std::string object =
      toString(kube::ObjectKey{{"apps", "deployments"}, namespaceName, kInstalledName});
  const auto removed = removeObject(requests, report.isDryRun(),
                                    appsPath(namespaceName) + "/deployments/" + kInstalledName, "Background");
  if (!removed) {
    report.refused(object, "be deleted", removed.error());
    return Deployed::Left;
  }
  const client::TimePoint deadline = patience.now() + timeout;
  for (bool isFirst = true;; isFirst = false) {
    const auto left = leftIn(requests, namespaceName);
    if (!left) {
      report.refused("Pods and ReplicaSets in namespace " + namespaceName, "be listed", left.error());
      return Deployed::Left;
    }
    const bool isNowhere = !*removed && left->empty() && isFirst;
    if (isNowhere) {
      report.note(object + ": is not there");
      return Deployed::Gone;
    }
    if (report.isDryRun()) {
      report.did(object, "deleted, and its Pods waited for");
      return Deployed::WouldGo;
    }
    if (left->empty()) {
      report.did(object, "deleted, and its Pods are gone");
      return Deployed::Gone;
    }
    if (patience.now() >= deadline) {
      report.problem(object + ": deleted, but still there after " + std::to_string(timeout.count() / 1'000) +
                     " s: " + namesIn(*left) + "; run this again when they are gone");
      return Deployed::Left;
    }
    patience.pause(kLookPause);
  }
}

std::string toString(const LeaseName& name) {
  return toString(kube::ObjectKey{{"coordination.k8s.io", "leases"}, name.namespaceName, name.name});
}

Answered<LeaseSeen> waitUntilFree(const Requests& requests, const Patience& patience, const LeaseName& name) {
  const auto first = readLeaseNow(requests, name);
  if (!first) return tl::unexpected(first.error());
  if (!*first || (*first)->holder.empty()) return LeaseSeen{*first, false};
  const client::TimePoint expires =
      patience.now() + std::max<milliseconds>((*first)->duration, kShortestLease);
  while (patience.now() < expires) {
    patience.pause(kLookPause);
    const auto now = readLeaseNow(requests, name);
    if (!now) return tl::unexpected(now.error());
    if (!*now || (*now)->holder.empty()) return LeaseSeen{*now, false};
    if ((*now)->renewed != (*first)->renewed || (*now)->holder != (*first)->holder)
      return LeaseSeen{*now, true};
  }
  return LeaseSeen{*first, false};
}

}  // namespace lastout::server
