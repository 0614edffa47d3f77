// Algorithms over whole snapshots. docs/performance.md has the numbers.
#include <benchmark/benchmark.h>

#include "bench/graph_objects.h"
#include "graph/algorithms.h"

namespace lastout::bench {
namespace {

void strongComponents(benchmark::State& state) {
  graph::Graph graph = makeGraph(static_cast<uint32_t>(state.range(0)));
  graph.require({{"apps", "deployments"}, "finalizer-namespace", "finalizer-deployment"},
                finalizerCondition(), {});
  const graph::Graph snapshot = graph.snapshot();
  for (auto _ : state) benchmark::DoNotOptimize(graph::components(snapshot).count);
}
BENCHMARK(strongComponents)->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lastout::bench
