// OpenApi: the documents in which the API server says what its types look like, for `kubectl explain`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/kubernetes_version.h"
#include "kube/locks.h"
#include "simulator/json.h"
#include "simulator/served_type.h"

namespace lastout::simulator {

// Version 3: one document for each group and version, built when it is first asked for and again only when
// one of its types has changed. Safe for any number of threads.
class OpenApi {
 public:
  // /openapi/v3: where each document is, by an address that changes with its content.
  Json index(const TypeRegistry& types);

  // Returns /openapi/v3/api/v1 (the group is "") or /openapi/v3/apis/<group>/<version>: the paths of each
  // type, with the PATCH whose parameters tell kubectl that this server validates fields itself, and the
  // schemas of its objects; nullptr: it is not served.
  std::shared_ptr<const std::string> document(const TypeRegistry& types, const std::string& group,
                                              const std::string& version);

 private:
  struct Document {
    std::vector<ServedTypePointer> types;  // that it was built of
    std::shared_ptr<const std::string> text;
    std::string hash;
  };
  const Document& built(const TypeRegistry& types, const std::string& group, const std::string& version)
      LASTOUT_REQUIRES(mutex_);

  kube::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Document> documents_ LASTOUT_GUARDED_BY(mutex_);
};

// /openapi/v2, a document without paths: as JSON, and as the protobuf message that clients ask for
// (application/com.github.proto-openapi.spec.v2@v1.0+protobuf).
Json openApiV2(kube::KubernetesVersion kubernetes);
std::string openApiV2Protobuf(kube::KubernetesVersion kubernetes);

}  // namespace lastout::simulator
