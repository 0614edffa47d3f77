#include "cmd/policy_clusters.h"

#include <ctime>
#include <utility>

#include "client/access.h"
#include "client/find_connection.h"
#include "kube/messages.h"
#include "kube/names.h"

namespace lastout::cmd {

kube::Result<std::vector<PolicyClusterOption>> policyClustersOf(const std::vector<std::string>& texts) {
  const auto fail = [](std::string why) {
    return tl::unexpected(kube::Error{"--policy-cluster: " + std::move(why), {}, {}});
  };
  std::vector<PolicyClusterOption> clusters;
  clusters.reserve(texts.size());
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size())
      return fail("write it as NAME=KUBECONFIG, not " + kube::inQuotes(text));
    PolicyClusterOption one{text.substr(0, equals), text.substr(equals + 1)};
    if (!kube::isDnsLabel(one.name))
      return fail(kube::inQuotes(one.name) + " is no name of a cluster: it must be a DNS label, as in " +
                  "control-plane");
    for (const PolicyClusterOption& other : clusters)
      if (other.name == one.name) return fail("two clusters are named " + one.name);
    clusters.push_back(std::move(one));
  }
  return clusters;
}

tl::expected<std::vector<server::NamedCluster>, kube::Errors> openPolicyClusters(
    const std::vector<std::string>& texts, const std::function<void(const std::string& warning)>& warn) {
  auto chosen = policyClustersOf(texts);
  if (!chosen) return tl::unexpected(kube::Errors{std::move(chosen.error())});
  std::vector<server::NamedCluster> clusters;
  clusters.reserve(chosen->size());
  for (PolicyClusterOption& one : *chosen) {
    auto connection = client::findConnection({one.kubeconfig, ""}, client::processEnvironment());
    if (!connection) return tl::unexpected(std::move(connection.error()));
    for (const std::string& warning : connection->warnings) warn("cluster " + one.name + ": " + warning);
    auto access = client::Access::open(std::move(*connection), [] { return int64_t{std::time(nullptr)}; });
    if (!access) return tl::unexpected(kube::Errors{std::move(access.error())});
    clusters.push_back({std::move(one.name), std::move(*access)});
  }
  return clusters;
}

}  // namespace lastout::cmd
