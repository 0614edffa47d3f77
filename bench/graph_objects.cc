#include "bench/graph_objects.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace lastout::bench {

namespace {

constexpr uint32_t kOwned = 10;  // objects to one owner

void writeName(std::string& name, uint32_t number, uint32_t generation) {
  char text[48];
  std::snprintf(text, sizeof(text), "instance-of-a-cool-resource-%05u-%06u", generation % 100000,
                number % 1000000);
  name = text;
}

void writeUid(std::string& uid, uint32_t number, uint32_t generation) {
  const uint64_t mixed = (uint64_t{generation} << 32 | number) * 0x9e3779b97f4a7c15;
  char text[64];
  std::snprintf(text, sizeof(text), "%08x-%04x-4%03x-8%03x-%012llx", number, generation & 0xffff,
                generation >> 16 & 0xfff, number >> 20, static_cast<unsigned long long>(mixed >> 16));
  uid = text;
}

}  // namespace

void refill(kube::ObjectMeta& meta, uint32_t number, uint32_t generation) {
  meta.namespaceName = "managed-cluster-" + std::to_string(number / kOwned % kNamespaces);
  writeName(meta.name, number, generation);
  writeUid(meta.uid, number, generation);
  meta.resourceVersion = std::to_string(1000000 + number);
  meta.finalizers.assign(1, std::string(kFinalizer));
  meta.ownerReferences.resize(1);
  kube::OwnerReference& owner = meta.ownerReferences[0];
  owner.apiVersion = "my.crd.group/v1";
  owner.kind = "CoolResource";
  owner.blockOwnerDeletion = true;
  writeName(owner.name, number / kOwned * kOwned, generation);
  writeUid(owner.uid, number / kOwned * kOwned, generation);
}

kube::ObjectMeta makeMeta(uint32_t number) {
  kube::ObjectMeta meta;
  refill(meta, number, 0);
  return meta;
}

const kube::GroupResource& instanceType() {
  static const kube::GroupResource kType{"my.crd.group", "coolresources"};
  return kType;
}

graph::Condition finalizerCondition() {
  graph::Condition condition;
  condition.kind = graph::Condition::Kind::Finalizer;
  condition.type = instanceType();
  condition.finalizer = kFinalizer;
  return condition;
}

const std::vector<kube::ObjectMeta>& metas(uint32_t count) {
  static std::map<uint32_t, std::vector<kube::ObjectMeta>> made;
  std::vector<kube::ObjectMeta>& result = made[count];
  if (result.empty()) {
    result.reserve(count);
    for (uint32_t i = 0; i < count; ++i) result.push_back(makeMeta(i));
  }
  return result;
}

std::vector<graph::Change> upserts(graph::TypeId type, const std::vector<kube::ObjectMeta>& metas) {
  std::vector<graph::Change> changes;
  changes.reserve(metas.size());
  for (const kube::ObjectMeta& meta : metas) changes.push_back({graph::Change::Kind::Upsert, type, &meta});
  return changes;
}

graph::Graph makeGraph(uint32_t count) {
  graph::Graph graph;
  const graph::TypeId type = graph.internType(instanceType());
  graph.setKnowledge(type, graph::Knowledge::Synced);
  const graph::TypeId namespaces = graph.internType({"", "namespaces"});
  const graph::TypeId crds = graph.internType({"apiextensions.k8s.io", "customresourcedefinitions"});
  kube::ObjectMeta meta;
  for (uint32_t i = 0; i < kNamespaces; ++i) {
    meta.name = "managed-cluster-" + std::to_string(i);
    graph.upsert(namespaces, meta);
  }
  meta.name = kube::crdName(instanceType());
  graph.upsert(crds, meta);
  for (uint32_t i = 0; i < count; ++i) {
    refill(meta, i, 0);
    graph.upsert(type, meta);
  }
  return graph;
}

uint64_t residentBytes() {
  malloc_trim(0);
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace lastout::bench
