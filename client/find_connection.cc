#include "client/find_connection.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "client/kubeconfig.h"
#include "client/pem.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/parse.h"
#include "net/sockets.h"

namespace lastout::client {

namespace {

constexpr const char* kHostVariable = "KUBERNETES_SERVICE_HOST";
constexpr const char* kPortVariable = "KUBERNETES_SERVICE_PORT";

kube::Result<ServerAddress> serverOf(const Environment& environment) {
  const std::string host(valueOf(environment, kHostVariable));
  const std::string port(valueOf(environment, kPortVariable));
  if (!isInCluster(environment))
    return tl::unexpected(kube::Error{std::string(kHostVariable) + " and " + kPortVariable +
                                          " are not set, as they are in a Pod; name a kubeconfig",
                                      {},
                                      {}});
  const std::string url = "https://" + net::joinHostPort(host, port);
  auto server = parseServerAddress(url);
  if (server && server->path.empty()) return server;
  return tl::unexpected(kube::Error{std::string(kHostVariable) + " and " + kPortVariable + ": " +
                                        kube::inQuotes(url) + " is no server's address",
                                    {},
                                    {}});
}

}  // namespace

bool isInCluster(const Environment& environment) {
  return !valueOf(environment, kHostVariable).empty() && !valueOf(environment, kPortVariable).empty();
}

kube::Result<ConnectionConfig> inClusterConnection(const Environment& environment,
                                                   const std::string& folder) {
  auto server = serverOf(environment);
  if (!server) return tl::unexpected(std::move(server.error()));
  ConnectionConfig connection;
  connection.server = std::move(*server);
  connection.serverName = connection.server.host;
  connection.inCluster = true;

  const std::string authorityFile = folder + "/ca.crt";
  auto authority = kube::readFile(authorityFile, {.bytes = kMostPemBytes});
  if (!authority) return tl::unexpected(std::move(authority.error()));
  if (const auto problem = certificatesProblem(*authority))
    return tl::unexpected(kube::Error{*problem, authorityFile, {}});
  connection.authority = std::move(*authority);

  connection.authentication.tokenFile = folder + "/token";
  if (auto token = kube::readFile(connection.authentication.tokenFile, {.bytes = kMostPemBytes}); !token)
    return tl::unexpected(std::move(token.error()));

  // Not every Pod that is given a token is given this.
  std::string name = kube::readFile(folder + "/namespace", {.bytes = 4096}).value_or("");
  name.erase(std::remove(name.begin(), name.end(), '\n'), name.end());
  if (kube::isDnsLabel(name)) connection.defaultNamespace = std::move(name);
  return connection;
}

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
