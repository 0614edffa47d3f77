#include "cluster/users.h"

#include <string_view>

#include "kube/builtin_types.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

// As which the work controllers of a hub run.
constexpr std::string_view kHubController =
    "system:serviceaccount:open-cluster-management-hub:cluster-manager-work-controller-sa";

std::string controllerAccount(std::string_view name) {
  return std::string(kServiceAccount) + "kube-system:" + std::string(name);
}

// The controller that makes and takes away what a workload controls.
std::string_view workloadController(const Model& model, Slot slot) {
  for (const OwnerLink& link : model.slots[slot].owners) {
    if (!link.controller || link.owner == kNone) continue;
    if (const kube::WorkloadType* workload = kube::findWorkloadType(model.slots[link.owner].key.type))
      return workload->controller;
  }
  return kube::findWorkloadType(kube::kReplicaSets)->controller;
}

}  // namespace

std::string userOf(const Model& model, Actor actor, uint32_t by, Slot object) {
  switch (actor) {
    case Actor::Client:
      return by == kNone ? "admin" : model.steps[by].as;
    case Actor::Agent:
      return std::string(manifestwork::kAgentUser);
    case Actor::Collector:
      return controllerAccount("generic-garbage-collector");
    case Actor::Lifecycle:
      return controllerAccount("namespace-controller");
    case Actor::Workloads:
      return controllerAccount(workloadController(model, object));
    case Actor::TimeToLive:
      return model.slots[object].kind == SlotKind::Job ? controllerAccount("ttl-after-finished-controller")
                                                       : std::string(kHubController);
    case Actor::ReplicaSets:
      return std::string(kHubController);
    case Actor::Lastout:
      return std::string(kServiceAccount) + "lastout:lastout";
    default:
      return "system:apiserver";
  }
}

std::vector<std::string> groupsOf(const std::string& user) {
  std::vector<std::string> groups{"system:authenticated"};
  if (!user.starts_with(kServiceAccount)) return groups;
  const size_t colon = user.find(':', kServiceAccount.size());
  groups.emplace_back("system:serviceaccounts");
  groups.push_back("system:serviceaccounts:" +
                   user.substr(kServiceAccount.size(), colon - kServiceAccount.size()));
  return groups;
}

}  // namespace lastout::cluster
