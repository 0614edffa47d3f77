// lastout deferred: the deletions that lastout was asked for and will run later, in a cluster: listed, and
// cancelled.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cmd/commands.h"
#include "cmd/source.h"
#include "cmd/usage.h"
#include "criticalservice/critical_service.h"
#include "graph/names.h"
#include "kube/messages.h"
#include "kube/reference.h"
#include "kube/timestamp.h"
#include "server/recorded_deletions.h"

namespace lastout::cmd {
namespace {

using server::RecordedDeletion;
using std::chrono::sys_seconds;

constexpr const char* kDeferredExamples = R"(Examples:
  lastout deferred                                  those in the cluster of KUBECONFIG, as lastout deferred list
  lastout deferred list -o json --kubeconfig lastout.kubeconfig
  lastout deferred cancel deployment/web -n shop    lastout does not delete it any more
  lastout deferred cancel 'deployments.apps/shop/*'

States of the objects: Waiting (lastout why REF says what for), Terminating, Gone (lastout is about to forget the deletion),
Unknown (it cannot be read). If a DELETE is denied again, it is recorded again: also that of the garbage collector, which asks as
long as the owner is gone. Deletions that an annotation of the object asks for are not listed: remove the annotation.

Exit codes: 0 done; 1 no such deletion is deferred, or the cluster refused to cancel it; 2 bad input, or the cluster does
not answer.)";

struct DeferredChoice {
  std::string reference;
  std::string namespaceName;
  std::string output = "text";
  std::string kubeconfig;
  std::string context;
  bool cancels = false;
};

// "criticalservices.lastout.dev/s: deployments.apps/n/d, deferred for jane since 2026-11-29T10:00:00Z:
// Waiting"
void print(const RecordedDeletion& one, const std::string& end) {
  const sys_seconds since{std::chrono::seconds(one.deletion.requestedAt)};
  std::cout << kube::printable(criticalservice::nameInWords(one.service)) << ": "
            << kube::printable(toString(one.deletion.object)) << ", deferred for "
            << kube::printable(one.deletion.requestedBy) << " since " << kube::timestampText(since) << ": "
            << end << "\n";
}

// Each as the status has it, with its CriticalService and its state.
void printJson(const char* key, const std::vector<RecordedDeletion>& all) {
  nlohmann::json items = nlohmann::json::array();
  for (const RecordedDeletion& one : all) {
    items.push_back(criticalservice::patchOf({{one.deletion}, 0})["deferredDeletions"][0]);
    items.back()["criticalService"] = one.service;
    items.back()["state"] = one.state;
  }
  std::cout << nlohmann::json{{key, std::move(items)}}.dump(2) << "\n";
}

int list(const DeferredChoice& choice, const std::vector<RecordedDeletion>& all, bool isUnclear) {
  if (choice.output == "json") {
    printJson("deferredDeletions", all);
    return kOk;
  }
  for (const RecordedDeletion& one : all) print(one, one.state);
  if (all.empty() && !isUnclear) std::cout << "no deletion is deferred\n";
  return kOk;
}

// Several objects are meant by a pattern alone.
std::optional<kube::Error> ambiguity(const DeferredChoice& choice,
                                     const std::vector<RecordedDeletion>& meant) {
  std::set<kube::ObjectKey> objects;
  for (const RecordedDeletion& one : meant) objects.insert(one.deletion.object);
  if (objects.size() <= 1) return std::nullopt;
  return kube::Error{kube::inQuotes(choice.reference) + " may be any of " +
                         graph::someOf({objects.begin(), objects.end()}) + "; choose one",
                     {},
                     {}};
}

int cancel(const DeferredChoice& choice, client::ApiServer& server,
           const std::vector<RecordedDeletion>& meant) {
  std::vector<RecordedDeletion> cancelled;
  bool isRefused = false;
  for (const RecordedDeletion& one : meant) {
    std::string untold;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto isDone = server::cancelDeletion(server, one, now, untold);
    if (!isDone) std::cerr << one.service << ": " << isDone.error().message << "\n";
    if (!untold.empty()) std::cerr << one.service << ": no Event says so: " << untold << "\n";
    isRefused = isRefused || !isDone;
    if (isDone && *isDone) cancelled.push_back(one);
  }
  if (choice.output == "json") printJson("cancelled", cancelled);
  if (choice.output == "text")
    for (const RecordedDeletion& one : cancelled) print(one, "cancelled");
  if (cancelled.empty() && !isRefused)
    std::cerr << "no deletion of " << kube::inQuotes(choice.reference)
              << " is deferred; lastout deferred lists those that are\n";
  return cancelled.empty() || isRefused ? kFailed : kOk;
}

int runDeferred(const DeferredChoice& choice) {
  const auto access = openCluster(choice.kubeconfig, choice.context);
  if (!access) return badInput(access.error());
  const auto server = (*access)->newServer();
  const auto discovery = client::discover(*server);
  if (!discovery) return badInput(discovery.error());
  kube::ObjectPattern meant;
  if (choice.cancels) {
    const std::string space = choice.namespaceName.empty() ? "" : " -n " + choice.namespaceName;
    auto pattern = kube::parsePattern(choice.reference + space, discovery->types);
    if (!pattern) return badInput(pattern.error());
    meant = std::move(*pattern);
  }
  const auto recorded = server::recordedDeletions(*server, *discovery, [&](const kube::ObjectKey& object) {
    return !choice.cancels || meant.matches(object);
  });
  if (!recorded) return badInput(recorded.error());
  for (const auto& [service, count] : recorded->unclear)
    std::cerr << kube::printable(criticalservice::nameInWords(service)) << ": " << count
              << " that cannot be understood\n";
  if (!choice.cancels) return list(choice, recorded->all, !recorded->unclear.empty());
  const auto unclear = meant.hasGlob() ? std::nullopt : ambiguity(choice, recorded->all);
  return unclear ? badInput(*unclear) : cancel(choice, *server, recorded->all);
}

}  // namespace

void addDeferred(CLI::App& app, int& exitCode) {
  const auto choice = std::make_shared<DeferredChoice>();
  CLI::App* command =
      app.add_subcommand("deferred", "List the deletions that lastout runs later, or cancel one");
  command->footer(kDeferredExamples);
  command->require_subcommand(0, 1);
  addKubeconfig(*command, choice->kubeconfig, choice->context);
  addOutput(*command, choice->output);
  command->add_subcommand("list", "List all of them, as without a command")->fallthrough();
  CLI::App* cancelling = command->add_subcommand("cancel", "Cancel those of an object")->fallthrough();
  cancelling->add_option("REF", choice->reference, "The object, as in deployment/x")->required();
  cancelling->add_option("-n,--namespace", choice->namespaceName, "The object's namespace");
  command->callback([choice, cancelling, &exitCode] {
    choice->cancels = cancelling->parsed();
    exitCode = runDeferred(*choice);
  });
}

}  // namespace lastout::cmd
