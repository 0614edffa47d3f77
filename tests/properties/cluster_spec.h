// ClusterSpec: a cluster and what clients ask of it, as plain data that a generator makes, a test shrinks,
// and a person can read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/model.h"
#include "criticalservice/critical_service.h"
#include "kube/resource_map.h"

namespace lastout::testing {

struct OwnerSpec {
  kube::ObjectKey object = {};
  bool controller = false;
  bool blockOwnerDeletion = false;
};

// Somebody else's webhook: calls the Service for these operations on objects of these types.
struct WebhookSpec {
  kube::ObjectKey service = {};
  std::vector<kube::GroupResource> types = {};
  bool onDelete = true;
  bool onUpdate = false;
};

struct ObjectSpec {
  kube::ObjectKey key = {};
  bool present = true;       // false: only a step or a work may create it
  bool terminating = false;  // from the beginning
  std::vector<std::string> finalizers = {};
  std::vector<OwnerSpec> owners = {};
  std::string app = {};                     // workloads: their Pods' label; Services: the label they select
  uint16_t replicas = 1;                    // workloads
  std::vector<std::string> claims = {};     // workloads: what their Pods mount, in the same namespace
  std::vector<kube::ObjectKey> names = {};  // in its fields (namingFields())
  std::optional<criticalservice::CriticalService> service = {};
  std::optional<WebhookSpec> webhook = {};
  std::optional<kube::ObjectKey> converter = {};  // CRDs: the Service that converts their objects
};

struct WorkObjects {
  kube::ObjectKey key = {};
  std::vector<kube::ObjectKey> applies = {};
};

struct ControllerSpec {
  std::string finalizer = {};
  kube::GroupResource from = {};
  std::optional<kube::ObjectKey> runsIn = {};  // none: it always works
  std::vector<kube::ObjectKey> needs = {};     // one of them is to be there, for any object; empty: none
  std::vector<kube::ObjectKey> waitsFor = {};  // none of them may be there
};

struct StepSpec {
  // Which object: the one named, its first child (a Deployment's ReplicaSet), or that one's.
  enum class Target : uint8_t { Itself, Child, Grandchild };
  cluster::ClientStep::Verb verb = cluster::ClientStep::Verb::Delete;
  kube::ObjectKey object = {};
  Target target = Target::Itself;
  std::optional<cluster::PropagationPolicy> policy = {};
  bool dryRun = false;
  bool retry = true;
  cluster::Precondition precondition = cluster::Precondition::None;
  bool serverSide = false;
  std::vector<std::string> finalizers = {};  // SetFinalizers
  uint16_t value = 0;                        // SetReplicas, SetIntent
  bool last = false;                         // sent only when nothing else can happen any more
};

struct ClusterSpec {
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
  std::vector<ObjectSpec> objects = {};
  std::vector<WorkObjects> works = {};
  std::vector<ControllerSpec> controllers = {};
  std::vector<StepSpec> steps = {};
  bool guarded = true;
  bool confirms = true;
  bool runsDeferredDeletions = false;
  bool forges = false;  // where that is so: somebody writes into statuses what nobody was denied
  std::string lastoutNamespace = {};
};

// The types that specs use: the built-in ones, CriticalServices, works, and three of CRDs.
const kube::ResourceMap& specTypes();
namespace types {
extern const kube::GroupResource kNamespaces, kConfigMaps, kClusterRoles, kPods, kDeployments, kStatefulSets,
    kDaemonSets, kReplicaSets, kClaims, kServices, kWebhooks, kCrds, kCriticalServices, kWorks;
extern const kube::GroupResource kWidgets;    // cluster-scoped
extern const kube::GroupResource kGadgets;    // namespaced
extern const kube::GroupResource kDatabases;  // namespaced; may be providers
}  // namespace types
// The fields by which objects name others: a list of names with their namespaces.
kube::ReferenceFields namingFields();
bool isWorkload(const kube::GroupResource& type);
bool isNamespaced(const kube::GroupResource& type);
kube::ObjectKey namespaceKey(const std::string& name);

// Fails on what the machine cannot hold. References to objects that are not in the spec are left out.
tl::expected<cluster::Model, kube::Errors> toModel(const ClusterSpec& spec);

// One object, work, controller or step a line.
std::string describe(const ClusterSpec& spec);

}  // namespace lastout::testing
