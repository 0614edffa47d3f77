// The story that this project exists for, told by kubectl: a provider with a finalizer controller, and an
// instance that only that controller can finalize.
#include <gmock/gmock.h>

#include "tests/clients/cluster.h"
#include "tests/support/examples.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCrd = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: coolresources.my.crd.group
spec:
  group: my.crd.group
  scope: Cluster
  names: {kind: CoolResource, listKind: CoolResourceList, plural: coolresources, singular: coolresource}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

constexpr const char* kController = R"(---
apiVersion: lastout.dev/v1alpha1
kind: Scenario
metadata: {name: controller}
spec:
  controllers:
  - name: super-important
    runsIn: deployments.apps/finalizer-namespace/finalizer-deployment
    removes: {finalizer: my.crd.group/super-important, from: coolresources.my.crd.group}
    takes: 1s
)";

constexpr const char* kProvider = R"(---
apiVersion: v1
kind: Namespace
metadata: {name: finalizer-namespace}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: finalizer-deployment, namespace: finalizer-namespace}
spec:
  replicas: 1
  selector: {matchLabels: {app: finalizer}}
  template:
    metadata: {labels: {app: finalizer}}
    spec: {containers: [{name: controller, image: "example.com/finalizer:1"}]}
)";

constexpr const char* kInstance = R"(apiVersion: my.crd.group/v1
kind: CoolResource
metadata:
  name: some-instance
  finalizers: [my.crd.group/super-important]
)";

class Story : public Cluster {
 public:
  void begin(const std::string& guard) {
    write("controller.yaml", std::string(kCrd) + kController);
    start({"--speed", "20", "--guard", guard, "--load", (folder_ / "controller.yaml").string()});
    write("crd.yaml", kCrd);
    write("provider.yaml", std::string(testing::kCriticalServiceExample) + kProvider);
    write("instance.yaml", kInstance);
    kubectl("apply -f $FOLDER/crd.yaml");
    kubectl("wait --for=condition=Established crd/coolresources.my.crd.group --timeout=50s");
    EXPECT_THAT(kubectl("apply -f $FOLDER/provider.yaml -f $FOLDER/instance.yaml"),
                AllOf(HasSubstr("criticalservice.lastout.dev/for-finalizer-deployment created"),
                      HasSubstr("coolresource.my.crd.group/some-instance created")));
    kubectl("rollout status deployment/finalizer-deployment -n finalizer-namespace --timeout=50s");
  }
};

TEST_F(Story, GuardedEndsEmpty) {
  begin("inside");
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              AllOf(HasSubstr("Error from server (Forbidden)"),
                    HasSubstr("is the provider of criticalservices.lastout.dev/for-finalizer-deployment"),
                    HasSubstr("coolresources.my.crd.group/some-instance has finalizer"),
                    HasSubstr("delete them first")));
  EXPECT_THAT(kubectl("delete namespace finalizer-namespace", 1), HasSubstr("(Forbidden)"));
  kubectl("delete -f $FOLDER/instance.yaml --timeout=50s");
  kubectl("delete -f $FOLDER/crd.yaml --timeout=50s");
  kubectl("delete deployment finalizer-deployment -n finalizer-namespace --timeout=50s");
  kubectl("delete namespace finalizer-namespace --timeout=50s");
  kubectl("delete criticalservice for-finalizer-deployment --timeout=50s");
  EXPECT_THAT(kubectl("get namespaces,criticalservices,deployments -A -o name"), Not(HasSubstr("finalizer")));
  EXPECT_THAT(kubectl("get crds -o name"), Not(HasSubstr("coolresources")));
}

TEST_F(Story, UnguardedIsStuck) {
  begin("none");
  kubectl("delete deployment finalizer-deployment -n finalizer-namespace --timeout=50s");
  kubectl("wait --for=delete pods --all -n finalizer-namespace --timeout=50s");
  EXPECT_THAT(kubectl("delete -f $FOLDER/instance.yaml --wait=false"),
              HasSubstr("\"some-instance\" deleted"));
  // Twenty times the controller's second, on this cluster's clock.
  EXPECT_THAT(kubectl("wait --for=delete coolresource/some-instance --timeout=1s", 1),
              HasSubstr("timed out"));
  EXPECT_EQ(kubectl("get coolresource some-instance -o jsonpath='{.metadata.finalizers[*]}'"),
            "my.crd.group/super-important");
}

}  // namespace
}  // namespace lastout::clients
