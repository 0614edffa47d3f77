// The clusters of --policy-cluster, on which ancestors are that deletion policies name: of `lastout serve`,
// and of `lastout why`.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "kube/result.h"
#include "server/watch/policy_clusters.h"

namespace lastout::cmd {

// One as the option says it.
struct PolicyClusterOption {
  std::string name;
  std::string kubeconfig;
};

// Reads NAME=KUBECONFIG. Fails with what is wrong with one, or that two have one name.
kube::Result<std::vector<PolicyClusterOption>> policyClustersOf(const std::vector<std::string>& texts);

// The same, with access to each. Nobody is asked yet: a cluster that cannot be reached is no bad input.
// `warn` is told what is odd about a kubeconfig.
tl::expected<std::vector<server::NamedCluster>, kube::Errors> openPolicyClusters(
    const std::vector<std::string>& texts, const std::function<void(const std::string& warning)>& warn);

}  // namespace lastout::cmd
