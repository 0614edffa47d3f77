#include "server/finalizer_sweep.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/writes.h"

namespace lastout::server {
namespace {

using SweepJson = nlohmann::json;

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
  SweepJson left = SweepJson::array();
  for (const std::string& finalizer : meta.finalizers) {
    if (!isLastouts(finalizer)) left.push_back(finalizer);
  }
  return client::jsonPatch(
      path, {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", meta.resourceVersion}},
             {{"op", "replace"}, {"path", "/metadata/finalizers"}, {"value", std::move(left)}}});
}

}  // namespace

void FinalizerSweep::sweep(const kube::ResourceType& type) {
  const std::string kind = "finalizers of " + toString(type.type);
  const auto listed = requests_.list(client::collectionPath(type), client::Content::Metadata, kSweepPage,
                                     [&](const std::vector<client::StreamedObject>& page) {
                                       for (const client::StreamedObject& object : page) {
                                         if (hasLastouts(object.meta)) free(type, kind, object.meta);
                                       }
                                     });
  report_.finish(kind);
  if (!listed) report_.refused(kind, "be looked for", listed.error());
}

void FinalizerSweep::free(const kube::ResourceType& type, const std::string& kind,
                          const kube::ObjectMeta& meta) {
  const std::string object = toString(kube::ObjectKey{type.type, meta.namespaceName, meta.name});
  const std::string deed =
      "freed of " + lastoutsIn(meta) + (meta.deletionTimestamp ? ", while it was being deleted" : "");
  if (!report_.isDryRun()) {
    const auto written = write(client::objectPath(type, meta.namespaceName, meta.name), meta);
    if (!written) return report_.refusedOne(kind, object, "be " + deed, written.error());
  }
  ++freed_;
  report_.didOne(kind, object, deed);
}

// An object that is gone, or has none any more, is as it should be.
Answered<void> FinalizerSweep::write(const std::string& path, kube::ObjectMeta meta) const {
  for (int conflicts = 0;; ++conflicts) {
    const auto written = requests_.write(requestWithout(path, meta));
    if (written) return {};
    if (!isConflict(written.error()) || conflicts == kMostSweepConflicts)
      return tl::unexpected(written.error());
    auto now = requests_.readMetadata(path);
    if (!now) return tl::unexpected(std::move(now.error()));
    if (!*now || !hasLastouts(**now)) return {};
    meta = std::move(**now);
  }
}

}  // namespace lastout::server
