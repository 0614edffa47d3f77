// What Kubernetes puts into a cluster by itself, and no file has: objects in each Namespace, and the Job
// controller's finalizer on the Pods of Jobs.
#pragma once

#include <string_view>
#include <vector>

#include "cluster/model.h"
#include "kube/api_calls.h"
#include "kube/object.h"

namespace lastout::cluster {

struct UnwrittenObject {
  kube::ObjectKey key;
  kube::Labels labels;
  Slot space = kNone;  // its Namespace
  // It is there when its Namespace begins to terminate, and stays until the namespace controller deletes it.
  // False: it may be, as Events and Leases, and what is made for a Pod or by a CronJob; or anything in a
  // Namespace that terminates at the start.
  bool stays = false;
};

// Returns the ConfigMap and the ServiceAccount of each Namespace of the model, and beside Services, workloads
// and Pods what their controllers make, as far as it is not in the model. `sources`: manifests by slot;
// nullptr: there is none.
std::vector<UnwrittenObject> unwrittenObjects(const Model& model,
                                              const std::vector<const kube::Object*>& sources);

// Returns true if the webhook is asked about the DELETE by which the namespace controller ends the object.
bool isReviewedAtEnd(const Model& model, const kube::CalledWebhook& webhook, const UnwrittenObject& object);

// Returns what the webhook is asked about an object that is in no file, and of whose labels nothing is known.
kube::ReviewedOperations reviewsOfUnwritten(const Model& model, const kube::CalledWebhook& webhook,
                                            const kube::ObjectKey& key);

// Returns true if the Service selects the Pod by the labels of its place in the model: those of a Pod that no
// file has are its controller's. Each Pod of a StatefulSet has its name as one.
bool selectsPlaceOf(const kube::Object& service, const SlotInfo& pod);

// Returns true if the webhook is asked about the UPDATE of the Lease by which kube-controller-manager, which
// ends Namespaces, stays the one that works.
bool isAskedAboutLeader(const Model& model, const kube::CalledWebhook& webhook);

// Returns true for a Pod that carries the Job controller's finalizer: one of a Job, as long as its manifest
// is not read from a cluster, where it says so itself.
bool isTrackedByJob(const Model& model, Slot slot, const kube::Object* source);

// Returns the Job of the Pod whose status the Job controller writes before it takes its finalizer off, if
// some webhook is asked about that; else kNone.
Slot reviewedJobOf(const Model& model, Slot pod);

}  // namespace lastout::cluster
