// A fleet of operators, each delivered by ten ManifestWorks: what bench/teardown deletes at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cluster/model.h"
#include "kube/object_key.h"

namespace lastout::bench {

using Json = nlohmann::json;
using Milliseconds = std::chrono::milliseconds;

struct FleetWork {
  std::string name;
  std::vector<Json> manifests;
  std::vector<kube::ObjectKey> applied;  // what these manifests are, in the same order
};

// Its provider, namespace and CriticalService all have its name.
struct Operator {
  std::string name;
  Milliseconds takes{0};  // its controller, to finalize one instance
  bool hasClaim = false;  // the work of its provider also has the claim that its Pods mount (story-deadlock)
  std::string goesAfter;  // the operator whose provider must be gone before its own; empty: none
  kube::ObjectKey provider;
  std::vector<kube::ObjectKey> awaited;  // what its provider goes after: instances, their CRD, that provider
  std::vector<FleetWork> works;
};

struct Fleet {
  std::vector<Operator> operators;
};

struct FleetOptions {
  int operators = 30;
  uint32_t seed = 1;  // of how long the controllers take
  // spec.deferredDeletions and spec.guard.dependencies of every CriticalService; empty: what is usual
  std::string deferral = {};
  std::string dependencies = {};
};

inline constexpr const char* kFleetLabel = "bench";  // every object of a fleet has it
inline constexpr const char* kWorksNamespace = "cluster1";

// The same for the same options.
Fleet makeFleet(const FleetOptions& options);

// For `lastout up --load`: the works, and the controllers that run in the providers' Pods.
std::string fileOf(const Fleet& fleet);

// From the deletion of all works until the last object is gone, when each goes as soon as what it goes after
// is gone, and Kubernetes' controllers, the agent and the operators take as long as they do; lastout takes no
// time. In the controllers' time.
Milliseconds longestPath(const Fleet& fleet, const cluster::Timing& timing);

}  // namespace lastout::bench
