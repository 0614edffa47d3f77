// FinalizerNames: whether the finalizers that the criteria of a CriticalService name exist, or may be
// misspelt.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "criticalservice/critical_service.h"
#include "graph/graph.h"

namespace lastout::server {

// As of a condition.
struct FinalizerNames {
  std::optional<bool> known;  // nullopt: one was not seen yet, and nothing says that it is misspelt
  std::string reason;
  std::string message;
  nlohmann::json seen;  // for status.seenFinalizers: those of the criteria that an object was seen with
};

// Compares the finalizers of the criteria with those that objects of their types carry, or were seen with
// before, as `standing`, the status until now, says. A finalizer is misspelt if it was never seen on an
// object of a type that is known, and such an object carries another one whose name is nearly the same.
FinalizerNames finalizerNames(const graph::Graph& graph, const criticalservice::CriticalService& service,
                              const nlohmann::json& standing);

}  // namespace lastout::server
