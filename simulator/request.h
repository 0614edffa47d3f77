// Request: what one HTTP request asks for, read from its method, path, query and body.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/model.h"
#include "kube/encoding.h"
#include "kube/kubernetes_version.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The path of a resource, under /api/v1 or /apis/<group>/<version>.
struct Target {
  std::string group;
  std::string version;
  std::string resource;
  std::string namespaceName;  // empty: all namespaces, or a cluster-scoped resource
  std::string name;           // empty: the collection
  std::string subresource;
};
// Reads the path of a resource and percent-decodes its parts; nullopt: it is no path of a resource.
std::optional<Target> parseTarget(std::string_view path);

using Query = kube::Query;

enum class VersionMatch : uint8_t { Unset, NotOlderThan, Exact };

// What lists, watches and deletions of collections understand. All of them fail with 400 or 422 where the API
// server does.
struct ListOptions {
  std::string labelSelector;
  std::string fieldSelector;
  std::optional<uint64_t> resourceVersion;  // nullopt: the latest
  VersionMatch match = VersionMatch::Unset;
  uint64_t limit = 0;  // 0: all
  std::string continueToken;
  bool watch = false;
  bool bookmarks = false;
  // Whether a watch begins with what is there; nullopt: not given, or not read (readsSendInitialEvents()).
  std::optional<bool> initialEvents;
  std::optional<std::chrono::seconds> timeout;  // of a watch; nothing, or 0: the server's own
};
ApiResult<ListOptions> parseListOptions(const Query& query, kube::KubernetesVersion kubernetes);
// Returns true if a GET of a collection is a watch, whatever else its query says.
bool asksToWatch(const Query& query);

// What creations, updates and patches understand.
struct WriteOptions {
  bool dryRun = false;
  std::string fieldManager;
  std::string fieldValidation;  // "Ignore", "Warn" or "Strict"; empty: not given
  // As reviews carry them; `kind` is "CreateOptions" or "UpdateOptions".
  Json asGiven(std::string_view kind) const;
};
// `kind`: as messages call them: "CreateOptions", "UpdateOptions", "PatchOptions".
ApiResult<WriteOptions> parseWriteOptions(std::string_view kind, const Query& query);

struct DeleteOptions {
  bool dryRun = false;
  std::optional<cluster::PropagationPolicy> policy;
  std::optional<int64_t> gracePeriodSeconds;
  std::optional<std::string> uid;              // preconditions
  std::optional<std::string> resourceVersion;  // preconditions
  // As reviews carry them: {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", ...} with what was
  // given.
  Json asGiven() const;
};
// From the query, and from the body where there is one (null: none), which counts first. Fails with 400 for a
// body that is no DeleteOptions, with 422 for values that are none of theirs: nothing that was asked for is
// passed over.
ApiResult<DeleteOptions> parseDeleteOptions(const Query& query, const Json& body);

// --- Query: the part of a URL after its "?", taken apart (kube/encoding.h), for answers of the API.

// Fails with 400 where kube::parseQuery() fails.
ApiResult<Query> parseQuery(std::string_view text);

}  // namespace lastout::simulator
