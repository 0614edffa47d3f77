// Storage: every object by type and name, each write under a resource version of its own, and a bounded
// history of writes of each type, which watches follow and pages of a list are cut from.
//
// Threading: not synchronized; whoever owns it guards it with one lock. Records never change, and may be read
// by any thread that holds one.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/object_key.h"
#include "simulator/json.h"

namespace lastout::simulator {

// The name of an object among those of its type: "<namespace>/<name>", or "<name>".
std::string pathName(const kube::ObjectKey& key);

// One object at one resource version.
class StoredRecord {
 public:
  StoredRecord(kube::ObjectKey key, Json object, uint64_t version);  // writes metadata.resourceVersion
  const kube::ObjectKey& key() const { return key_; }
  const Json& object() const { return object_; }
  uint64_t version() const { return version_; }
  size_t bytes() const { return bytes_; }  // about what it takes in memory
  // The object, and its metadata alone, as text: made once, for all that watch it.
  const std::string& text() const;
  const std::string& metadataText() const;

 private:
  kube::ObjectKey key_;
  Json object_;
  uint64_t version_;
  size_t bytes_;
  mutable std::once_flag textMade_;
  mutable std::once_flag metadataTextMade_;
  mutable std::string text_;
  mutable std::string metadataText_;
};
using RecordRef = std::shared_ptr<const StoredRecord>;

// One write, as a watch tells it.
struct Write {
  enum class Kind : uint8_t { Added, Modified, Deleted };
  Kind kind = Kind::Added;
  RecordRef record;  // Deleted: as it was last, under the version of its removal
  RecordRef before;  // null: Added
  uint64_t version() const { return record->version(); }
};

// The last writes of one type.
struct WriteHistory {
  std::deque<Write> writes;
  uint64_t knownSince = 0;  // the oldest version that all writes after it are known of
  size_t bytes = 0;         // of the contents that are kept for these writes alone
  bool ended = false;       // the type is gone; one that comes later under its name has another history

  // Appends to `out` the first writes after a version, of records of about so many bytes, and at least one
  // where there is one; false when some of them are forgotten.
  bool after(uint64_t version, size_t bytes, std::vector<Write>& out) const;
};

// A part of a list: where it begins and ends.
struct ListRange {
  std::string_view namespaceName;  // empty: all
  std::string_view after;          // a path name: only what comes behind it
  size_t most = std::numeric_limits<size_t>::max();
};
struct StoragePage {
  std::vector<RecordRef> records;
  size_t left = 0;  // how many come behind them
};

class Storage {
 public:
  // The first write gets version kFirstVersion + 1. It is no small number: a client that still knows a
  // version from an earlier run is told that it is too old.
  static constexpr uint64_t kFirstVersion = 1000;
  // Objects can be large (kMostBodyBytes) and need no more than a PATCH of a few bytes to be stored once
  // more, so a number of writes alone bounds no memory. This much is some thousand states of a Pod.
  static constexpr size_t kHistoryBytes = size_t{64} << 20;

  // Keeps the last `writes` of each type, or fewer when the contents that they replaced take more than
  // `bytes`; always the last one.
  explicit Storage(size_t writes, size_t bytes = kHistoryBytes) : mostWrites_(writes), mostBytes_(bytes) {}

  uint64_t version() const { return version_; }  // of the last write

  RecordRef find(const kube::ObjectKey& key) const;  // null: there is none
  RecordRef put(const kube::ObjectKey& key, Json object);
  RecordRef erase(const kube::ObjectKey& key);  // what watches are told; null: there was none
  // Forgets a type that is gone, and ends its history: what was known of it before is too old from now on.
  void drop(const kube::GroupResource& type);

  // The objects of a type, or those in one namespace, in the order of their path names, which is etcd's.
  std::vector<RecordRef> list(const kube::GroupResource& type, std::string_view namespaceName) const;
  // Returns a part of them as they were at a version; nullopt: the history does not reach back that far.
  std::optional<StoragePage> listAt(const kube::GroupResource& type, uint64_t version,
                                    const ListRange& part) const;
  std::shared_ptr<const WriteHistory> history(const kube::GroupResource& type);

 private:
  struct Collection {
    std::map<std::string, RecordRef, std::less<>> objects;  // by path name
    std::shared_ptr<WriteHistory> history;
  };
  const Collection* collection(const kube::GroupResource& type) const;
  Collection& madeCollection(const kube::GroupResource& type);
  void addToHistory(WriteHistory& history, Write write) const;

  size_t mostWrites_;
  size_t mostBytes_;
  uint64_t version_ = kFirstVersion;
  std::unordered_map<kube::GroupResource, Collection> collections_;
};

}  // namespace lastout::simulator
