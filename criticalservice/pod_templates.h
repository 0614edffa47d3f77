// PodTemplates: what the Pods of workloads are made from: their Pod templates, and earlier ones by which Pods
// may still run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "criticalservice/pod_needs.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {

// An owner as ownerReferences name it.
struct OwnerName {
  std::string group;
  std::string kind;
  std::string name;
  friend bool operator==(const OwnerName&, const OwnerName&) = default;
};
// Whether that is this object, which may be one's owner by where it is. A kind that is not built in is told
// by how it begins, for its CRD may not be known: "Gateway", gateways.
bool means(const OwnerName& owner, const kube::ObjectKey& object);

// What keeps the earlier Pod templates of workloads of this type: ReplicaSets those of a Deployment,
// ControllerRevisions those of a StatefulSet or DaemonSet. nullopt: nothing does.
std::optional<kube::GroupResource> typeOfEarlierTemplates(const kube::GroupResource& workload);
// Returns true if objects of this type keep earlier Pod templates of a workload.
bool keepsEarlierTemplates(const kube::GroupResource& type);

// What lastout keeps of one Pod template, and of whose it is.
struct PodTemplate {
  std::vector<Dependency> needs;                // what its Pods name
  std::pair<std::string, std::string> account;  // their ServiceAccount: namespace and name
  bool pullsByItself = false;  // names image pull secrets: those of its ServiceAccount do not count
  kube::Labels podLabels;
  std::vector<OwnerName> owners;
  std::string uid;                      // empty in a manifest that was never applied, as the next
  std::string createdAt;                // in RFC 3339, which sorts as text
  std::optional<OwnerName> controller;  // the owner whose Pods it makes, or made
  std::string controllerUid;            // as `uid`
  bool hasPods = true;                  // of ReplicaSets: some, or it is to have some
  bool isRolledOut = false;             // of StatefulSets and DaemonSets: all Pods are of this template
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

// So many earlier templates of one workload are looked at, the oldest: whoever may make ReplicaSets could
// name any workload as their controller.
inline constexpr size_t kMostEarlierTemplates = 20;

// The templates that Pods of a workload may run by.
struct RunningTemplates {
  std::vector<const PodTemplate*> templates;  // its own first; none: it is not known
  size_t earlier = 0;                         // how many more there are, or too many
};

class PodTemplates {
 public:
  // Both return whether anything follows from it: the object makes Pods, or did, otherwise than before.
  bool put(const kube::Object& object);
  bool remove(const kube::ObjectKey& key) { return known_.erase(key) > 0; }

  // nullptr: it is not known, or makes no Pods. Valid until the next change, as the next one.
  const PodTemplate* find(const kube::ObjectKey& key) const;
  // Earlier templates stand in ReplicaSets that the workload controls and that have Pods, and in all of its
  // ControllerRevisions as long as it is not rolled out: which of these still have Pods, their Pods alone
  // would tell.
  RunningTemplates running(const kube::ObjectKey& key) const;

 private:
  std::map<kube::ObjectKey, PodTemplate> known_;
};

}  // namespace lastout::criticalservice
