// Storage: every object by type and name, each write under a resource version of its own, and a bounded
// history of writes, which watches follow and pages of a list are cut from.
//
// Threading: not synchronized; whoever owns it guards it with one lock. Records never change, and may be read
// by any thread that holds one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/json.h"
#include "kube/object_key.h"

namespace lastout::apiserver {

// One object at one resource version.
class Record {
 public:
  Record(kube::ObjectKey key, Json object, uint64_t version);  // writes metadata.resourceVersion
  const kube::ObjectKey& key() const { return key_; }
  const Json& object() const { return object_; }
  uint64_t version() const { return version_; }
  // The object, and its metadata alone, as text: made once, for all that watch it.
  const std::string& text() const;
  const std::string& metadataText() const;

 private:
  kube::ObjectKey key_;
  Json object_;
  uint64_t version_;
  mutable std::once_flag textMade_;
  mutable std::once_flag metadataTextMade_;
  mutable std::string text_;
  mutable std::string metadataText_;
};
using RecordRef = std::shared_ptr<const Record>;

// One write, as a watch tells it.
struct Write {
  enum class Kind : uint8_t { Added, Modified, Deleted };
  Kind kind = Kind::Added;
  RecordRef record;  // Deleted: as it was last, under the version of its removal
  RecordRef before;  // null: Added
  uint64_t version() const { return record->version(); }
};

class Storage {
 public:
  // The first write gets version kFirstVersion + 1. It is no small number: a client that still knows a
  // version from an earlier run is told that it is too old.
  static constexpr uint64_t kFirstVersion = 1000;

  // Keeps the last `history` writes of each type.
  explicit Storage(size_t history) : history_(history) {}

  uint64_t version() const { return version_; }  // of the last write
  size_t count() const { return count_; }        // objects

  RecordRef find(const kube::ObjectKey& key) const;  // null: there is none
  RecordRef put(const kube::ObjectKey& key, Json object);
  RecordRef erase(const kube::ObjectKey& key);  // what watches are told; null: there was none

  // All objects of a type, or those in one namespace, in the order of namespace and name.
  std::vector<RecordRef> list(const kube::GroupResource& type, std::string_view namespaceName) const;
  // The same as it was at a version; nothing when the history does not reach back that far.
  std::optional<std::vector<RecordRef>> listAt(const kube::GroupResource& type,
                                               std::string_view namespaceName, uint64_t version) const;
  // The oldest version that writes of this type are known since.
  uint64_t knownSince(const kube::GroupResource& type) const;
  // Appends to `out` up to `most` writes of a type after a version; false when some of them are forgotten.
  bool writesAfter(const kube::GroupResource& type, uint64_t version, size_t most,
                   std::vector<Write>& out) const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace, name
  struct Collection {
    std::map<Name, RecordRef> objects;
    std::deque<Write> writes;
    uint64_t knownSince = kFirstVersion;
  };
  const Collection* collection(const kube::GroupResource& type) const;
  void remember(Collection& collection, Write write);

  size_t history_;
  uint64_t version_ = kFirstVersion;
  size_t count_ = 0;
  std::unordered_map<kube::GroupResource, Collection> collections_;
};

}  // namespace lastout::apiserver
