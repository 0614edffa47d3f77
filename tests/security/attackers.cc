#include "tests/security/attackers.h"

#include <nlohmann/json.hpp>

namespace lastout::security {
namespace {

using Json = nlohmann::json;

constexpr const char* kPeople = R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: writes-services}
rules:
- {apiGroups: [lastout.dev], resources: [criticalservices], verbs: [get, list, create, update, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: writes-services}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: team}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: app}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: lent}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [delete]}
- {apiGroups: [""], resources: [namespaces], verbs: [delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: patches-statuses}
rules:
- {apiGroups: [lastout.dev], resources: [criticalservices/status], verbs: [patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: status-writer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: patches-statuses}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: status-writer}]
)";

std::string roleBinding(const std::string& space) {
  return R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
metadata: {name: tenant, namespace: )" +
         space + "}\n";
}

std::string deployment(const std::string& space) {
  return R"(---
apiVersion: apps/v1
kind: Deployment
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: "example.com/a:1"}]}}
metadata: {name: provider, namespace: )" +
         space + "}\n";
}

}  // namespace

const char* const kTokensFile = R"(users:
- {token: token-of-tenant, username: tenant}
- {token: token-of-status-writer, username: status-writer}
- {token: token-of-webhook, username: "system:serviceaccount:lastout:lastout-webhook"}
- {token: token-of-controller, username: "system:serviceaccount:lastout:lastout-controller"}
)";

std::string rightsOfAttackers() {
  return kPeople + roleBinding("team") + roleBinding("app") + roleBinding("lent");
}

std::string argumentsOf(const ObjectKey& object) {
  return kube::toString(object.type) + " " + object.name +
         (object.namespaceName.empty() ? "" : " -n " + object.namespaceName);
}

const ObjectKey& provider() {
  static const ObjectKey kProvider{{"apps", "deployments"}, "app", "provider"};
  return kProvider;
}

const std::vector<ObjectKey>& needed() {
  static const std::vector<ObjectKey> kNeeded{{{"", "namespaces"}, "", "app"},
                                              {{"", "secrets"}, "app", "key"},
                                              {{"rbac.authorization.k8s.io", "clusterroles"}, "", "acting"}};
  return kNeeded;
}

const ObjectKey& secret() { return needed()[1]; }
const ObjectKey& clusterRole() { return needed()[2]; }

const std::vector<ObjectKey>& foreign() {
  static const std::vector<ObjectKey> kForeign{
      {{"", "namespaces"}, "", "other"},
      {{"", "secrets"}, "other", "key"},
      {{"rbac.authorization.k8s.io", "clusterroles"}, "", "foreign"}};
  return kForeign;
}

std::vector<ObjectKey> victims() {
  std::vector<ObjectKey> all{provider()};
  all.insert(all.end(), needed().begin(), needed().end());
  all.insert(all.end(), foreign().begin(), foreign().end());
  return all;
}

std::string service(const std::string& name, const std::string& space, const std::string& more) {
  return R"(---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: )" +
         name + R"(}
spec:
  criteria:
  - {type: Finalizer, finalizer: {group: apps, resource: deployments, finalizerName: example.com/blocks}}
  provider: {group: apps, resource: deployments, name: provider, namespace: )" +
         space + "}\n" + (more.empty() ? "" : "  " + more + "\n");
}

std::string listing(const std::vector<ObjectKey>& objects) {
  Json list = Json::array();
  for (const ObjectKey& object : objects) {
    Json entry = {{"resource", object.type.resource}, {"name", object.name}};
    if (!object.type.group.empty()) entry["group"] = object.type.group;
    if (!object.namespaceName.empty()) entry["namespace"] = object.namespaceName;
    list.push_back(entry);
  }
  return "guard: {dependencies: " + list.dump() + "}";
}

std::string manifests() {
  return service("owned", "app", listing({secret(), clusterRole()}) + "\n  deferredDeletions: Always") +
         deployment("app") + deployment("team") + deployment("lent");
}

std::vector<Theft> thefts() {
  const std::string dependency = "who lists a dependency must be allowed to delete it: ";
  const Theft guarded{
      service("stolen", "app"),
      "who writes a CriticalService must be allowed to delete its provider " + toString(provider()),
      "delete " + toString(provider())};
  Theft held = guarded;
  held.manifest = service("stolen", "app", "enforcement: Hold");
  return {guarded,
          held,
          {service("stolen", "lent", "enforcement: Hold"),
           "who has a provider held (enforcement: Hold) must be allowed to patch it: "
           "deployments.apps/lent/provider",
           "patch deployments.apps/lent/provider"},
          {service("stolen", "team", listing({secret()})), dependency + toString(secret()),
           "delete " + toString(secret())},
          {service("stolen", "team", listing({clusterRole()})), dependency + toString(clusterRole()),
           "delete " + toString(clusterRole())}};
}

}  // namespace lastout::security
