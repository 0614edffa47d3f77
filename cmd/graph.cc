// lastout graph: what goes after what, in manifests or in a cluster.
#include "graph/graph.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <memory>

#include "admission/known_cluster.h"
#include "cmd/commands.h"
#include "cmd/source.h"
#include "kube/encoding.h"

namespace lastout::cmd {

namespace {

constexpr const char* kGraphExamples = R"(Examples:
  lastout graph scenarios/story-three-works.yaml                what goes after what, for Mermaid
  lastout graph -o dot scenarios/story-one-work.yaml            for Graphviz: pipe it into dot -Tsvg
  lastout graph --focus deploy/finalizer-deployment --depth 1 scenarios/story-three-works.yaml
  lastout graph -o json scenarios/cycle-of-two.yaml             with the verdict on each guarded object
  kubectl get manifestworks,appliedmanifestworks -A -o json | lastout graph -
  lastout graph --blocked                                       what waits in the cluster of KUBECONFIG
  lastout graph --server http://127.0.0.1:9090 --namespace shop

Works in files count as applied. Exit codes: 0 drawn; 2 bad input.)";

struct GraphOptions {
  std::string output = "mermaid";
  admission::GraphQuestion question;
  SourceOptions source;
};

std::string targetOf(const GraphOptions& options) {
  const admission::GraphQuestion& question = options.question;
  std::string target = "/graph?format=" + options.output + "&limit=" + std::to_string(question.limit);
  if (!question.focus.empty()) {
    target += "&focus=" + kube::percentEncoded(question.focus) + "&depth=" + std::to_string(question.depth);
  }
  if (question.blocked) target += "&blocked=true";
  if (!question.namespaceName.empty()) target += "&namespace=" + kube::percentEncoded(question.namespaceName);
  return target;
}

tl::expected<std::string, kube::Errors> askGraph(const GraphOptions& options) {
  if (isServer(options.source)) {
    auto answer = askServer(options.source, targetOf(options));
    if (!answer) return tl::unexpected(std::move(answer.error()));
    if (answer->status != 200) return tl::unexpected(kube::Errors{refusedBy(options.source, *answer)});
    return std::move(answer->body);
  }
  const auto cluster = knownCluster(options.source);
  if (!cluster) return tl::unexpected(cluster.error());
  auto text = admission::drawn(*cluster, options.question);
  if (!text) return tl::unexpected(kube::Errors{{"--focus: " + text.error().message, {}, {}}});
  return std::move(*text);
}

int runGraph(GraphOptions options) {
  using Format = admission::GraphQuestion::Format;
  options.question.format = options.output == "json"  ? Format::Json
                            : options.output == "dot" ? Format::Dot
                                                      : Format::Mermaid;
  const auto text = askGraph(options);
  if (!text) return badInput(text.error());
  std::cout << *text;
  return kOk;
}

}  // namespace

void addGraph(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<GraphOptions>();
  admission::GraphQuestion& question = options->question;
  CLI::App* command = app.add_subcommand(
      "graph", "Draw what goes after what, and what may go now, in manifests or a cluster");
  command->footer(kGraphExamples);
  addSource(*command, options->source);
  command->add_option("-o,--output", options->output, "mermaid, dot or json")
      ->check(CLI::IsMember({"mermaid", "dot", "json"}))
      ->capture_default_str();
  CLI::Option* focus = command->add_option("--focus", question.focus,
                                           "Only what is near this object, as in deployment/x or ns/y");
  command->add_option("--depth", question.depth, "How many edges away from --focus")
      ->check(CLI::Range(0u, 1'000'000u))
      ->needs(focus)
      ->capture_default_str();
  command
      ->add_option("--limit", question.limit, "The most objects and conditions to show; the rest is counted")
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}))
      ->capture_default_str();
  command->add_flag("--blocked", question.blocked, "Only what waits for something now, and what for");
  command->add_option("--namespace", question.namespaceName,
                      "Only what is in this namespace, itself, and what they go after");
  command->callback([options, &exitCode] { exitCode = runGraph(*options); });
}

}  // namespace lastout::cmd
