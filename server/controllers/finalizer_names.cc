#include "server/controllers/finalizer_names.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "criticalservice/finalizer_removers.h"
#include "kube/messages.h"
#include "kube/patterns.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/watch/unknown_types.h"

namespace lastout::server {
namespace {

using criticalservice::CriticalService;
using criticalservice::FinalizerCriterion;
using kube::Json;

constexpr size_t kMostCarried = 256;  // finalizers of one type that a name is compared with
// Names of one vendor have most letters in common, so a third of them may not differ.
constexpr size_t kMostSlips = 3;

Json entryOf(const FinalizerCriterion& criterion) {
  return {{"group", criterion.type.group},
          {"resource", criterion.type.resource},
          {"finalizerName", criterion.finalizerName}};
}

bool wasSeen(const graph::Graph& graph, const FinalizerCriterion& criterion, const Json& standing) {
  if (standing.is_object() && standing.contains("seenFinalizers") && standing["seenFinalizers"].is_array() &&
      std::ranges::count(standing["seenFinalizers"], entryOf(criterion)) > 0)
    return true;
  const auto type = graph.findType(criterion.type);
  return type && graph.wasHeld(*type, criterion.finalizerName);
}

// `; did you mean "..."?`; empty: nothing that is carried is called nearly so. The garbage collector's two
// come and go with deletions, and tell nothing about the controller that a criterion means; nor does what
// another criterion names.
std::string nearestCarried(const graph::Graph& graph, const CriticalService& service,
                           const FinalizerCriterion& criterion) {
  const bool isBuiltIn = !criticalservice::builtInRemoverOf(criterion.finalizerName).empty();
  if (isBuiltIn || !graph::isBelievable(graph, criterion.type)) return {};
  std::vector<std::string_view> carried;
  for (const graph::TypeId type : graph::typesMeantBy(graph, criterion.type)) {
    const std::vector<std::string_view> ofOne = graph.finalizersOf(type, kMostCarried - carried.size());
    carried.insert(carried.end(), ofOne.begin(), ofOne.end());
  }
  std::erase_if(carried, [&](std::string_view finalizer) {
    return finalizer == kube::kForegroundFinalizer || finalizer == kube::kOrphanFinalizer ||
           std::ranges::any_of(service.criteria, [&](const criticalservice::Criterion& one) {
             const auto* other = std::get_if<FinalizerCriterion>(&one);
             return other != nullptr && kube::coversTypes(other->type, criterion.type) &&
                    kube::meansFinalizer(other->finalizerName, finalizer);
           });
  });
  std::ranges::sort(carried);  // of two that are equally near always the same
  return kube::didYouMean(criterion.finalizerName, carried, kMostSlips);
}

}  // namespace

FinalizerNames finalizerNames(const graph::Graph& graph, const CriticalService& service,
                              const Json& standing) {
  Json seen = Json::array();
  std::vector<std::string> misspelt;
  std::vector<std::string> unseen;
  for (size_t i = 0; i < service.criteria.size(); ++i) {
    const auto* criterion = std::get_if<FinalizerCriterion>(&service.criteria[i]);
    if (criterion == nullptr) continue;
    if (wasSeen(graph, *criterion, standing)) {
      if (Json entry = entryOf(*criterion); std::ranges::count(seen, entry) == 0)
        seen.push_back(std::move(entry));
      continue;
    }
    const std::string field = criticalservice::fieldOf(service, i) + ": no " + toString(criterion->type);
    if (const std::string near = nearestCarried(graph, service, *criterion); !near.empty()) {
      misspelt.push_back(field + " was ever seen with finalizer " + criterion->finalizerName +
                         ", so it keeps nothing" + near);
    } else {
      unseen.push_back(field + " was seen with finalizer " + criterion->finalizerName + " yet");
    }
  }
  if (!misspelt.empty()) return {false, "FinalizerNeverSeen", joinedForPeople(misspelt), std::move(seen)};
  if (!unseen.empty()) return {std::nullopt, "FinalizerNotSeenYet", joinedForPeople(unseen), std::move(seen)};
  if (seen.empty()) return {true, "NoFinalizers", "no criterion names a finalizer", std::move(seen)};
  return {true, "FinalizersSeen", "each finalizer that a criterion names was seen on an object of its type",
          std::move(seen)};
}

}  // namespace lastout::server
