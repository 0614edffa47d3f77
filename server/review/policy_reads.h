// PolicyReads: reads from the API server, past all caches, what deletion policies ask for: one ancestor, or
// the objects of a type that may be protected.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "client/access.h"
#include "client/metadata_stream.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "server/runtime/object_client.h"
#include "server/watch/live_view.h"

namespace lastout::server {

inline constexpr size_t kPageOfObjects = 250;

// Safe for any number of threads.
class PolicyReads {
 public:
  explicit PolicyReads(const std::shared_ptr<client::Access>& access) : server_(access->newServer()) {}
  PolicyReads(const PolicyReads&) = delete;
  PolicyReads& operator=(const PolicyReads&) = delete;

  // The whole object, as it was at one moment after this was called; nullopt: it is not there, though its
  // type is served. Fails with why that could not be read until `deadline`.
  kube::Result<std::optional<kube::Object>> get(const kube::ResourceType& type, const std::string& name,
                                                TimePoint deadline) const;

  // What to read of a type.
  struct Listing {
    std::string namespaceName;  // empty: of all
    std::string labelSelector;  // as of kubectl; empty: all
    bool withContent = false;   // false: metadata alone
    size_t most = 0;            // objects to go through; the page in which these end is told whole
  };
  // Reads the objects page by page, and calls `take` for each until it returns false. Returns false if there
  // are more than `most`. Fails if the read lasts beyond `deadline`, or with the API server's error.
  RequestResult<bool> list(const kube::ResourceType& type, const Listing& listing, TimePoint deadline,
                           const std::function<bool(kube::Object object)>& take) const;

  // Ends what is under way; from now on everything fails.
  void stop() { server_->stop(); }

 private:
  const std::unique_ptr<client::ApiServer> server_;
};

}  // namespace lastout::server
