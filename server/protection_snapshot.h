// Returns what DeletionPolicies say to a DELETE of one object, for /why and `lastout why`: from the policies
// that a view knows, or from a snapshot that uses the same view, watches and reviews as `lastout serve`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/reflector.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "protection/evaluate.h"
#include "server/watch/live_view.h"
#include "server/watch/policy_clusters.h"
#include "server/watch/policy_view.h"

namespace lastout::server {

struct CurrentProtections {
  std::vector<protection::Denial> denials;
  std::optional<kube::ObjectMeta> object;  // as it was read; nullopt: it was not, or is not there
};

// Returns what the policies of the view say to a DELETE of the object by an unknown user, and which of them
// would hold it. Reads the object, unless there are no policies; an object that does not exist is not
// protected. Fails if the object cannot be read.
kube::Result<CurrentProtections> currentProtections(const std::shared_ptr<client::Access>& access,
                                                    const LiveView& live, PolicyView& view,
                                                    const kube::ResourceType& type,
                                                    const kube::ObjectKey& object, TimePoint deadline);

struct ProtectionSnapshot {
  std::vector<protection::Denial> denials;  // as of currentProtections()
  std::string warning;                      // why policies or the object could not be read; empty: they were
};

// What to ask a cluster once.
struct ProtectionSnapshotOptions {
  kube::ResourceType type;
  kube::ObjectKey object;
  std::vector<NamedCluster> policyClusters;        // where ancestors may be besides
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  TimePoint deadline;                              // what is not told until then counts as unknown
};

// `live`: which types there are.
ProtectionSnapshot takeProtectionSnapshot(const std::shared_ptr<client::Access>& access, const LiveView& live,
                                          ProtectionSnapshotOptions question);

}  // namespace lastout::server
