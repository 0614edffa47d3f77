// Scenarios replayed: the story, its variants, and what reading one costs.
#include <benchmark/benchmark.h>

#include <iostream>

#include "replay/batch.h"
#include "replay/replay.h"

namespace lastout::replay {
namespace {

constexpr const char* kThreeWorks = "scenarios/story-three-works.yaml";

std::unique_ptr<const Ready> shipped(const char* file) {
  auto all = loadAll({{file, true}});
  if (!all) {
    std::cerr << kube::toString(all.error().front())
              << "\n(start benchmarks in the repository's top folder)\n";
    std::exit(2);
  }
  return std::move(all->front());
}

// Virtual time, written order; items are whole runs, from the first delete to the end.
void runStory(benchmark::State& state, const char* file, RunOptions options) {
  const auto ready = shipped(file);
  Replayer replayer(ready->compiled);
  Run run;
  int64_t actions = 0;
  for (auto _ : state) {
    replayer.run(options, run);
    ++options.seed;
    actions += run.actions;
    benchmark::DoNotOptimize(run.end);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
  state.counters["actions"] = benchmark::Counter(static_cast<double>(actions), benchmark::Counter::kIsRate);
}

void replayStory(benchmark::State& state) { runStory(state, kThreeWorks, {}); }
void replayOneWork(benchmark::State& state) { runStory(state, "scenarios/story-one-work.yaml", {}); }
void replayDeadlock(benchmark::State& state) { runStory(state, "scenarios/story-only-denied.yaml", {}); }
void replayStoryRandom(benchmark::State& state) { runStory(state, kThreeWorks, {.order = Order::Random}); }

// With every event kept, as a run that is told needs it.
void replayStoryLogged(benchmark::State& state) {
  const auto ready = shipped(kThreeWorks);
  Replayer replayer(ready->compiled);
  Run run;
  std::vector<Happening> log;
  for (auto _ : state) {
    log.clear();
    replayer.run({}, run, &log);
    benchmark::DoNotOptimize(log.data());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

void readAndCompile(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(shipped(kThreeWorks));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

BENCHMARK(replayStory)->Unit(benchmark::kMicrosecond);
BENCHMARK(replayOneWork)->Unit(benchmark::kMicrosecond);
BENCHMARK(replayDeadlock)->Unit(benchmark::kMicrosecond);
BENCHMARK(replayStoryRandom)->Unit(benchmark::kMicrosecond);
BENCHMARK(replayStoryLogged)->Unit(benchmark::kMicrosecond);
BENCHMARK(readAndCompile)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lastout::replay
