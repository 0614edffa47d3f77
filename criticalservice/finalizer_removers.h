// findFinalizerRemovers: which workloads remove which finalizers, as far as manifests tell. They cannot prove
// it; each finding says what it rests on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace lastout::criticalservice {

// Returns who removes a finalizer that belongs to Kubernetes, to the ManifestWork agent or to lastout: "the
// garbage collector"; empty: it is none of these.
std::string_view builtInRemoverOf(std::string_view finalizer);

// A workload that removes a finalizer from the objects of a type.
struct FinalizerRemover {
  kube::ObjectKey workload;
  std::string finalizer;
  kube::GroupResource from;
  std::string evidence;  // "criticalservices.lastout.dev/op says so"
};

// Returns the removers of all finalizers that the objects carry, by type, finalizer and workload. Those of
// the control plane, of the ManifestWork agent and of lastout have none: these run outside of the objects.
// Only the strongest evidence that there is counts, with each workload to which it points: first a
// CriticalService that names the finalizer and its provider; then metadata.managedFields of an object, if the
// manager that set the finalizer has the name of exactly one workload, or of a container of one; then a role
// that lets the ServiceAccount of a workload update "<type>/finalizers".
std::vector<FinalizerRemover> findFinalizerRemovers(const std::vector<const kube::Object*>& objects,
                                                    const kube::ResourceMap& types);

// A finalizer that no workload is known to remove from the objects of a type.
struct UnremovedFinalizer {
  std::string finalizer;
  kube::GroupResource from;
  std::string lookedFor;  // "no CriticalService, ... names a workload", and which workloads came close
};

// Returns those for which findFinalizerRemovers() looks, and finds none.
std::vector<UnremovedFinalizer> findUnremovedFinalizers(const std::vector<const kube::Object*>& objects,
                                                        const kube::ResourceMap& types);

// A controller that is rarely among the manifests of those whose objects it serves.
struct OutsideRemover {
  std::string name;  // "cloud-controller-manager"
  std::string finalizer;
  kube::GroupResource from;
};

// Returns a cloud's controller, a CSI driver's provisioner and kube-controller-manager
// (kube::kUsageFinalizers) where objects carry the finalizer that it sets, and no CriticalService names that
// finalizer.
std::vector<OutsideRemover> findOutsideRemovers(const std::vector<const kube::Object*>& objects,
                                                const kube::ResourceMap& types);

}  // namespace lastout::criticalservice
