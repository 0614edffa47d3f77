#include "client/find_connection.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "client/kubeconfig.h"

namespace lastout::client {
namespace {

std::vector<std::string> splitAtColons(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = std::min(text.find(':'), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

tl::expected<ConnectionConfig, kube::Errors> findConnection(const ConnectionChoice& choice,
                                                            const Environment& environment,
                                                            const std::string& serviceAccountFolder) {
  if (!choice.kubeconfig.empty()) return loadKubeconfig({choice.kubeconfig}, choice.context);
  const std::vector<std::string> named = splitAtColons(valueOf(environment, "KUBECONFIG"));
  if (!named.empty()) return loadKubeconfig(named, choice.context);
  if (choice.context.empty() && isInCluster(environment)) {
    auto connection = inClusterConnection(environment, serviceAccountFolder);
    if (!connection) return tl::unexpected(kube::Errors{std::move(connection.error())});
    return std::move(*connection);
  }
  const std::string_view home = valueOf(environment, "HOME");
  const std::string usual = std::string(home) + "/.kube/config";
  std::error_code unknown;
  if (!home.empty() &&
      std::filesystem::status(usual, unknown).type() != std::filesystem::file_type::not_found)
    return loadKubeconfig({usual}, choice.context);
  return tl::unexpected(kube::Errors{
      {"no cluster is named: give --kubeconfig, set KUBECONFIG, have a ~/.kube/config, or run in a cluster",
       {},
       {}}});
}

}  // namespace lastout::client
