// What the namespace and CRD controllers create and write, held against recorded objects.
#include "simulator/derived_cluster.h"

#include <gtest/gtest.h>

#include "simulator/metadata.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

TEST(Namespace, IsGivenAServiceAccountAndCertificates) {
  const Json account = recordedReview("02-create-serviceaccounts-service-account-controller")["object"];
  EXPECT_EQ(defaultServiceAccount("demo"), anonymous(account));
  const Json certificates =
      recordedReview("25-delete-configmaps-collection-namespace-controller-background")["oldObject"];
  EXPECT_EQ(rootCertificates("demo", ""), anonymous(certificates));
}

TEST(Namespace, SaysWhatKeepsIt) {
  const Json before = recordedAnswer("092-delete-namespace");
  const Json held = terminatingNamespace(before, {{{{"", "configmaps"}, 1}}, {{"x.dev/hold", 1}}, {}},
                                         "2026-11-21T02:47:24Z");
  EXPECT_EQ(anonymous(held), anonymous(recordedAnswer("093-get-namespace-terminating")));

  const Json review = recordedReview("26-update-namespaces-status-namespace-controller");
  EXPECT_EQ(terminatingNamespace(review["oldObject"], {}, "2026-11-21T01:45:41Z"), review["object"]);

  const Json released = terminatingNamespace(held, {}, "2026-11-21T02:47:40Z");
  EXPECT_EQ(released["status"]["conditions"][2], held["status"]["conditions"][2]) << "nothing new there";
  EXPECT_EQ(released["status"]["conditions"][3]["lastTransitionTime"], "2026-11-21T02:47:40Z");
}

TEST(Namespace, ListsAllThatIsLeft) {
  const Json held =
      terminatingNamespace(recordedAnswer("092-delete-namespace"),
                           {{{{"", "pods"}, 2}, {{"apps", "deployments"}, 1}, {{"", "secrets"}, 0}},
                            {},
                            {"denied", "also denied"}},
                           "2026-11-21T02:47:24Z");
  EXPECT_EQ(held["status"]["conditions"][2]["message"],
            "Failed to delete all resource types, 2 remaining: also denied, denied");
  EXPECT_EQ(held["status"]["conditions"][3]["message"],
            "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource "
            "instances");
}

TEST(Namespace, IsLetGo) {
  const Json review = recordedReview("27-update-namespaces-finalize-namespace-controller");
  EXPECT_EQ(finalizedNamespace(review["oldObject"]), review["object"]);
  Json guarded = review["oldObject"];
  guarded["spec"]["finalizers"].push_back("x.dev/own");
  EXPECT_EQ(finalizedNamespace(guarded)["spec"]["finalizers"], Json::array({"x.dev/own"}));
}

TEST(Crd, IsAcceptedAndThenEstablished) {
  const Json review = recordedReview("30-update-customresourcedefinitions-status-apiserver");
  EXPECT_EQ(acceptedCrd(review["oldObject"], "2026-11-21T01:45:42Z"), review["object"]);
  const Json served = establishedCrd(acceptedCrd(recordedAnswer("010-create-crd"), "2026-11-21T02:46:54Z"),
                                     "2026-11-21T02:46:55Z");
  Json expected = recordedAnswer("011-get-crd-established");
  expected["status"]["conditions"][0]["lastTransitionTime"] = "2026-11-21T02:46:54Z";
  EXPECT_EQ(anonymous(served), anonymous(expected));
}

TEST(Crd, SaysThatItsInstancesAreBeingDeleted) {
  const Json marked = recordedAnswer("083-delete-crd");
  const Json cleaning = crdInCleanup(marked, "2026-11-21T02:47:11Z");
  EXPECT_EQ(anonymous(cleaning), anonymous(recordedAnswer("084-get-crd-terminating")));
  const Json clean = crdAfterCleanup(cleaning, "2026-11-21T02:47:12Z");
  EXPECT_TRUE(finalizersOf(clean).empty());
  EXPECT_EQ(clean["status"]["conditions"][2]["reason"], "InstanceDeletionCompleted");
  EXPECT_EQ(clean["status"]["conditions"][2]["lastTransitionTime"], "2026-11-21T02:47:12Z");
}

TEST(ApiService, OfACrdIsTheRecordedOne) {
  Json recorded = anonymous(recordedReview("29-create-apiservices-apiserver")["object"]);
  recorded.erase("status");  // filled in by the API server
  EXPECT_EQ(apiServiceOf("my.crd.group", "v1"), recorded);
}

TEST(Derived, StatusOfTheWrongTypeIsLeftAlone) {
  for (const char* text :
       {"7", "[]", R"({"status": 1, "spec": 2})", R"({"spec": {"finalizers": 1}})",
        R"({"status": {"conditions": [1, {"type": 3}]}, "metadata": {"finalizers": [2]}})"}) {
    const Json odd = Json::parse(text);
    finalizedNamespace(terminatingNamespace(odd, {}, "now"));
    crdAfterCleanup(crdInCleanup(establishedCrd(acceptedCrd(odd, "now"), "now"), "now"), "now");
  }
}

}  // namespace
}  // namespace lastout::simulator
