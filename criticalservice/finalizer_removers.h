// findFinalizerRemovers: which workloads remove which finalizers, as far as manifests tell. They cannot prove
// it; each finding says what it rests on.
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"

namespace lastout::criticalservice {

// A workload that removes a finalizer from the objects of a type.
struct FinalizerRemover {
  kube::ObjectKey workload;
  std::string finalizer;
  kube::GroupResource from;
  std::string evidence;  // "criticalservices.lastout.dev/op says so"
};

// Returns the removers of all finalizers that the objects carry, by type, finalizer and workload. Kubernetes'
// own finalizers, the ManifestWork agent's and lastout's have none: their controllers run outside these
// objects. Only the strongest evidence that there is counts, with each workload to which it points: first a
// CriticalService that names the finalizer and its provider; then metadata.managedFields of an object, if the
// manager that set the finalizer has the name of exactly one workload, or of a container of one; then a role
// that lets the ServiceAccount of a workload update "<type>/finalizers".
std::vector<FinalizerRemover> findFinalizerRemovers(const std::vector<const kube::Object*>& objects,
                                                    const kube::ResourceMap& types);

}  // namespace lastout::criticalservice
