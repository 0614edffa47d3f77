// lastout up: an embedded cluster behind a Kubernetes API.
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "apiserver/certificates.h"
#include "apiserver/embedded_cluster.h"
#include "apiserver/listener.h"
#include "apiserver/loader.h"
#include "apiserver/recorder.h"
#include "apiserver/webhook_client.h"
#include "cmd/commands.h"
#include "cmd/paths.h"
#include "cmd/terminal.h"
#include "kube/fields.h"
#include "scenarios/manifests.h"

namespace lastout::cmd {

namespace {

using apiserver::EmbeddedCluster;
using apiserver::EmbeddedOptions;
using apiserver::Listener;
using apiserver::ListenerOptions;

constexpr const char* kUpExamples = R"(Examples:
  lastout up                                             an empty cluster, until Ctrl-C
  lastout up --load scenarios/story-three-works.yaml     with the story's objects and its finalizer controller
  lastout up --guard inside --load scenarios/story-one-work.yaml
  lastout up --speed 100 --pod-ready 0s                  controllers work a hundred times as fast
  lastout up --service demo/hook=127.0.0.1:9443          where a webhook's Service really listens
  lastout up --record session.jsonl                      writes down what clients do and what comes of it

Exit codes: 0 ended by Ctrl-C or SIGTERM; 2 bad input, the address is taken, or the
recording cannot be written.)";

constexpr std::chrono::hours kCertificatesLast{24 * 365};

struct UpOptions {
  std::string listen = "127.0.0.1:0";
  bool plainHttp = false;
  std::vector<std::string> load;
  std::string kubeconfig = "lastout.kubeconfig";
  std::string guard = "none";
  double speed = 1;
  uint64_t seed = 1;
  std::string podReady = "1s";
  std::string tokens;
  std::vector<std::string> services;
  std::string record;
};

kube::Error problem(std::string message) { return {std::move(message), {}, {}}; }

kube::Result<std::pair<std::string, int>> addressOf(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + colon + 1, end, port).ptr != end) port = -1;
  }
  if (port < 0 || port > 65535 || colon == 0)
    return tl::unexpected(problem("\"" + text + "\" is no address; write it as 127.0.0.1:6443"));
  return std::pair(text.substr(0, colon), port);
}

kube::Result<apiserver::ServiceAddresses> servicesOf(const std::vector<std::string>& texts) {
  apiserver::ServiceAddresses services;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || text.find('/') > equals)
      return tl::unexpected(
          problem("\"" + text + "\" is no service; write it as namespace/name=127.0.0.1:9443"));
    if (const auto address = addressOf(text.substr(equals + 1)); !address)
      return tl::unexpected(address.error());
    services[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return services;
}

tl::expected<apiserver::Users, kube::Errors> usersOf(const std::string& file) {
  if (file.empty()) return apiserver::Users{};
  const auto text = readInput(file);
  if (!text) return tl::unexpected(kube::Errors{text.error()});
  return apiserver::parseUsers(*text, file);
}

// Everything that is secret or signed, made anew at each start.
struct Identity {
  apiserver::CertifiedKey authority;
  apiserver::CertifiedKey server;
  apiserver::CertifiedKey admin;
};

kube::Result<Identity> makeIdentity(const std::string& host) {
  const int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const apiserver::Validity validity{now - 60, now + std::chrono::seconds(kCertificatesLast).count()};
  Identity identity;
  auto authority = apiserver::makeAuthority("lastout up", validity);
  if (!authority) return tl::unexpected(authority.error());
  identity.authority = std::move(*authority);
  apiserver::ServerNames names{{"localhost", "kubernetes.default.svc"}, {"127.0.0.1", "::1"}};
  if (host != "127.0.0.1" && host != "localhost")
    (host.find_first_not_of("0123456789.:") == std::string::npos ? names.addresses : names.hosts)
        .push_back(host);
  auto server = apiserver::makeServerCertificate(identity.authority, names, validity);
  if (!server) return tl::unexpected(server.error());
  identity.server = std::move(*server);
  auto admin = apiserver::makeClientCertificate(identity.authority, apiserver::adminUser(), validity);
  if (!admin) return tl::unexpected(admin.error());
  identity.admin = std::move(*admin);
  return identity;
}

// Only its owner may read it: it holds a key.
kube::Result<void> writePrivately(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  std::error_code failed;
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
                               failed);
  file << text;
  file.close();
  if (!file || failed) return tl::unexpected(problem("cannot write " + path));
  return {};
}

// What was loaded, for the greeting.
struct Loaded {
  size_t objects = 0;
  size_t controllers = 0;
};

tl::expected<Loaded, kube::Errors> load(EmbeddedCluster& cluster, const std::vector<std::string>& paths) {
  Loaded loaded;
  if (paths.empty()) return loaded;
  const auto files = expandPaths(paths);
  if (!files) return tl::unexpected(kube::Errors{files.error()});
  std::vector<scenarios::InputFile> inputs;
  std::vector<scenarios::Controller> controllers;
  for (const std::string& file : *files) {
    auto text = readInput(file);
    if (!text) return tl::unexpected(kube::Errors{text.error()});
    inputs.push_back(
        {file == kStandardInput ? std::string(scenarios::kStandardInputName) : file, std::move(*text)});
    if (file == kStandardInput) continue;
    const auto scenario = scenarios::loadIfScenario(file);
    if (!scenario) return tl::unexpected(scenario.error());
    if (*scenario)
      controllers.insert(controllers.end(), (*scenario)->controllers.begin(), (*scenario)->controllers.end());
  }
  const auto manifests = scenarios::readManifests(inputs);
  if (!manifests) return tl::unexpected(manifests.error());
  const auto objects = apiserver::loadManifests(cluster, *manifests);
  if (!objects) return tl::unexpected(objects.error());
  if (auto added = apiserver::addControllers(cluster, controllers); !added)
    return tl::unexpected(std::move(added.error()));
  loaded.objects = *objects;
  loaded.controllers = controllers.size();
  return loaded;
}

void greet(const UpOptions& options, const std::string& url, const Loaded& loaded) {
  std::cout << "lastout up: a Kubernetes API at " << url << " with " << loaded.objects << " objects";
  if (loaded.controllers > 0) std::cout << " and " << loaded.controllers << " finalizer controllers";
  std::cout << (options.guard == "inside" ? ", guarded by lastout" : "") << ".\n\n"
            << "  export KUBECONFIG=" << std::filesystem::absolute(options.kubeconfig).string() << "\n"
            << "  kubectl get deployments --all-namespaces\n"
            << "  kubectl get events --all-namespaces --watch\n\n"
            << "Ctrl-C ends it; nothing is kept.\n"
            << std::flush;
}

int serve(const UpOptions& options) {
  const auto address = addressOf(options.listen);
  if (!address) return badInput({address.error()});
  auto services = servicesOf(options.services);
  if (!services) return badInput({services.error()});
  const auto podReady = kube::parseDuration(options.podReady);
  if (!podReady) return badInput({problem("--pod-ready: " + podReady.error().message)});
  auto users = usersOf(options.tokens);
  if (!users) return badInput(users.error());
  const auto identity = makeIdentity(address->first);
  if (!identity) return badInput({identity.error()});

  apiserver::WebhookClient client(std::move(*services));
  EmbeddedOptions embedded;
  embedded.timing.podReady = *podReady;
  embedded.speed = options.speed;
  embedded.seed = options.seed;
  embedded.guardInside = options.guard == "inside";
  embedded.authority = identity->authority.certificate;
  embedded.users = *users;
  embedded.callWebhook = [&client](const apiserver::Webhook& webhook, const std::string& body) {
    return client.post(webhook, body);
  };
  std::unique_ptr<apiserver::Recorder> recorder;
  if (!options.record.empty()) {
    auto opened = apiserver::Recorder::open(options.record);
    if (!opened) return badInput({opened.error()});
    recorder = std::move(*opened);
    embedded.recorder = recorder.get();
  }
  EmbeddedCluster cluster(std::move(embedded));

  ListenerOptions listening;
  listening.host = address->first;
  listening.port = address->second;
  if (!options.plainHttp) {
    listening.certificate = identity->server.certificate;
    listening.privateKey = identity->server.key;
    listening.clientCa = identity->authority.certificate;
  }
  const bool everybodyIsAdmin = options.plainHttp && options.tokens.empty();
  auto listener = Listener::open(
      listening, [&cluster](const apiserver::HttpRequest& request) { return cluster.handle(request); },
      [users = *users, everybodyIsAdmin](std::string_view token, const apiserver::UserInfo* certificate)
          -> std::optional<apiserver::UserInfo> {
        if (!token.empty()) return apiserver::userWithToken(users, token);
        if (certificate != nullptr) return *certificate;
        if (everybodyIsAdmin) return apiserver::adminUser();
        return std::nullopt;
      });
  if (!listener) return badInput({listener.error()});

  // Before any other thread starts, so that none of them is interrupted.
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  const auto loaded = load(cluster, options.load);
  if (!loaded) return badInput(loaded.error());
  const std::string authority = options.plainHttp ? std::string() : identity->authority.certificate;
  const auto written = writePrivately(
      options.kubeconfig, apiserver::kubeconfig((*listener)->url(), authority, {identity->admin, {}}));
  if (!written) return badInput({written.error()});
  if (recorder != nullptr) recorder->marker(cluster.clock().now(), "what was to be loaded is loaded");
  cluster.start();
  (*listener)->start();
  greet(options, (*listener)->url(), *loaded);
  int signal = 0;
  sigwait(&ending, &signal);
  (*listener)->stop();
  cluster.stop();
  if (recorder == nullptr) return kOk;
  const auto recorded = recorder->finish();
  return recorded ? kOk : badInput({recorded.error()});
}

}  // namespace

void addUp(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* command =
      app.add_subcommand("up", "Run an embedded cluster behind a Kubernetes API, for kubectl");
  command->footer(kUpExamples);
  command->add_option("--listen", options->listen, "Address and port; port 0 takes any that is free")
      ->capture_default_str();
  command->add_flag("--plain-http", options->plainHttp, "No TLS; without --tokens everybody is admin");
  command->add_option("--load", options->load, "Manifests or scenarios, or folders of them, to begin with");
  command
      ->add_option("--kubeconfig-out", options->kubeconfig, "Where the kubeconfig for its admin is written")
      ->capture_default_str();
  command
      ->add_option("--guard", options->guard,
                   "Who decides DELETEs: nobody but webhooks, or lastout in this process")
      ->check(CLI::IsMember({"none", "inside"}))
      ->capture_default_str();
  command
      ->add_option("--speed", options->speed, "How many times as fast as on a real cluster controllers work")
      ->check(CLI::Range(0.001, 1'000'000.0))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of uids and generated names")->capture_default_str();
  command->add_option("--pod-ready", options->podReady, "How long a Pod takes to become Ready")
      ->capture_default_str();
  command->add_option("--tokens", options->tokens, "A file of users, their tokens and rights");
  command->add_option("--service", options->services,
                      "Where a Service that webhooks name really listens: namespace/name=address:port");
  command->add_option("--record", options->record,
                      "A file for every request, review and change, one JSON a line; no secrets");
  command->callback([options, &exitCode] { exitCode = serve(*options); });
}

}  // namespace lastout::cmd
