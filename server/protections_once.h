// protectionsOnce: what the DeletionPolicies of a cluster say to a DELETE of one object, asked once, through
// the same view, watches and reviews as `lastout serve`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/reflector.h"
#include "kube/resource_map.h"
#include "protection/evaluate.h"
#include "server/live_view.h"

namespace lastout::server {

struct ProtectionsOnce {
  std::vector<protection::Denial> denials;  // of a DELETE by somebody of whom nothing is known
  std::string warning;                      // why policies or the object could not be read; empty: they were
};

// `live`: which types there are. What is not told until `deadline` counts as unknown. An object that is not
// there, or is being deleted, is not protected.
ProtectionsOnce protectionsOnce(const std::shared_ptr<client::Access>& access, const LiveView& live,
                                const kube::ResourceType& type, const kube::ObjectKey& object,
                                const std::function<client::RandomFraction()>& random, TimePoint deadline);

}  // namespace lastout::server
