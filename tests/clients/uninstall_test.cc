// `lastout uninstall` with the rights of its Helm hook, beside `lastout up`, `lastout serve` and kubectl:
// nothing of lastout's outlives it, and everything can be deleted afterwards.
#include <gmock/gmock.h>

#include "tests/clients/uninstalling.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKept =
    "kubectl get appliedmanifestworks -o "
    "jsonpath='{range .items[*]}{.metadata.name}{.metadata.finalizers}{\"\\n\"}{end}' | grep "
    "lastout.dev/applied-objects | grep -q ";
constexpr const char* kWaiting =
    "kubectl get criticalservice for-finalizer-deployment -o jsonpath={.status.deferredDeletions} | grep -q ";

class Uninstalled : public Uninstalling {
 protected:
  void SetUp() override {
    Uninstalling::SetUp();
    startDeployed({"--speed", "50", "--load", "scenarios/story-three-works.yaml"});
    serve({"--own-namespace", "lastout", "--tls-secret", "lastout/lastout-tls", "--defer-for", "agent"});
    waitUntilTheProviderIsGuarded();
  }

  // The provider's work is deleted while the instance is there: it is
  // kept, and what its agent was denied is deferred.
  void deleteTheProvidersWork() const {
    waitUntil(std::string(kKept) + "cluster1-finalizer");
    kubectl("delete manifestwork finalizer -n cluster1 --wait=false");
    waitUntil(std::string(kWaiting) + "finalizer-deployment");
  }

  // As a lastout that was killed has left them; one that runs would take them off again.
  void putFinalizers() const {
    for (const char* work : {"cluster1-cr", "cluster1-crd"})
      kubectl("patch appliedmanifestwork " + std::string(work) +
              " --type json -p '[{\"op\":\"add\",\"path\":\"/metadata/finalizers/-\",\"value\":"
              "\"lastout.dev/applied-objects\"}]'");
  }
};

TEST_F(Uninstalled, NothingOfItOutlivesIt) {
  deleteTheProvidersWork();
  interrupt();
  putFinalizers();

  EXPECT_THAT(uninstall("", 1), AllOf(HasSubstr("deferred, and lastout will not run "),
                                      HasSubstr("deployments.apps/finalizer-namespace/finalizer-deployment, "
                                                "asked for by agent"),
                                      HasSubstr("lastout uninstall --yes")));
  kubectl("get deployment lastout-webhook -n lastout");
  EXPECT_THAT(uninstall("--yes --dry-run", 0), HasSubstr("would be deleted"));
  kubectl("get deployment lastout-webhook -n lastout");
  EXPECT_THAT(uninstall("--yes", 0), Not(HasSubstr("cannot")));

  EXPECT_THAT(kubectl("get deployments,appliedmanifestworks,criticalservices -A -o yaml"),
              AllOf(Not(HasSubstr("lastout.dev/applied-objects")), Not(HasSubstr("deferredDeletions")),
                    HasSubstr("cluster.open-cluster-management.io/applied")));
  EXPECT_THAT(kubectl("get deployments,pods,secrets,leases,validatingwebhookconfigurations -A -o name"),
              Not(HasSubstr("/lastout")));
  kubectl("delete -k deploy --ignore-not-found --timeout=50s");
  kubectl("delete deployment finalizer-deployment -n finalizer-namespace --ignore-not-found --timeout=50s");
  EXPECT_THAT(run("lastout uninstall").out, HasSubstr("Nothing of lastout is left."));
}

constexpr const char* kToldToUninstall = "run lastout uninstall first, and then delete this";

// As a GitOps tool prunes one object, or a release leaves an optional part out.
TEST_F(Uninstalled, WhatAnswersIsNotDeletedBeforeAndOptionalPartsAre) {
  for (const char* object :
       {"deployment lastout-webhook -n lastout", "deployment lastout-controller -n lastout",
        "serviceaccount lastout-webhook -n lastout", "service lastout -n lastout",
        "role lastout-webhook -n lastout", "clusterrole lastout-controller",
        "clusterrolebinding lastout-webhook", "clusterrolebinding lastout-controller"}) {
    const std::string said = kubectl("delete " + std::string(object), 1);
    EXPECT_THAT(said, AllOf(HasSubstr("Forbidden"), HasSubstr(kToldToUninstall))) << object;
  }
  kubectl("delete clusterrole,clusterrolebinding lastout-keeps-works");
  kubectl("delete clusterrole lastout-carries-out-dependencies");
  kubectl("delete poddisruptionbudgets --all -n lastout");
  kubectl("create namespace other");
  kubectl("create serviceaccount lastout-webhook -n other");
  kubectl("delete serviceaccount lastout-webhook -n other");
  kubectl("apply -k deploy");
  kubectl("apply -k deploy --server-side --force-conflicts");
}

TEST_F(Uninstalled, AlsoAfterDeployWasDeletedTooEarly) {
  EXPECT_THAT(kubectl("delete -k deploy --wait=false", 1), HasSubstr(kToldToUninstall));
  kubectl("get deployment lastout-webhook lastout-controller -n lastout");
  EXPECT_THAT(kubectl("delete -k deploy --wait=false --ignore-not-found", 1),
              HasSubstr("denied the request"));
  interrupt();
  EXPECT_THAT(uninstall("", 0), Not(HasSubstr("cannot")));
  kubectl("delete -k deploy --ignore-not-found --timeout=50s");
  kubectl("delete deployment finalizer-deployment -n finalizer-namespace --timeout=50s");
  EXPECT_THAT(run("lastout uninstall").out, HasSubstr("Nothing of lastout is left."));
}

// Of whoever uninstalls too early the teardown loses nothing.
TEST_F(Uninstalled, NotWhileATeardownIsUnderWay) {
  deleteTheProvidersWork();
  EXPECT_THAT(
      uninstall("", 1),
      AllOf(HasSubstr("1 AppliedManifestWork is being deleted and held by lastout; what it has applied the "
                      "garbage collector deletes next, unguarded, in any order:\n  cluster1-finalizer\n"),
            HasSubstr("a teardown is under way: let a lastout that runs finish it")));
  EXPECT_THAT(kubectl("get deployment finalizer-deployment -n finalizer-namespace -o "
                      "jsonpath={.metadata.deletionTimestamp}"),
              "");
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("must stay while"));
  EXPECT_THAT(kubectl("get coolresources some-instance -o jsonpath={.metadata.finalizers}"),
              HasSubstr("my.crd.group/super-important"));
  kubectl("get deployment lastout-webhook -n lastout");
  kubectl("get validatingwebhookconfiguration lastout");
  kubectl("delete manifestwork cr crd -n cluster1 --wait=false");
  waitUntil("test -z \"$(kubectl get manifestworks -A -o name)\"");
  EXPECT_THAT(uninstall("", 1), HasSubstr("renews it")) << "nothing is under way any more";
}

TEST_F(Uninstalled, NotWhileALastoutRunsElsewhere) {
  const std::string holder = kubectl("get lease lastout -n lastout -o jsonpath={.spec.holderIdentity}");
  EXPECT_THAT(uninstall("", 1), HasSubstr("\"" + holder + "\" renews it: a lastout serve that runs there"));
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("must stay while"))
      << "what is guarded stays guarded";
}

TEST_F(Uninstalled, SaysWhichRightIsMissing) {
  interrupt();
  EXPECT_THAT(uninstall("--namespace other", 1), HasSubstr("is of the lastout in namespace \"lastout\""));
  kubectl("delete validatingwebhookconfiguration lastout");
  EXPECT_THAT(uninstall("--namespace other", 1),
              AllOf(HasSubstr("in namespace other: cannot be listed, a right is missing: 403"),
                    HasSubstr("cannot list resource \"replicasets\"")));
}

}  // namespace
}  // namespace lastout::clients
