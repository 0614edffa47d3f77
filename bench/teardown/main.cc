// bench/teardown: fleets of works, each deleted at once in an order of chance, with lastout and without its
// deferred deletions. scripts/teardown runs it; docs/performance.md has its table.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>

#include "bench/teardown/report.h"
#include "bench/teardown/run.h"

namespace lastout::bench {
namespace {

// Where no deferred deletions are run, the garbage collector asks again: after 5 ms, then each time twice as
// late, up to 1,000 s. From some time on only that is left, and nobody measures what lastout takes.
constexpr Milliseconds kPatience{600'000};
constexpr Milliseconds kPatienceWithout{3'000'000};
constexpr Milliseconds kHurryAfter{60'000};
constexpr double kHurry = 200;

struct Options {
  int orders = 10;
  int without = 3;
  int operators = 30;
  uint32_t seed = 1;
  double speed = 3;
  std::string dependencies;
  bool json = false;
  std::string keep;
};

void add(CLI::App& app, Options& options) {
  app.add_option("--orders", options.orders, "how many orders, each with a fleet of its own")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  app.add_option("--without", options.without, "how many of them also without deferred deletions")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  app.add_option("--operators", options.operators, "in a fleet, each with ten works")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the first order; the others follow")->capture_default_str();
  app.add_option("--speed", options.speed, "of the cluster's controllers")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  app.add_option("--dependencies", options.dependencies, "spec.guard.dependencies of every CriticalService")
      ->check(CLI::IsMember({"Auto", "None"}));
  app.add_flag("--json", options.json, "a JSON object for each order instead of the table");
  app.add_option("--keep", options.keep, "keeps the recording of the last order in this file");
}

TeardownOrder runOrder(const Options& options, uint32_t seed, bool runsDeferredDeletions) {
  const Fleet fleet =
      makeFleet({options.operators, seed, runsDeferredDeletions ? "" : "Never", options.dependencies});
  TeardownRunOptions run;
  run.speed = options.speed;
  run.seed = seed;
  run.keep = options.keep;
  run.patience = runsDeferredDeletions ? kPatience : kPatienceWithout;
  run.hurryAfter = kHurryAfter;
  run.speedWhenLate = runsDeferredDeletions ? 0 : kHurry;
  return {seed, runsDeferredDeletions, options.speed, longestPath(fleet, cluster::Timing()),
          figuresOf(fleet, tearDown(fleet, run))};
}

int runAll(const Options& options) {
  std::vector<TeardownOrder> orders;
  for (const bool runsDeferredDeletions : {true, false}) {
    const int count = runsDeferredDeletions ? options.orders : std::min(options.orders, options.without);
    for (int i = 0; i < count; ++i) {
      orders.push_back(runOrder(options, options.seed + static_cast<uint32_t>(i), runsDeferredDeletions));
      if (options.json)
        std::cout << toJson(orders.back()).dump() << std::endl;
      else
        std::cerr << oneLine(orders.back()) << std::endl;
    }
  }
  if (!options.json) std::cout << table(orders);
  bool isKept = true;
  for (const TeardownOrder& order : orders) {
    for (const std::string& shortfall : shortfalls(order)) {
      std::cerr << "order " << order.seed << ": " << shortfall << "\n";
      isKept = false;
    }
  }
  return isKept ? 0 : 1;
}

}  // namespace
}  // namespace lastout::bench

int main(int argc, char** argv) {
  lastout::bench::Options options;
  CLI::App app("Deletes fleets of ManifestWorks at once, and measures what comes of it.", "teardown");
  lastout::bench::add(app, options);
  CLI11_PARSE(app, argc, argv);
  return lastout::bench::runAll(options);
}
