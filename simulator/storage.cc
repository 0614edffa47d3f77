#include "simulator/storage.h"

#include <algorithm>
#include <utility>

#include "kube/well_known.h"

namespace lastout::simulator {
namespace {

// About what a value takes with its share of the map that it is in; of large arrays too much.
constexpr size_t kValueBytes = 100;

// Decoded objects are bounded in depth.
// NOLINTNEXTLINE(misc-no-recursion)
size_t bytesOf(const Json& json) {
  size_t bytes = kValueBytes;
  if (json.is_string()) bytes += json.get_ref<const std::string&>().size();
  if (json.is_array()) {
    for (const Json& item : json) bytes += bytesOf(item);
  }
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) bytes += key.size() + bytesOf(value);
  }
  return bytes;
}

// What only the history still holds: the state that a write replaced, and the one of a removal. So each
// content is counted once, and what is stored now is not.
size_t keptBytes(const Write& write) {
  return (write.before == nullptr ? 0 : write.before->bytes()) +
         (write.kind == Write::Kind::Deleted ? write.record->bytes() : 0);
}

std::shared_ptr<WriteHistory> historySince(uint64_t version) {
  auto history = std::make_shared<WriteHistory>();
  history->knownSince = version;
  return history;
}

bool isBefore(uint64_t version, const Write& write) { return version < write.version(); }

using Records = std::map<std::string, RecordRef, std::less<>>;

// By path name what was there at a version of all that was written since, in one namespace and behind a name;
// null: nothing. The first write since then knows.
Records undoneSince(const WriteHistory& history, uint64_t version, const std::string& space,
                    std::string_view behind) {
  Records undone;
  auto write = std::upper_bound(history.writes.begin(), history.writes.end(), version, isBefore);
  for (; write != history.writes.end(); ++write) {
    std::string name = pathName(write->record->key());
    if (name > behind && name.starts_with(space)) undone.emplace(std::move(name), write->before);
  }
  return undone;
}

}  // namespace

std::string pathName(const kube::ObjectKey& key) {
  return key.namespaceName.empty() ? key.name : key.namespaceName + "/" + key.name;
}

StoredRecord::StoredRecord(kube::ObjectKey key, Json object, uint64_t version)
    : key_(std::move(key)), object_(std::move(object)), version_(version) {
  object_["metadata"]["resourceVersion"] = std::to_string(version_);
  bytes_ = bytesOf(object_);
}

const std::string& StoredRecord::text() const {
  std::call_once(textMade_, [this] { text_ = toText(object_); });
  return text_;
}

const std::string& StoredRecord::metadataText() const {
  std::call_once(metadataTextMade_, [this] {
    metadataText_ = toText({{"kind", "PartialObjectMetadata"},
                            {"apiVersion", kube::kMetaApiVersion},
                            {"metadata", object_["metadata"]}});
  });
  return metadataText_;
}

bool WriteHistory::after(uint64_t version, size_t bytes, std::vector<Write>& out) const {
  if (version < knownSince) return false;
  auto at = std::upper_bound(writes.begin(), writes.end(), version, isBefore);
  for (size_t taken = 0; at != writes.end() && taken < bytes; ++at) {
    taken += at->record->bytes();
    out.push_back(*at);
  }
  return true;
}

const Storage::Collection* Storage::collection(const kube::GroupResource& type) const {
  const auto found = collections_.find(type);
  return found == collections_.end() ? nullptr : &found->second;
}

Storage::Collection& Storage::madeCollection(const kube::GroupResource& type) {
  Collection& all = collections_[type];
  if (all.history == nullptr) all.history = historySince(kFirstVersion);
  return all;
}

// A name with a slash could be another object's path.
RecordRef Storage::find(const kube::ObjectKey& key) const {
  const Collection* all = collection(key.type);
  if (all == nullptr) return nullptr;
  const auto found = all->objects.find(pathName(key));
  return found == all->objects.end() || found->second->key() != key ? nullptr : found->second;
}

RecordRef Storage::put(const kube::ObjectKey& key, Json object) {
  auto record = std::make_shared<const StoredRecord>(key, std::move(object), version_ + 1);
  Collection& all = madeCollection(key.type);
  RecordRef& place = all.objects[pathName(key)];
  const RecordRef before = std::exchange(place, record);
  version_ = record->version();
  addToHistory(*all.history,
               {before == nullptr ? Write::Kind::Added : Write::Kind::Modified, record, before});
  return record;
}

RecordRef Storage::erase(const kube::ObjectKey& key) {
  const RecordRef before = find(key);
  if (before == nullptr) return nullptr;
  const auto last = std::make_shared<const StoredRecord>(key, before->object(), version_ + 1);
  Collection& all = madeCollection(key.type);
  all.objects.erase(pathName(key));
  version_ = last->version();
  addToHistory(*all.history, {Write::Kind::Deleted, last, before});
  return last;
}

void Storage::addToHistory(WriteHistory& history, Write write) const {
  history.bytes += keptBytes(write);
  history.writes.push_back(std::move(write));
  while (history.writes.size() > mostWrites_ || (history.bytes > mostBytes_ && history.writes.size() > 1)) {
    const Write& oldest = history.writes.front();
    history.knownSince = oldest.version();
    history.bytes -= keptBytes(oldest);
    history.writes.pop_front();
  }
}

// The name stays, and since when it means something else.
void Storage::drop(const kube::GroupResource& type) {
  const auto found = collections_.find(type);
  if (found == collections_.end()) return;
  found->second.history->ended = true;
  found->second = {{}, historySince(version_)};
}

std::vector<RecordRef> Storage::list(const kube::GroupResource& type, std::string_view namespaceName) const {
  return std::move(*listAt(type, version_, {namespaceName, {}})).records;
}

// What is there now, with the writes since then undone.
std::optional<StoragePage> Storage::listAt(const kube::GroupResource& type, uint64_t version,
                                           const ListRange& part) const {
  const Collection* all = collection(type);
  if (version > version_ || version < (all == nullptr ? kFirstVersion : all->history->knownSince))
    return std::nullopt;
  StoragePage page;
  if (all == nullptr) return page;
  const std::string space = part.namespaceName.empty() ? "" : std::string(part.namespaceName) + "/";
  const std::string_view behind = std::max<std::string_view>(part.after, space);
  const Records undone = undoneSince(*all->history, version, space, behind);
  auto now = all->objects.upper_bound(behind);
  for (auto then = undone.begin();;) {
    const bool isNow = now != all->objects.end() && now->first.starts_with(space);
    const bool isThen = then != undone.end() && (!isNow || then->first <= now->first);
    if (!isNow && !isThen) return page;
    if (isThen && isNow && then->first == now->first) ++now;
    const RecordRef& record = isThen ? (then++)->second : (now++)->second;
    if (record == nullptr) continue;
    if (page.records.size() < part.most)
      page.records.push_back(record);
    else
      ++page.left;
  }
}

std::shared_ptr<const WriteHistory> Storage::history(const kube::GroupResource& type) {
  return madeCollection(type).history;
}

}  // namespace lastout::simulator
