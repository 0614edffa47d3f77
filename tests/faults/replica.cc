#include "tests/faults/replica.h"

#include <gtest/gtest.h>

#include <ctime>
#include <utility>

#include "simulator/certificates.h"
#include "tests/faults/fault_world.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::Json;
using std::chrono::milliseconds;

constexpr const char* kFaultAgent = "agent";  // as the embedded cluster calls it
constexpr const char* kServiceHost = "lastout.lastout.svc";

}  // namespace

Replica::Replica(FaultWorld& world, std::string identity, server::Roles roles, Runs runs)
    : identity(std::move(identity)),
      api([this, &world](const ExchangeRequest& request) {
        world.noteRequest(request);
        note(request);
        return world.cluster().handle(request);
      }),
      world_(world),
      roles_(roles),
      runs_(runs) {
  connect();
}

Replica::~Replica() {
  kill();
  disconnect();
}

void Replica::connect() {
  if (listener_) return;
  simulator::ListenerOptions options;
  options.port = port_;
  options.certificate = world_.pki_.server.certificate;
  options.privateKey = world_.pki_.server.key;
  options.clientCa = world_.pki_.authority.certificate;
  const auto authenticate = [](std::string_view, const simulator::UserInfo* certificate) {
    return certificate == nullptr ? std::nullopt : std::optional(*certificate);
  };
  listener_ =
      simulator::Listener::open(
          options, [this](const ExchangeRequest& request) { return api.handle(request); }, authenticate)
          .value();
  listener_->start();
  const std::string url = listener_->url();
  port_ = std::stoi(url.substr(url.rfind(':') + 1));
}

void Replica::disconnect() { listener_.reset(); }

std::shared_ptr<client::Access> Replica::access() const {
  client::ConnectionConfig connection;
  connection.server = {true, "127.0.0.1", static_cast<uint16_t>(port_), ""};
  connection.authority = world_.pki_.authority.certificate;
  connection.authentication.client = {world_.pki_.lastout.certificate, world_.pki_.lastout.key};
  return client::Access::open(std::move(connection), [] { return int64_t{0}; }).value();
}

// All that takes time takes little of it here.
server::ServerOptions Replica::options() {
  server::ServerOptions options;
  const simulator::CertifiedKey key = world_.pki_.newIdentity();
  options.reviews.auditOnly = world_.auditOnly;
  options.http.identity = {key.certificate, key.key, ""};
  options.view.ownNamespace = "lastout";
  options.view.allowedAge = milliseconds(500) * kFaultsSlower;
  options.view.holdsAfter = milliseconds(0);  // nothing is asked for while a provider begins to be held
  options.reviews.budget = milliseconds(2'000);
  server::WebhookAddress address;
  address.serviceNamespace = address.serviceName = "lastout";
  address.authorities = world_.pki_.authority.certificate;
  options.webhook = address;
  options.roles = roles_;
  options.identity = identity;
  options.clock = [this] {
    return std::chrono::time_point_cast<std::chrono::microseconds>(world_.wallClock());
  };
  options.lease.namespaceName = "lastout";
  options.lease.times = {std::chrono::seconds(1) * kFaultsSlower, milliseconds(700) * kFaultsSlower,
                         milliseconds(100)};
  if (isSplit()) options.certificates = certificateSecret();
  client::ReflectorOptions& reflector = options.watcher.reflector;
  reflector.backoff = {milliseconds(5), milliseconds(50)};
  reflector.page = 2;
  reflector.outage = world_.outage * kFaultsSlower;
  reflector.steady = milliseconds(300) * kFaultsSlower;
  options.watcher.listPatience = milliseconds(5'000);
  // Another in each process, by which listeners have names of their own.
  const double random = (8 + ++world_.starts_ % 8) / 16.0;
  options.random = [random] { return [random] { return random; }; };
  options.probe.period = world_.probePeriod;
  options.requesters.personsCount = world_.personsCount;
  options.requesters.controllers.insert(kFaultAgent);
  options.log = [this](server::Level /*level*/, const std::string& line) {
    world_.log(identity + ": " + line);
  };
  options.verdict = [this](const server::ReviewResult& verdict) {
    world_.log(identity + ": " + std::string(verdict.allowed ? "allowed " : "denied ") +
               std::string(admission::toString(verdict.operation)) + (verdict.dryRun ? " (dry run) " : " ") +
               toString(verdict.object) + " " + std::string(admission::toString(verdict.reason)) +
               (verdict.confirmed ? " confirmed" : ""));
  };
  options.restored = [this](milliseconds unguarded) {
    world_.judge.reported(unguarded);
    world_.log(identity + ": restored after " + std::to_string(unguarded.count()) + " ms");
  };
  return options;
}

// By it those with one role have the same certificate, and the same path for reviews.
server::CertificateSecretOptions Replica::certificateSecret() const {
  server::CertificateSecretOptions secret;
  secret.namespaceName = "lastout";
  secret.name = "lastout-tls";
  secret.names = {{kServiceHost}, {}};
  secret.clock = [] { return int64_t{std::time(nullptr)}; };
  return secret;
}

void Replica::serveInProcess() {
  auto opened = server::Server::open(access(), options());
  ASSERT_TRUE(opened) << opened.error().message;
  server_ = std::move(*opened);
}

std::string Replica::kubeconfig() const {
  const simulator::ClientCredentials credentials{world_.pki_.lastout, ""};
  return simulator::kubeconfig("https://127.0.0.1:" + std::to_string(port_),
                               world_.pki_.authority.certificate, credentials);
}

// As deploy/ has it, but for addresses and its name in the Lease.
std::vector<std::string> Replica::arguments() const {
  std::vector<std::string> all = {
      "--identity",      identity,   "--roles",      roles_.webhook ? "webhook" : "controller",
      "--own-namespace", "lastout",  "--tls-secret", "lastout/lastout-tls",
      "--defer-for",     kFaultAgent};
  if (roles_.webhook) all.insert(all.end(), {"--listen", "127.0.0.1:0"});
  if (roles_.controller) all.insert(all.end(), {"--service", "lastout/lastout"});
  return all;
}

void Replica::serveOnItsOwn() {
  process_ = std::make_unique<LastoutProcess>(kubeconfig(), arguments(),
                                              [this](const std::string& line) { hear(line); });
}

// By a thread of the process's.
void Replica::hear(const std::string& line) {
  Json said = Json::parse(line, nullptr, false);
  if (!said.is_object()) return world_.log(identity + ": " + line);
  if (said.contains("unguardedMilliseconds"))
    world_.judge.reported(milliseconds(said["unguardedMilliseconds"].get<int64_t>()));
  for (const char* unlike : {"time", "level", "uid", "revision", "tookMicroseconds"}) said.erase(unlike);
  world_.log(identity + ": " + said.dump());
}

void Replica::serve() {
  if (runs_ == Runs::InProcess)
    serveInProcess();
  else
    serveOnItsOwn();
  forgetConnections();
}

void Replica::forgetConnections() {
  if (!roles_.webhook || !isServing()) return;
  const std::string address =
      process_ ? process_->reviewsAddress() : "127.0.0.1:" + std::to_string(server_->port());
  const std::scoped_lock lock(mutex_);
  client_ =
      std::make_shared<simulator::WebhookClient>(simulator::ServiceAddresses{{"lastout/lastout", address}});
}

void Replica::kill() {
  if (process_) {
    EXPECT_FALSE(process_->hasEnded()) << identity << " has ended by itself\n" << world_.logged();
    process_.reset();
    isSuspended_ = false;
  }
  if (!server_) return;
  disconnect();  // before it can say anything
  server_.reset();
  connect();
}

void Replica::terminate() {
  if (process_) process_->terminate();
  process_.reset();
  isSuspended_ = false;
  server_.reset();
}

void Replica::suspend() {
  process_->suspend();
  isSuspended_ = true;
}

void Replica::resume() {
  if (!std::exchange(isSuspended_, false)) return;
  process_->resume();
}

bool Replica::shows(const std::string& series) { return process_->metric(series).value_or(0) > 0; }

bool Replica::isReady() { return process_ ? process_->get("/readyz").has_value() : server_->isReady(); }

bool Replica::leads() {
  return process_ ? shows("lastout_leader") : server_->standing().leads.value_or(false);
}

bool Replica::isAskedAsItShould() {
  return process_ ? shows("lastout_webhook_in_force") : server_->standing().webhookInForce.value_or(false);
}

bool Replica::knowsService(const std::string& name) {
  if (process_) return process_->get("/why?ref=criticalservice/" + name).has_value();
  bool isKnown = false;
  server_->view().inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    isKnown = view.service(name) != nullptr;
  });
  return isKnown;
}

bool Replica::believesThereIsNone(const kube::GroupResource& type) {
  if (!process_) return server_->view().knowledge(type) == graph::Knowledge::Absent;
  return process_->standing().find("\n" + toString(type) + ": Absent,") != std::string::npos;
}

std::string Replica::standing() {
  std::string text = identity + " now";
  if (isSuspended_) return text + " stands still\n";
  if (process_) return text + (leads() ? " leads, " : " ") + process_->standing();
  const server::GaugeValues now = server_->standing();
  text += now.leads.value_or(false) ? " leads" : "";
  text += now.webhookInForce.value_or(false) ? ", asked as it should be\n" : "\n";
  for (const server::TypeStanding& type : now.types)
    text += "  " + toString(type.type) + ": " + std::string(graph::toString(type.knowledge)) + " " +
            type.why + "\n";
  return text;
}

void Replica::rotate() {
  if (isSplit()) {
    world_.ask("DELETE", kFaultCertificate);
    return;
  }
  const simulator::CertifiedKey key = world_.pki_.newIdentity();
  const auto used = server_->use({key.certificate, key.key, ""});
  EXPECT_TRUE(used) << used.error().message;
}

tl::expected<simulator::WebhookResponse, std::string> Replica::call(const simulator::Webhook& webhook,
                                                                    const std::string& body) {
  std::shared_ptr<simulator::WebhookClient> client;
  {
    const std::scoped_lock lock(mutex_);
    client = client_;
  }
  if (!client) return tl::unexpected(std::string("no endpoints available for service \"lastout\""));
  return client->post(webhook, body);
}

void Replica::note(const ExchangeRequest& request) {
  const std::scoped_lock lock(mutex_);
  if (request.method == "GET")
    ++reads_[request.path];
  else
    writes_.insert(request.method + " " + request.path);
}

size_t Replica::reads(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  return reads_[path];
}

std::set<std::string> Replica::writes() {
  const std::scoped_lock lock(mutex_);
  return writes_;
}

bool Replica::wasReached() {
  const std::scoped_lock lock(mutex_);
  return client_ != nullptr;
}

}  // namespace lastout::testing
