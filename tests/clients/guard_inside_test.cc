// `lastout up --guard inside`: what lastout does by itself beside a cluster it does in the same process, too.
// With the rights that it has there alone.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/clients/cluster.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GuardInside : public Cluster {
 protected:
  void begin(const std::string& scenario, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options{"--guard", "inside", "--rbac", "--speed", "50", "--load", scenario};
    options.insert(options.end(), more.begin(), more.end());
    start(options);
  }
  void waitUntilAnEventSays(const std::string& words) const {
    waitUntil(
        "kubectl get events -n default -o jsonpath='{range .items[*]}{.reason}: {.message}{\"\\n\"}{end}' | "
        "grep -qF '" +
        words + "'");
  }
  // Somebody else's finalizer on the story's instance, besides its own.
  void holdInstance() const {
    kubectl(
        "patch coolresources some-instance --type=json -p "
        R"('[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/held"}]')");
  }
  void letInstanceGo() const {
    waitUntil(
        "kubectl get coolresources some-instance -o jsonpath='{.metadata.finalizers}' | grep -qv super");
    kubectl(
        "patch coolresources some-instance --type=json -p "
        R"('[{"op":"remove","path":"/metadata/finalizers/0"}]')");
  }
  testing::Ran load(const std::string& yaml) const {
    write("objects.yaml", yaml);
    return testing::lastout({"up", "--guard", "inside", "--listen", "127.0.0.1:0", "--kubeconfig-out",
                             (folder_ / "none").string(), "--load", (folder_ / "objects.yaml").string()});
  }
};

constexpr const char* kDenied =
    "DeletionDeferred: deployments.apps/finalizer-namespace/finalizer-deployment: its deletion, asked for by "
    "agent, is deferred until it may go";
constexpr const char* kCarriedOut =
    "DeletionCarriedOut: deployments.apps/finalizer-namespace/finalizer-deployment is deleted now, as agent "
    "had asked";

TEST_F(GuardInside, AProviderWithHoldIsDeletedAndWaitsForItsCriteria) {
  begin("scenarios/hold-background.yaml");
  const std::string provider = "deployment operator -n operator";
  waitUntil("kubectl get " + provider + " -o jsonpath={.metadata.finalizers} | grep -q lastout.dev/criteria");
  EXPECT_THAT(kubectl("delete --wait=false " + provider),
              AllOf(HasSubstr("Warning: deployments.apps/operator/operator may be deleted, but waits to be "
                              "finalized until it may go: widgets.example.com/one has finalizer"),
                    HasSubstr("deployment.apps \"operator\" deleted")));
  EXPECT_THAT(kubectl("delete --cascade=foreground " + provider, 1), HasSubstr("must stay while"));
  EXPECT_THAT(kubectl("get " + provider + " -o jsonpath='{.metadata.deletionTimestamp}'"), Not(IsEmpty()));
  EXPECT_THAT(kubectl("get " + provider + " -o jsonpath='{.metadata.finalizers}'"),
              HasSubstr("lastout.dev/criteria"));
  kubectl("delete crd widgets.example.com --timeout=50s");
  kubectl("wait --for=delete --timeout=50s " + provider);
}

// The agent asks once and is denied; nobody asks again.
TEST_F(GuardInside, ADeniedDeletionIsRunOnceItsVerdictTurns) {
  begin("scenarios/story-three-works.yaml");
  holdInstance();
  kubectl("delete manifestworks --all -n cluster1 --wait=false");
  waitUntilAnEventSays(kDenied);
  letInstanceGo();
  waitUntilAnEventSays(kCarriedOut);
  waitUntil("test -z \"$(kubectl get namespaces,criticalservices,deployments -A -o name | grep finalizer)\"");
}

TEST_F(GuardInside, AKeptWorkIsGoneWhenWhatItAppliedIs) {
  begin("scenarios/story-deadlock.yaml");
  // lastout sets its finalizer once it sees that the work has applied something guarded.
  const std::string finalizers =
      "kubectl get appliedmanifestworks -o jsonpath='{range "
      ".items[*]}{.metadata.name}{.metadata.finalizers}{\"\\n\"}{end}' | grep -- '-finalizer\\['";
  waitUntil(finalizers + " | grep -q lastout.dev/applied-objects");
  holdInstance();
  kubectl("delete manifestworks --all -n cluster1 --wait=false");
  waitUntilAnEventSays(kDenied);
  // Its agent is done with it: it has asked for each deletion once.
  waitUntil(finalizers + " | grep -qF '[\"lastout.dev/applied-objects\"]'");
  kubectl("get manifestwork finalizer -n cluster1");
  letInstanceGo();
  kubectl("wait --for=delete manifestwork/finalizer -n cluster1 --timeout=50s");
  EXPECT_THAT(kubectl("get namespaces,criticalservices,deployments -A -o name"), Not(HasSubstr("finalizer")));
  waitUntil("test -z \"$(kubectl get manifestworks,appliedmanifestworks -A -o name)\"");
}

// The greeting means that the guard is in force: a DELETE right after it is reviewed.
TEST_F(GuardInside, IsInForceWhenItGreets) {
  begin("scenarios/story-three-works.yaml", {"--profile", "karmada"});
  for (const char* object : {"criticalservice for-finalizer-deployment", "deletionpolicy karmada"})
    EXPECT_EQ(kubectl("get " + std::string(object) +
                      " -o jsonpath='{.status.conditions[?(@.type==\"Enforced\")].status}'"),
              "True")
        << object;
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("admission webhook \"deployments.apps.lastout.dev\" denied the request"));
  EXPECT_THAT(kubectl("delete namespace finalizer-namespace", 1), HasSubstr("(Forbidden)"));
  EXPECT_THAT(kubectl("get all,secrets,namespaces -A -o name"), Not(HasSubstr("lastout")));
}

// Whatever stands first in a file, and however soon lastout sees what has just been created.
TEST_F(GuardInside, WarnsOfNothingThatTheSameFileBrings) {
  write("objects.yaml", R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: for-operator}
spec:
  provider: {group: apps, resource: deployments, namespace: operator, name: operator}
  criteria:
  - type: Finalizer
    finalizer: {group: example.com, resource: widgets, finalizerName: example.com/cleanup}
  - type: SpecificResource
    specificResource: {group: apiextensions.k8s.io, resource: customresourcedefinitions, name: widgets.example.com}
---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: widgets}
spec: {objects: [{resources: [{group: example.com, resource: widgets}]}], blocks: [Delete], enforcement: Deny}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: operator}
spec:
  replicas: 1
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {containers: [{name: operator, image: 'example.com/operator:1'}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: team, finalizers: [example.com/cleanup]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)");
  begin((folder_ / "objects.yaml").string());
  EXPECT_THAT(greeting(), AllOf(HasSubstr("guarded by lastout"), Not(HasSubstr("warning"))));
}

// Like what anybody writes; of a policy the API server takes whatever the CRD allows.
TEST_F(GuardInside, DoesNotLoadWhatCannotBeUnderstood) {
  const testing::Ran service = load(R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: misspelt}
spec:
  provider: {group: apps, resource: deploymnts, namespace: default, name: p}
  criteria: [{type: SpecificResource, specificResource: {resource: configmaps, namespace: default, name: m}}]
)");
  EXPECT_EQ(service.exitCode, 2);
  EXPECT_THAT(service.err, HasSubstr("did you mean \"deployments\"?"));
  const testing::Ran policy = load(R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: all}
spec: {objects: [{resources: [{group: '*', resource: '*'}]}]}
)");
  EXPECT_EQ(policy.exitCode, 2);
  EXPECT_THAT(policy.err, AllOf(HasSubstr("deletionpolicies.lastout.dev/all"),
                                HasSubstr("spec.objects match everything")));
}

}  // namespace
}  // namespace lastout::clients
