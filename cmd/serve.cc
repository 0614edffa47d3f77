// lastout serve: the admission server beside a real API server.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <ctime>
#include <iostream>

#include "client/find_connection.h"
#include "cmd/commands.h"
#include "cmd/listening.h"
#include "cmd/log.h"
#include "cmd/open_server.h"
#include "cmd/serve_identity.h"
#include "cmd/serve_options.h"
#include "cmd/settings.h"
#include "cmd/usage.h"
#include "server/server.h"

namespace lastout::cmd {

namespace {

using std::chrono::milliseconds;

constexpr const char* kServeExamples = R"(Examples:
  lastout serve                                      beside the cluster of KUBECONFIG, for API servers on this machine
  lastout serve --kubeconfig lastout.kubeconfig      beside an embedded cluster (lastout up)
  lastout serve --audit-only                         says what it would deny, and allows everything
  lastout serve --deny-status 429                    kubectl asks again for most of a minute before it gives up
  lastout serve --config serve.yaml                  options from a file: "deny-status: 429", a line each
  lastout serve --listen 0.0.0.0:9443 --service lastout/lastout --tls-cert tls.crt --tls-key tls.key --tls-ca ca.crt
  lastout serve --listen 0.0.0.0:9443 --service lastout/lastout --tls-secret lastout/lastout-tls --own-namespace lastout
  lastout serve --roles webhook --listen 0.0.0.0:9443 --tls-secret lastout/lastout-tls --own-namespace lastout
  lastout serve --roles controller --service lastout/lastout --tls-secret lastout/lastout-tls --own-namespace lastout

What the command line leaves out comes from the environment, LASTOUT_DENY_STATUS for --deny-status, and otherwise from
the file of --config.

Exit codes: 0 ended by Ctrl-C or SIGTERM; 2 bad input, no cluster is configured, or the address is taken.)";

constexpr milliseconds kGrace{10'000};
constexpr std::chrono::seconds kLookAtFiles{5};

// Reads the files of a certificate again.
class CertificateReload {
 public:
  // `authorities` vouch for the certificate in use.
  CertificateReload(const ServeOptions& options, server::Server& server, std::string authorities)
      : options_(options), server_(server), inUse_(std::move(authorities)) {}

  // Whether what the files hold is used from now on. A new authority is trusted first; not before API
  // servers can know is its certificate used. Fails with what is wrong with the files.
  kube::Result<bool> attempt() {
    auto read = identityInFiles(options_);
    if (!read) return tl::unexpected(std::move(read.error().front()));
    if (options_.certificate.empty()) return done(server_.useClientAuthority(read->tls.clientCa));
    if (read->authorities != inUse_) {
      if (read->authorities != announced_) server_.trust(read->authorities + inUse_);
      const bool isNew = std::exchange(announced_, read->authorities) != read->authorities;
      if (isNew || !server_.isTrusted(read->authorities)) return false;
    }
    auto used = done(server_.use(read->tls));
    if (used) inUse_ = std::move(read->authorities);
    return used;
  }

 private:
  static kube::Result<bool> done(kube::Result<void> used) {
    if (!used) return tl::unexpected(std::move(used.error()));
    return true;
  }

  const ServeOptions& options_;
  server::Server& server_;
  std::string inUse_;
  std::string announced_;
};

// Until a signal ends it. Files that have changed are read again, until they can be used.
void waitForTheEnd(IdentityFiles& files, CertificateReload reload, const sigset_t& ending, Log& log) {
  std::string problem;
  bool waits = false;
  const timespec pause{std::chrono::seconds(kLookAtFiles).count(), 0};
  while (sigtimedwait(&ending, nullptr, &pause) < 0) {
    log.countLost();
    if (!files.haveChanged()) continue;
    const auto used = reload.attempt();
    const std::string said = used ? "" : toString(used.error());
    if (used && *used) {
      files.used();
      log.write(spdlog::level::info, "the certificate was read again");
    }
    if (used && !*used && !waits)
      log.write(spdlog::level::info,
                "another certificate is used as soon as the webhook configuration names who vouches for it");
    waits = used && !*used;
    if (!used && said != problem)
      log.write(spdlog::level::err, "the certificate cannot be read again: " + said);
    problem = said;
  }
}

// Answers for so long, ready no more; another signal ends that.
void announceEnd(server::Server& server, milliseconds delay, const sigset_t& ending, Log& log) {
  if (delay <= milliseconds(0)) return;
  server.announceEnd();
  log.write(LogLine(spdlog::level::info, "it ends, and answers until then")
                .add("shutdownDelayMilliseconds", delay.count()));
  const auto until = std::chrono::steady_clock::now() + delay;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec pause{seconds.count(), (left - seconds).count()};
    if (sigtimedwait(&ending, nullptr, &pause) >= 0) return;
  }
}

void sayWhatItDoes(const ServeOptions& options, const server::Server& server, const std::string& cluster) {
  const server::Roles roles = rolesOf(options);
  if (const std::string url = server.answersUrl(); !url.empty())
    std::cout << "lastout serve: gives /metrics, /graph and /why at " << url << "\n";
  if (roles.webhook)
    std::cout << "lastout serve: decides deletions in " << cluster << ", listens at https://"
              << options.listen.substr(0, options.listen.rfind(':') + 1) << server.port() << "\n";
  if (!roles.controller)
    std::cout << "lastout serve: runs no deferred deletions; that is for those with the role controller\n";
  if (!roles.webhook)
    std::cout << "lastout serve: runs the deferred deletions of " << cluster
              << ", and keeps the webhook configuration; those with the role webhook decide deletions\n";
  std::cout << "Ctrl-C ends it.\n" << std::flush;
}

int runServe(const ServeOptions& options) {
  const sigset_t ending = blockEndingSignals();
  if (const kube::Errors problems = problemsOf(options); !problems.empty()) return badInput(problems);
  const auto address = addressOf("--listen", options.listen);
  if (!address) return badInput(address.error());
  const auto shutdownDelay = durationOf("--shutdown-delay", options.shutdownDelay);
  if (!shutdownDelay) return badInput(shutdownDelay.error());
  IdentityFiles files(options);
  const auto identity = identityOf(options, address->host);
  if (!identity) return badInput(identity.error());
  auto connection =
      client::findConnection({options.kubeconfig, options.context}, client::processEnvironment());
  if (!connection) return badInput(connection.error());
  const std::string cluster = toString(connection->server);
  Log log;
  auto server = openServer(options, *address, *identity, std::move(*connection), log);
  if (!server) return badInput(server.error());
  sayWhatItDoes(options, **server, cluster);
  const server::Roles serves = rolesOf(options);
  waitForTheEnd(files, CertificateReload(options, **server, identity->authorities), ending, log);
  const bool isStillAsked = serves.webhook && serves.controller && !options.auditOnly &&
                            (*server)->standing().webhookInForce.value_or(false);
  (*server)->cleanUp(kGrace);
  announceEnd(**server, *shutdownDelay, ending, log);
  (*server)->stop(kGrace);
  if (isStillAsked) {
    std::cout
        << "lastout serve: the API server still asks it, and takes no answer for a denial. Unless another "
           "replica answers:\n  kubectl delete validatingwebhookconfiguration lastout\n";
  }
  return kOk;
}

}  // namespace

void addServe(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Decide deletions in a real cluster, as its admission webhook");
  command->footer(kServeExamples);
  command
      ->add_option("--roles", options->roles,
                   "What this process does, separated by commas: webhook answers reviews, and writes nothing "
                   "but the status of CriticalServices and Events; controller does everything else, and "
                   "answers no reviews")
      ->delimiter(',')
      ->check(eitherOf(kWebhookRole, kControllerRole))
      ->capture_default_str();
  command->add_option("--config", options->config,
                      "A YAML file with any of these options, without the dashes");
  addKubeconfig(*command, options->kubeconfig, options->context);
  command->add_option("--listen", options->listen, "Address and port")->capture_default_str();
  command
      ->add_option(
          "--answers", options->answers,
          "Where /metrics, /graph and /why are answered; \"none\": nowhere. At a loopback address by "
          "plain HTTP, anywhere else by HTTPS to whoever has a token")
      ->capture_default_str();
  command->add_option("--url", options->url,
                      "Where API servers reach it; without it the address it listens at");
  command->add_option("--service", options->service, "Or the Service by which they do: namespace/name");
  command->add_option("--tls-cert", options->certificate,
                      "Its certificate; without it one is made at each start. Read again when it changes");
  command->add_option("--tls-key", options->key, "The key of that certificate");
  command->add_option("--tls-ca", options->authority, "Who vouches for that certificate; without it, itself");
  command->add_option(
      "--tls-secret", options->secret,
      "Or the Secret, namespace/name, with the certificate of all replicas; made when there is "
      "none, and renewed in time");
  command->add_option("--client-ca", options->clientAuthority,
                      "Reviews are taken from its clients alone, so that what persons asked for counts; the "
                      "same for both roles");
  command
      ->add_option("--manage-webhook", options->manageWebhook,
                   "Keep the webhook configuration; false leaves it to others")
      ->check(eitherOf("true", "false"))
      ->capture_default_str();
  command
      ->add_option(
          "--webhook-scope", options->webhookScope,
          "What the webhook configuration asks about: objects, the guarded ones alone; types, all of their "
          "types, for API servers without matchConditions (before Kubernetes 1.28)")
      ->check(eitherOf("objects", "types"))
      ->capture_default_str();
  command
      ->add_option(
          "--policies", options->policies,
          "Where DeletionPolicies run: apiserver, what a request alone tells as ValidatingAdmissionPolicies "
          "and the rest in the webhook; webhook, all of them there, where lastout may write no such "
          "policies, or for API servers before Kubernetes 1.30. The same for both roles")
      ->check(eitherOf("apiserver", "webhook"))
      ->capture_default_str();
  command
      ->add_option("--profile", options->profiles,
                   "Apply the deletion policies of another system (lastout policy list), and keep them; "
                   "several with commas between them")
      ->delimiter(',');
  command
      ->add_option(
          "--own-labels", options->ownLabels,
          "KEY=VALUE, a label of the webhook configuration and the Secret that it makes; several with "
          "commas between them")
      ->delimiter(',');
  command->add_option("--own-namespace", options->ownNamespace, "The namespace that it runs in");
  command
      ->add_option(
          "--deny-status", options->denyStatus,
          "Of a denied DELETE: 403, or 429, with which kubectl asks again by itself, ten times in 50 s")
      ->check(eitherOf("403", "429"))
      ->capture_default_str();
  command->add_option("--lease-namespace", options->leaseNamespace,
                      "Where its Lease is, whose holder writes the status of CriticalServices; without it "
                      "--own-namespace, or else default");
  command->add_option("--lease-name", options->leaseName, "The name of that Lease")->capture_default_str();
  command->add_option("--identity", options->identity,
                      "Who it is in that Lease; without it the host's name and a number made at each start");
  command
      ->add_option("--defer-for", options->deferFor,
                   "Users, separated by commas, whose denied deletions are run later, beside the garbage "
                   "collector's, the namespace controller's and klusterlet-work-sa's")
      ->delimiter(',');
  command
      ->add_option("--policy-cluster", options->policyClusters,
                   "NAME=KUBECONFIG of another cluster, on which ancestors are that policies name "
                   "(ancestor.cluster); several with commas between them. It is only read")
      ->delimiter(',');
  command
      ->add_option("--hold-after", options->holdAfter,
                   "Seconds after which a provider's finalizer counts: longer than any request to the API "
                   "servers takes (their --request-timeout, 60 s)")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  command
      ->add_option(
          "--shutdown-delay", options->shutdownDelay,
          "When SIGTERM ends it: how long it goes on answering, not ready, so that API servers learn "
          "to ask another replica; 5s for one")
      ->capture_default_str();
  command->add_flag("--hold-policies", options->holdPolicies,
                    "Set finalizers for deletion policies with enforcement Hold, and run the deletion of "
                    "what they hold");
  command->add_option("--external-step", options->externalStep)->group("");  // not in --help
  command->add_flag("--label-policies", options->labelPolicies,
                    "Write the labels that deletion policies keep on their objects, and repair them; without "
                    "it people label the objects");
  command
      ->add_option("--replay-deletions", options->replayDeletions,
                   "TYPE, as in deployments.apps: run the deletions of such objects that annotations "
                   "ask for (lastout.dev/delete-when-free), once nothing lists them for a deletion policy; "
                   "several with commas between them. The same for both roles")
      ->delimiter(',');
  command->add_flag("--audit-only", options->auditOnly, "Log verdicts, and allow everything");
  command->callback([options, command, &exitCode] {
    const auto taken = takeSettings(*command, ownVariables(client::processEnvironment()));
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() > 0) options->given.insert(option->get_single_name());
    }
    exitCode = taken ? runServe(*options) : badInput(taken.error());
  });
}

}  // namespace lastout::cmd
