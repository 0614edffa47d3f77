// lastout uninstall: nothing of lastout's holds or denies anything in a cluster any more.
#include "server/uninstall/uninstall.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "client/access.h"
#include "cmd/commands.h"
#include "cmd/lease_options.h"
#include "cmd/source.h"
#include "cmd/usage.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "server/check/shipped_objects.h"

namespace lastout::cmd {
namespace {

constexpr const char* kUninstallExamples = R"(Examples:
  lastout uninstall                                 in the cluster of KUBECONFIG, before kubectl delete -k deploy/
  lastout uninstall --dry-run                       says what would be done
  lastout uninstall --yes                           although a teardown is under way, which nobody orders then
  lastout uninstall --kubeconfig lastout.kubeconfig --lease-namespace default   where lastout serve ran outside of it

In this order: lastout's Deployments, and their Pods; the ValidatingAdmissionPolicyBindings made of DeletionPolicies; the webhook
configuration; lastout's finalizers, and those by which DeletionPolicies hold objects; the ValidatingAdmissionPolicies made of
DeletionPolicies; the deletions that CriticalServices record; the certificate's Secret; the Leases. Where the policies
lastout-installation and lastout-configuration are in the way, their bindings go first. It may be interrupted, and run again. A
Deployment that a DeletionPolicy protects is scaled to 0 first, and deleted after the webhook configuration.

A teardown is under way while deletions are deferred, or AppliedManifestWorks, providers or objects that DeletionPolicies hold
are being deleted and wait for lastout: these providers and objects go next, and what the works have applied the garbage
collector deletes, unguarded, in any order. Without --yes nothing is done then.

Exit codes: 0 done; 1 something is left, or a lastout serve still runs, or a teardown is under way; 2 bad input, or
the cluster does not answer.)";

struct UninstallChoice {
  std::string kubeconfig;
  std::string context;
  std::string namespaceName = server::kInstalledNamespace;
  LeaseChoice lease;
  std::string secret = server::kInstalledSecret;
  std::string timeout = "2m";
  bool dryRun = false;
  bool yes = false;
};

kube::Error wrong(const char* option, const std::string& value) {
  return {std::string(option) + ": " + kube::inQuotes(value) + " is no name", {}, {}};
}

kube::Result<server::UninstallOptions> uninstallOf(const UninstallChoice& choice) {
  if (!kube::isDnsLabel(choice.namespaceName))
    return tl::unexpected(wrong("--namespace", choice.namespaceName));
  LeaseChoice lease = choice.lease;
  lease.ownNamespace = choice.namespaceName;
  auto leases = leasesOf(lease);
  if (!leases) return tl::unexpected(leases.error());
  if (!kube::isDnsSubdomain(choice.secret)) return tl::unexpected(wrong("--tls-secret", choice.secret));
  const auto timeout = durationOf("--timeout", choice.timeout);
  if (!timeout) return tl::unexpected(timeout.error());
  server::UninstallOptions options;
  options.namespaceName = options.secretNamespace = choice.namespaceName;
  options.secretName = choice.secret;
  options.timeout = *timeout;
  options.dryRun = choice.dryRun;
  options.dropsDeferredDeletions = choice.yes;
  options.leases = std::move(*leases);
  options.patience = {[] { return std::chrono::steady_clock::now(); },
                      [](std::chrono::milliseconds pause) { std::this_thread::sleep_for(pause); }};
  options.tell = [](const std::string& line) { std::cout << line << "\n" << std::flush; };
  options.complain = [](const std::string& line) { std::cerr << "lastout uninstall: " << line << "\n"; };
  return options;
}

int runUninstall(const UninstallChoice& choice) {
  const auto options = uninstallOf(choice);
  if (!options) return badInput(options.error());
  const auto access = openCluster(choice.kubeconfig, choice.context);
  if (!access) return badInput(access.error());
  const auto server = (*access)->newServer();
  const auto isDone = server::uninstall(*server, *options);
  if (!isDone) return badInput(isDone.error());
  return *isDone ? kOk : kFailed;
}

}  // namespace

void addUninstall(CLI::App& app, int& exitCode) {
  auto choice = std::make_shared<UninstallChoice>();
  CLI::App* command = app.add_subcommand(
      "uninstall", "Take away what of lastout would still hold or deny something in a cluster");
  command->footer(kUninstallExamples);
  addKubeconfig(*command, choice->kubeconfig, choice->context);
  command->add_option("-n,--namespace", choice->namespaceName, "Where lastout is installed")
      ->capture_default_str();
  addLeases(*command, choice->lease);
  command->add_option("--tls-secret", choice->secret, "The Secret with its certificate, in --namespace")
      ->capture_default_str();
  command->add_option("--timeout", choice->timeout, "How long to wait for its Pods to be gone")
      ->capture_default_str();
  command->add_flag("--dry-run", choice->dryRun, "Say what would be done, and change nothing");
  command->add_flag("--yes", choice->yes, "Go on although a teardown is under way, which nobody orders then");
  command->callback([choice, &exitCode] { exitCode = runUninstall(*choice); });
}

}  // namespace lastout::cmd
