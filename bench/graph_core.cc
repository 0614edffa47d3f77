// Applying changes, reading facts, taking snapshots, and the memory of it all. docs/performance.md has the
// numbers.
#include <benchmark/benchmark.h>

#include "bench/graph_objects.h"

namespace lastout::bench {
namespace {

using graph::Change;
using graph::Condition;
using graph::ConditionId;
using graph::Graph;
using graph::TypeId;

// An empty graph takes in a list, 1,000 objects at a time.
void applyList(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const std::vector<kube::ObjectMeta>& all = metas(count);
  for (auto _ : state) {
    auto made = std::make_unique<Graph>();
    const std::vector<Change> changes = upserts(made->internType(instanceType()), all);
    for (size_t at = 0; at < changes.size(); at += 1000) {
      made->apply(std::span(changes).subspan(at, std::min<size_t>(1000, changes.size() - at)));
    }
    benchmark::DoNotOptimize(made->revision());
    state.PauseTiming();
    made.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(applyList)->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// The same objects again: what a relist, or a watch of updates, costs.
void applyAgain(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  Graph graph;
  const std::vector<Change> changes = upserts(graph.internType(instanceType()), metas(count));
  graph.apply(changes);
  for (auto _ : state) graph.apply(changes);
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(applyAgain)->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// An object goes and comes back, whose finalizer so many conditions are on that leave out a namespace each.
void changeUnderExceptions(benchmark::State& state) {
  Graph graph = makeGraph(1000);
  graph.addCondition(finalizerCondition());
  for (int64_t number = 0; number < state.range(0); ++number) {
    Condition condition = finalizerCondition();
    condition.scope = kube::NamespaceScope::outside("provider-" + std::to_string(number));
    graph.addCondition(condition);
  }
  const TypeId type = graph.internType(instanceType());
  const kube::ObjectMeta& meta = metas(1000).back();
  for (auto _ : state) {
    graph.remove({instanceType(), meta.namespaceName, meta.name});
    graph.upsert(type, meta);
  }
}
BENCHMARK(changeUnderExceptions)->Arg(0)->Arg(1)->Arg(1000);

void holders(benchmark::State& state) {
  Graph graph = makeGraph(static_cast<uint32_t>(state.range(0)));
  const ConditionId condition = graph.addCondition(finalizerCondition());
  for (auto _ : state) {
    benchmark::DoNotOptimize(graph.holders(condition));
    benchmark::DoNotOptimize(graph.knowledge(condition));
  }
}
BENCHMARK(holders)->Arg(1000)->Arg(100'000)->Arg(1'000'000);

// What the design document describes: all objects of the criterion's type are looked at.
void bruteForceScan(benchmark::State& state) {
  const std::vector<kube::ObjectMeta>& all = metas(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    uint32_t carriers = 0;
    for (const kube::ObjectMeta& meta : all) {
      for (const std::string& finalizer : meta.finalizers) carriers += finalizer == kFinalizer ? 1 : 0;
    }
    benchmark::DoNotOptimize(carriers);
  }
}
BENCHMARK(bruteForceScan)->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

void tenHolders(benchmark::State& state) {
  Graph graph = makeGraph(static_cast<uint32_t>(state.range(0)));
  const ConditionId condition = graph.addCondition(finalizerCondition());
  std::array<graph::ObjectId, 10> some{};
  for (auto _ : state) benchmark::DoNotOptimize(graph.someHolders(condition, some));
}
BENCHMARK(tenHolders)->Arg(1000)->Arg(100'000)->Arg(1'000'000);

void snapshot(benchmark::State& state) {
  const Graph graph = makeGraph(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    std::optional<Graph> taken = graph.snapshot();
    benchmark::DoNotOptimize(taken);
    state.PauseTiming();
    taken.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(snapshot)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

// What one update costs the writer at most, right after a snapshot was taken: all chunks it touches are
// copied.
void updateAfterSnapshot(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  Graph graph = makeGraph(count);
  const TypeId type = graph.internType(instanceType());
  const kube::ObjectMeta meta = makeMeta(count / 2);
  kube::ObjectMeta changed = meta;
  changed.finalizers.clear();
  for (auto _ : state) {
    state.PauseTiming();
    const Graph taken = graph.snapshot();
    state.ResumeTiming();
    graph.upsert(type, changed);
    graph.upsert(type, meta);
  }
}
BENCHMARK(updateAfterSnapshot)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);

void memoryOfObjects(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  for (auto _ : state) {
    const uint64_t before = residentBytes();
    const Graph graph = makeGraph(count);
    state.counters["bytes/object"] = static_cast<double>(residentBytes() - before) / count;
  }
}
BENCHMARK(memoryOfObjects)->Arg(1'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);

// 100,000 live objects; ten million upserts and removes, each upsert of a name and uid never seen before.
void churn(benchmark::State& state) {
  constexpr uint32_t kLive = 100'000;
  constexpr uint32_t kChanges = 10'000'000;
  for (auto _ : state) {
    Graph graph = makeGraph(kLive);
    const TypeId type = graph.internType(instanceType());
    const double before = static_cast<double>(residentBytes());
    kube::ObjectMeta meta;
    kube::ObjectMeta old;
    for (uint32_t change = 0; change < kChanges; change += 2) {
      const uint32_t number = change / 2 % kLive;
      const uint32_t generation = change / 2 / kLive;
      refill(old, number, generation);
      refill(meta, number, generation + 1);
      graph.remove({instanceType(), old.namespaceName, old.name});
      graph.upsert(type, meta);
    }
    state.counters["resident after/before"] = static_cast<double>(residentBytes()) / before;
    state.counters["objects"] = graph.objectCount();
  }
  state.SetItemsProcessed(state.iterations() * kChanges);
}
BENCHMARK(churn)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lastout::bench
