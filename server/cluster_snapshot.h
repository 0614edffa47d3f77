// takeClusterSnapshot: reads a cluster once, through the same view and watches as `lastout serve`; nothing is
// followed afterwards.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admission/known_cluster.h"
#include "client/access.h"
#include "client/reflector.h"
#include "kube/result.h"
#include "server/watch/policy_clusters.h"

namespace lastout::server {

struct ClusterSnapshotOptions {
  // The object that is asked about: looked up by itself where its type is not followed, or may not be listed;
  // empty: none.
  std::string reference;
  std::function<client::RandomFraction()> random;  // makes one for a thread of its own
  std::vector<NamedCluster> policyClusters = {};   // where ancestors may be besides
  std::chrono::milliseconds patience{30'000};      // until everything was listed, or refused
};

struct ClusterSnapshot {
  admission::KnownCluster cluster;
  std::vector<std::string> warnings;  // what is not known, since it may not or cannot be read
};

// Reads the cluster. Fails if the API server does not answer, if a type was neither listed nor refused in
// time, if CriticalServices cannot be read (then it is unknown what is guarded), or if the object cannot be
// looked up.
kube::Result<ClusterSnapshot> takeClusterSnapshot(const std::shared_ptr<client::Access>& access,
                                                  const ClusterSnapshotOptions& options);

}  // namespace lastout::server
