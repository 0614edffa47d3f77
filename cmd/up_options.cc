#include "cmd/up_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cmd/usage.h"

namespace lastout::cmd {

namespace {

void addServedOptions(CLI::App& command, UpOptions& options) {
  command.add_option("--listen", options.listen, "Address and port; port 0 takes any that is free")
      ->capture_default_str();
  command.add_flag("--plain-http", options.plainHttp, "No TLS; without --tokens everybody is admin");
  command.add_option("--load", options.load, "Manifests or scenarios, or folders of them, to begin with");
  command.add_option("--profile", options.profiles,
                     "Deletion policies of another system to begin with (lastout policy list)");
  command.add_option("--kubeconfig-out", options.kubeconfig, "Where the kubeconfig for its admin is written")
      ->capture_default_str();
  command
      .add_option("--guard", options.guard,
                  "Who decides DELETEs: nobody but webhooks, or lastout, which then serves in this process")
      ->check(CLI::IsMember({"none", "inside"}))
      ->capture_default_str();
}

void addControllerOptions(CLI::App& command, UpOptions& options) {
  command
      .add_option("--speed", options.speed, "How many times as fast as on a real cluster controllers work")
      ->check(CLI::Range(0.001, 1'000'000.0))
      ->check([](const std::string& text) {
        return text.find_first_of("nN") == std::string::npos ? "" : "not a number";
      })
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Of uids and generated names")
      ->check(CLI::Validator(wholeNumber, "UINT64"))
      ->capture_default_str();
  command.add_option("--pod-ready", options.podReady, "How long a Pod takes to become Ready")
      ->capture_default_str();
  command
      .add_option("--kubernetes", options.kubernetes,
                  "The Kubernetes that answers, and whose rules are followed")
      ->check(CLI::IsMember(
          std::vector<std::string>(kube::kKubernetesVersions.begin(), kube::kKubernetesVersions.end())))
      ->capture_default_str();
}

void addClientOptions(CLI::App& command, UpOptions& options) {
  command.add_option("--tokens", options.tokens, "A file of users, their tokens and rights");
  command.add_flag("--rbac", options.rbac,
                   "Users may do what the stored Roles and bindings allow, and what --tokens does");
  command.add_option("--service", options.services,
                     "Where a Service that webhooks name really listens: namespace/name=address:port");
  command.add_option("--record", options.record,
                     "A file for every request, review and change, one JSON a line; no secrets");
}

}  // namespace

void addUpOptions(CLI::App& command, UpOptions& options) {
  addServedOptions(command, options);
  addControllerOptions(command, options);
  addClientOptions(command, options);
}

}  // namespace lastout::cmd
