#include "tests/properties/watched_cluster.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admission/service_changes.h"
#include "kube/parse.h"
#include "kube/resource_map.h"
#include "tests/properties/cluster_spec.h"

namespace lastout::testing {

namespace {

using Kind = WatchedHappening::Kind;
using State = client::SyncStatus::State;

const kube::ResourceMap& knownTypes() {
  static const kube::ResourceMap kTypes = [] {
    kube::ResourceMap types = kube::ResourceMap::builtIn();
    types.add({watched::kProbes, "Probe", "v1", "probe", {}, true, false});
    types.add({watched::kChecks, "Check", "v1", "check", {}, false, false});
    types.add({watched::kValves, "Valve", "v1", "valve", {}, false, false});
    types.add({watched::kQuotes, "Quote", "v1", "quote", {}, true, false});
    return types;
  }();
  return kTypes;
}

// Types that are always served and read; CriticalServices and CRDs are told of as they are written.
bool isBuiltIn(const kube::GroupResource& type) {
  const kube::ResourceType* known = knownTypes().find(type);
  return known != nullptr && (known->builtIn || type == types::kCriticalServices);
}

std::string uidOf(const kube::ObjectKey& key) { return "uid-of-" + kube::toString(key); }

kube::Value valueOf(const std::string& json) { return kube::parseJson(json, "").value(); }

kube::Value templateContent(const std::string& config, bool hasPods) {
  return valueOf(R"({"spec":{"replicas":)" + std::string(hasPods ? "1" : "0") +
                 R"(,"template":{"spec":{"containers":[],"volumes":[{"configMap":{"name":")" + config +
                 R"("}}]}}}})");
}

// Of its earlier templates and the present one, in order.
kube::ObjectKey replicaSetOf(const kube::ObjectKey& provider, size_t number) {
  return {types::kReplicaSets, provider.namespaceName, provider.name + "-" + std::to_string(number)};
}

}  // namespace

WatchedCluster::WatchedCluster() {
  told_.now = client::TimePoint(std::chrono::seconds(1'000));
  truth_.objects.push_back({.key = namespaceKey("home"), .finalizers = {}});
  for (const kube::ObjectKey& provider : {watched::kAlpha, watched::kBeta}) {
    truth_.objects.push_back({.key = provider, .finalizers = {}});
    templates_[provider] = {{"config0", true}};
    truth_.objects.push_back({.key = replicaSetOf(provider, 0), .finalizers = {}});
  }
  start(false);
}

void WatchedCluster::play(const WatchedHappening& happening) {
  weakened_.clear();
  switch (happening.kind) {
    case Kind::WriteService:
      write(happening);
      break;
    case Kind::RemoveService:
      removeService(happening.name);
      break;
    case Kind::CrdComes:
      define(happening.type, happening.isLate);
      break;
    case Kind::CrdGoes:
      undefine(happening.type, happening.isLate);
      break;
    case Kind::ApiComes:
      truth_.apis.insert(happening.type);
      break;
    case Kind::ApiGoes:
      truth_.apis.erase(happening.type);
      break;
    case Kind::Discovery:
      discover(happening.isLate, happening.name);
      break;
    case Kind::RightsGo:
      truth_.forbidden.insert(happening.type);
      break;
    case Kind::RightsCome:
      truth_.forbidden.erase(happening.type);
      break;
    case Kind::WatchBreaks:
      if (isFollowing(happening.type)) truth_.broken.insert(happening.type);
      break;
    case Kind::WatchMends:
      truth_.broken.erase(happening.type);
      break;
    case Kind::TimePasses:
      told_.now += std::chrono::seconds(31);
      break;
    case Kind::ObjectComes:
      put(happening.object, happening.finalizers);
      break;
    case Kind::ObjectGoes:
      erase(happening.object);
      break;
    case Kind::TemplateChanges:
      changeTemplate(happening.object, happening.name);
      break;
    case Kind::OldPodsEnd:
      endOldPods(happening.object);
      break;
    case Kind::Restart:
      writeStatus();
      start(happening.isLate);
      break;
  }
  view_->tick(told_.now);
  told_.templates = templates_;  // of which all is always read
  remember(told_);
  follow();
}

// As a lastout begins: with nothing but what the API server has.
void WatchedCluster::start(bool isLate) {
  view_ = std::make_unique<server::LiveView>(server::LiveViewOptions{
      .ownNamespace = {},
      .weakened = [this](const admission::Weakening& news) { weakened_.push_back(news); }});
  const client::TimePoint now = told_.now;
  told_ = {};
  told_.now = now;
  truth_.broken.clear();
  discover(isLate, {});
  for (const kube::GroupResource& type : truth_.definitions) {
    told_.definitions.insert(type);
    upsert(kube::crdKey(type), {});
  }
  view_->know(types::kCrds, {State::Synced, true, told_.now, {}}, told_.now);
  told_.knowsDefinitions = true;
  remember(told_);
  for (const auto& [name, object] : truth_.services) {
    const criticalservice::CriticalService service = criticalservice::parseStanding(object).value();
    told_.services[name] = service;
    told_.seenBy[name] = service.seenTypes;
    view_->upsert(*knownTypes().find(types::kCriticalServices),
                  {object.apiVersion, object.kind, object.meta, object.content}, told_.now);
  }
  view_->know(types::kCriticalServices, {State::Synced, true, told_.now, {}}, told_.now);
  view_->tick(told_.now);
  remember(told_);
  follow();
}

// By whoever holds the Lease: what was seen.
void WatchedCluster::writeStatus() {
  view_->inspect([this](const admission::ClusterView& view, const kube::ResourceMap&) {
    for (auto& [name, object] : truth_.services) {
      criticalservice::CriticalService service = criticalservice::parseStanding(object).value();
      service.seenTypes = view.service(name)->seenTypes;
      const kube::Value content = object.content;
      object.content = criticalservice::toManifest(service);
      // Of the spec what was written stays.
      kube::Value::Map& members = std::get<kube::Value::Map>(object.content.data);
      for (kube::Member& member : members) {
        if (member.key == "spec") member.value = *content.at({"spec"});
      }
    }
  });
}

// --- what is served

bool WatchedCluster::isServed(const kube::GroupResource& type) const {
  return truth_.definitions.contains(type) || truth_.apis.contains(type);
}

// For about a second after a CRD is gone discovery still names its type.
void WatchedCluster::discover(bool isLate, const std::string& gap) {
  client::Discovery found;
  found.types = kube::ResourceMap::builtIn();
  told_.served.clear();
  told_.gap = gap;
  for (const kube::ResourceType& type : knownTypes().types()) {
    const bool isNamed =
        isBuiltIn(type.type) || isServed(type.type) || (isLate && truth_.leaving.contains(type.type));
    if (!isNamed || (type.type.group == gap && !gap.empty())) continue;
    if (!isBuiltIn(type.type)) told_.served.insert(type.type);
    client::DiscoveredType served{.type = type, .versions = {type.version}};
    served.canGet = served.canList = served.canWatch = true;
    if (found.types.find(type.type) == nullptr) found.types.add(type);
    found.served.emplace(type.type, served);
  }
  if (!gap.empty()) found.gaps.push_back({gap, "", "it does not answer"});
  if (!isLate) truth_.leaving.clear();
  view_->discovered(std::move(found), told_.now);
  forgetTypes(told_);
}

void WatchedCluster::define(const kube::GroupResource& type, bool isLate) {
  if (!truth_.definitions.insert(type).second) return;
  truth_.leaving.erase(type);
  if (isLate && told_.readings.contains(type)) read(type);
  told_.definitions.insert(type);
  upsert(kube::crdKey(type), {});
}

// It goes after its instances.
void WatchedCluster::undefine(const kube::GroupResource& type, bool isLate) {
  if (!truth_.definitions.contains(type)) return;
  const std::vector<PlainObject> objects = truth_.objects;
  for (const PlainObject& object : objects) {
    if (object.key.type == type) erase(object.key);
  }
  truth_.definitions.erase(type);
  truth_.leaving.insert(type);
  if (isLate && told_.readings.contains(type)) read(type);
  told_.definitions.erase(type);
  remove(kube::crdKey(type));
}

// --- CriticalServices

kube::Object WatchedCluster::manifestOf(const WatchedHappening& write) const {
  criticalservice::CriticalService service = *write.service;
  service.meta.uid = "uid-of-" + service.meta.name;
  const auto standing = truth_.services.find(service.meta.name);
  if (standing != truth_.services.end())
    service.seenTypes = criticalservice::parseStanding(standing->second).value().seenTypes;
  for (criticalservice::Criterion& criterion : service.criteria) {
    auto* specific = std::get_if<criticalservice::SpecificResourceCriterion>(&criterion);
    if (write.writesKinds && specific != nullptr && specific->object.type == types::kCrds)
      specific->object.type.resource = "CustomResourceDefinition";
  }
  const kube::ResourceType& type = *knownTypes().find(types::kCriticalServices);
  kube::Object object;
  object.apiVersion = type.type.group + "/" + type.version;
  object.kind = type.kind;
  object.key = criticalservice::keyOf(service);
  object.meta = service.meta;
  object.meta.resourceVersion = std::to_string(versions_ + 1);
  object.content = criticalservice::toManifest(service);
  return object;
}

std::string WatchedCluster::problemsOf(const WatchedHappening& write) const {
  const kube::Object after = manifestOf(write);
  const auto standing = truth_.services.find(write.service->meta.name);
  kube::Errors problems;
  view_->inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    const auto isMet = [&view](const criticalservice::Criterion& criterion) { return view.isMet(criterion); };
    problems = admission::serviceProblems(
        view, types, {}, standing == truth_.services.end() ? nullptr : &standing->second, after, isMet);
  });
  return admission::joinedMessages(problems);
}

void WatchedCluster::write(const WatchedHappening& write) {
  writeStatus();
  const kube::Object object = manifestOf(write);
  ++versions_;
  truth_.services[object.key.name] = object;
  criticalservice::CriticalService service = *write.service;
  service.seenTypes = criticalservice::parseStanding(object).value().seenTypes;
  told_.seenBy[object.key.name].insert(service.seenTypes.begin(), service.seenTypes.end());
  told_.services[object.key.name] = std::move(service);
  view_->upsert(*knownTypes().find(types::kCriticalServices),
                {object.apiVersion, object.kind, object.meta, object.content}, told_.now);
}

void WatchedCluster::removeService(const std::string& name) {
  const auto found = truth_.services.find(name);
  if (found == truth_.services.end()) return;
  view_->remove(types::kCriticalServices, {"", name, found->second.meta.uid});
  truth_.services.erase(found);
  told_.services.erase(name);
}

// --- objects

bool WatchedCluster::isProviderThere(const kube::ObjectKey& provider) const {
  return std::ranges::any_of(truth_.objects, [&](const PlainObject& one) { return one.key == provider; });
}

void WatchedCluster::put(const kube::ObjectKey& key, const std::vector<std::string>& finalizers) {
  if (!isBuiltIn(key.type) && !isServed(key.type)) return;
  std::erase_if(truth_.objects, [&](const PlainObject& one) { return one.key == key; });
  truth_.objects.push_back({.key = key, .finalizers = finalizers});
  if (isFollowing(key.type)) upsert(key, finalizers);
}

void WatchedCluster::erase(const kube::ObjectKey& key) {
  if (std::erase_if(truth_.objects, [&](const PlainObject& one) { return one.key == key; }) == 0) return;
  if (isFollowing(key.type)) remove(key);
}

// The former ReplicaSet keeps its Pods as long as it takes.
void WatchedCluster::changeTemplate(const kube::ObjectKey& provider, const std::string& config) {
  templates_[provider].push_back({config, true});
  tellTemplates(provider);
}

void WatchedCluster::endOldPods(const kube::ObjectKey& provider) {
  std::vector<ToldTemplate>& all = templates_[provider];
  for (size_t i = 0; i + 1 < all.size(); ++i) all[i].hasPods = false;
  tellTemplates(provider);
}

void WatchedCluster::tellTemplates(const kube::ObjectKey& provider) {
  const std::vector<ToldTemplate>& all = templates_[provider];
  for (size_t i = 0; i < all.size(); ++i) put(replicaSetOf(provider, i), {});
  if (isProviderThere(provider)) put(provider, {});
}

// --- what watches tell

bool WatchedCluster::isFollowing(const kube::GroupResource& type) const {
  const auto reading = told_.readings.find(type);
  return reading != told_.readings.end() && reading->second.state == State::Synced;
}

// As Watches does, until nothing changes any more.
void WatchedCluster::follow() {
  for (bool changed = true; changed;) {
    changed = unfollowUnwanted();
    for (const kube::GroupResource& type : view_->wanted()) {
      if (type == types::kCriticalServices || type == types::kCrds) continue;
      if (!told_.readings.contains(type) && !view_->find(type)) continue;
      const auto before = told_.readings.find(type);
      if (before != told_.readings.end() && before->second == readingOf(type)) continue;
      read(type);
      changed = true;
    }
    remember(told_);
  }
}

bool WatchedCluster::unfollowUnwanted() {
  const std::vector<kube::GroupResource> wanted = view_->wanted();
  const std::map<kube::GroupResource, ToldReading> readings = told_.readings;
  bool changed = false;
  for (const auto& [type, reading] : readings) {
    const bool isWanted = std::ranges::binary_search(wanted, type);
    const bool isAbsent = !view_->find(type) && view_->knowledge(type) == graph::Knowledge::Absent;
    if (isWanted && !isAbsent) continue;
    forget(type);
    changed = true;
  }
  return changed;
}

ToldReading WatchedCluster::readingOf(const kube::GroupResource& type) const {
  const auto before = told_.readings.find(type);
  if (truth_.broken.contains(type) && before != told_.readings.end()) {
    if (before->second.state == State::Stale) return before->second;
    if (before->second.state == State::Synced) return {State::Stale, told_.now};
  }
  if (truth_.forbidden.contains(type)) return {State::Forbidden, {}};
  return {isBuiltIn(type) || isServed(type) ? State::Synced : State::NotServed, {}};
}

void WatchedCluster::read(const kube::GroupResource& type) {
  const ToldReading reading = readingOf(type);
  told_.readings[type] = reading;
  if (reading.state == State::Forbidden)
    told_.refused.insert(type);
  else
    told_.refused.erase(type);
  if (reading.state == State::Synced) list(type);
  view_->know(type, {reading.state, true, reading.asOf, {}}, told_.now);
}

// All that there is, and that the rest is not.
void WatchedCluster::list(const kube::GroupResource& type) {
  const std::vector<PlainObject> known = told_.objects;
  for (const PlainObject& object : known) {
    const bool isThere = std::ranges::any_of(
        truth_.objects, [&](const PlainObject& other) { return other.key == object.key; });
    if (object.key.type == type && !isThere) remove(object.key);
  }
  for (const PlainObject& object : truth_.objects) {
    if (object.key.type == type) upsert(object.key, object.finalizers);
  }
}

void WatchedCluster::forget(const kube::GroupResource& type) {
  view_->forget(type, told_.now);
  told_.readings.erase(type);
  std::erase_if(told_.objects, [&](const PlainObject& object) { return object.key.type == type; });
}

void WatchedCluster::upsert(const kube::ObjectKey& key, const std::vector<std::string>& finalizers) {
  client::StreamedObject object;
  object.meta.namespaceName = key.namespaceName;
  object.meta.name = key.name;
  object.meta.uid = uidOf(key);
  object.meta.finalizers = finalizers;
  for (const auto& [provider, all] : templates_) {
    if (key == provider) object.content = templateContent(all.back().config, true);
    const std::string stem = provider.name + "-";
    if (key.type != types::kReplicaSets || !key.name.starts_with(stem)) continue;
    const ToldTemplate& one = all[std::stoul(key.name.substr(stem.size()))];
    object.content = templateContent(one.config, one.hasPods);
    object.meta.ownerReferences.push_back({.apiVersion = "apps/v1",
                                           .kind = "Deployment",
                                           .name = provider.name,
                                           .uid = uidOf(provider),
                                           .controller = true});
  }
  view_->upsert(*knownTypes().find(key.type), std::move(object), told_.now);
  if (key.type == types::kCrds) return;
  std::erase_if(told_.objects, [&](const PlainObject& one) { return one.key == key; });
  told_.objects.push_back({.key = key, .finalizers = finalizers});
}

void WatchedCluster::remove(const kube::ObjectKey& key) {
  view_->remove(key.type, {key.namespaceName, key.name, uidOf(key)});
  std::erase_if(told_.objects, [&](const PlainObject& one) { return one.key == key; });
}

}  // namespace lastout::testing
