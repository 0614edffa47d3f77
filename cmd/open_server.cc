#include "cmd/open_server.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "admission/review.h"
#include "client/access.h"
#include "client/backoff.h"
#include "cmd/lease_options.h"
#include "cmd/policy_clusters.h"

namespace lastout::cmd {
namespace {

using std::chrono::milliseconds;

// Questions take time, and reviews come first.
constexpr size_t kAnswerWorkers = 2;
constexpr size_t kMostQuestions = 32;  // that wait
constexpr size_t kMostAskers = 256;

// Returns how questions are answered, as --answers says; nullopt: they are not.
kube::Result<std::optional<server::QuestionServerOptions>> answersOf(const ServeOptions& options,
                                                                     const net::TlsIdentity& identity) {
  if (options.answers.empty() || options.answers == "none") return std::nullopt;
  const auto address = addressOf("--answers", options.answers);
  if (!address) return tl::unexpected(address.error());
  server::QuestionServerOptions answers;
  answers.http.address = address->host;
  answers.http.port = address->port;
  answers.http.identity = identity;
  answers.http.workers = kAnswerWorkers;
  answers.http.waiting = kMostQuestions;
  answers.http.connections = kMostAskers;
  answers.http.request.body = 0;
  return answers;
}

spdlog::level::level_enum levelOf(server::Level level) {
  switch (level) {
    case server::Level::Info:
      return spdlog::level::info;
    case server::Level::Warning:
      return spdlog::level::warn;
    case server::Level::Error:
      break;
  }
  return spdlog::level::err;
}

LogLine lineOf(const server::ReviewResult& verdict) {
  LogLine line(spdlog::level::info, verdict.allowed    ? "allowed"
                                    : verdict.enforced ? "denied"
                                                       : "would be denied");
  line.add("operation", admission::toString(verdict.operation))
      .add("object", toString(verdict.object))
      .add("user", verdict.user)
      .add("reason", admission::toString(verdict.reason))
      .add("confirmed", verdict.confirmed)
      .add("dryRun", verdict.dryRun)
      .add("uid", verdict.uid)
      .add("tookMicroseconds", verdict.took.count());
  if (!verdict.allowed)
    line.add("why", verdict.message).add("revision", static_cast<int64_t>(verdict.revision));
  return line;
}

}  // namespace

ServerOpened openServer(const ServeOptions& options, const ListenAddress& address,
                        const ServeIdentity& identity, client::ConnectionConfig cluster, Log& log) {
  auto webhook = webhookOf(options, address, cluster.server, identity.authorities);
  if (!webhook) return tl::unexpected(kube::Errors{std::move(webhook.error())});
  for (const std::string& warning : cluster.warnings) log.write(spdlog::level::warn, warning);
  auto access = client::Access::open(std::move(cluster), [] { return int64_t{std::time(nullptr)}; });
  if (!access) return tl::unexpected(kube::Errors{std::move(access.error())});

  auto policyClusters = openPolicyClusters(options.policyClusters, [&log](const std::string& warning) {
    log.write(spdlog::level::warn, warning);
  });
  if (!policyClusters) return tl::unexpected(std::move(policyClusters.error()));
  auto answers = answersOf(options, identity.tls);
  if (!answers) return tl::unexpected(kube::Errors{std::move(answers.error())});

  server::ServerOptions serving;
  serving.roles = rolesOf(options);
  serving.answers = std::move(*answers);
  serving.version = LASTOUT_VERSION;
  serving.http.address = address.host;
  serving.http.port = address.port;
  serving.http.identity = identity.tls;
  serving.http.connections = std::min(serving.http.connections, roomForConnections(kMostAskers));
  serving.view.ownNamespace = options.ownNamespace;
  serving.view.holdsAfter = std::chrono::seconds(options.holdAfter);
  serving.reviews.denyStatus = options.denyStatus;
  serving.reviews.auditOnly = options.auditOnly;
  serving.webhook = std::move(*webhook);
  serving.webhookScope =
      options.webhookScope == "types" ? server::WebhookScope::Types : server::WebhookScope::Objects;
  serving.policies =
      options.policies == "webhook" ? protection::PolicyMode::Webhook : protection::PolicyMode::ApiServer;
  serving.keptPolicies = keptPoliciesOf(options).value();
  serving.ownLabels = ownLabelsOf(options).value();
  serving.certificates = secretOf(options);
  auto lease = leaseOf({options.leaseNamespace, options.ownNamespace, options.leaseName, options.identity},
                       client::newRandomFraction());
  if (!lease) return tl::unexpected(kube::Errors{std::move(lease.error())});
  serving.identity = lease->identity;
  serving.lease = std::move(*lease);
  serving.holdsPolicies = options.holdPolicies;
  serving.labelsPolicies = options.labelPolicies;
  serving.replayedTypes = replayedTypesOf(options).value();
  serving.policyClusters = std::move(*policyClusters);
  serving.requesters = requestersOf(options);
  serving.random = client::newRandomFraction;
  serving.log = [&log](server::Level level, const std::string& line) { log.write(levelOf(level), line); };
  serving.verdict = [&log](const server::ReviewResult& verdict) { log.write(lineOf(verdict)); };
  serving.restored = [&log](milliseconds unguarded) {
    log.write(LogLine(spdlog::level::err, "the webhook configuration was changed, and is put back")
                  .add("unguardedMilliseconds", unguarded.count()));
  };
  auto server = server::Server::open(*access, std::move(serving));
  if (!server) return tl::unexpected(kube::Errors{std::move(server.error())});
  return std::move(*server);
}

}  // namespace lastout::cmd
