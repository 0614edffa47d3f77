// lastout why: who keeps an object from being deleted, or from being gone.
#include "admission/why.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cmd/commands.h"
#include "cmd/source.h"
#include "cmd/usage.h"
#include "kube/encoding.h"
#include "kube/messages.h"

namespace lastout::cmd {
namespace {

constexpr const char* kWhyExamples = R"(Examples:
  lastout why deployment/web -n shop                                       in the cluster of KUBECONFIG
  lastout why deployments.apps/shop/web --kubeconfig lastout.kubeconfig
  lastout why deployment/web -n shop --server http://127.0.0.1:9090        as a lastout serve knows it
  lastout why deploy/finalizer-deployment scenarios/story-three-works.yaml   if all of that were applied

Exit codes: 0 it may be deleted; 1 its deletion is denied, or it is being deleted and waits, or would wait after a
DELETE; 2 bad input.)";

struct WhyOptions {
  std::string reference;
  std::string namespaceName;
  std::string output = "text";
  SourceOptions source;
};

tl::expected<admission::Why, kube::Errors> askWhy(const SourceOptions& source, const std::string& reference) {
  if (!isServer(source)) {
    const auto cluster = knownCluster(source, reference);
    if (!cluster) return tl::unexpected(cluster.error());
    auto why = admission::whyOf(*cluster, reference);
    if (!why) return tl::unexpected(kube::Errors{{why.error().message, {}, {}}});
    return std::move(*why);
  }
  const auto answer = askServer(source, "/why?ref=" + kube::percentEncoded(reference));
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status != 200) return tl::unexpected(kube::Errors{refusedBy(source, *answer)});
  auto why = admission::parseWhy(answer->body);
  if (!why) return tl::unexpected(kube::Errors{{source.server + ": " + why.error().message, {}, {}}});
  return std::move(*why);
}

// "deployment web", as kubectl takes it: the second word came as a FILE. Empty: it is not that.
std::string meant(const WhyOptions& options) {
  const std::vector<std::string>& paths = options.source.paths;
  std::error_code unknown;
  if (options.reference.find('/') != std::string::npos || paths.size() != 1 ||
      std::filesystem::exists(paths.front(), unknown))
    return {};
  return options.reference + "/" + paths.front();
}

int runWhy(const WhyOptions& options) {
  if (const std::string both = meant(options); !both.empty())
    return badInput(
        {kube::inQuotes(options.reference) + " is no reference; did you mean " + kube::printable(both) + "?",
         {},
         {}});
  const std::string reference =
      options.reference + (options.namespaceName.empty() ? "" : " -n " + options.namespaceName);
  const auto why = askWhy(options.source, reference);
  if (!why) return badInput(why.error());
  std::cout << (options.output == "json" ? toJson(*why) : toText(*why));
  return why->isBlocked() ? kFailed : kOk;
}

}  // namespace

void addWhy(CLI::App& app, int& exitCode) {
  auto options = std::make_shared<WhyOptions>();
  CLI::App* command = app.add_subcommand("why", "Tell what keeps an object from being deleted");
  command->footer(kWhyExamples);
  command->add_option("REF", options->reference, "The object, as in deployment/x or ns/y")->required();
  addSource(*command, options->source);
  command
      ->add_option("--policy-cluster", options->source.policyClusters,
                   "NAME=KUBECONFIG: another cluster, on which ancestors are that deletion policies name; "
                   "several with "
                   "commas between them")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("-n,--namespace", options->namespaceName, "The object's namespace");
  addOutput(*command, options->output);
  command->callback([options, &exitCode] { exitCode = runWhy(*options); });
}

}  // namespace lastout::cmd
