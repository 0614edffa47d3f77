#include "tests/faults/fault_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

#include "tests/apiserver/admin_request.h"

namespace lastout::testing {
namespace {

using apiserver::HttpRequest;
using apiserver::HttpResponse;
using apiserver::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr apiserver::Validity kFaultsValidity{0, 4'102'444'800};  // until 2100
#ifdef LASTOUT_SANITIZED
constexpr int kSlower = 4;
#else
constexpr int kSlower = 1;
#endif
constexpr std::chrono::seconds kPatience{60 * kSlower};
constexpr milliseconds kPause{3};    // between two looks at what is waited for, at first
constexpr milliseconds kSeldom{24};  // and in the end, so that looking leaves the processors to who works
constexpr milliseconds kLongestPause{50};  // of a client that asks again and again
constexpr size_t kMostLines = 200;
constexpr size_t kRecentLines = 12;

constexpr const char* kFaultMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kFaultServices = "/apis/lastout.dev/v1alpha1/criticalservices";
const kube::ObjectKey kConfiguration{
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations"}, "", "lastout"};
const kube::ObjectKey kFaultServiceKey{{"lastout.dev", "criticalservices"}, "", "guard"};

constexpr const char* kLastout = "lastout";

// As mighty as an admin, and not the same.
apiserver::UserInfo lastoutUser() {
  apiserver::UserInfo user = apiserver::adminUser();
  user.username = kLastout;
  return user;
}

// Removes the finalizer of CoolResources while a Pod of the provider runs.
void addController(apiserver::EmbeddedCluster& cluster) {
  const kube::MutexLock lock(cluster.plane().mutex);
  const auto added =
      cluster.plane().live.addController({.name = "super-important",
                                          .runsIn = cluster::kNone,
                                          .finalizer = "my.crd.group/super-important",
                                          .from = {"my.crd.group", "coolresources"},
                                          .takes = milliseconds(1'000)},
                                         kube::ObjectKey{{"apps", "deployments"}, "app", "provider"});
  EXPECT_TRUE(added) << added.error().message;
}

// What a review is about. A collection's has its object's name in oldObject alone.
kube::ObjectKey reviewedKey(const Json& request) {
  return {{request["resource"]["group"], request["resource"]["resource"]},
          std::string(apiserver::stringAt(request, {"oldObject", "metadata", "namespace"})),
          std::string(apiserver::stringAt(request, {"oldObject", "metadata", "name"}))};
}

apiserver::WebhookResponse denialByPolicy(const std::string& body) {
  const Json review = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"response",
                        {{"uid", Json::parse(body)["request"]["uid"]},
                         {"allowed", false},
                         {"status", {{"message", "nothing goes on a Friday"}}}}}};
  return {200, review.dump()};
}

bool isDeletionByOthers(const Json& request) {
  return request["operation"] == "DELETE" && !request.value("dryRun", false) &&
         request["userInfo"]["username"] != kLastout;
}

}  // namespace

// --- one lastout

Replica::Replica(FaultWorld& world, std::string identity, server::Roles roles)
    : identity(std::move(identity)),
      api([this, &world](const HttpRequest& request) {
        world.noteRequest(request);
        note(request);
        return world.cluster().handle(request);
      }),
      world_(world),
      roles_(roles) {
  connect();
}

Replica::~Replica() {
  kill();
  disconnect();
}

void Replica::connect() {
  if (listener_) return;
  apiserver::ListenerOptions options;
  options.port = port_;
  options.certificate = world_.pki_.server.certificate;
  options.privateKey = world_.pki_.server.key;
  options.clientCa = world_.pki_.authority.certificate;
  const auto authenticate = [](std::string_view, const apiserver::UserInfo* certificate) {
    return certificate == nullptr ? std::nullopt : std::optional(*certificate);
  };
  listener_ = apiserver::Listener::open(
                  options, [this](const HttpRequest& request) { return api.handle(request); }, authenticate)
                  .value();
  listener_->start();
  const std::string url = listener_->url();
  port_ = std::stoi(url.substr(url.rfind(':') + 1));
}

void Replica::disconnect() { listener_.reset(); }

std::shared_ptr<client::Access> Replica::access() const {
  client::Connection connection;
  connection.server = {true, "127.0.0.1", static_cast<uint16_t>(port_), ""};
  connection.authority = world_.pki_.authority.certificate;
  connection.authentication.client = {world_.pki_.lastout.certificate, world_.pki_.lastout.key};
  return client::Access::open(std::move(connection), [] { return int64_t{0}; }).value();
}

// All that takes time takes little of it here.
server::ServerOptions Replica::options() {
  server::ServerOptions options;
  const apiserver::CertifiedKey key = world_.pki_.newIdentity();
  options.reviews.auditOnly = world_.auditOnly;
  options.http.identity = {key.certificate, key.key, ""};
  options.view.ownNamespace = "lastout";
  options.view.allowedAge = milliseconds(500) * kSlower;
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
  options.lease.times = {std::chrono::seconds(1) * kSlower, milliseconds(700) * kSlower, milliseconds(100)};
  if (isSplit()) options.certificates = certificateSecret();
  client::ReflectorOptions& reflector = options.watcher.reflector;
  reflector.backoff = {milliseconds(5), milliseconds(50)};
  reflector.page = 2;
  reflector.outage = world_.outage * kSlower;
  reflector.steady = milliseconds(300) * kSlower;
  options.watcher.listPatience = milliseconds(5'000);
  // Another in each process, by which listeners have names of their own.
  const double random = (8 + ++world_.starts_ % 8) / 16.0;
  options.random = [random] { return [random] { return random; }; };
  options.probe.period = world_.probePeriod;
  options.requesters.personsCount = world_.personsCount;
  options.requesters.controllers.insert("agent");  // as the embedded cluster calls it
  options.log = [this](server::Level /*level*/, const std::string& line) {
    world_.log(identity + ": " + line);
  };
  options.verdict = [this](const server::Verdict& verdict) {
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
  secret.names = {{"lastout.lastout.svc"}, {}};
  secret.clock = [] { return int64_t{std::time(nullptr)}; };
  return secret;
}

void Replica::serve() {
  auto opened = server::Server::open(access(), options());
  ASSERT_TRUE(opened) << opened.error().message;
  server_ = std::move(*opened);
  forgetConnections();
}

void Replica::forgetConnections() {
  if (!roles_.webhook) return;
  const std::string address = "127.0.0.1:" + std::to_string(server_->port());
  const std::scoped_lock lock(mutex_);
  client_ =
      std::make_shared<apiserver::WebhookClient>(apiserver::ServiceAddresses{{"lastout/lastout", address}});
}

void Replica::kill() {
  if (!server_) return;
  disconnect();  // before it can say anything
  server_.reset();
  connect();
}

void Replica::rotate() {
  if (isSplit()) {
    world_.ask("DELETE", kFaultCertificate);
    return;
  }
  const apiserver::CertifiedKey key = world_.pki_.newIdentity();
  const auto used = server_->use({key.certificate, key.key, ""});
  EXPECT_TRUE(used) << used.error().message;
}

tl::expected<apiserver::WebhookResponse, std::string> Replica::call(const apiserver::Webhook& webhook,
                                                                    const std::string& body) {
  std::shared_ptr<apiserver::WebhookClient> client;
  {
    const std::scoped_lock lock(mutex_);
    client = client_;
  }
  if (!client) return tl::unexpected(std::string("no endpoints available for service \"lastout\""));
  return client->post(webhook, body);
}

void Replica::note(const HttpRequest& request) {
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

// --- the world

FaultWorld::Pki::Pki()
    : authority(apiserver::makeAuthority("a test", kFaultsValidity).value()),
      server(apiserver::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, kFaultsValidity).value()),
      lastout(apiserver::makeClientCertificate(authority, lastoutUser(), kFaultsValidity).value()) {}

apiserver::CertifiedKey FaultWorld::Pki::newIdentity() const {
  return apiserver::makeServerCertificate(authority, {{"lastout.lastout.svc"}, {}}, kFaultsValidity).value();
}

FaultWorld::FaultWorld(size_t replicas, uint64_t seed, Processes processes) : seed_(seed) {
  begin();
  const auto add = [this](const std::string& name, size_t number, server::Roles roles) {
    replicas_.push_back(std::make_unique<Replica>(*this, name + "-" + std::to_string(number), roles));
  };
  for (size_t i = 0; i < replicas; ++i) {
    if (processes == Processes::OfBothRoles) add("lastout", i, {});
    if (processes == Processes::OfOneRole) add("webhook", i, {.webhook = true, .controller = false});
  }
  for (size_t i = 0; i < replicas && processes == Processes::OfOneRole; ++i)
    add("controller", i, {.webhook = false, .controller = true});
}

FaultWorld::~FaultWorld() {
  for (const auto& cluster : clusters_) cluster->stop();
  // What one is asked may reach another: none goes before all are silent.
  for (const auto& replica : replicas_) {
    replica->kill();
    replica->disconnect();
  }
  replicas_.clear();
}

std::chrono::sys_seconds FaultWorld::wallClock() const {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
         std::chrono::seconds(wall_);
}

apiserver::EmbeddedCluster& FaultWorld::cluster() {
  const std::scoped_lock lock(mutex_);
  return *clusters_.back();
}

void FaultWorld::begin() {
  apiserver::EmbeddedOptions options;
  options.speed = 50;
  options.seed = seed_ + clusters_.size();
  options.wallClock = [this] { return wallClock(); };
  // As by a Service: to one after the other, whether it is there or not.
  const auto callLastout =
      judge.listening([this](const apiserver::Webhook& webhook, const std::string& body) {
        std::vector<Replica*> reached;
        for (const auto& replica : replicas_) {
          if (replica->wasReached()) reached.push_back(replica.get());
        }
        Replica& called = reached.empty() ? *replicas_.front() : *reached[calls_++ % reached.size()];
        noteAsked(body);
        auto answer = called.call(webhook, body);
        noteReview(body, answer);
        return answer;
      });
  options.callWebhook = [callLastout](const apiserver::Webhook& webhook, const std::string& body) {
    return webhook.configuration == "policy" ? denialByPolicy(body) : callLastout(webhook, body);
  };
  auto cluster = std::make_unique<apiserver::EmbeddedCluster>(std::move(options));
  judge.follow(*cluster);
  configurationsMade_ = 0;
  {
    const kube::MutexLock lock(cluster->plane().mutex);
    cluster->plane().observe([this](const apiserver::Write& write) {
      if (write.kind == apiserver::Write::Kind::Added && write.record->key() == kConfiguration)
        ++configurationsMade_;
    });
  }
  addController(*cluster);
  cluster->start();
  {
    const std::scoped_lock lock(mutex_);
    clusters_.push_back(std::move(cluster));
  }
  create("/api/v1/namespaces", named("v1", "Namespace", "lastout"));
}

void FaultWorld::noteAsked(const std::string& body) {
  const Json request = Json::parse(body)["request"];
  if (!isDeletionByOthers(request)) return;
  const std::scoped_lock lock(mutex_);
  asked_.insert({reviewedKey(request), request["oldObject"]["metadata"]["uid"]});
}

void FaultWorld::noteReview(const std::string& body,
                            const tl::expected<apiserver::WebhookResponse, std::string>& answer) {
  const Json request = Json::parse(body)["request"];
  const Json response = answer ? Json::parse(answer->body, nullptr, false) : Json();
  const Json* allowed = apiserver::at(response, {"response", "allowed"});
  const std::string user = request["userInfo"]["username"];
  const bool isDenied = allowed != nullptr && *allowed == Json(false);
  if (!isDeletionByOthers(request) || !isDenied || user == apiserver::adminUser().username) return;
  const std::scoped_lock lock(mutex_);
  deferredDeletions_.insert(request["oldObject"]["metadata"]["uid"].get<std::string>());
}

void FaultWorld::noteRequest(const HttpRequest& request) {
  const bool isOwn = request.path == kFaultWebhook || request.query.contains("dryRun");
  if (request.method != "DELETE" || isOwn) return;
  const Json options = Json::parse(request.body, nullptr, false);
  const std::string uid(apiserver::stringAt(options, {"preconditions", "uid"}));
  const auto target = apiserver::parseTarget(request.path);
  const kube::ObjectKey key =
      target ? kube::ObjectKey{{target->group, target->resource}, target->namespaceName, target->name}
             : kube::ObjectKey{};
  const bool isOfWork = isOfDeletedWork(request.path);
  const std::scoped_lock lock(mutex_);
  deletedByLastout_.emplace(uid, request.path);
  if (!isOfWork && !asked_.contains({key, uid})) unasked_.push_back(request.path + " " + uid);
}

// Who deletes a work asks for the deletion of all that it owns; of what was made anew meanwhile under the
// same name its agent may ask for the former one, which is no longer there, and nobody reviews that.
bool FaultWorld::isOfDeletedWork(const std::string& path) {
  const Json object = get(path);
  const Json* owners = apiserver::at(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return false;
  return std::ranges::any_of(*owners, [this](const Json& owner) {
    if (owner["kind"] != "AppliedManifestWork") return false;
    const Json work = get("/apis/work.open-cluster-management.io/v1/appliedmanifestworks/" +
                          owner["name"].get<std::string>());
    return !work.is_null() && work["metadata"]["uid"] == owner["uid"] &&
           work["metadata"].contains("deletionTimestamp");
  });
}

std::vector<std::string> FaultWorld::unasked() {
  const std::scoped_lock lock(mutex_);
  return unasked_;
}

std::set<std::string> FaultWorld::deferredDeletions() {
  const std::scoped_lock lock(mutex_);
  return deferredDeletions_;
}

void FaultWorld::noteDeferredDeletion(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  deferredDeletions_.insert(uid);
}

std::map<std::string, std::string> FaultWorld::deletedByLastout() {
  const std::scoped_lock lock(mutex_);
  return deletedByLastout_;
}

uint64_t FaultWorld::version() {
  const HttpResponse list = ask("GET", "/api/v1/namespaces");
  return std::stoull(
      std::string(apiserver::stringAt(Json::parse(list.body), {"metadata", "resourceVersion"})));
}

void FaultWorld::writeBeyond(uint64_t version) {
  const std::string path = std::string(kFaultMaps) + "/scratch";
  if (!isThere(path)) create(kFaultMaps, named("v1", "ConfigMap", "scratch"));
  for (int i = 0; this->version() <= version; ++i) patch(path, {{"data", {{"i", std::to_string(i)}}}});
}

void FaultWorld::newHistory(const std::function<void(uint64_t former)>& prepare) {
  for (const auto& replica : replicas_) replica->disconnect();
  clusters_.back()->stop();
  const uint64_t former = version();
  begin();
  prepare(former);
  for (const auto& replica : replicas_) replica->connect();
}

void FaultWorld::waitUntilCollected() {
  Json orphan = named("v1", "ConfigMap", "orphan");
  orphan["metadata"]["ownerReferences"] = Json::array(
      {{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "lastout"}, {"uid", "of-another-one"}}});
  create(kFaultMaps, orphan);
  waitUntil("what nobody owns is collected", [&] { return !isThere(kFaultMaps + std::string("/orphan")); });
}

HttpResponse FaultWorld::ask(const std::string& method, const std::string& path, const Json& body) {
  HttpRequest request = adminRequest(method, path);
  request.contentType = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  if (!body.is_null()) request.body = body.dump();
  return judge.asked([&] { return cluster().handle(request); });
}

Json FaultWorld::get(const std::string& path) {
  const HttpResponse response = ask("GET", path);
  return response.status == 200 ? Json::parse(response.body) : Json();
}

void FaultWorld::create(const std::string& collection, const Json& object) {
  std::string answer;
  waitUntil("it is created: " + object["metadata"]["name"].get<std::string>(), [&] {
    const HttpResponse response = ask("POST", collection, object);
    return response.status == 201;
  });
}

void FaultWorld::patch(const std::string& path, const Json& merged) {
  waitUntil("it is patched: " + path, [&] { return ask("PATCH", path, merged).status == 200; });
}

std::string FaultWorld::holder() {
  const Json lease = get("/apis/coordination.k8s.io/v1/namespaces/lastout/leases/lastout");
  return std::string(apiserver::stringAt(lease, {"spec", "holderIdentity"}));
}

Replica& FaultWorld::leader() {
  const auto named = [this](const std::string& name) {
    return std::ranges::find(replicas_, name, [](const auto& one) { return one->identity; });
  };
  auto found = replicas_.end();
  waitUntil("one of them holds the Lease", [&] { return (found = named(holder())) != replicas_.end(); });
  return **found;
}

Json FaultWorld::named(const std::string& apiVersion, const std::string& kind, const std::string& name) {
  return {{"apiVersion", apiVersion}, {"kind", kind}, {"metadata", {{"name", name}}}};
}

Json FaultWorld::definition() {
  Json crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "coolresources.my.crd.group");
  crd["spec"] = {{"group", "my.crd.group"},
                 {"scope", "Cluster"},
                 {"names", {{"kind", "CoolResource"}, {"plural", "coolresources"}}},
                 {"versions", Json::array({{{"name", "v1"},
                                            {"served", true},
                                            {"storage", true},
                                            {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}}})}};
  return crd;
}

Json FaultWorld::provider() {
  const Json labels = {{"app", "p"}};
  const Json container = {{"name", "c"}, {"image", "i"}};
  Json provider = named("apps/v1", "Deployment", "provider");
  provider["spec"] = {
      {"selector", {{"matchLabels", labels}}},
      {"template", {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", {container}}}}}}};
  return provider;
}

Json FaultWorld::service() {
  Json service = named("lastout.dev/v1alpha1", "CriticalService", "guard");
  const Json carriers = {{"group", "my.crd.group"},
                         {"resource", "coolresources"},
                         {"finalizerName", "my.crd.group/super-important"}};
  const Json definition = {{"group", "apiextensions.k8s.io"},
                           {"resource", "customresourcedefinitions"},
                           {"name", "coolresources.my.crd.group"}};
  service["spec"] = {
      {"provider",
       {{"group", "apps"}, {"resource", "deployments"}, {"namespace", "app"}, {"name", "provider"}}},
      {"criteria", Json::array({{{"type", "Finalizer"}, {"finalizer", carriers}},
                                {{"type", "SpecificResource"}, {"specificResource", definition}}})}};
  return service;
}

Json FaultWorld::instance(const std::string& name) {
  Json instance = named("my.crd.group/v1", "CoolResource", name);
  instance["metadata"]["finalizers"] = {"my.crd.group/super-important"};
  return instance;
}

void FaultWorld::createStory(int instances) {
  createDefinition();
  create("/api/v1/namespaces", named("v1", "Namespace", "app"));
  create("/apis/apps/v1/namespaces/app/deployments", provider());
  for (int i = 0; i < instances; ++i) createInstance("instance-" + std::to_string(i));
  createService();
}

void FaultWorld::createDefinition() {
  create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition());
}

void FaultWorld::createInstance(const std::string& name) { create(kFaultInstances, instance(name)); }

void FaultWorld::createService() {
  Json service = FaultWorld::service();
  if (!definitionCounts) service["spec"]["criteria"].erase(1);
  create(kFaultServices, service);
}

void FaultWorld::waitUntilGuarded() {
  waitUntil("the service is enforced", [&] {
    const Json service = get(kFaultService);
    const Json* conditions = apiserver::at(service, {"status", "conditions"});
    return conditions != nullptr && std::ranges::any_of(*conditions, [](const Json& condition) {
             return condition["type"] == "Enforced" && condition["status"] == "True";
           });
  });
  for (const auto& replica : replicas_) {
    if (!replica->isServing()) continue;
    waitUntil(replica->identity + " knows the service", [&] {
      bool known = false;
      replica->server().view().inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
        known = view.service(kFaultServiceKey.name) != nullptr;
      });
      return known && replica->server().isReady();
    });
  }
}

std::vector<std::string> FaultWorld::storyPaths(int instances) {
  std::vector<std::string> paths = {kFaultProvider, kFaultService, kFaultCrd, kFaultNamespace};
  for (int i = 0; i < instances; ++i)
    paths.push_back(std::string(kFaultInstances) + "/instance-" + std::to_string(i));
  return paths;
}

void FaultWorld::deleteAll(const std::vector<std::string>& paths) {
  deleteAll(paths, [] {});
}

void FaultWorld::deleteAll(const std::vector<std::string>& paths, const std::function<void()>& trouble) {
  std::atomic<size_t> left{paths.size()};
  std::vector<std::thread> clients;
  clients.reserve(paths.size());
  for (const std::string& path : paths) {
    clients.emplace_back([this, path, &left] {
      waitUntil(
          "it is gone: " + path, [&] { return ask("DELETE", path).status == 404; }, kLongestPause);
      --left;
    });
  }
  waitUntil(  // trouble comes often
      "all is gone",
      [&] {
        if (left > 0) trouble();
        return left == 0;
      },
      kPause);
  for (std::thread& client : clients) client.join();
}

void FaultWorld::finalizeByHand() {
  const Json instances = get(kFaultInstances);
  if (instances.is_null()) return;
  for (const Json& instance : instances["items"])
    ask("PATCH", std::string(kFaultInstances) + "/" + instance["metadata"]["name"].get<std::string>(),
        {{"metadata", {{"finalizers", nullptr}}}});
}

std::string FaultWorld::refusalOf(const std::string& path) {
  const Json status = Json::parse(ask("DELETE", path).body, nullptr, false);
  return std::string(apiserver::stringAt(status, {"message"}));
}

void FaultWorld::denyToAll(const std::string& operation, const kube::GroupResource& type) {
  Json policy = named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "policy");
  const Json rule = {{"apiGroups", {type.group}},
                     {"apiVersions", {"*"}},
                     {"operations", {operation}},
                     {"resources", {type.resource}}};
  policy["webhooks"] =
      Json::array({{{"name", "policy.example.com"},
                    {"clientConfig", {{"service", {{"namespace", "policy"}, {"name", "policy"}}}}},
                    {"rules", Json::array({rule})},
                    {"sideEffects", "None"},
                    {"admissionReviewVersions", {"v1"}}}});
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", policy);
}

void FaultWorld::waitUntil(const std::string& what, const std::function<bool()>& holds) {
  waitUntil(what, holds, kSeldom);
}

void FaultWorld::waitUntil(const std::string& what, const std::function<bool()>& holds,
                           milliseconds longestPause) {
  const auto deadline = steady_clock::now() + kPatience;
  milliseconds pause = kPause;
  while (!holds()) {
    if (steady_clock::now() > deadline) {
      ADD_FAILURE() << "it does not come true: " << what << "\n" << logged();
      return;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longestPause);
  }
}

void FaultWorld::log(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  // Clients ask again and again, in turns: what is said again is not news.
  const auto recent = lines_.end() - static_cast<std::ptrdiff_t>(std::min(lines_.size(), kRecentLines));
  if (std::find(recent, lines_.end(), line) != lines_.end()) return;
  if (lines_.size() >= kMostLines) lines_.erase(lines_.begin());
  lines_.push_back(line);
}

std::string FaultWorld::logged() {
  std::string text;
  {
    const std::scoped_lock lock(mutex_);
    for (const std::string& line : lines_) text += line + "\n";
  }
  for (const auto& replica : replicas_) {
    if (!replica->isServing()) continue;
    const server::Standing now = replica->server().standing();
    text += replica->identity + " now" + (now.leads.value_or(false) ? " leads" : "") +
            (now.webhookInForce.value_or(false) ? ", asked as it should be" : "") + "\n";
    for (const server::TypeStanding& type : now.types)
      text += "  " + toString(type.type) + ": " + std::string(graph::toString(type.knowledge)) + " " +
              type.why + "\n";
  }
  return text;
}

}  // namespace lastout::testing
