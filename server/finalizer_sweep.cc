#include "server/finalizer_sweep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/writes.h"
#include "kube/object.h"

namespace lastout::server {
namespace {

constexpr size_t kSweepPage = 500;
constexpr int kMostSweepConflicts = 10;

bool isLastouts(const std::string& finalizer) { return finalizer.starts_with(kFinalizerDomain); }

bool hasLastouts(const kube::ObjectMeta& meta) { return std::ranges::any_of(meta.finalizers, isLastouts); }

std::string lastoutsIn(const kube::ObjectMeta& meta) {
  std::string names;
  for (const std::string& finalizer : meta.finalizers) {
    if (isLastouts(finalizer)) names += (names.empty() ? "" : " and ") + finalizer;
  }
  return names;
}

// Refused when another version stands by then.
client::ApiRequest requestWithout(const std::string& path, const kube::ObjectMeta& meta) {
  std::vector<std::string> left = meta.finalizers;
  std::erase_if(left, isLastouts);
  return client::finalizersPatch(path, meta, left);
}

// Whoever was faster is read again. An object that is gone, is another one by then, or has none of lastout's
// any more, is as it should be.
Answered<void> takeOff(const Requests& requests, const std::string& path, kube::ObjectMeta meta) {
  const std::string uid = meta.uid;
  for (int conflicts = 0;; ++conflicts) {
    const auto written = requests.write(requestWithout(path, meta));
    if (written) return {};
    if (!isConflict(written.error()) || conflicts == kMostSweepConflicts)
      return tl::unexpected(written.error());
    auto now = requests.readMetadata(path);
    if (!now) return tl::unexpected(std::move(now.error()));
    if (!*now || (*now)->uid != uid || !hasLastouts(**now)) return {};
    meta = std::move(**now);
  }
}

// False: it could not be.
bool free(const Requests& requests, const kube::ResourceType& type, const std::string& kind,
          const kube::ObjectMeta& meta, UninstallReport& report) {
  const std::string object = toString(kube::ObjectKey{type.type, meta.namespaceName, meta.name});
  const std::string deed =
      "freed of " + lastoutsIn(meta) + (meta.deletionTimestamp ? ", while it is being deleted" : "");
  if (!report.isDryRun()) {
    const auto written = takeOff(requests, client::objectPath(type, meta.namespaceName, meta.name), meta);
    if (!written) {
      report.refusedOne(kind, object, "be " + deed, written.error());
      return false;
    }
  }
  report.didOne(kind, object, deed);
  return true;
}

}  // namespace

Answered<std::set<std::string>> readWaiting(const Requests& requests, const kube::ResourceType& type) {
  std::set<std::string> names;
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      if (!object.meta.deletionTimestamp || !hasLastouts(object.meta)) continue;
      const kube::ObjectKey key{type.type, object.meta.namespaceName, object.meta.name};
      names.insert(key.namespaceName.empty() ? key.name : toString(key));
    }
  };
  const auto listed =
      requests.list(client::collectionPath(type), client::Content::Metadata, kSweepPage, take);
  if (!listed) return tl::unexpected(listed.error());
  return names;
}

size_t sweepFinalizers(const Requests& requests, const kube::ResourceType& type, UninstallReport& report) {
  const std::string kind = "finalizers of " + toString(type.type);
  size_t freed = 0;
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      if (hasLastouts(object.meta) && free(requests, type, kind, object.meta, report)) ++freed;
    }
  };
  const auto listed =
      requests.list(client::collectionPath(type), client::Content::Metadata, kSweepPage, take);
  report.finish(kind);
  if (!listed) report.refused(kind, "be looked for", listed.error());
  return freed;
}

}  // namespace lastout::server
