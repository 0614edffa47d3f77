#include "criticalservice/default_roles.h"

#include <string>
#include <utility>
#include <vector>

#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

constexpr std::string_view kSystemPrefix = "system:";

kube::ObjectKey clusterRole(std::string name) { return {kube::kClusterRoles, "", std::move(name)}; }

// With this label, "true", a ClusterRole adds its rules to the role.
std::string labelFor(const std::string& role) { return "rbac.authorization.k8s.io/aggregate-to-" + role; }
kube::Labels addsTo(const std::string& role) { return {{labelFor(role), "true"}}; }

RoleRule everything(std::string_view group, std::vector<std::string> resources) {
  return {.groups = {std::string(group)}, .resources = std::move(resources), .verbs = {"*"}, .objects = {}};
}

// No type of somebody's own, and nothing that limits or is a namespace.
std::vector<RoleRule> rulesOfEdit() {
  return {everything("", {"configmaps", "events", "persistentvolumeclaims", "pods", "replicationcontrollers",
                          "secrets", "serviceaccounts", "services"}),
          everything(kube::kAppsGroup, {"daemonsets", "deployments", "replicasets", "statefulsets"}),
          everything("autoscaling", {"horizontalpodautoscalers"}),
          everything(kube::kBatchGroup, {"cronjobs", "jobs"}),
          everything(kube::kCoordinationGroup, {"leases"}),
          everything("networking.k8s.io", {"ingresses", "networkpolicies"}),
          everything("policy", {"poddisruptionbudgets"}),
          everything("resource.k8s.io", {"resourceclaims", "resourceclaimtemplates"})};
}

std::map<kube::ObjectKey, RoleContent> makeDefaultRoles() {
  std::map<kube::ObjectKey, RoleContent> roles;
  const auto add = [&](const std::string& name, kube::Labels labels, std::vector<RoleRule> rules) {
    roles[clusterRole(name)] = {.labels = std::move(labels), .aggregates = {}, .rules = std::move(rules)};
  };
  // Both of them; the part has the rules.
  const auto addCollecting = [&](const std::string& name, kube::Labels labels, std::vector<RoleRule> rules) {
    add(std::string(kSystemPrefix) + "aggregate-to-" + name, addsTo(name), std::move(rules));
    add(name, std::move(labels), {});
    roles[clusterRole(name)].aggregates = {kube::LabelSelector{
        {{.key = labelFor(name), .op = kube::SelectorRequirement::Operator::In, .values = {"true"}}}}};
  };
  add("cluster-admin", {}, {everything("*", {"*"})});
  addCollecting("admin", {}, {everything(kube::kRbacGroup, {"rolebindings", "roles"})});
  addCollecting("edit", addsTo("admin"), rulesOfEdit());
  addCollecting("view", addsTo("edit"), {});
  return roles;
}

}  // namespace

const std::map<kube::ObjectKey, RoleContent>& defaultRoles() {
  static const std::map<kube::ObjectKey, RoleContent> kRoles = makeDefaultRoles();
  return kRoles;
}

bool isDefaultRole(const kube::ObjectKey& role) {
  return defaultRoles().contains(role) ||
         (role.type == kube::kClusterRoles && role.name.starts_with(kSystemPrefix));
}

}  // namespace lastout::criticalservice
