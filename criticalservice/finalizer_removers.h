// Who removes finalizers: Kubernetes, lastout and the ManifestWork agent; controllers that are rarely in the
// manifests; and the workloads that a RemoverFinder finds (criticalservice/remover_finder.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kube/namespace_scope.h"
#include "kube/object.h"

namespace lastout::criticalservice {

// Returns who removes a finalizer that belongs to Kubernetes, to the ManifestWork agent or to lastout: "the
// garbage collector"; empty: it is none of these.
std::string_view builtInRemoverOf(std::string_view finalizer);

// So many finalizers of one object are looked at.
inline constexpr size_t kMostFinalizers = 100;

// Returns true if the object has a finalizer that belongs to nobody of builtInRemoverOf().
bool hasForeignFinalizer(const kube::ObjectMeta& meta);

// A workload that removes a finalizer from the objects of a type.
struct FinalizerRemover {
  kube::ObjectKey workload;
  std::string finalizer;
  kube::GroupResource from;
  std::string evidence;  // "criticalservices.lastout.dev/op says so"
  // The evidence fits others, too: a right on objects of one of Kubernetes' own types, or a name that many
  // controllers have.
  bool isWeak = false;
  bool isDeclared = false;                  // a CriticalService says so
  std::vector<kube::ObjectKey> setOn = {};  // on these, metadata.managedFields say that it set the finalizer
  kube::NamespaceScope scope = {};          // the objects of the type that this is about
};

// A finalizer that no workload is known to remove from the objects of a type.
struct UnremovedFinalizer {
  std::string finalizer;
  kube::GroupResource from;
  std::string lookedFor;  // "no CriticalService, ... names a workload", and which workloads came close
};

// A controller that is rarely among the manifests of those whose objects it serves.
struct OutsideRemover {
  std::string name;  // "cloud-controller-manager"
  std::string finalizer;
  kube::GroupResource from;
};

// Returns a cloud's controller, a CSI driver's provisioner and attacher, and kube-controller-manager
// (kube::kUsageFinalizers) where objects carry the finalizer that it sets, and no CriticalService names that
// finalizer.
std::vector<OutsideRemover> findOutsideRemovers(const std::vector<const kube::Object*>& objects,
                                                const kube::ResourceMap& types);

}  // namespace lastout::criticalservice
