#include "criticalservice/put_off.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "kube/text_at.h"
#include "kube/timestamp.h"

namespace lastout::criticalservice {
namespace {

using PutOffJson = nlohmann::json;

PutOff readDeletion(const kube::Value& item) {
  PutOff deletion;
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

PutOffJson toJson(const PutOff& deletion) {
  PutOffJson item = {
      {"resource", deletion.object.type.resource},
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

std::string_view toString(Replay replay) {
  switch (replay) {
    case Replay::Controllers:
      return "Controllers";
    case Replay::Always:
      return "Always";
    case Replay::Never:
      return "Never";
  }
  return "";
}

Replay readReplay(const kube::Value& manifest) {
  const std::string& word = kube::textAt(manifest, {"spec", "replay"});
  for (const Replay replay : {Replay::Always, Replay::Never}) {
    if (word == toString(replay)) return replay;
  }
  return Replay::Controllers;
}

PutOffs readPutOffs(const kube::Value& manifest) {
  PutOffs putOffs;
  const kube::Value* dropped = manifest.at({"status", "putOffDropped"});
  if (dropped != nullptr && dropped->asInteger() != nullptr)
    putOffs.dropped = std::max<int64_t>(0, *dropped->asInteger());
  const kube::Value* list = manifest.at({"status", "putOff"});
  if (list == nullptr || list->asList() == nullptr) return putOffs;
  for (const kube::Value& item : *list->asList()) {
    PutOff deletion = readDeletion(item);
    const kube::ObjectKey& object = deletion.object;
    if (object.type.resource.empty() || object.name.empty() || deletion.uid.empty()) continue;
    if (putOffs.deletions.size() < kMostPutOff) putOffs.deletions.push_back(std::move(deletion));
  }
  return putOffs;
}

bool add(PutOffs& putOffs, PutOff deletion, size_t most) {
  if (deletion.owners.size() > kMostOwners) deletion.owners.resize(kMostOwners);
  const auto former = std::ranges::find(putOffs.deletions, deletion.object, &PutOff::object);
  if (former != putOffs.deletions.end()) {
    *former = std::move(deletion);
    return true;
  }
  if (putOffs.deletions.size() >= most) {
    ++putOffs.dropped;
    return false;
  }
  putOffs.deletions.push_back(std::move(deletion));
  return true;
}

// maxLength in the CRD, which counts characters: no more than there are bytes.
bool fitIn(PutOff& deletion) {
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
nlohmann::json patchOf(const PutOffs& putOffs) {
  PutOffJson list;
  for (const PutOff& deletion : putOffs.deletions) list.push_back(toJson(deletion));
  return {{"putOff", std::move(list)},
          {"putOffDropped", putOffs.dropped == 0 ? PutOffJson() : PutOffJson(putOffs.dropped)}};
}

}  // namespace lastout::criticalservice
