// prove: states a second on the shipped scenarios and on a large space, and what the explorer alone takes of
// that. Run from the top folder. docs/performance.md has the numbers.
#include "prove/prove.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "prove/reach.h"
#include "replay/batch.h"
#include "tests/prove/small_operator.h"

namespace lastout::bench {
namespace {

using prove::Exploration;
using prove::Explorer;
using replay::Compiled;

[[noreturn]] void fail(const kube::Errors& errors) {
  for (const kube::Error& error : errors) std::cerr << kube::toString(error) << "\n";
  std::exit(2);
}

void proveAll(benchmark::State& state, const Compiled& compiled) {
  prove::Proof proof;
  for (auto _ : state) proof = prove::proveScenario(compiled);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(proof.states));  // states a second
  state.counters["states"] = static_cast<double>(proof.states);
  state.counters["transitions"] = static_cast<double>(proof.transitions);
  state.counters["bytes_a_state"] = static_cast<double>(proof.bytes) / static_cast<double>(proof.states);
}

void proveFile(benchmark::State& state, const char* name) {
  const auto all = replay::loadAll({{std::string("scenarios/") + name + ".yaml", true}});
  if (!all) fail(all.error());
  proveAll(state, all->front()->compiled);
}
BENCHMARK_CAPTURE(proveFile, storyThreeWorks, "story-three-works")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(proveFile, storyOneWork, "story-one-work")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(proveFile, storyDeadlock, "story-only-denied")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(proveFile, chain, "chain-of-three-operators")->Unit(benchmark::kMillisecond);

// A guarded operator and so many instances that are deleted in any order: about 3 to the power of that many
// states for each state of the operator.
std::string instances(int64_t count) {
  std::string text = R"(apiVersion: lastout.dev/v1alpha1
kind: Scenario
metadata: {name: instances}
spec:
  controllers:
    - name: cleanup
      runsIn: deployments.apps/operator/operator
      removes: {finalizer: example.com/cleanup, from: widgets.example.com}
  steps:
    - delete: [widgets/*, deployments.apps/operator/operator]
)";
  text += prove::kGuard;
  text += prove::kOperator;  // with one instance
  for (int64_t i = 1; i < count; ++i)
    text += "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: widget-" + std::to_string(i) +
            ", finalizers: [example.com/cleanup]}\n";
  return text;
}

void proveInstances(benchmark::State& state) {
  const auto scenario = replay::parse(instances(state.range(0)), "instances.yaml");
  if (!scenario) fail(scenario.error());
  const auto compiled = replay::compile(*scenario);
  if (!compiled) fail(compiled.error());
  proveAll(state, *compiled);
}
BENCHMARK(proveInstances)->Arg(8)->Arg(11)->Arg(13)->Unit(benchmark::kMillisecond);

// The explorer without the machine: counters that count up to 7, in states as long as the story's.
struct Counters {
  using Action = uint32_t;
  uint32_t count = 7;

  uint32_t words() const { return 17; }
  std::vector<uint64_t> initial() const { return std::vector<uint64_t>(words()); }
  bool goal(const uint64_t* state) const {
    for (uint32_t i = 0; i < count; ++i) {
      if (state[i] != 7) return false;
    }
    return true;
  }
  void enabled(const uint64_t* state, std::vector<Action>& actions) const {
    for (uint32_t i = 0; i < count; ++i) {
      if (state[i] < 7) actions.push_back(i);
    }
  }
  uint64_t apply(const uint64_t*, uint64_t* state, Action i) const {
    ++state[i];
    return 0;
  }
};

void exploreCounters(benchmark::State& state) {
  uint64_t states = 0;
  for (auto _ : state) states += Explorer(Counters{}, prove::Bounds{}).run().states.size();
  state.SetItemsProcessed(static_cast<int64_t>(states));
}
BENCHMARK(exploreCounters)->Unit(benchmark::kMillisecond);

void reachCounters(benchmark::State& state) {
  const Counters counters;
  const Exploration found = Explorer(counters, prove::Bounds{}).run();
  for (auto _ : state) benchmark::DoNotOptimize(prove::canReachGoal(found));
  state.SetItemsProcessed(state.iterations() * found.states.size());
}
BENCHMARK(reachCounters)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lastout::bench
