// ObjectClient: reads and writes single objects of a real API server for controllers: what is busy is asked
// again, what is written insists on the object as it was read, and no answer is read beyond a limit.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_server.h"
#include "client/metadata_stream.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "server/runtime/requests.h"

namespace lastout::server {

// One thread at a time.
class ObjectClient {
 public:
  // Both must outlive it.
  ObjectClient(client::ApiServer& server, const Patience& patience) : requests_(server, patience) {}

  // The object as it is now; nullopt: it is not there.
  Answered<std::optional<kube::Object>> get(const kube::ResourceType& type, const kube::ObjectKey& key) const;
  // All objects of the type in the namespace; empty: in all of them.
  Answered<std::vector<kube::Object>> list(const kube::ResourceType& type, std::string_view namespaceName,
                                           client::Content content) const;

  // A JSON merge patch of the very object with that metadata, as it was read; `subresource`: "status", or
  // empty. Returns the object as it is after that; nullopt: it is gone. Fails with a conflict
  // (isConflict()) when it has changed.
  Answered<std::optional<kube::Object>> patch(const kube::ResourceType& type, const kube::ObjectMeta& read,
                                              nlohmann::json change, std::string_view subresource = {}) const;
  Answered<std::optional<kube::Object>> setFinalizers(const kube::ResourceType& type,
                                                      const kube::ObjectMeta& read,
                                                      const std::vector<std::string>& finalizers) const;
  // Deletes the object with that uid, in the type's own manner. Returns false where it is gone. Fails with a
  // conflict when another one has its name, or its version is not that one; empty: any is.
  Answered<bool> remove(const kube::ResourceType& type, const kube::ObjectKey& key, const std::string& uid,
                        const std::string& resourceVersion = {}) const;

 private:
  Answered<std::optional<kube::Object>> change(const kube::ResourceType& type,
                                               const client::ApiRequest& request) const;

  const Requests requests_;
};

}  // namespace lastout::server
