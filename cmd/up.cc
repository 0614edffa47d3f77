// lastout up: an embedded cluster behind a Kubernetes API.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/commands.h"
#include "cmd/guard_inside.h"
#include "cmd/listening.h"
#include "cmd/paths.h"
#include "cmd/terminal.h"
#include "cmd/up_options.h"
#include "cmd/usage.h"
#include "kube/kubernetes_version.h"
#include "kube/locks.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "protection/profiles.h"
#include "replay/manifests.h"
#include "simulator/certificates.h"
#include "simulator/embedded_cluster.h"
#include "simulator/listener.h"
#include "simulator/loader.h"
#include "simulator/recorder.h"
#include "simulator/webhook_client.h"

namespace lastout::cmd {

namespace {

using simulator::EmbeddedCluster;
using simulator::EmbeddedOptions;
using simulator::Listener;
using simulator::ListenerOptions;

constexpr const char* kUpExamples = R"(Examples:
  lastout up                                             an empty cluster, until Ctrl-C
  lastout up --load scenarios/story-three-works.yaml     with the story's objects and its finalizer controller
  lastout up --guard inside --load scenarios/story-one-work.yaml
  lastout up --guard inside --profile karmada            with deletion policies of another system
  lastout up --speed 100 --pod-ready 0s                  controllers work a hundred times as fast
  lastout up --kubernetes 1.26                           answers as that Kubernetes does, where it differs
  lastout up --service demo/hook=127.0.0.1:9443          where a webhook's Service really listens
  lastout up --record session.jsonl                      writes down what clients do and what comes of it

Exit codes: 0 ended by Ctrl-C or SIGTERM; 2 bad input, the address is taken, or the
recording cannot be written.)";

kube::Error problem(std::string message) { return {std::move(message), {}, {}}; }

kube::Result<simulator::ServiceAddresses> servicesOf(const std::vector<std::string>& texts) {
  simulator::ServiceAddresses services;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || text.find('/') > equals)
      return tl::unexpected(
          problem("--service: \"" + text + "\" is no service; write it as namespace/name=127.0.0.1:9443"));
    if (const auto address = addressOf("--service", text.substr(equals + 1)); !address)
      return tl::unexpected(address.error());
    services[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return services;
}

tl::expected<simulator::Users, kube::Errors> usersOf(const std::string& file) {
  if (file.empty()) return simulator::Users{};
  const auto text = readInput(file);
  if (!text) return tl::unexpected(kube::Errors{text.error()});
  return simulator::parseUsers(*text, file);
}

// The admin's kubeconfig, for as long as the cluster is there; it is locked so long. Only its owner may read
// it: it holds a key.
class KubeconfigFile {
 public:
  // Fails when it cannot be written, and when somebody else's kubeconfig stands there, or that of a cluster
  // that runs.
  static kube::Result<KubeconfigFile> write(const std::string& path, std::string text) {
    if (std::ifstream file(path); file) {
      const std::string there{std::istreambuf_iterator<char>(file), {}};
      if (!there.empty() && there.find("\"current-context\": \"lastout\"") == std::string::npos)
        return tl::unexpected(problem("--kubeconfig-out: " + path +
                                      " is there already, and not of lastout: choose another name"));
      if (isLocked(path))
        return tl::unexpected(problem("--kubeconfig-out: " + path +
                                      " is of another lastout up, which runs: choose another name"));
    }
    const std::string unfinished = path + ".part";
    std::remove(unfinished.c_str());  // of whoever left it there: its mode would stay
    const int descriptor =
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    OpenFile file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "w"), &std::fclose);
    const bool written = file && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                         std::fflush(file.get()) == 0;
    if (written) ::flock(descriptor, LOCK_EX | LOCK_NB);
    if (!written || std::rename(unfinished.c_str(), path.c_str()) != 0) {
      if (file) std::remove(unfinished.c_str());
      return tl::unexpected(problem("--kubeconfig-out: cannot write \"" + path + "\""));
    }
    return KubeconfigFile(path, std::move(text), std::move(file));
  }

  // Unless another cluster has written its own there.
  void remove() const {
    std::ifstream file(path_);
    if (std::string{std::istreambuf_iterator<char>(file), {}} == text_) std::remove(path_.c_str());
  }

 private:
  using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  KubeconfigFile(std::string path, std::string text, OpenFile file)
      : path_(std::move(path)), text_(std::move(text)), file_(std::move(file)) {}

  static bool isLocked(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(descriptor);
    return locked;
  }

  std::string path_;
  std::string text_;
  OpenFile file_;  // which holds the lock
};

// What was loaded, for the greeting.
struct Loaded {
  size_t objects = 0;
  size_t controllers = 0;
  std::vector<std::string> unremoved;  // finalizers that no controller here removes
};

tl::expected<Loaded, kube::Errors> load(EmbeddedCluster& cluster, const UpOptions& options) {
  Loaded loaded;
  std::vector<std::string> files;
  if (!options.load.empty()) {
    auto expanded = expandPaths(options.load);
    if (!expanded) return tl::unexpected(kube::Errors{expanded.error()});
    files = std::move(*expanded);
  }
  std::vector<replay::InputFile> inputs;
  for (const std::string& name : std::set<std::string>(options.profiles.begin(), options.profiles.end())) {
    const auto profile = protection::findProfile(name);
    if (!profile) return tl::unexpected(kube::Errors{{"--profile: " + profile.error().message, {}, {}}});
    inputs.push_back({std::string(profile->file), std::string(profile->text)});
  }
  if (files.empty() && inputs.empty()) return loaded;
  std::vector<replay::ScenarioController> controllers;
  for (const std::string& file : files) {
    auto text = readInput(file);
    if (!text) return tl::unexpected(kube::Errors{text.error()});
    inputs.push_back(
        {file == kStandardInput ? std::string(replay::kStandardInputName) : file, std::move(*text)});
    if (file == kStandardInput) continue;
    const auto scenario = replay::loadIfScenario(file);
    if (!scenario) return tl::unexpected(scenario.error());
    if (*scenario)
      controllers.insert(controllers.end(), (*scenario)->controllers.begin(), (*scenario)->controllers.end());
  }
  const auto manifests = replay::readManifests(inputs);
  if (!manifests) return tl::unexpected(manifests.error());
  const auto objects = simulator::loadManifests(cluster, *manifests);
  if (!objects) return tl::unexpected(objects.error());
  if (auto added = simulator::addControllers(cluster, controllers); !added)
    return tl::unexpected(std::move(added.error()));
  printWarnings(objects->warnings);
  loaded.objects = objects->objects;
  loaded.controllers = controllers.size();
  loaded.unremoved = simulator::unremovedFinalizers(*manifests, controllers, options.guard == "inside");
  return loaded;
}

// Loads what is to be loaded once lastout reviews it (`guard` null: nobody does), and waits until all of it
// is guarded; nullopt: one of the signals `ending` came before that.
tl::expected<std::optional<Loaded>, kube::Errors> loadGuarded(EmbeddedCluster& cluster,
                                                              const UpOptions& options, GuardInside* guard,
                                                              const sigset_t& ending) {
  const auto inForce = [&]() -> tl::expected<bool, kube::Errors> {
    return guard == nullptr ? true : guard->waitUntilInForce(ending);
  };
  const auto before = inForce();
  if (!before) return tl::unexpected(before.error());
  if (!*before) return std::nullopt;
  auto loaded = load(cluster, options);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  const auto after = inForce();
  if (!after) return tl::unexpected(after.error());
  if (!*after) return std::nullopt;
  return *loaded;
}

constexpr size_t kMostFinalizersTold = 3;

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void greet(const UpOptions& options, const std::string& url, const Loaded& loaded) {
  std::cout << "lastout up: a Kubernetes API at " << url << " with " << counted(loaded.objects, "object");
  if (loaded.controllers > 0) std::cout << " and " << counted(loaded.controllers, "finalizer controller");
  std::cout << (options.guard == "inside" ? ", guarded by lastout" : "") << ".\n\n";
  if (!loaded.unremoved.empty())
    std::cout << "No controller here removes finalizer "
              << kube::listed(loaded.unremoved, kMostFinalizersTold)
              << ": run yours, or load a scenario that names one.\n\n";
  std::cout << "  export KUBECONFIG=" << std::filesystem::absolute(options.kubeconfig).string() << "\n"
            << "  kubectl get deployments --all-namespaces\n"
            << "  kubectl get namespaces --watch\n\n"
            << "Ctrl-C ends it (a background job: kill %1); nothing is kept.\n"
            << std::flush;
}

// Webhooks whose Service has no address here, each told once: a webhook whose failures are ignored fails
// without a word to clients.
class UnreachableServices {
 public:
  void tell(const simulator::Webhook& webhook, const std::string& why) {
    const kube::MutexLock lock(mutex_);
    if (told_.size() < kMostTold && told_.insert(webhook.configuration + "/" + webhook.name).second)
      printWarnings({{"webhook " + kube::inQuotes(webhook.name) + " cannot be called: " + why, {}, {}}});
  }

 private:
  static constexpr size_t kMostTold = 100;
  kube::Mutex mutex_;
  std::set<std::string> told_ LASTOUT_GUARDED_BY(mutex_);
};

// A recording may be somebody's test: it is not written over.
kube::Result<std::unique_ptr<simulator::Recorder>> openRecorder(const std::string& path) {
  if (path.empty()) return nullptr;
  std::error_code absent;
  if (std::filesystem::file_size(path, absent) > 0 && !absent)
    return tl::unexpected(
        problem("--record: " + path + " is there already: move it away, or choose another name"));
  return simulator::Recorder::open(path);
}

int runUp(const UpOptions& options) {
  const sigset_t ending = blockEndingSignals();
  const auto address = addressOf("--listen", options.listen);
  if (!address) return badInput({address.error()});
  auto services = servicesOf(options.services);
  if (!services) return badInput({services.error()});
  const auto podReady = durationOf("--pod-ready", options.podReady);
  if (!podReady) return badInput({podReady.error()});
  auto users = usersOf(options.tokens);
  if (!users) return badInput(users.error());
  const bool guardInside = options.guard == "inside";
  // Without rights for anybody everybody has all of them.
  if (guardInside && (options.rbac || !options.tokens.empty())) users->known.push_back(guardUser());
  const auto identity = makeIdentity("lastout up", address->host,
                                     {{"localhost", "kubernetes.default.svc"}, {"127.0.0.1", "::1"}});
  if (!identity) return badInput({identity.error()});
  const auto admin =
      simulator::makeClientCertificate(identity->authority, simulator::adminUser(), identity->validity);
  if (!admin) return badInput({admin.error()});

  EmbeddedCluster* stored = nullptr;  // before any webhook is called
  const simulator::ServiceAddresses addresses = *services;
  UnreachableServices unreachable;
  simulator::WebhookClient client(
      std::move(*services), [&stored](const std::string& namespaceName, const std::string& name) {
        const kube::MutexLock lock(stored->plane().mutex);
        return stored->plane().storage.find({kube::kServices, namespaceName, name}) != nullptr;
      });
  EmbeddedOptions embedded;
  embedded.timing.podReady = *podReady;
  embedded.speed = options.speed;
  embedded.seed = options.seed;
  embedded.authority = identity->authority.certificate;
  embedded.users = *users;
  embedded.kubernetes = kube::parseKubernetesVersion(options.kubernetes).value_or(kube::kNewestKubernetes);
  embedded.rbac = options.rbac;
  embedded.callWebhook = [&](const simulator::Webhook& webhook, const std::string& body) {
    auto response = client.post(webhook, body);
    if (!response && webhook.address.url.empty() &&
        !addresses.contains(webhook.address.serviceNamespace + "/" + webhook.address.serviceName))
      unreachable.tell(webhook, response.error());
    return response;
  };
  const auto recorder = openRecorder(options.record);
  if (!recorder) return badInput({recorder.error()});
  embedded.recorder = recorder->get();
  const auto discardRecording = [&] {
    if (*recorder != nullptr) std::filesystem::remove(options.record);  // nobody did anything yet
  };
  const auto failed = [&](const kube::Errors& errors) {
    discardRecording();
    return badInput(errors);
  };
  const kube::KubernetesVersion kubernetes = embedded.kubernetes;
  EmbeddedCluster cluster(std::move(embedded));
  stored = &cluster;

  ListenerOptions listening;
  listening.host = address->host;
  listening.port = address->port;
  listening.kubernetes = kubernetes;
  if (!options.plainHttp) {
    listening.certificate = identity->server.certificate;
    listening.privateKey = identity->server.key;
    listening.clientCa = identity->authority.certificate;
  }
  const bool everybodyIsAdmin = options.plainHttp && options.tokens.empty();
  auto listener = Listener::open(
      listening, [&cluster](const simulator::ExchangeRequest& request) { return cluster.handle(request); },
      [users = *users, everybodyIsAdmin](std::string_view token, const simulator::UserInfo* certificate)
          -> std::optional<simulator::UserInfo> {
        if (everybodyIsAdmin) return simulator::adminUser();
        if (certificate != nullptr) return *certificate;
        return simulator::userWithToken(users, token);
      });
  if (!listener) return failed({listener.error()});

  // The controllers' time begins when all that is loaded is guarded.
  cluster.clock().pause();
  std::unique_ptr<GuardInside> guard;
  if (guardInside) {
    auto opened = GuardInside::open(cluster, *identity);
    if (!opened) return failed(opened.error());
    guard = std::move(*opened);
  }
  const auto loaded = loadGuarded(cluster, options, guard.get(), ending);
  if (!loaded) return failed(loaded.error());
  if (!*loaded) {
    discardRecording();
    return kOk;
  }
  if (!options.profiles.empty() && options.guard == "none")
    printWarnings(
        {{"--profile: the policies are stored, and enforced by --guard inside or by a lastout serve",
          {},
          {}}});
  const std::string authority = options.plainHttp ? std::string() : identity->authority.certificate;
  const auto kubeconfig = KubeconfigFile::write(
      options.kubeconfig, simulator::kubeconfig((*listener)->url(), authority, {*admin, {}}));
  if (!kubeconfig) return failed({kubeconfig.error()});
  if (*recorder != nullptr) (*recorder)->marker(cluster.clock().now(), "what was to be loaded is loaded");
  cluster.clock().resume();
  cluster.start();
  (*listener)->start();
  greet(options, (*listener)->url(), **loaded);
  int signal = 0;
  sigwait(&ending, &signal);
  (*listener)->stop();
  cluster.stop();
  if (guard) guard->stop();
  kubeconfig->remove();
  if (*recorder == nullptr) return kOk;
  const auto recorded = (*recorder)->finish();
  return recorded ? kOk : badInput({recorded.error()});
}

}  // namespace

void addUp(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<UpOptions>();
  CLI::App* command =
      app.add_subcommand("up", "Run an embedded cluster behind a Kubernetes API, for kubectl");
  command->footer(kUpExamples);
  addUpOptions(*command, *options);
  command->callback([options, &exitCode] { exitCode = runUp(*options); });
}

}  // namespace lastout::cmd
