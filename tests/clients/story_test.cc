// The story that this project exists for, told by kubectl: a provider with a finalizer controller, and an
// instance that only that controller can finalize.
#include "tests/clients/story.h"

#include <gmock/gmock.h>

#include "tests/clients/cluster.h"
#include "tests/support/examples.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
    if (guard == "inside")
      kubectl("wait --for=condition=Enforced criticalservice/for-finalizer-deployment --timeout=50s");
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
  waitUntil("left=$(kubectl get pods -n finalizer-namespace -o name) && test -z \"$left\"");
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
