#include "apiserver/storage.h"

#include <algorithm>
#include <utility>

namespace lastout::apiserver {
namespace {

std::pair<std::string, std::string> nameOf(const kube::ObjectKey& key) {
  return {key.namespaceName, key.name};
}

// Half of the range of one namespace's names: all of them when it is "".
template <class Objects>
auto rangeOf(Objects& objects, std::string_view namespaceName) {
  if (namespaceName.empty()) return std::pair(objects.begin(), objects.end());
  const std::string space(namespaceName);
  return std::pair(objects.lower_bound({space, ""}), objects.lower_bound({space + '\0', ""}));
}

}  // namespace

Record::Record(kube::ObjectKey key, Json object, uint64_t version)
    : key_(std::move(key)), object_(std::move(object)), version_(version) {
  object_["metadata"]["resourceVersion"] = std::to_string(version_);
}

const std::string& Record::text() const {
  std::call_once(textMade_, [this] { text_ = toText(object_); });
  return text_;
}

const std::string& Record::metadataText() const {
  std::call_once(metadataTextMade_, [this] {
    metadataText_ = toText({{"kind", "PartialObjectMetadata"},
                            {"apiVersion", "meta.k8s.io/v1"},
                            {"metadata", object_["metadata"]}});
  });
  return metadataText_;
}

const Storage::Collection* Storage::collection(const kube::GroupResource& type) const {
  const auto found = collections_.find(type);
  return found == collections_.end() ? nullptr : &found->second;
}

RecordRef Storage::find(const kube::ObjectKey& key) const {
  const Collection* all = collection(key.type);
  if (all == nullptr) return nullptr;
  const auto found = all->objects.find(nameOf(key));
  return found == all->objects.end() ? nullptr : found->second;
}

RecordRef Storage::put(const kube::ObjectKey& key, Json object) {
  Collection& all = collections_[key.type];
  RecordRef& place = all.objects[nameOf(key)];
  const RecordRef before = place;
  place = std::make_shared<const Record>(key, std::move(object), ++version_);
  count_ += before == nullptr ? 1 : 0;
  remember(all, {before == nullptr ? Write::Kind::Added : Write::Kind::Modified, place, before});
  return place;
}

RecordRef Storage::erase(const kube::ObjectKey& key) {
  const auto found = collections_.find(key.type);
  if (found == collections_.end()) return nullptr;
  Collection& all = found->second;
  const auto place = all.objects.find(nameOf(key));
  if (place == all.objects.end()) return nullptr;
  const RecordRef before = place->second;
  all.objects.erase(place);
  --count_;
  const auto last = std::make_shared<const Record>(key, before->object(), ++version_);
  remember(all, {Write::Kind::Deleted, last, before});
  return last;
}

void Storage::remember(Collection& collection, Write write) {
  collection.writes.push_back(std::move(write));
  if (collection.writes.size() <= history_) return;
  collection.knownSince = collection.writes.front().version();
  collection.writes.pop_front();
}

std::vector<RecordRef> Storage::list(const kube::GroupResource& type, std::string_view namespaceName) const {
  std::vector<RecordRef> records;
  const Collection* all = collection(type);
  if (all == nullptr) return records;
  const auto [begin, end] = rangeOf(all->objects, namespaceName);
  if (namespaceName.empty()) records.reserve(all->objects.size());
  for (auto at = begin; at != end; ++at) records.push_back(at->second);
  return records;
}

// What is there now, with the writes since then undone, the last one first.
std::optional<std::vector<RecordRef>> Storage::listAt(const kube::GroupResource& type,
                                                      std::string_view namespaceName,
                                                      uint64_t version) const {
  if (version < knownSince(type) || version > version_) return std::nullopt;
  const Collection* all = collection(type);
  if (all == nullptr) return std::vector<RecordRef>();
  const auto [begin, end] = rangeOf(all->objects, namespaceName);
  std::map<Name, RecordRef> then(begin, end);
  for (auto write = all->writes.rbegin(); write != all->writes.rend() && write->version() > version;
       ++write) {
    const kube::ObjectKey& key = write->record->key();
    if (!namespaceName.empty() && key.namespaceName != namespaceName) continue;
    if (write->before == nullptr)
      then.erase(nameOf(key));
    else
      then[nameOf(key)] = write->before;
  }
  std::vector<RecordRef> records;
  records.reserve(then.size());
  for (auto& [name, record] : then) records.push_back(std::move(record));
  return records;
}

uint64_t Storage::knownSince(const kube::GroupResource& type) const {
  const Collection* all = collection(type);
  return all == nullptr ? kFirstVersion : all->knownSince;
}

bool Storage::writesAfter(const kube::GroupResource& type, uint64_t version, size_t most,
                          std::vector<Write>& out) const {
  if (version < knownSince(type)) return false;
  const Collection* all = collection(type);
  if (all == nullptr) return true;
  auto at = std::upper_bound(all->writes.begin(), all->writes.end(), version,
                             [](uint64_t than, const Write& write) { return than < write.version(); });
  for (; at != all->writes.end() && most > 0; ++at, --most) out.push_back(*at);
  return true;
}

}  // namespace lastout::apiserver
