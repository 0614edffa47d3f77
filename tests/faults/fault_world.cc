#include "tests/faults/fault_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <map>
#include <thread>
#include <utility>

#include "tests/simulator/admin_request.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::ExchangeResponse;
using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr simulator::Validity kFaultsValidity{0, 4'102'444'800};  // until 2100
constexpr milliseconds kPause{3};    // between two looks at what is waited for, at first
constexpr milliseconds kSeldom{24};  // and in the end, so that looking leaves the processors to who works
constexpr milliseconds kLongestPause{50};  // of a client that asks again and again
constexpr size_t kMostLines = 200;
constexpr size_t kLongestAnswer = 600;  // for people
constexpr size_t kMostAnswers = 10;     // that are told apart
constexpr size_t kRecentLines = 12;
constexpr const char* kLetGoEarly = " is let go although ";  // as the log has it

// How long a lastout may not hear of a change: on its own it waits for seconds before it asks an API server
// again that has failed.
constexpr std::chrono::seconds kHearing{2 * kFaultsSlower};
constexpr std::chrono::seconds kHearingOnItsOwn{10 * kFaultsSlower};
// How long a test waits for what must come true. On its own a lastout asks an API server that has failed
// again after up to 30 s, and takes over the Lease of one that was killed after 15 s, one after the other.
constexpr std::chrono::seconds kPatience{60 * kFaultsSlower};
constexpr std::chrono::seconds kPatienceOnItsOwn{150 * kFaultsSlower};

constexpr const char* kFaultMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kFaultServices = "/apis/lastout.dev/v1alpha1/criticalservices";
const kube::ObjectKey kConfiguration{
    {"admissionregistration.k8s.io", "validatingwebhookconfigurations"}, "", "lastout"};

constexpr const char* kLastout = "lastout";

// As mighty as an admin, and not the same.
simulator::UserInfo lastoutUser() {
  simulator::UserInfo user = simulator::adminUser();
  user.username = kLastout;
  return user;
}

// Removes the finalizer of CoolResources while a Pod of the provider runs.
void addController(simulator::EmbeddedCluster& cluster) {
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
          std::string(simulator::stringAt(request, {"oldObject", "metadata", "namespace"})),
          std::string(simulator::stringAt(request, {"oldObject", "metadata", "name"}))};
}

simulator::WebhookResponse denialByPolicy(const std::string& body) {
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

FaultWorld::Pki::Pki()
    : authority(simulator::makeAuthority("a test", kFaultsValidity).value()),
      server(simulator::makeServerCertificate(authority, {{}, {"127.0.0.1"}}, kFaultsValidity).value()),
      lastout(simulator::makeClientCertificate(authority, lastoutUser(), kFaultsValidity).value()) {}

simulator::CertifiedKey FaultWorld::Pki::newIdentity() const {
  return simulator::makeServerCertificate(authority, {{"lastout.lastout.svc"}, {}}, kFaultsValidity).value();
}

FaultWorld::FaultWorld(size_t replicas, uint64_t seed, Processes processes)
    : judge(kLastout, processes == Processes::OfOneRoleOnTheirOwn ? kHearingOnItsOwn : kHearing),
      patience_(processes == Processes::OfOneRoleOnTheirOwn ? kPatienceOnItsOwn : kPatience),
      seed_(seed) {
  begin();
  const Runs runs = processes == Processes::OfOneRoleOnTheirOwn ? Runs::OnItsOwn : Runs::InProcess;
  const auto add = [&](const std::string& name, server::Roles roles) {
    for (size_t i = 0; i < replicas; ++i)
      replicas_.push_back(std::make_unique<Replica>(*this, name + "-" + std::to_string(i), roles, runs));
  };
  if (processes == Processes::OfBothRoles) {
    add("lastout", {});
  } else {
    add("webhook", {.webhook = true, .controller = false});
    add("controller", {.webhook = false, .controller = true});
  }
}

FaultWorld::~FaultWorld() {
  for (const auto& replica : replicas_) {
    if (replica->runsOnItsOwn()) replica->terminate();
  }
  for (const auto& cluster : clusters_) cluster->stop();
  // What one is asked may reach another: none goes before all are silent.
  for (const auto& replica : replicas_) {
    replica->kill();
    replica->disconnect();
  }
  replicas_.clear();
}

void FaultWorld::serve() {
  for (const auto& replica : replicas_) {
    if (!replica->isServing()) replica->serve();
  }
}

void FaultWorld::kill() {
  for (const auto& replica : replicas_) replica->kill();
}

void FaultWorld::waitUntilReady() {
  for (const auto& replica : replicas_)
    waitUntil(replica->identity + " is ready", [&] { return replica->isReady(); });
}

void FaultWorld::set(const Faults& faults) {
  for (const auto& replica : replicas_) replica->api.set(faults);
}

std::chrono::sys_seconds FaultWorld::wallClock() const {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) +
         std::chrono::seconds(wall_);
}

simulator::EmbeddedCluster& FaultWorld::cluster() {
  const std::scoped_lock lock(mutex_);
  return *clusters_.back();
}

void FaultWorld::begin() {
  simulator::EmbeddedOptions options;
  options.speed = 50;
  options.seed = seed_ + clusters_.size();
  options.wallClock = [this] { return wallClock(); };
  // As by a Service: to one after the other, whether it is there or not.
  const auto callLastout =
      judge.listening([this](const simulator::Webhook& webhook, const std::string& body) {
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
  options.callWebhook = [callLastout](const simulator::Webhook& webhook, const std::string& body) {
    return webhook.configuration == "policy" ? denialByPolicy(body) : callLastout(webhook, body);
  };
  auto cluster = std::make_unique<simulator::EmbeddedCluster>(std::move(options));
  judge.follow(*cluster);
  configurationsMade_ = 0;
  {
    const kube::MutexLock lock(cluster->plane().mutex);
    cluster->plane().observe([this](const simulator::Write& write) {
      if (write.kind == simulator::Write::Kind::Added && write.record->key() == kConfiguration)
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
                            const tl::expected<simulator::WebhookResponse, std::string>& answer) {
  const Json request = Json::parse(body)["request"];
  const Json response = answer ? Json::parse(answer->body, nullptr, false) : Json();
  const Json* allowed = simulator::at(response, {"response", "allowed"});
  const std::string user = request["userInfo"]["username"];
  const bool isDenied = allowed != nullptr && *allowed == Json(false);
  if (!isDeletionByOthers(request) || !isDenied || user == simulator::adminUser().username) return;
  const std::scoped_lock lock(mutex_);
  deferredDeletions_.insert(request["oldObject"]["metadata"]["uid"].get<std::string>());
}

void FaultWorld::noteRequest(const ExchangeRequest& request) {
  const bool isOwn = request.path == kFaultWebhook || request.query.contains("dryRun");
  if (request.method != "DELETE" || isOwn) return;
  const Json options = Json::parse(request.body, nullptr, false);
  const std::string uid(simulator::stringAt(options, {"preconditions", "uid"}));
  const auto target = simulator::parseTarget(request.path);
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
  const Json* owners = simulator::at(object, {"metadata", "ownerReferences"});
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
  const ExchangeResponse list = ask("GET", "/api/v1/namespaces");
  return std::stoull(
      std::string(simulator::stringAt(Json::parse(list.body), {"metadata", "resourceVersion"})));
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

ExchangeResponse FaultWorld::ask(const std::string& method, const std::string& path, const Json& body) {
  ExchangeRequest request = adminRequest(method, path);
  request.contentType = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  if (!body.is_null()) request.body = body.dump();
  return judge.asked([&] { return cluster().handle(request); });
}

Json FaultWorld::get(const std::string& path) {
  const ExchangeResponse response = ask("GET", path);
  return response.status == 200 ? Json::parse(response.body) : Json();
}

void FaultWorld::create(const std::string& collection, const Json& object) {
  std::string answer;
  waitUntil("it is created: " + object["metadata"]["name"].get<std::string>(), [&] {
    const ExchangeResponse response = ask("POST", collection, object);
    return response.status == 201;
  });
}

void FaultWorld::patch(const std::string& path, const Json& merged) {
  waitUntil("it is patched: " + path, [&] { return ask("PATCH", path, merged).status == 200; });
}

std::string FaultWorld::holder() {
  const Json lease = get(kFaultLease);
  return std::string(simulator::stringAt(lease, {"spec", "holderIdentity"}));
}

Replica& FaultWorld::leader() {
  const auto named = [this](const std::string& name) {
    return std::ranges::find(replicas_, name, [](const auto& one) { return one->identity; });
  };
  auto found = replicas_.end();
  waitUntil("one of them holds the Lease", [&] { return (found = named(holder())) != replicas_.end(); });
  return **found;
}

Replica& FaultWorld::otherThan(const Replica& controller) {
  return **std::ranges::find_if(
      replicas_, [&](const auto& one) { return one.get() != &controller && one->roles().controller; });
}

void FaultWorld::deleteTheLease() { ask("DELETE", kFaultLease); }

void FaultWorld::takeTheLease() {
  ask("PATCH", kFaultLease, {{"spec", {{"holderIdentity", "somebody"}, {"leaseDurationSeconds", 1}}}});
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
    const Json* conditions = simulator::at(service, {"status", "conditions"});
    return conditions != nullptr && std::ranges::any_of(*conditions, [](const Json& condition) {
             return condition["type"] == "Enforced" && condition["status"] == "True";
           });
  });
  for (const auto& replica : replicas_) {
    if (!replica->isServing()) continue;
    waitUntil(replica->identity + " knows the service",
              [&] { return replica->knowsService("guard") && replica->isReady(); });
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
      std::string hope;  // with what was answered, for the message of a failure
      std::map<std::string, int> answers;
      const auto isGone = [&] {
        const ExchangeResponse answer = ask("DELETE", path);
        hope = "it is gone: " + path;
        const std::string words = answer.body.substr(0, kLongestAnswer);
        const bool isTold = answers.size() < kMostAnswers || answers.contains(words);
        ++answers[isTold ? words : "something else"];
        for (const auto& [text, times] : answers) hope += "\n" + std::to_string(times) + " times: " + text;
        return answer.status == 404;
      };
      waitUntil(hope, isGone, kLongestPause);
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

void FaultWorld::reviewWhile(const std::string& path, const std::function<void()>& change) {
  std::atomic<bool> ends = false;
  std::thread client([&] {
    while (!ends) ask("DELETE", path + "?dryRun=All");
  });
  change();
  ends = true;
  client.join();
}

void FaultWorld::waitUntilDenied() {
  const int before = judge.counts().denied;
  waitUntil("it must stay", [&] { return judge.counts().denied > before; });
}

void FaultWorld::waitUntilAllowed() {
  const int before = judge.counts().allowed;
  waitUntil("it may go", [&] { return judge.counts().allowed > before; });
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
  return std::string(simulator::stringAt(status, {"message"}));
}

void FaultWorld::expectRefused(const std::string& path, const ::testing::Matcher<std::string>& message) {
  ExchangeResponse answer;
  std::string hope = "the refusal of " + path;
  waitUntil(hope, [&] {
    answer = ask("DELETE", path);
    const std::string refusal(simulator::stringAt(Json::parse(answer.body, nullptr, false), {"message"}));
    return answer.status < 400 || message.Matches(refusal);
  });
  EXPECT_GE(answer.status, 400) << path << " was not refused\n" << logged();
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
  const auto deadline = steady_clock::now() + patience_;
  milliseconds pause = kPause;
  while (!holds()) {
    if (hasFailed_ || steady_clock::now() > deadline) {
      hasFailed_ = true;
      ADD_FAILURE() << "it does not come true: " << what << "\n" << logged();
      return;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longestPause);
  }
}

void FaultWorld::log(const std::string& line) {
  if (line.find(kLetGoEarly) != std::string::npos) judge.letGoEarly(line);
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
    if (replica->isServing()) text += replica->standing();
  }
  return text;
}

}  // namespace lastout::testing
