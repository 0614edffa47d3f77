#include "server/webhook/webhook_probe.h"

#include <algorithm>
#include <utility>

#include "client/api_server.h"
#include "criticalservice/critical_service.h"
#include "kube/messages.h"
#include "server/runtime/object_client.h"
#include "server/webhook/api_addresses.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

}  // namespace

WebhookProbe::WebhookProbe(std::shared_ptr<client::Access> access, WebhookProbeOptions options)
    : access_(std::move(access)),
      options_(std::move(options)),
      backoff_({options_.times.retry, options_.times.period}, options_.random),
      problems_(options_.log, "the addresses of the API servers cannot be read: ",
                "the addresses of the API servers can be read again"),
      record_(options_.times.grace),
      loop_([this] { look(); }, std::chrono::milliseconds(0)) {}

void WebhookProbe::stop() {
  loop_.stop([this] {
    const kube::MutexLock lock(mutex_);
    for (const auto& [address, server] : servers_) server->stop();
  });
}

WebhookEnforcement WebhookProbe::enforcementFor(const ReviewedObjects& wanted) const {
  const kube::MutexLock lock(mutex_);
  return record_.enforcementFor(wanted);
}

bool WebhookProbe::isProvenFor(const std::string& fingerprint) const {
  const kube::MutexLock lock(mutex_);
  return record_.declared() == fingerprint && record_.isProven();
}

std::vector<ProbeStanding> WebhookProbe::standings() const {
  const kube::MutexLock lock(mutex_);
  return record_.standings();
}

// A configuration that is new, or was put back, is probed at once.
void WebhookProbe::look() {
  const auto configuration = options_.configuration();
  if (!configuration || loop_.isStopping()) return;
  if (configuration == probed_ && steady_clock::now() < dueAt_) return;
  if (configuration != probed_) backoff_.reset();
  probed_ = configuration;
  const auto begun = steady_clock::now();
  if (round(*configuration)) {
    backoff_.reset();
    dueAt_ = begun + options_.times.period;
  } else {
    dueAt_ = steady_clock::now() + backoff_.next();
  }
}

// One probe of each address. False: not all is as it should be.
bool WebhookProbe::round(const ProbedConfiguration& configuration) {
  const std::vector<client::ServerAddress> addresses = findAddresses();
  {
    const std::vector<std::string> names = kube::wordsOf(addresses);
    const kube::MutexLock lock(mutex_);
    record_.declare(configuration);
    record_.setAddresses(names);
    std::erase_if(servers_,
                  [&](const auto& one) { return std::ranges::find(names, one.first) == names.end(); });
  }
  for (const client::ServerAddress& address : addresses) {
    client::ApiServer* server = serverAt(address);
    if (server == nullptr) return false;
    const ProbeAnswer answer = probe(*server);
    if (loop_.isStopping()) return false;  // what was cut off says nothing
    // Somebody changed the configuration meanwhile: nobody knows which one the API server went by.
    const bool isAllowed = answer.kind == ProbeAnswer::Kind::Allowed;
    if (isAllowed && options_.configuration() != configuration) return false;
    ProbeRecord::Taken taken;
    {
      const kube::MutexLock lock(mutex_);
      taken = record_.took(toString(address), answer, steady_clock::now());
    }
    options_.counted(taken.result);
    if (options_.answered) options_.answered(answer);
    if (taken.news) options_.changed(*taken.news);
  }
  const kube::MutexLock lock(mutex_);
  return record_.isProven();
}

client::ApiServer* WebhookProbe::serverAt(const client::ServerAddress& address) {
  const kube::MutexLock lock(mutex_);
  if (loop_.isStopping()) return nullptr;  // stop() would not find it
  auto& server = servers_[toString(address)];
  if (server == nullptr) server = access_->newServerAt(address);
  return server.get();
}

// The address that was configured, and in a Pod each API server by itself. Behind a path is no API server,
// but somebody who knows ways to several clusters.
std::vector<client::ServerAddress> WebhookProbe::findAddresses() {
  const client::ConnectionConfig& connection = access_->connection();
  std::vector<client::ServerAddress> addresses{connection.server};
  if (!connection.inCluster || connection.insecure || !connection.server.path.empty()) return addresses;
  client::ApiServer* server = serverAt(connection.server);
  if (server == nullptr) return addresses;
  const auto slice = ObjectClient(*server, options_.times.patience).askForObject(requestForApiAddresses());
  std::string problem;
  if (!slice) {
    problem = slice.error().why;
    if (slice.error().code == 404) endpoints_.clear();
  } else if (auto found = apiAddressesIn(*slice)) {
    endpoints_ = std::move(*found);
  } else {
    problem = found.error().message;
  }
  if (!loop_.isStopping()) problems_.note(problem);
  for (const client::ServerAddress& endpoint : endpoints_) {
    if (std::ranges::find(addresses, endpoint) == addresses.end()) addresses.push_back(endpoint);
  }
  return addresses;
}

// Once more when there was no sentinel, or one that nothing may have been known by. An ObjectClient keeps
// only the words of a refusal, and a listener says in its own fields which it is.
ProbeAnswer WebhookProbe::probe(client::ApiServer& server) {
  const auto ask = [&] {
    client::ApiRequest request = requestToProbe();
    request.patience = options_.times.patience;
    const auto whole = client::fetch(server, request, kMostObjectBytes);
    return whole ? probeAnswer(*whole) : ProbeAnswer{ProbeAnswer::Kind::Failed, "", whole.error().message};
  };
  ProbeAnswer answer = ask();
  if (answer.kind == ProbeAnswer::Kind::Missing) {
    std::string why = makeSentinel(server);
    if (!why.empty()) return {ProbeAnswer::Kind::Failed, "", "the sentinel cannot be made: " + why};
    answer = ask();
    if (answer.kind == ProbeAnswer::Kind::Missing) answer.why = "the sentinel is gone again";
  } else if (answer.kind == ProbeAnswer::Kind::Allowed) {
    if (ObjectClient(server, options_.times.patience).ask(requestToLabelSentinel())) answer = ask();
  }
  return answer;
}

// Why not; empty: it is there.
std::string WebhookProbe::makeSentinel(client::ApiServer& server) {
  const kube::ObjectKey owner = kube::crdKey(criticalservice::criticalServiceType());
  const ObjectClient objectClient(server, options_.times.patience);
  const auto definition = objectClient.readMetadata(client::objectPath(owner));
  if (!definition) return definition.error().why;
  const auto made = objectClient.ask(requestToCreateSentinel(*definition ? (*definition)->uid : ""));
  // Another replica was faster.
  return made || isConflict(made.error()) ? "" : made.error().why;
}

}  // namespace lastout::server
