#include "server/controllers/dependency_standing.h"

#include <algorithm>
#include <set>

#include "criticalservice/dependencies.h"
#include "criticalservice/validation.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "server/watch/unknown_types.h"

namespace lastout::server {
namespace {

using criticalservice::DependencyFinder;
using criticalservice::DependencyMode;

std::string soManyAre(size_t count) {
  return count == 1 ? "1 object is" : std::to_string(count) + " objects are";
}

// Of the first of them that may not be read.
std::string grantOfAny(const graph::Graph& graph, const std::set<kube::GroupResource>& types) {
  for (const kube::GroupResource& type : types) {
    if (knowledgeOf(graph, type) != graph::Knowledge::Forbidden) continue;
    if (std::string grant = grantOfDependencies(type); !grant.empty()) return grant;
  }
  return "";
}

// Empty: there are not too many of any kind.
std::string wordsOf(const std::vector<criticalservice::TooMany>& kinds) {
  std::string text;
  for (const criticalservice::TooMany& kind : kinds)
    text += (text.empty() ? "" : "; ") + std::to_string(kind.guarded) + " of " + std::to_string(kind.found) +
            " " + std::string(kind.what) + " are guarded";
  if (text.empty()) return text;
  return text +
         ", the rest is not: take away what the provider does not need, or list in "
         "spec.guard.dependencies what it does";
}

// For an API nobody would think to delete first.
std::string wordsOfApis(const std::vector<std::string>& apis) {
  if (apis.empty()) return "";
  return "; delete APIService " + kube::listed(apis, 1) +
         " before the provider: it is not guarded, as without the provider every deletion of a namespace "
         "hangs "
         "on it";
}

DependencyStanding foundFor(const admission::ClusterView& view,
                            const criticalservice::CriticalService& service) {
  const auto list = criticalservice::typesToRead(service);
  const std::set<kube::GroupResource> types(list.begin(), list.end());
  if (const auto unknownTypes = unknownTypesAmong(view.graph(), types)) {
    const std::optional<bool> known =
        unknownTypes->lasts ? std::optional(!*unknownTypes->lasts) : std::nullopt;
    return {known, unknownTypes->reason,
            "what the provider needs may not all be guarded: " + unknownTypes->message +
                grantOfAny(view.graph(), types)};
  }
  const criticalservice::Needed needs = view.needsOf(service);
  if (std::string tooMany = wordsOf(needs.tooMany); !tooMany.empty())
    return {false, "TooMany", std::move(tooMany)};
  const size_t count = view.guards().dependencies(view.guards().find(service.meta.name)).size();
  const std::vector<kube::ObjectKey>& awaited = needs.awaited;
  return {true, "Found",
          soManyAre(count) + " guarded, as far as the provider was seen to need any" +
              (awaited.empty() ? "" : "; " + criticalservice::awaitedInWords(awaited)) +
              wordsOfApis(view.apisOf(service))};
}

}  // namespace

DependencyStanding dependencyStanding(const admission::ClusterView& view,
                                      const criticalservice::CriticalService& service) {
  if (criticalservice::findsDependencies(service)) return foundFor(view, service);
  if (service.intent == criticalservice::DeletionIntent::OrphanResources)
    return {true, "OrphanResources", "spec.deletionIntent is OrphanResources: nothing is guarded"};
  if (service.dependencies.mode == DependencyMode::None)
    return {true, "NotWanted", "spec.guard.dependencies is None"};
  if (!service.dependencyDoubts.empty()) {
    const auto& [place, doubt] = *service.dependencyDoubts.begin();
    return {false, "NotUnderstood", criticalservice::fieldOfDependency(place) + ": " + doubt};
  }
  return {true, "Listed",
          soManyAre(service.dependencies.listed.size()) + " guarded, as spec.guard.dependencies lists them"};
}

bool isFollowedForDependencies(const kube::GroupResource& type) {
  return criticalservice::keepsEarlierTemplates(type) ||
         std::ranges::count(DependencyFinder::types(), type) > 0 ||
         std::ranges::count(DependencyFinder::neededTypes(), type) > 0;
}

std::string grantOfDependencies(const kube::GroupResource& type) {
  if (type == kube::kReplicaSets) return "; the ClusterRole lastout-providers grants that";
  return isFollowedForDependencies(type) ? "; the ClusterRole lastout-finds-dependencies grants that" : "";
}

}  // namespace lastout::server
