// OwnedObjects: reads an object, its namespace and its owners, past all caches: the authority to delete it,
// and whether its deletion is still wanted.
#pragma once

#include <chrono>
#include <string>
#include <tl/expected.hpp>

#include "admission/deferred_deletion.h"
#include "client/api_server.h"
#include "criticalservice/deferred_deletion.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// The object that a deletion is about, as it is now.
struct OwnedObject {
  bool isThere = false;  // with the uid that is meant, and nobody deletes it yet
  std::string resourceVersion;
  std::string annotation;  // lastout.dev/delete-when-free, as of AnnotatedObject; empty: it has none
  admission::WishFacts facts;
  std::string heldBackBy;  // one owner that holds it back: who, and why
};

// Safe for any number of threads.
class OwnedObjects {
 public:
  OwnedObjects(client::ApiServer& server, const LiveView& view, std::chrono::milliseconds patience)
      : server_(server), view_(view), patience_(patience) {}

  // Where a person's deletion is proven the owners do not matter, and are not read. Fails with why the
  // object, its namespace or an owner cannot be read.
  tl::expected<OwnedObject, std::string> read(const criticalservice::DeferredDeletion& deletion,
                                              admission::Proof proof) const;

 private:
  tl::expected<bool, std::string> terminates(const std::string& namespaceName) const;
  tl::expected<admission::OwnerNow, std::string> readOwner(const kube::OwnerReference& owner,
                                                           const std::string& namespaceName) const;

  client::ApiServer& server_;
  const LiveView& view_;
  const std::chrono::milliseconds patience_;
};

}  // namespace lastout::server
