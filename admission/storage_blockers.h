// addStorageBlockers: claims that Pods use, volumes that are bound or attached, and Pods on a Node that is
// not Ready.
#pragma once

#include "admission/spec_blockers.h"

namespace lastout::admission {

// Adds to `found` what keeps the claims, volumes and VolumeAttachments among the objects that are being
// deleted, and the Pods that no kubelet would end. Kubernetes keeps a claim while a Pod that has a Node uses
// it, finished or not (kubernetes.io/pvc-protection); a volume while it is bound to a claim
// (kubernetes.io/pv-protection) or attached (external-attacher/...). Where the objects have no Pod that uses
// a claim, as manifests do, the workloads whose Pods do stand for them.
void addStorageBlockers(const SpecObjects& objects, SpecBlockers& found);

}  // namespace lastout::admission
