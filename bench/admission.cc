// A verdict and its words, beside the scan that the design document describes: 1,000 CriticalServices over 1k
// to 1M objects.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "admission/decide.h"
#include "admission/explain.h"
#include "admission/guard_index.h"
#include "bench/graph_objects.h"

namespace lastout::bench {
namespace {

using admission::GraphFacts;
using admission::GuardIndex;
using admission::KeyView;
using admission::Verdict;
using admission::viewOf;
using criticalservice::CriticalService;
using criticalservice::FinalizerCriterion;
using criticalservice::SpecificResourceCriterion;

constexpr uint32_t kServices = 1000;
const kube::GroupResource kDeployments{"apps", "deployments"};
const kube::GroupResource kConfigMaps{"", "configmaps"};
const kube::GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};

kube::ObjectMeta named(std::string namespaceName, std::string name) {
  kube::ObjectMeta meta;
  meta.namespaceName = std::move(namespaceName);
  meta.name = std::move(name);
  return meta;
}

// Every tenth service is blocked, by all instances and by their CRD; the criteria of the others hold.
CriticalService serviceNumber(uint32_t number) {
  CriticalService service;
  service.meta.name = "for-provider-" + std::to_string(number);
  service.provider = {kDeployments, "operators-" + std::to_string(number % 100),
                      "provider-" + std::to_string(number)};
  const bool blocked = number % 10 == 0;
  const std::string own = "group-" + std::to_string(number) + ".example.com";
  service.criteria = {
      FinalizerCriterion{instanceType(), blocked ? std::string(kFinalizer) : own + "/clean-up"},
      SpecificResourceCriterion{{kCrds, "", blocked ? kube::crdName(instanceType()) : "things." + own}}};
  return service;
}

// The last service: ten criteria, five of them held by a hundred objects each, five by one named object each.
CriticalService serviceOfTenBlockers() {
  CriticalService service;
  service.meta.name = "for-ten";
  service.provider = {kDeployments, "operators", "ten"};
  for (int i = 0; i < 5; ++i) {
    service.criteria.emplace_back(
        FinalizerCriterion{kConfigMaps, "example.com/clean-up-" + std::to_string(i)});
    service.criteria.emplace_back(
        SpecificResourceCriterion{{kConfigMaps, "settings", "named-" + std::to_string(i)}});
  }
  return service;
}

void addBlockers(graph::Graph& graph) {
  const graph::TypeId configMaps = graph.internType(kConfigMaps);
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 100; ++k) {
      kube::ObjectMeta meta = named("settings", "some-config-map-" + std::to_string(100 * i + k));
      meta.finalizers = {"example.com/clean-up-" + std::to_string(i)};
      graph.upsert(configMaps, meta);
    }
    graph.upsert(configMaps, named("settings", "named-" + std::to_string(i)));
  }
}

const kube::GroupResource kSubnets{"net.example.com", "subnets"};

kube::ReferenceFields subnetFields() {
  return {*kube::parseFieldPath("spec.ref.name"), kube::parseFieldPath("spec.ref.namespace"), std::nullopt};
}

// So many objects that each name the provider of a service that is blocked.
void addReferences(graph::Graph& graph, uint32_t objects) {
  const graph::TypeId subnets = graph.internType(kSubnets);
  for (uint32_t i = 0; i < objects; ++i) {
    const kube::ObjectKey provider = serviceNumber(i % (kServices / 10) * 10).provider;
    kube::Value::Map reference;
    reference.push_back({"name", {}, {provider.name, {}}});
    reference.push_back({"namespace", {}, {provider.namespaceName, {}}});
    kube::Value::Map spec;
    spec.push_back({"ref", {}, {std::move(reference), {}}});
    kube::Value::Map content;
    content.push_back({"spec", {}, {std::move(spec), {}}});
    kube::ObjectMeta meta = named("networks", "subnet-" + std::to_string(i));
    meta.references = kube::referencesIn({std::move(content), {}}, meta.namespaceName, {subnetFields()});
    graph.upsert(subnets, meta);
  }
  graph.setKnowledge(subnets, graph::Knowledge::Synced);
}

struct Cluster {
  // With `references` each service has one criterion more, about as many objects again that name providers.
  explicit Cluster(uint32_t objects, bool references = false) : graph(makeGraph(objects)), index(graph) {
    const kube::ResourceMap& types = kube::ResourceMap::builtIn();
    if (references) addReferences(graph, objects);
    for (uint32_t i = 0; i < kServices; ++i) {
      services.push_back(serviceNumber(i));
      if (references)
        services.back().criteria.emplace_back(
            criticalservice::ReferenceCriterion{kSubnets, {subnetFields(), services.back().provider, ""}});
      index.put(graph, services.back(), types);
      graph.upsert(graph.internType(kDeployments),
                   named(services.back().provider.namespaceName, services.back().provider.name));
    }
    index.put(graph, serviceOfTenBlockers(), types);
    addBlockers(graph);
    for (const kube::GroupResource& type :
         {criticalservice::criticalServiceType(), kDeployments, kConfigMaps, kCrds, instanceType()}) {
      graph.setKnowledge(graph.internType(type), graph::Knowledge::Synced);
    }
    std::vector<uint32_t> order(kServices);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (const uint32_t service : order) deletions.push_back(services[service].provider);
  }

  graph::Graph graph;
  GuardIndex index;
  std::vector<CriticalService> services;
  std::vector<kube::ObjectKey> deletions;  // their providers, in the order in which somebody asks
};

const Cluster& clusterOf(uint32_t objects) {
  static std::map<uint32_t, std::unique_ptr<Cluster>> clusters;
  std::unique_ptr<Cluster>& cluster = clusters[objects];
  if (!cluster) cluster = std::make_unique<Cluster>(objects);
  return *cluster;
}

void decide(benchmark::State& state, const Cluster& cluster) {
  const GraphFacts facts(cluster.graph, cluster.index);
  std::vector<std::span<const admission::GuardEntry>> guardEntries;
  for (const kube::ObjectKey& key : cluster.deletions)
    guardEntries.push_back(cluster.index.guardEntries(key));
  size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(admission::decide(facts, cluster.index.rules(), guardEntries[at]));
    at = at + 1 == guardEntries.size() ? 0 : at + 1;
  }
}

void decideAlone(benchmark::State& state) { decide(state, clusterOf(static_cast<uint32_t>(state.range(0)))); }

void decideWithReferences(benchmark::State& state) {
  static std::map<int64_t, std::unique_ptr<Cluster>> clusters;
  std::unique_ptr<Cluster>& cluster = clusters[state.range(0)];
  if (!cluster) cluster = std::make_unique<Cluster>(static_cast<uint32_t>(state.range(0)), true);
  decide(state, *cluster);
}

void findGuardEntriesAndDecide(benchmark::State& state) {
  const Cluster& cluster = clusterOf(static_cast<uint32_t>(state.range(0)));
  const GraphFacts facts(cluster.graph, cluster.index);
  size_t at = 0;
  for (auto _ : state) {
    const KeyView key = viewOf(cluster.deletions[at]);
    benchmark::DoNotOptimize(
        admission::decide(facts, cluster.index.rules(), cluster.index.guardEntries(key)));
    at = at + 1 == kServices ? 0 : at + 1;
  }
}

// What is deleted most often: something that nobody guards.
void findNoGuardEntriesAndDecide(benchmark::State& state) {
  const Cluster& cluster = clusterOf(static_cast<uint32_t>(state.range(0)));
  const GraphFacts facts(cluster.graph, cluster.index);
  const KeyView key{"apps", "deployments", "somewhere", "an-ordinary-deployment"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        admission::decide(facts, cluster.index.rules(), cluster.index.guardEntries(key)));
  }
}

// "Check all CriticalServices to see if this particular instance is protected", then every object for each
// criterion.
bool scan(const std::vector<CriticalService>& services, const std::vector<kube::ObjectMeta>& instances,
          const kube::ObjectKey& deleted) {
  for (const CriticalService& service : services) {
    if (service.provider != deleted) continue;
    for (const criticalservice::Criterion& criterion : service.criteria) {
      const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
      if (finalizer == nullptr) continue;  // one named object: a look-up for anybody
      for (const kube::ObjectMeta& meta : instances) {
        if (std::ranges::find(meta.finalizers, finalizer->finalizerName) != meta.finalizers.end())
          return false;
      }
    }
  }
  return true;
}

void bruteForceScan(benchmark::State& state) {
  const Cluster& cluster = clusterOf(static_cast<uint32_t>(state.range(0)));
  const std::vector<kube::ObjectMeta>& instances = metas(static_cast<uint32_t>(state.range(0)));
  size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(scan(cluster.services, instances, cluster.deletions[at]));
    at = at + 1 == kServices ? 0 : at + 1;
  }
}

void explainTenBlockers(benchmark::State& state) {
  const Cluster& cluster = clusterOf(static_cast<uint32_t>(state.range(0)));
  const kube::ObjectKey provider = serviceOfTenBlockers().provider;
  const KeyView key = viewOf(provider);
  const Verdict verdict = admission::decide(GraphFacts(cluster.graph, cluster.index), cluster.index.rules(),
                                            cluster.index.guardEntries(key));
  if (verdict.unmet != 10) state.SkipWithError("there are not ten blockers");
  for (auto _ : state) {
    benchmark::DoNotOptimize(admission::explain(cluster.graph, cluster.index, key, verdict));
  }
}

// One CriticalService comes and goes beside 1,000 others.
void putAndRemoveService(benchmark::State& state) {
  Cluster cluster(static_cast<uint32_t>(state.range(0)));
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  CriticalService service = serviceNumber(7);
  service.meta.name = "another";
  for (auto _ : state) {
    cluster.index.put(cluster.graph, service, types);
    cluster.index.remove(cluster.graph, service.meta.name);
  }
}

BENCHMARK(decideAlone)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(decideWithReferences)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(findGuardEntriesAndDecide)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(findNoGuardEntriesAndDecide)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(bruteForceScan)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(explainTenBlockers)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);
BENCHMARK(putAndRemoveService)->Arg(100'000);

}  // namespace
}  // namespace lastout::bench
