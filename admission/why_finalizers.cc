#include "admission/why_finalizers.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "criticalservice/finalizer_removers.h"
#include "kube/messages.h"
#include "kube/patterns.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

constexpr size_t kMostTold = 10;       // finalizers of one object
constexpr size_t kMostInCommand = 20;  // the others, which a merge patch has to name

std::vector<std::string> finalizersOf(const graph::Graph& graph, graph::ObjectId object) {
  std::vector<std::string> finalizers;
  for (const std::string_view finalizer : graph.finalizers(object)) finalizers.emplace_back(finalizer);
  return finalizers;
}

// Returns the object's finalizers without one of them, as a merge patch.
std::string patchWithout(const std::vector<std::string>& finalizers, std::string_view finalizer) {
  std::string left;
  for (const std::string& other : finalizers) {
    if (other != finalizer) left += (left.empty() ? "\"" : ",\"") + other + "\"";
  }
  return R"({"metadata":{"finalizers":[)" + left + "]}}";
}

// Takes the finalizer off with kubectl; empty: a name that a shell would read otherwise is among its words,
// or too many other finalizers are.
std::string commandTakingOff(const kube::ObjectKey& object, const std::vector<std::string>& finalizers,
                             std::string_view finalizer) {
  if (finalizers.size() > kMostInCommand) return {};
  std::string command = "kubectl patch " + kube::toString(object.type) + " " + object.name;
  if (!object.namespaceName.empty()) command += " -n " + object.namespaceName;
  command += " --type=merge -p '" + patchWithout(finalizers, finalizer) + "'";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -._/:=,'\"{}[]";
  const bool isPlain =
      command.find_first_not_of(kPlain) == std::string::npos && std::ranges::count(command, '\'') == 2;
  return isPlain ? command : std::string();
}

// The CriticalServices that say that their provider takes the finalizer off this object.
struct FinalizerServers {
  const criticalservice::CriticalService* there = nullptr;  // or too little is known of its provider
  const criticalservice::CriticalService* gone = nullptr;
  size_t criterion = 0;  // its number in that CriticalService
};

FinalizerServers serversOf(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
                           std::string_view finalizer) {
  FinalizerServers servers;
  for (uint32_t number = 0; number < index.rules().services.size(); ++number) {
    if (!index.exists(number)) continue;
    const criticalservice::CriticalService& service = index.service(number);
    const auto serves = [&](const criticalservice::Criterion& criterion) {
      const auto* named = std::get_if<criticalservice::FinalizerCriterion>(&criterion);
      return named != nullptr && kube::meansFinalizer(named->finalizerName, finalizer) &&
             isAboutIn(graph, *named, object);
    };
    const auto found = std::ranges::find_if(service.criteria, serves);
    if (found == service.criteria.end()) continue;
    const graph::ConditionId provider{index.rules().services[number].provider};
    const bool isGone = graph.holders(provider) == 0 && believable(graph.knowledge(provider));
    if (!isGone) {
      servers.there = &service;
    } else if (servers.gone == nullptr || service.meta.name < servers.gone->meta.name) {
      servers.gone = &service;
      servers.criterion = static_cast<size_t>(found - service.criteria.begin());
    }
  }
  return servers;
}

// Returns a clause such as "which the garbage collector removes"; empty: nobody knows who removes it.
std::string removalClause(const graph::Graph& graph, const GuardIndex& index, const kube::ObjectKey& object,
                          const std::vector<std::string>& finalizers, const std::string& finalizer,
                          const FinalizerRemoval* removal) {
  if (const std::string_view builtIn = criticalservice::builtInRemoverOf(finalizer); !builtIn.empty())
    return "which " + std::string(builtIn) + " removes";
  const FinalizerServers servers = serversOf(graph, index, object, finalizer);
  if (servers.there == nullptr && servers.gone != nullptr && (removal == nullptr || removal->isUnknown))
    return "and " + kube::toString(servers.gone->provider) + ", which removed it, is gone";
  if (removal != nullptr && removal->isUnknown) {
    const std::string command = commandTakingOff(object, finalizers, finalizer);
    return removal->clause +
           (removal->isUnbound ? "; install its controller again, or bring back what gives it its rights, or"
                               : "; install its controller again, or") +
           ", if nothing is left to clean up, take the finalizer off by hand" +
           (command.empty() ? "" : ": " + command);
  }
  if (removal != nullptr) return removal->clause;
  if (servers.there == nullptr) return {};
  return "which " + kube::toString(servers.there->provider) + " removes (" +
         criticalservice::nameInWords(servers.there->meta.name) + " says so)";
}

}  // namespace

void addFinalizerBlockers(const graph::Graph& graph, const GuardIndex& index, graph::ObjectId object,
                          const FinalizerRemovals& removals, bool isProtected,
                          std::vector<WhyBlocker>& blockers) {
  const kube::ObjectKey key = graph.key(object);
  const bool isExplained = !blockers.empty();
  const std::vector<std::string> finalizers = finalizersOf(graph, object);
  size_t told = 0;
  size_t leftOut = 0;
  for (const std::string& finalizer : finalizers) {
    if (finalizer.starts_with(kube::kFinalizerDomain)) continue;
    if (isExplained && !criticalservice::builtInRemoverOf(finalizer).empty()) continue;
    if (told == kMostTold) {
      ++leftOut;
      continue;
    }
    const FinalizerRemoval* removal = findRemoval(removals, key, finalizer);
    if (removal != nullptr && !removal->problems.empty()) continue;
    if (removal != nullptr && removal->isUnknown && isProtected) removal = nullptr;
    const std::string clause = removalClause(graph, index, key, finalizers, finalizer, removal);
    blockers.push_back(
        {kFinalizerReason,
         kube::printableWhole("it has finalizer " + finalizer + (clause.empty() ? "" : ", " + clause)),
         {}});
    ++told;
  }
  if (leftOut > 0)
    blockers.push_back({kFinalizerReason, "it has " + std::to_string(leftOut) + " more finalizers", {}});
}

std::vector<UnservedFinalizer> unservedFinalizers(const graph::Graph& graph, const GuardIndex& index,
                                                  graph::ObjectId object) {
  const kube::ObjectKey key = graph.key(object);
  const std::vector<std::string> finalizers = finalizersOf(graph, object);
  std::vector<UnservedFinalizer> unserved;
  for (const std::string& finalizer : finalizers) {
    const FinalizerServers servers = serversOf(graph, index, key, finalizer);
    if (servers.there != nullptr || servers.gone == nullptr) continue;
    const std::string provider = kube::printable(kube::toString(servers.gone->provider));
    unserved.push_back({kube::printable(finalizer),
                        "finalizer " + kube::printable(finalizer) + " is served by " + provider +
                            ", which is gone: bring that back; or, if nothing is left to clean up, take the "
                            "finalizer off by "
                            "hand, which skips what " +
                            provider + " would do first",
                        commandTakingOff(key, finalizers, finalizer),
                        kube::printable(criticalservice::nameInWords(servers.gone->meta.name) + "#" +
                                        criticalservice::fieldOf(*servers.gone, servers.criterion))});
  }
  return unserved;
}

}  // namespace lastout::admission
