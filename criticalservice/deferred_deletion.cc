#include "criticalservice/deferred_deletion.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "kube/timestamp.h"
#include "kube/value.h"

namespace lastout::criticalservice {
namespace {

using kube::Json;

DeferredDeletion readDeletion(const kube::Value& item) {
  DeferredDeletion deletion;
  deletion.object = {{kube::textAt(item, {"group"}), kube::textAt(item, {"resource"})},
                     kube::textAt(item, {"namespace"}),
                     kube::textAt(item, {"name"})};
  deletion.uid = kube::textAt(item, {"uid"});
  deletion.propagationPolicy = kube::textAt(item, {"propagationPolicy"});
  deletion.requestedBy = kube::textAt(item, {"requestedBy"});
  deletion.requestedAt = kube::parseTimestamp(kube::textAt(item, {"requestedAt"})).value_or(0);
  const kube::Value* owners = item.find("owners");
  if (owners == nullptr || owners->asList() == nullptr) return deletion;
  for (const kube::Value& owner : *owners->asList()) {
    if (const std::string* uid = owner.asString()) deletion.owners.push_back(*uid);
  }
  return deletion;
}

Json toJson(const DeferredDeletion& deletion) {
  Json item = {{"resource", deletion.object.type.resource},
               {"name", deletion.object.name},
               {"uid", deletion.uid},
               {"requestedBy", deletion.requestedBy},
               {"requestedAt",
                kube::timestampText(std::chrono::sys_seconds(std::chrono::seconds(deletion.requestedAt)))}};
  const auto put = [&item](const char* key, const std::string& text) {
    if (!text.empty()) item[key] = text;
  };
  put("group", deletion.object.type.group);
  put("namespace", deletion.object.namespaceName);
  put("propagationPolicy", deletion.propagationPolicy);
  if (!deletion.owners.empty()) item["owners"] = deletion.owners;
  return item;
}

}  // namespace

std::string_view toString(DeferralMode deferral) {
  switch (deferral) {
    case DeferralMode::Controllers:
      return "Controllers";
    case DeferralMode::Always:
      return "Always";
    case DeferralMode::Never:
      return "Never";
  }
  return "";
}

DeferralMode readDeferralMode(const kube::Value& manifest) {
  const std::string& current = kube::textAt(manifest, {"spec", "deferredDeletions"});
  const std::string& word = current.empty() ? kube::textAt(manifest, {"spec", "replay"}) : current;
  for (const DeferralMode deferral : {DeferralMode::Always, DeferralMode::Never}) {
    if (word == toString(deferral)) return deferral;
  }
  return DeferralMode::Controllers;
}

DeferredDeletions readDeferredDeletions(const kube::Value& manifest) {
  DeferredDeletions all;
  for (const std::string_view field : {"deferredDeletionsDropped", "putOffDropped"}) {
    const kube::Value* dropped = manifest.at({"status", field});
    if (dropped != nullptr && dropped->asInteger() != nullptr)
      all.dropped = std::max(all.dropped, *dropped->asInteger());
  }
  for (const std::string_view field : kDeferredDeletionFields) {
    for (const kube::Value& item : kube::listAt(manifest, {"status", field})) {
      DeferredDeletion deletion = readDeletion(item);
      const kube::ObjectKey& object = deletion.object;
      if (object.type.resource.empty() || object.name.empty() || deletion.uid.empty()) continue;
      if (all.deletions.size() < kMostDeferredDeletions) all.deletions.push_back(std::move(deletion));
    }
  }
  return all;
}

bool add(DeferredDeletions& deferredDeletions, DeferredDeletion deletion, size_t most) {
  if (deletion.owners.size() > kMostOwners) deletion.owners.resize(kMostOwners);
  const auto former =
      std::ranges::find(deferredDeletions.deletions, deletion.object, &DeferredDeletion::object);
  if (former != deferredDeletions.deletions.end()) {
    *former = std::move(deletion);
    return true;
  }
  if (deferredDeletions.deletions.size() >= most) {
    ++deferredDeletions.dropped;
    return false;
  }
  deferredDeletions.deletions.push_back(std::move(deletion));
  return true;
}

// maxLength in the CRD, which counts characters: no more than there are bytes.
bool fitIn(DeferredDeletion& deletion) {
  constexpr size_t kLongestName = 253;
  constexpr size_t kLongestSpace = 63;
  constexpr size_t kLongestUid = 128;
  std::erase_if(deletion.owners, [](const std::string& uid) { return uid.size() > kLongestUid; });
  const kube::ObjectKey& object = deletion.object;
  return object.type.group.size() <= kLongestName && object.type.resource.size() <= kLongestName &&
         object.namespaceName.size() <= kLongestSpace && object.name.size() <= kLongestName &&
         deletion.uid.size() <= kLongestUid;
}

// A list is replaced as a whole, and null takes a field away.
nlohmann::json patchOf(const DeferredDeletions& deferredDeletions) {
  Json list;
  for (const DeferredDeletion& deletion : deferredDeletions.deletions) list.push_back(toJson(deletion));
  return {
      {"deferredDeletions", std::move(list)},
      {"deferredDeletionsDropped", deferredDeletions.dropped == 0 ? Json() : Json(deferredDeletions.dropped)},
      {"putOff", Json()},
      {"putOffDropped", Json()}};
}

}  // namespace lastout::criticalservice
