#include "cmd/source.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

#include "client/access.h"
#include "client/api_server.h"
#include "client/backoff.h"
#include "client/connection.h"
#include "client/find_connection.h"
#include "client/http.h"
#include "client/secret.h"
#include "cmd/commands.h"
#include "cmd/paths.h"
#include "cmd/policy_clusters.h"
#include "kube/messages.h"
#include "net/http_server.h"
#include "replay/manifest_graph.h"
#include "server/cluster_snapshot.h"

namespace lastout::cmd {
namespace {

constexpr size_t kMostAnswered = size_t{64} << 20;
constexpr const char* kNoSource = "no FILE and no --server is given, so a cluster would be asked";

kube::Error sourceProblem(std::string message) { return {std::move(message), {}, {}}; }

tl::unexpected<kube::Errors> unusable(kube::Error error) {
  return tl::unexpected(kube::Errors{std::move(error)});
}

// Empty: the options fit together.
std::string contradiction(const SourceOptions& options) {
  const bool isCluster = !options.kubeconfig.empty() || !options.context.empty();
  const int sources = (options.paths.empty() ? 0 : 1) + (isServer(options) ? 1 : 0) + (isCluster ? 1 : 0);
  if (sources > 1) return "choose one: files, --server, or --kubeconfig";
  if (!isServer(options) && !options.tokenFile.empty()) return "--token-file is for a --server";
  const bool isAsked = options.paths.empty() && !isServer(options);
  if (!isAsked && !options.policyClusters.empty())
    return "--policy-cluster is for a cluster that is asked; a --server has its own";
  if (!isServer(options) && !options.authority.empty()) return "--server-ca is for a --server";
  return {};
}

tl::expected<admission::KnownCluster, kube::Errors> readCluster(const std::vector<std::string>& paths) {
  auto files = readInputs(paths);
  if (!files) return tl::unexpected(std::move(files.error()));
  auto manifests = replay::readManifests(*files);
  if (!manifests) return tl::unexpected(std::move(manifests.error()));
  auto built = replay::graphOf(*manifests);
  if (!built) return tl::unexpected(std::move(built.error()));
  printWarnings(built->warnings);
  admission::KnownCluster cluster(std::move(built->graph), std::move(built->guards),
                                  std::move(manifests->types));
  cluster.protections = std::move(built->protections);
  cluster.knowsAllProtections = true;
  cluster.specs = std::move(built->specs);
  return cluster;
}

server::ClusterSnapshotOptions questionAbout(const std::string& reference,
                                             std::vector<server::NamedCluster> others) {
  server::ClusterSnapshotOptions question;
  question.reference = reference;
  question.policyClusters = std::move(others);
  question.random = client::newRandomFraction;
  return question;
}

tl::expected<admission::KnownCluster, kube::Errors> askCluster(const SourceOptions& options,
                                                               const std::string& reference) {
  auto connection =
      client::findConnection({options.kubeconfig, options.context}, client::processEnvironment());
  if (!connection) {
    const bool isChosen = !options.kubeconfig.empty() || !options.context.empty();
    if (!isChosen) connection.error().insert(connection.error().begin(), sourceProblem(kNoSource));
    return tl::unexpected(std::move(connection.error()));
  }
  for (const std::string& warning : connection->warnings) printWarnings({sourceProblem(warning)});
  auto access = client::Access::open(std::move(*connection), [] { return int64_t{std::time(nullptr)}; });
  if (!access) return unusable(std::move(access.error()));
  auto others = openPolicyClusters(
      options.policyClusters, [](const std::string& warning) { printWarnings({sourceProblem(warning)}); });
  if (!others) return tl::unexpected(std::move(others.error()));
  auto asked = server::takeClusterSnapshot(*access, questionAbout(reference, std::move(*others)));
  if (!asked) return unusable(std::move(asked.error()));
  for (const std::string& warning : asked->warnings) printWarnings({sourceProblem(warning)});
  asked->cluster.now = std::chrono::sys_seconds(std::chrono::seconds(std::time(nullptr)));
  return std::move(asked->cluster);
}

// The token in a file, without the end of its line.
kube::Result<std::string> tokenIn(const std::string& file) {
  auto text = readInput(file);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
  if (const auto problem = client::tokenProblem(*text))
    return tl::unexpected(kube::Error{"the token " + *problem, file, {}});
  return text;
}

kube::Result<client::HttpOptions> serverOf(const SourceOptions& options) {
  auto address = client::parseServerAddress(options.server);
  if (!address) {
    std::string problem = "--server: " + address.error().message;
    if (options.server.find("://") == std::string::npos)
      problem += ", or on this machine as http://127.0.0.1:9090";
    return tl::unexpected(sourceProblem(std::move(problem)));
  }
  client::HttpOptions http;
  http.host = address->host;
  http.port = address->port;
  http.pathPrefix = address->path;
  http.tls = address->tls;
  const bool isHere = http.host == "localhost" || net::isLoopback(http.host);
  if (!http.tls && !isHere && !options.tokenFile.empty())
    return tl::unexpected(sourceProblem("--token-file: everybody on the way to " + options.server +
                                        " could read the token; use https://"));
  http.authorityHint = "--server-ca names the file of the one that vouches for it";
  if (options.authority.empty()) return http;
  auto authority = readInput(options.authority);
  if (!authority) return tl::unexpected(std::move(authority.error()));
  http.authorities = std::move(*authority);
  return http;
}

}  // namespace

void addSource(CLI::App& command, SourceOptions& options) {
  command.add_option("FILE", options.paths,
                     "Manifests or scenarios: files, folders of them, or - for the standard input");
  command.add_option("--server", options.server, "Or a lastout serve that answers: http://127.0.0.1:9090");
  command.add_option("--token-file", options.tokenFile, "A file with the token that the server asks for");
  command.add_option("--server-ca", options.authority,
                     "Who vouches for the server's certificate; without it, whom the system trusts");
  command.add_option(
      "--kubeconfig", options.kubeconfig,
      "Or a cluster, which is read once; without any source KUBECONFIG, the cluster that it runs in, "
      "or ~/.kube/config");
  command.add_option("--context", options.context, "A context of the kubeconfig");
}

tl::expected<ServerAnswer, kube::Errors> askServer(const SourceOptions& options, const std::string& target) {
  if (const std::string problem = contradiction(options); !problem.empty())
    return unusable(sourceProblem(problem));
  auto http = serverOf(options);
  if (!http) return unusable(std::move(http.error()));
  client::ApiRequest request;
  request.target = target;
  if (!options.tokenFile.empty()) {
    auto token = tokenIn(options.tokenFile);
    if (!token) return unusable(std::move(token.error()));
    request.authorization = "Bearer " + *token;
  }
  auto server = client::HttpApiServer::open(std::move(*http));
  if (!server) return unusable(std::move(server.error()));
  auto whole = client::fetch(**server, request, kMostAnswered);
  if (!whole) return unusable(std::move(whole.error()));
  return ServerAnswer{whole->answer.status, std::move(whole->body)};
}

kube::Error refusedBy(const SourceOptions& options, const ServerAnswer& answer) {
  std::string words = answer.body.substr(0, answer.body.find('\n'));
  return sourceProblem(options.server + " answered " + std::to_string(answer.status) + ": " +
                       kube::printable(words));
}

void addKubeconfig(CLI::App& command, std::string& kubeconfig, std::string& context) {
  command.add_option("--kubeconfig", kubeconfig,
                     "The cluster; without it KUBECONFIG, the cluster that it runs in, or ~/.kube/config");
  command.add_option("--context", context, "A context of the kubeconfig");
}

tl::expected<std::shared_ptr<client::Access>, kube::Errors> openCluster(const std::string& kubeconfig,
                                                                        const std::string& context) {
  auto connection = client::findConnection({kubeconfig, context}, client::processEnvironment());
  if (!connection) return tl::unexpected(std::move(connection.error()));
  for (const std::string& warning : connection->warnings) printWarnings({{warning, {}, {}}});
  auto access = client::Access::open(std::move(*connection), [] { return int64_t{std::time(nullptr)}; });
  if (!access) return tl::unexpected(kube::Errors{std::move(access.error())});
  return std::move(*access);
}

tl::expected<admission::KnownCluster, kube::Errors> knownCluster(const SourceOptions& options,
                                                                 const std::string& reference) {
  if (const std::string problem = contradiction(options); !problem.empty())
    return unusable(sourceProblem(problem));
  return options.paths.empty() ? askCluster(options, reference) : readCluster(options.paths);
}

}  // namespace lastout::cmd
