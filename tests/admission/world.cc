#include "tests/admission/world.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "criticalservice/critical_service.h"
#include "kube/reference.h"
#include "tests/support/manifests.h"

namespace lastout::admission {
namespace {

[[noreturn]] void stop(std::string_view what, const std::string& why) {
  std::cerr << what << ": " << why << "\n";
  std::abort();
}

}  // namespace

World::World(std::string_view yaml, std::string ownNamespace) : index(graph, std::move(ownNamespace)) {
  learn(criticalservice::criticalServiceType());
  if (!yaml.empty()) apply(yaml);
}

std::string World::uidOf(const kube::ObjectKey& key) { return "uid-of-" + kube::toString(key); }

void World::apply(std::string_view yaml) {
  for (kube::Object& object : testing::objects(yaml, types)) {
    if (object.meta.uid.empty()) object.meta.uid = uidOf(object.key);
    learn(object.key.type);
    criticalservice::FieldsByType fields;  // that those ask about which stand before it
    for (const auto& [name, service] : services_) criticalservice::addFields(service, fields);
    object.meta.references = criticalservice::referencesOf(object, fields);
    graph.upsert(graph.internType(object.key.type), object.meta);
    objects_[object.key] = object.meta;
    finder_.put(object);
    if (object.key.type != criticalservice::criticalServiceType()) continue;
    const auto service = criticalservice::parse(object, types);
    if (!service) stop("the CriticalService in this test is wrong", testing::lines(service.error()));
    services_[object.key.name] = *service;
    learn(service->provider.type);
  }
  guard();
}

void World::guard() {
  for (const auto& [name, service] : services_) {
    const criticalservice::CriticalService whole = finder_.withConverted(service);
    for (const criticalservice::Criterion& criterion : whole.criteria)
      learn(criticalservice::typeOf(criterion));
    index.put(graph, whole, types, finder_.find(service, criticalservice::carriesIn(graph)));
  }
}

void World::terminate(std::string_view reference, std::vector<std::string> finalizers) {
  const kube::ObjectKey object = key(reference);
  kube::ObjectMeta& meta = objects_.at(object);
  meta.deletionTimestamp = 1'700'000'000;
  if (!finalizers.empty()) meta.finalizers = std::move(finalizers);
  graph.upsert(graph.internType(object.type), meta);
}

void World::remove(std::string_view reference) {
  const kube::ObjectKey object = key(reference);
  graph.remove(object);
  objects_.erase(object);
  finder_.remove(object);
  if (object.type == criticalservice::criticalServiceType()) {
    index.remove(graph, object.name);
    services_.erase(object.name);
  }
  guard();
}

void World::know(std::string_view type, graph::Knowledge knowledge) {
  const auto resolved = types.resolve(type);
  if (!resolved) stop("no such type", resolved.error().message);
  knowledge_[(*resolved)->type] = knowledge;
  graph.setKnowledge(graph.internType((*resolved)->type), knowledge);
}

void World::learn(const kube::GroupResource& type) {
  const auto known = knowledge_.emplace(type, graph::Knowledge::Synced);
  if (known.second) graph.setKnowledge(graph.internType(type), graph::Knowledge::Synced);
}

kube::ObjectKey World::key(std::string_view reference) const {
  const auto parsed = kube::parseReference(reference, types);
  if (!parsed) stop(reference, parsed.error().message);
  return *parsed;
}

Verdict World::decide(std::string_view reference, DeletionEffect deletionEffect) const {
  return admission::decide(GraphFacts(graph, index), index.rules(), index.guardEntries(key(reference)),
                           deletionEffect);
}

Explanation World::explain(std::string_view reference, std::string_view detail,
                           DeletionEffect deletionEffect) const {
  Verdict verdict = decide(reference, deletionEffect);
  if (!detail.empty()) {
    verdict.allowed = false;
    verdict.reason = Reason::Unconfirmed;
  }
  return admission::explain(graph, index, key(reference), verdict, detail);
}

}  // namespace lastout::admission
