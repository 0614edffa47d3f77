// build: makes a Model of manifests, controllers and client steps, with everything Kubernetes would derive
// from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/model.h"
#include "kube/object.h"
#include "kube/reference.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

// A ManifestWork with the objects it applies.
struct WorkSpec {
  kube::Object manifestWork;
  std::string appliedName;  // of its AppliedManifestWork (manifestwork::appliedName)
  std::vector<kube::Object> manifests;
  manifestwork::DeleteOption deleteOption = {};
  bool isGone = false;  // the hub has deleted it already: its AppliedManifestWork is there alone
};

struct BuildInput {
  std::vector<kube::Object> objects;  // present at start; what a work applies may stand here too
  std::vector<WorkSpec> works;        // present at start, and applied
  std::vector<kube::Object> later;    // what steps may create
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
  bool guarded = true;
  bool runsDeferredDeletions = false;             // as of Model
  std::vector<kube::ObjectPattern> usedCronJobs;  // controllers run in them, so that the Jobs they make count
  kube::ResourceMap types;
  std::string lastoutNamespace;  // lastout's own; empty: none in the model
};

// Derives ReplicaSets and Pods, AppliedManifestWorks, owners, finalizers that Kubernetes adds (CRD clean-up,
// pvc protection, namespaces), guard entries and conditions. Of one name there may be several manifests, as
// long as they are alike in what the machine uses; what was added to the metadata of an object since a work
// applied it makes no difference. Fails on what the machine cannot hold, naming the object and the bound.
tl::expected<Model, kube::Errors> build(const BuildInput& input);

// Added to a built model, each with its own checks; references must name objects of the model.
kube::Result<uint32_t> addController(Model& model, FinalizerController controller);  // its number
kube::Result<uint32_t> addStep(Model& model, ClientStep step);                       // its number
// A step's value: a finalizer mask in the object's vocabulary (adding names to it).
kube::Result<uint16_t> finalizerMask(Model& model, Slot slot, const std::vector<std::string>& names);
// Watches an event of an object: the bit of StateRef::monitors() that is set once it has happened. At
// most 63.
kube::Result<uint32_t> watch(Model& model, Slot slot, EventKind kind);

}  // namespace lastout::cluster
