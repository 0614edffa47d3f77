// The types that are known before any CustomResourceDefinition was read.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kube/kubernetes_version.h"
#include "kube/object_key.h"

namespace lastout::kube {

// What an API server serves of a type beside its objects.
enum TypeTrait : unsigned {
  NoTrait = 0,
  HasStatus = 1,
  HasFinalize = 2,
  HasApproval = 4,
  HasGeneration = 8,               // metadata.generation counts the changes of its specification
  CreateOnly = 16,                 // a question; its answer is not stored
  NoCollection = 32,               // no deletecollection
  InAll = 64,                      // of `kubectl get all`
  InApiExtensions = 128,           // of `kubectl get api-extensions`
  NotServed = 256,                 // by `lastout up`: there is nothing behind it
  OtherIsBetaOfFlowControl = 512,  // its other version is served where servesBetaOfFlowControl() says so
  HasGenerationOfPods = 1024,      // as HasGeneration, where countsGenerationsOfPods() says so
  // Names are path segments, with any characters and of any length; or the API server has a rule of its own.
  NamedByPathSegment = 2048,
};

struct KnownType {
  std::string_view group;
  std::string_view version;  // the preferred one
  std::string_view resource;
  std::string_view kind;  // the singular is this in lower case
  bool namespaced;
  std::array<std::string_view, 2> shortNames = {};  // empty ones at the end
  unsigned traits = NoTrait;                        // of TypeTrait
  std::string_view otherVersion = {};               // is served as well; empty: there is none
  std::string_view storedVersion = {};              // empty: the preferred one
};

// In Kubernetes 1.26 itself, and the stable ones of later versions up to 1.36, in the order in which a word
// without a group prefers them, and in which /apis names their groups.
std::span<const KnownType> builtInTypes();

// A built-in type whose objects run Pods, and what differs between them. A type that is added here can be a
// provider and a dependency, and tells whether its Pods are ready.
struct WorkloadType {
  const GroupResource* type;
  // Its controller, which writes its status and makes and takes away its children: the name of its service
  // account in kube-system.
  std::string_view controller;
  std::string_view readyCount;  // in its status: how many of its Pods are ready; empty: other fields tell
  bool hasReplicas;             // spec.replicas says how many Pods there should be, 1 where it is left out
  bool outlivesTermination;     // its Pods run on while it has a deletionTimestamp and a finalizer
};

std::span<const WorkloadType> workloadTypes();
const WorkloadType* findWorkloadType(const GroupResource& type);  // nullptr: it runs no Pods

// nullptr: it is not built in.
const KnownType* findBuiltInType(const GroupResource& type);
// True if API servers of that version serve the type's other version, where it has one.
bool servesOtherVersion(const KnownType& known, KubernetesVersion kubernetes);

// Defined by the CRDs of lastout and of Open Cluster Management.
std::span<const KnownType> wellKnownCustomTypes();

}  // namespace lastout::kube
