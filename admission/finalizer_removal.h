// FinalizerRemovals: who removes the finalizers of objects, as far as the contents of others tell
// (criticalservice/finalizer_removers.h), and whether it can now.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/spec_objects.h"
#include "kube/object.h"

namespace lastout::admission {

// Somebody removes a finalizer, and cannot now.
struct RemovalProblem {
  kube::ObjectKey workload;
  std::string evidence;  // as of FinalizerRemover
  std::string why;       // "it is scaled to zero"
  std::string advice;    // "make it work again"
};

// The reason of a blocker: the object has a finalizer.
inline constexpr const char* kFinalizerReason = "Finalizer";

// One finalizer of an object that is not Kubernetes' own.
struct FinalizerRemoval {
  std::string finalizer;
  std::string clause;                      // "which deployments.apps/op/op removes (... says so)"
  bool isUnknown = false;                  // nobody is known to remove it
  bool isUnbound = false;                  // there is a role for it, which no binding gives to anybody
  std::vector<std::string> removers = {};  // "deployments.apps/op/op"
  // Why none of the removers can remove it. Empty: one of them can, there are none, or the evidence is weak
  // (criticalservice::FinalizerRemover), so that it may be another workload.
  std::vector<RemovalProblem> problems = {};
};
using FinalizerRemovals = std::unordered_map<kube::ObjectKey, std::vector<FinalizerRemoval>>;

// Returns them by the object that has them, in its order. A workload can remove a finalizer while one of its
// Pods is Ready, by its status. Manifests that were never applied have no status: their workloads can unless
// they are scaled to zero or suspended. A workload also needs the right to update the object, if any binding
// names its ServiceAccount: if none does, it gets its rights in another way. Files may lack what gives that
// right, so that there a role must name the right, which no binding gives to the account.
FinalizerRemovals findFinalizerRemovals(const SpecObjects& objects);

// Returns who removes that finalizer from the object, and how it stands. nullptr: nothing is known about it,
// or it belongs to Kubernetes.
const FinalizerRemoval* findRemoval(const FinalizerRemovals& removals, const kube::ObjectKey& object,
                                    std::string_view finalizer);

}  // namespace lastout::admission
