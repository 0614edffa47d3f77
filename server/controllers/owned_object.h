// OwnedObjects: reads an object, its namespace and its owners from the API server, to decide whether lastout
// may delete the object, and whether the deletion is still wanted.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "client/api_server.h"
#include "control/deferred_deletion_rule.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "server/controllers/deferred_deletion_entries.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// The object that a deletion is about, as it is now.
struct OwnedObject {
  bool isThere = false;  // with the uid that is meant, and nobody deletes it yet
  std::string resourceVersion;
  std::string annotation;  // lastout.dev/delete-when-free, as of AnnotatedObject; empty: it has none
  control::DeferralFacts facts;
  std::string heldBackBy;  // one owner that holds it back: who, and why
};

// By what an OwnedObject is read.
struct ObjectReads {
  // nullopt: the API server serves no such type, or kind of a group, as far as is known.
  std::function<std::optional<kube::ResourceType>(const kube::GroupResource& type)> type;
  std::function<std::optional<kube::ResourceType>(std::string_view group, std::string_view kind)> kind;
  std::function<bool(const kube::GroupResource& type)> isKnownToBeAbsent;  // such a type
  std::function<bool(const kube::ObjectKey& space)> isSeenToTerminate;     // by the view
  // nullopt: there is no such object. Fails with why it cannot be read.
  std::function<tl::expected<std::optional<kube::ObjectMeta>, std::string>(
      const kube::ResourceType& type, const std::string& namespaceName, const std::string& name)>
      metadata;
};

// Reads the object of an entry. Does not read the owners if a person's request is proven, because then they
// do not matter. Fails with why the object, its namespace or an owner cannot be read.
tl::expected<OwnedObject, std::string> readOwnedObject(const DeferredDeletionEntry& entry,
                                                       const ObjectReads& reads);

// Reads from an API server. Safe for any number of threads.
class OwnedObjects {
 public:
  // Keeps references to both.
  OwnedObjects(client::ApiServer& server, const LiveView& view, std::chrono::milliseconds patience);

  tl::expected<OwnedObject, std::string> read(const DeferredDeletionEntry& entry) const {
    return readOwnedObject(entry, reads_);
  }

 private:
  const ObjectReads reads_;
};

}  // namespace lastout::server
