#include "server/uninstall/finalizer_sweep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/writes.h"
#include "kube/object.h"

namespace lastout::server {
namespace {

constexpr int kMostSweepConflicts = 10;

bool carries(const kube::ObjectMeta& meta, const FinalizerTest& isMeant) {
  return std::ranges::any_of(meta.finalizers, isMeant);
}

std::string meantIn(const kube::ObjectMeta& meta, const FinalizerTest& isMeant) {
  std::string names;
  for (const std::string& finalizer : meta.finalizers) {
    if (isMeant(finalizer)) names += (names.empty() ? "" : " and ") + finalizer;
  }
  return names;
}

// Refused when another version stands by then.
client::ApiRequest requestWithout(const std::string& path, const kube::ObjectMeta& meta,
                                  const FinalizerTest& isMeant) {
  std::vector<std::string> left = meta.finalizers;
  std::erase_if(left, isMeant);
  return client::finalizersPatch(path, meta, left);
}

// An object that somebody else has changed is read again. One that is gone, is another one by then, or
// carries none of these any more, is as it should be.
RequestResult<void> takeOff(const ObjectClient& objectClient, const std::string& path, kube::ObjectMeta meta,
                            const FinalizerTest& isMeant) {
  const std::string uid = meta.uid;
  for (int conflicts = 0;; ++conflicts) {
    const auto written = objectClient.write(requestWithout(path, meta, isMeant));
    if (written) return {};
    if (!isConflict(written.error()) || conflicts == kMostSweepConflicts)
      return tl::unexpected(written.error());
    auto now = objectClient.readMetadata(path);
    if (!now) return tl::unexpected(std::move(now.error()));
    if (!*now || (*now)->uid != uid || !carries(**now, isMeant)) return {};
    meta = std::move(**now);
  }
}

// Returns false if the object keeps one of them.
bool freeOf(const ObjectClient& objectClient, const kube::ResourceType& type, const kube::ObjectMeta& meta,
            const FinalizerTest& isMeant, const std::string& kind, UninstallReport& report) {
  const std::string object = toString(kube::ObjectKey{type.type, meta.namespaceName, meta.name});
  const std::string deed =
      "freed of " + meantIn(meta, isMeant) + (meta.deletionTimestamp ? ", while it is being deleted" : "");
  if (!report.isDryRun()) {
    const auto written =
        takeOff(objectClient, client::objectPath(type, meta.namespaceName, meta.name), meta, isMeant);
    if (!written) {
      report.refusedOne(kind, object, "be " + deed, written.error());
      return false;
    }
  }
  report.didOne(kind, object, deed);
  return true;
}

}  // namespace

RequestResult<std::set<kube::ObjectKey>> readWaiting(const ObjectClient& objectClient,
                                                     const kube::ResourceType& type,
                                                     const FinalizerTest& isMeant) {
  std::set<kube::ObjectKey> waiting;
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      if (object.meta.deletionTimestamp && carries(object.meta, isMeant))
        waiting.insert({type.type, object.meta.namespaceName, object.meta.name});
    }
  };
  const auto listed = objectClient.list({client::collectionPath(type)}, take);
  if (!listed) return tl::unexpected(listed.error());
  return waiting;
}

SweptFinalizers sweepFinalizers(const ObjectClient& objectClient, const kube::ResourceType& type,
                                const FinalizerTest& isMeant, UninstallReport& report) {
  const std::string kind = "finalizers of " + toString(type.type);
  SweptFinalizers swept{0, true};
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      if (!carries(object.meta, isMeant)) continue;
      if (freeOf(objectClient, type, object.meta, isMeant, kind, report))
        ++swept.freed;
      else
        swept.isWhole = false;
    }
  };
  const auto listed = objectClient.list({client::collectionPath(type)}, take);
  report.finish(kind);
  if (!listed) {
    report.refused(kind, "be looked for", listed.error());
    swept.isWhole = false;
  }
  return swept;
}

}  // namespace lastout::server
