#include "tests/security/policy_world.h"

#include "kube/parse.h"
#include "replay/manifests.h"
#include "simulator/loader.h"
#include "tests/simulator/admin_request.h"

namespace lastout::security {
namespace {

constexpr const char* kAccounts[] = {"system:serviceaccount:lastout:lastout",
                                     "system:serviceaccount:lastout:lastout-webhook",
                                     "system:serviceaccount:lastout:lastout-controller",
                                     "system:serviceaccount:lastout:lastout-uninstall",
                                     "system:serviceaccount:kube-system:generic-garbage-collector",
                                     "system:kube-controller-manager"};

// A tenant has a namespace of its own; an owner has the provider and its namespace; a patcher may write
// everything, and delete nothing; lastout's controller the same, but for configurations; others have one of
// two rights.
constexpr const char* kObjects = R"(
apiVersion: v1
kind: Namespace
metadata: {name: app}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: Namespace
metadata: {name: lastout}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: provider, namespace: app, finalizers: [example.com/other, lastout.dev/held]}
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: example.com/a:1}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: lastout-webhook, namespace: lastout}
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: example.com/a:1}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: beside, namespace: lastout}
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: example.com/a:1}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: app}
---
apiVersion: v1
kind: Secret
metadata: {name: kept, namespace: app, annotations: {lastout.dev/delete-when-free: "u 2030-01-01T00:00:00Z"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: lastout}
webhooks:
- name: deletions.lastout.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:19443/"}
  rules: [{operations: [DELETE], apiGroups: [apps], apiVersions: [v1], resources: [daemonsets]}]
- name: things.my.crd.group.lastout.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "https://127.0.0.1:19443/"}
  rules: [{operations: [DELETE], apiGroups: [my.crd.group], apiVersions: [v1], resources: [things]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: other}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: standing}
spec:
  provider: {group: apps, resource: deployments, namespace: app, name: provider}
  criteria:
  - {type: Finalizer, finalizer: {group: my.crd.group, resource: things, finalizerName: my.crd.group/f}}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: given-up}
spec:
  provider: {group: apps, resource: deployments, namespace: app, name: provider}
  deletionIntent: OrphanResources
  criteria:
  - {type: Finalizer, finalizer: {group: my.crd.group, resource: things, finalizerName: my.crd.group/f}}
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: listing}
spec:
  provider: {group: apps, resource: deployments, namespace: app, name: provider}
  guard: {dependencies: [{resource: secrets, namespace: team, name: others}]}
  criteria:
  - {type: Finalizer, finalizer: {group: my.crd.group, resource: things, finalizerName: my.crd.group/f}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: writes}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list, create, update, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: writes-services}
rules:
- {apiGroups: [lastout.dev], resources: [criticalservices, criticalservices/status, deletionpolicies, deletionpolicies/status], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: everything}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deletes-deployments}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deletes-its-namespace}
rules:
- {apiGroups: [""], resources: [namespaces], verbs: [delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deletes-configurations}
rules:
- {apiGroups: [admissionregistration.k8s.io], resources: ["*"], verbs: [delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deletes-secrets}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: writes-services}
roleRef: {kind: ClusterRole, name: writes-services}
subjects: [{kind: Group, name: writers}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: writes}
roleRef: {kind: ClusterRole, name: writes}
subjects: [{kind: User, name: patcher}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: everything}
roleRef: {kind: ClusterRole, name: everything}
subjects:
- {kind: User, name: "system:serviceaccount:lastout:lastout"}
- {kind: User, name: "system:serviceaccount:lastout:lastout-webhook"}
- {kind: User, name: "system:serviceaccount:lastout:lastout-uninstall"}
- {kind: User, name: "system:kube-controller-manager"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: controller-writes}
roleRef: {kind: ClusterRole, name: writes}
subjects: [{kind: User, name: "system:serviceaccount:lastout:lastout-controller"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: controller-deletes}
roleRef: {kind: ClusterRole, name: deletes-configurations}
subjects: [{kind: User, name: "system:serviceaccount:lastout:lastout-controller"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: team}
roleRef: {kind: ClusterRole, name: everything}
subjects: [{kind: User, name: tenant}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: halfway, namespace: app}
roleRef: {kind: ClusterRole, name: deletes-deployments}
subjects: [{kind: User, name: halfway}, {kind: User, name: deleter}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deleter, namespace: app}
roleRef: {kind: ClusterRole, name: deletes-its-namespace}
subjects: [{kind: User, name: deleter}, {kind: User, name: caretaker}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: owner, namespace: app}
roleRef: {kind: ClusterRole, name: everything}
subjects: [{kind: User, name: owner}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: patcher, namespace: team}
roleRef: {kind: ClusterRole, name: deletes-secrets}
subjects: [{kind: User, name: patcher}]
)";

constexpr const char* kStatus = R"({"status": {
  "provider": {"uid": "u1", "present": true}, "seenTypes": ["things.my.crd.group"],
  "deferredDeletions": [
    {"group": "apps", "resource": "deployments", "namespace": "app", "name": "provider", "uid": "u1",
     "requestedBy": "agent", "requestedAt": "2026-01-01T00:00:00Z"},
    {"group": "", "resource": "namespaces", "name": "app", "uid": "u2", "requestedBy": "agent",
     "requestedAt": "2026-01-01T00:00:00Z"}]}})";

std::string tokens() {
  Json users = Json::array();
  for (const char* name : {"tenant", "halfway", "deleter", "caretaker", "owner", "patcher"})
    users.push_back({{"token", name}, {"username", name}, {"groups", {"writers"}}});
  for (const char* name : kAccounts) users.push_back({{"token", name}, {"username", name}});
  users.push_back({{"token", "admin"}, {"username", "admin"}, {"groups", {"system:masters"}}});
  return Json{{"users", users}}.dump();
}

simulator::EmbeddedOptions options() {
  simulator::EmbeddedOptions options;
  options.users = simulator::parseUsers(tokens(), "tokens").value();
  options.rbac = true;
  return options;
}

std::vector<Json> documentsOf(const std::string& text) {
  std::vector<Json> documents;
  const auto parsed = kube::parseYaml(text, "manifests");
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message;
    return documents;
  }
  for (const kube::Value& document : *parsed) documents.push_back(kube::toJson(document));
  return documents;
}

}  // namespace

PolicyWorld::PolicyWorld(const std::vector<Json>& policies)
    : ClusterTest(options()), users_(simulator::parseUsers(tokens(), "tokens").value()) {
  const auto manifests = replay::readManifests({{"objects", kObjects}});
  const auto loaded = simulator::loadManifests(cluster, manifests.value());
  EXPECT_TRUE(loaded) << kube::toString(loaded.error().front());
  expect(201, "POST", "/apis/work.open-cluster-management.io/v1/appliedmanifestworks",
         {{"apiVersion", "work.open-cluster-management.io/v1"},
          {"kind", "AppliedManifestWork"},
          {"metadata", {{"name", "work"}}},
          {"spec", {{"hubHash", "h"}, {"manifestWorkName", "work"}}}});
  expect(201, "POST", "/apis/lastout.dev/v1alpha1/deletionpolicies",
         {{"apiVersion", "lastout.dev/v1alpha1"},
          {"kind", "DeletionPolicy"},
          {"metadata", {{"name", "labelling"}}},
          {"spec",
           {{"objects", {{{"resources", {{{"resource", "configmaps"}}}}}}},
            {"when", {{{"label", "a.b/kept"}}}},
            {"labels",
             {{"protection", {{"key", "a.b/kept"}, {"value", "yes"}}},
              {"exemption", {{"key", "a.b/exempt"}, {"value", "yes"}}}}}}}});
  for (const Json& policy : policies) {
    const bool isBinding = policy["kind"] == "ValidatingAdmissionPolicyBinding";
    expect(201, "POST", isBinding ? kPolicyBindings : kPolicies, policy);
  }
  const Attempt recorded{"", kAccounts[2], "PATCH", std::string(kServices) + "/standing/status", kStatus, ""};
  EXPECT_EQ(attempt(recorded, false).status, 200);
}

simulator::ExchangeResponse PolicyWorld::attempt(const Attempt& attempt, bool isDryRun) {
  const std::string sign = attempt.path.find('?') == std::string::npos ? "?" : "&";
  simulator::ExchangeRequest request =
      testing::adminRequest(attempt.method, attempt.path + (isDryRun ? sign + "dryRun=All" : ""));
  request.user = simulator::userWithToken(users_, attempt.user).value();
  if (attempt.method == "PATCH") request.contentType = kMerge;
  if (!attempt.body.empty()) request.body = simulator::toText(documentsOf(attempt.body).at(0));
  return cluster.handle(request);
}

}  // namespace lastout::security
