// lastout graph: manifests, and what goes after what in them.
#include "graph/graph.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "admission/explain.h"
#include "cmd/commands.h"
#include "cmd/paths.h"
#include "graph/dump.h"
#include "scenarios/manifest_graph.h"

namespace lastout::cmd {

namespace {

constexpr const char* kGraphExamples = R"(Examples:
  lastout graph scenarios/story-three-works.yaml                what goes after what, for Mermaid
  lastout graph -o dot scenarios/story-one-work.yaml            for Graphviz: pipe it into dot -Tsvg
  lastout graph --focus deploy/finalizer-deployment --depth 1 scenarios/story-three-works.yaml
  lastout graph -o json scenarios/cycle-of-two.yaml             with the verdict on each guarded object
  kubectl get manifestworks,appliedmanifestworks -A -o json | lastout graph -

Works count as applied. Exit codes: 0 drawn; 2 bad input.)";

// All input together; a fleet's works fit, and what does not would take more than memory allows.
constexpr size_t kMostBytes = size_t{128} << 20;

struct GraphOptions {
  std::vector<std::string> paths;
  std::string output = "mermaid";
  std::string focus;
  uint32_t depth = 3;
  size_t limit = 1000;
};

tl::expected<std::vector<scenarios::InputFile>, kube::Errors> readFiles(const GraphOptions& options) {
  const auto paths = expandPaths(options.paths);
  if (!paths) return tl::unexpected(kube::Errors{paths.error()});
  std::vector<scenarios::InputFile> files;
  kube::Errors errors;
  kube::ParseLimits limits;
  size_t left = kMostBytes;
  for (const std::string& path : *paths) {
    limits.bytes = std::min(limits.bytes, left);
    kube::Result<std::string> text = readInput(path, limits);
    if (!text) {
      errors.push_back(std::move(text.error()));
      continue;
    }
    left -= text->size();
    const bool standardInput = path == kStandardInput;
    files.push_back({standardInput ? std::string(scenarios::kStandardInputName) : path, std::move(*text)});
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return files;
}

std::optional<graph::DumpVerdict> verdictOn(const scenarios::ManifestGraph& built, graph::ObjectId object) {
  const kube::ObjectKey key = built.graph.key(object);
  const admission::Decision decision = scenarios::verdict(built, key);
  if (!decision.guarded && decision.allowed) return std::nullopt;
  return graph::DumpVerdict{decision.allowed,
                            admission::explain(built.graph, built.guards, key, decision).message};
}

int runGraph(const GraphOptions& options) {
  auto files = readFiles(options);
  if (!files) return badInput(files.error());
  const auto manifests = scenarios::readManifests(*files);
  if (!manifests) return badInput(manifests.error());
  const auto built = scenarios::graphOf(*manifests);
  if (!built) return badInput(built.error());

  graph::DumpOptions dump;
  dump.depth = options.depth;
  dump.limit = options.limit;
  if (!options.focus.empty()) {
    auto focus = scenarios::findObject(*built, options.focus, manifests->types);
    if (!focus) return badInput(kube::Error{"--focus: " + focus.error().message, "", {}});
    dump.focus = std::move(*focus);
  }
  dump.verdict = [&](graph::ObjectId object) { return verdictOn(*built, object); };

  printWarnings(built->warnings);
  std::cout << (options.output == "json"  ? graph::dumpJson(built->graph, dump)
                : options.output == "dot" ? graph::dumpDot(built->graph, dump)
                                          : graph::dumpMermaid(built->graph, dump));
  return kOk;
}

}  // namespace

void addGraph(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<GraphOptions>();
  CLI::App* command =
      app.add_subcommand("graph", "Draw what goes after what in manifests, and what may go now");
  command->footer(kGraphExamples);
  command
      ->add_option("FILE", options->paths,
                   "Manifests or scenarios: files, folders of them, or - for the standard input")
      ->required();
  command->add_option("-o,--output", options->output, "mermaid, dot or json")
      ->check(CLI::IsMember({"mermaid", "dot", "json"}))
      ->capture_default_str();
  CLI::Option* focus = command->add_option("--focus", options->focus,
                                           "Only what is near this object, as in deployment/x or ns/y");
  command->add_option("--depth", options->depth, "How many edges away from --focus")
      ->check(CLI::Range(0u, 1'000'000u))
      ->needs(focus)
      ->capture_default_str();
  command
      ->add_option("--limit", options->limit, "The most objects and conditions to show; the rest is counted")
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}))
      ->capture_default_str();
  command->callback([options, &exitCode] { exitCode = runGraph(*options); });
}

}  // namespace lastout::cmd
