// What the DeletionPolicies of a cluster say to a DELETE of one object, for those who ask why it stays: by
// the policies that are known, or once, through the same view, watches and reviews as `lastout serve`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/access.h"
#include "client/reflector.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "protection/evaluate.h"
#include "server/live_view.h"
#include "server/policy_view.h"

namespace lastout::server {

// Returns what the policies of the view say to a DELETE of the object by somebody of whom nothing is known,
// also what holds it then. The object is read; one that is not there is not protected. Without policies
// nothing is read. Fails where it cannot be read.
kube::Result<std::vector<protection::Denial>> protectionsNow(const std::shared_ptr<client::Access>& access,
                                                             const LiveView& live, PolicyView& view,
                                                             const kube::ResourceType& type,
                                                             const kube::ObjectKey& object,
                                                             TimePoint deadline);

struct ProtectionsOnce {
  std::vector<protection::Denial> denials;  // as of protectionsNow()
  std::string warning;                      // why policies or the object could not be read; empty: they were
};

// `live`: which types there are. What is not told until `deadline` counts as unknown.
ProtectionsOnce protectionsOnce(const std::shared_ptr<client::Access>& access, const LiveView& live,
                                const kube::ResourceType& type, const kube::ObjectKey& object,
                                const std::function<client::RandomFraction()>& random, TimePoint deadline);

}  // namespace lastout::server
