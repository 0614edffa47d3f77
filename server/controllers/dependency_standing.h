// DependencyStanding: how well the dependencies of a CriticalService's provider are known.
#pragma once

#include <optional>
#include <string>

#include "admission/cluster_view.h"
#include "criticalservice/critical_service.h"
#include "kube/object_key.h"

namespace lastout::server {

inline constexpr const char* kDependenciesKnown = "DependenciesKnown";  // the condition

// As of a condition.
struct DependencyStanding {
  std::optional<bool> known;  // nullopt: it will be in a moment
  std::string reason;
  std::string message;
};

DependencyStanding dependencyStanding(const admission::ClusterView& view,
                                      const criticalservice::CriticalService& service);

// The type is followed for the sake of what providers need.
bool isFollowedForDependencies(const kube::GroupResource& type);
// "; the ClusterRole … grants that", of such types; of others nothing.
std::string grantOfDependencies(const kube::GroupResource& type);

}  // namespace lastout::server
