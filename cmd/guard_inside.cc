#include "cmd/guard_inside.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/connection.h"
#include "cmd/open_server.h"
#include "cmd/serve_identity.h"
#include "cmd/serve_options.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/provider_types.h"
#include "kube/well_known.h"
#include "protection/policy.h"
#include "simulator/certificates.h"
#include "simulator/json.h"

namespace lastout::cmd {
namespace {

using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kLoopback = "127.0.0.1";
constexpr std::chrono::seconds kInForcePatience{60};
constexpr milliseconds kInForceLook{20};
constexpr milliseconds kGuardGrace{1'000};

// Returns the options of a `lastout serve` beside a `lastout up`. The embedded cluster reads the finalizers
// of an object again when it deletes the object, so lastout relies on a finalizer as soon as it is set.
ServeOptions serveOptions() {
  ServeOptions options;
  options.listen = std::string(kLoopback) + ":0";
  options.answers = "none";
  options.deferFor = {simulator::agentUser().username};
  options.holdAfter = 0;
  return options;
}

// What stays unenforced however long it is waited for, since somebody wants it so, or nobody is asked.
bool isFinal(std::string_view reason) {
  constexpr std::array<std::string_view, 4> kFinal{"NamespaceExcluded", "NotUnderstood", "OrphanResources",
                                                   "ProviderTerminating"};
  return std::ranges::find(kFinal, reason) != kFinal.end();
}

// Returns the condition that lastout has written about the object's current generation; null: none yet.
Json conditionOf(const Json& object, std::string_view type) {
  const Json generation = object.at("metadata").value("generation", Json());
  const Json status = object.value("status", Json::object());
  for (const Json& condition : status.value("conditions", Json::array())) {
    if (condition.value("type", "") == type && condition.value("observedGeneration", Json()) == generation)
      return condition;
  }
  return nullptr;
}

// Why the object is not enforced yet; nullopt: it is, or never will be.
std::optional<std::string> pendingReason(const Json& object) {
  const Json enforced = conditionOf(object, "Enforced");
  if (enforced.is_null()) return "lastout has not looked at it yet";
  if (enforced.value("status", "") == "True" || isFinal(enforced.value("reason", ""))) return std::nullopt;
  return enforced.value("message", "");
}

bool waitsForSignal(const sigset_t& ending) {
  const timespec pause{0, std::chrono::nanoseconds(kInForceLook).count()};
  return sigtimedwait(&ending, nullptr, &pause) >= 0;
}

}  // namespace

simulator::KnownUser guardUser() {
  using Words = std::vector<std::string>;
  const std::string admission(kube::kAdmissionRegistrationGroup);
  const auto rule = [](Words verbs, Words groups, Words resources) {
    return simulator::AccessRule{std::move(verbs), std::move(groups), std::move(resources), {}, {}, {}};
  };
  simulator::KnownUser lastout;
  lastout.user = {"lastout", "", {"system:authenticated"}, {}};
  lastout.rights = {
      rule({"get", "list", "watch", "delete"}, {"*"}, {"*"}),
      rule({"create", "patch"}, {admission},
           {"validatingwebhookconfigurations", "validatingadmissionpolicies",
            "validatingadmissionpolicybindings"}),
      rule({"create", "patch"}, {std::string(kube::kCoordinationGroup)}, {"leases"}),
      rule({"create"}, {""}, {"events"}),
      rule({"create"}, {std::string(kube::kAuthorizationGroup)}, {"subjectaccessreviews"}),
      rule({"patch"}, {std::string(kube::kLastoutGroup)},
           {"criticalservices/status", "deletionpolicies/status"}),
      rule({"patch"}, {std::string(kube::kWorkGroup)}, {"appliedmanifestworks"}),
  };
  for (const kube::GroupResource& held : criticalservice::typesThatCanBeHeld())
    lastout.rights.push_back(rule({"patch"}, {held.group}, {held.resource}));
  return lastout;
}

tl::expected<std::unique_ptr<GuardInside>, kube::Errors> GuardInside::open(
    simulator::EmbeddedCluster& cluster, const MadeIdentity& identity) {
  const auto failed = [](kube::Error error) {
    error.message.insert(0, "--guard inside: ");
    return tl::unexpected(kube::Errors{std::move(error)});
  };
  std::unique_ptr<GuardInside> guard(new GuardInside(cluster));
  auto client = simulator::makeClientCertificate(identity.authority, guardUser().user, identity.validity);
  if (!client) return failed(std::move(client.error()));
  simulator::ListenerOptions listening;
  listening.host = kLoopback;
  listening.kubernetes = cluster.plane().kubernetes();
  listening.certificate = identity.server.certificate;
  listening.privateKey = identity.server.key;
  listening.clientCa = identity.authority.certificate;
  auto listener = simulator::Listener::open(
      listening, [&cluster](const simulator::ExchangeRequest& request) { return cluster.handle(request); },
      [](std::string_view /*token*/, const simulator::UserInfo* certificate) {
        return certificate == nullptr ? std::nullopt : std::optional(*certificate);
      });
  if (!listener) return failed(std::move(listener.error()));
  guard->listener_ = std::move(*listener);
  guard->listener_->start();

  client::ConnectionConfig connection;
  auto server = client::parseServerAddress(guard->listener_->url());
  if (!server) return failed(std::move(server.error()));
  connection.server = std::move(*server);
  connection.authority = identity.authority.certificate;
  connection.authentication.client = {client->certificate, client->key};
  const ServeOptions options = serveOptions();
  const auto shown = identityOf(options, kLoopback);
  if (!shown) return tl::unexpected(shown.error());
  auto opened = openServer(options, {kLoopback, 0}, *shown, std::move(connection), guard->log_);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  guard->server_ = std::move(*opened);
  return guard;
}

GuardInside::~GuardInside() { stop(); }

bool GuardInside::isAsked() const {
  const server::GaugeValues now = server_->standing();
  return now.health.isReady() && now.leads.value_or(false) && now.webhookInForce.value_or(false) &&
         !now.probes.empty() && std::ranges::all_of(now.probes, [](const server::ProbeStanding& probe) {
           return probe.result == server::ProbeResult::Denied;
         });
}

GuardInside::NotInForce GuardInside::notInForce() const {
  NotInForce all;
  if (!isAsked()) all.pending.push_back({"--guard inside: the cluster does not ask lastout", {}, {}});
  simulator::ControlPlane& plane = cluster_.plane();
  const kube::MutexLock lock(plane.mutex);
  for (const kube::GroupResource& type :
       {criticalservice::criticalServiceType(), protection::deletionPolicyType()}) {
    for (const simulator::RecordRef& record : plane.storage.list(type, "")) {
      const std::string name = "--guard inside: " + toString(record->key());
      const Json accepted = conditionOf(record->object(), "Accepted");
      if (!accepted.is_null() && accepted.value("status", "") == "False")
        all.refused.push_back({name + ": " + accepted.value("message", ""), {}, {}});
      else if (const auto why = pendingReason(record->object()))
        all.pending.push_back({name + " is not enforced: " + *why, {}, {}});
    }
  }
  return all;
}

tl::expected<bool, kube::Errors> GuardInside::waitUntilInForce(const sigset_t& ending) {
  const auto deadline = steady_clock::now() + kInForcePatience;
  for (;;) {
    NotInForce now = notInForce();
    if (!now.refused.empty()) return tl::unexpected(std::move(now.refused));
    if (now.pending.empty()) return true;
    if (steady_clock::now() >= deadline) return tl::unexpected(std::move(now.pending));
    if (waitsForSignal(ending)) return false;
  }
}

void GuardInside::stop() {
  if (server_) server_->stop(kGuardGrace);
  if (listener_) listener_->stop();
}

}  // namespace lastout::cmd
