// The embedded cluster sends the AdmissionReviews that Kubernetes 1.26 sent for the same requests, as
// tests/recordings/kubernetes-1.26/admission/README.md tells them, and docs/fidelity.md says so.
#include <gtest/gtest.h>

#include "tests/fidelity/reviews_fixture.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

const ReviewDifferences& differences126() {
  static const ReviewDifferences kDifferences = {
      {17,
       {"remove /object/status/fullyLabeledReplicas, replace /object/status/replicas, "
        "remove /oldObject/status/fullyLabeledReplicas, replace /oldObject/status/replicas",
        "`status` already counts no Pod: here a Pod takes half a second to go even where no node runs it, "
        "and the "
        "ReplicaSet is counted again before the collector lets it go"}},
      {40,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove "
        "/oldObject/metadata/deletionTimestamp, "
        "replace /oldObject/metadata/generation",
        "The object is not marked deleted yet. What was recorded is the second review of one DELETE: "
        "meanwhile the "
        "clean-up of the CustomResourceDefinition had marked it, and the API server asked again. Here the "
        "agent "
        "and the clean-up take turns, and the agent leaves alone what it finds marked."}},
      {43,
       {"add /oldObject/spec/deletionIntent, add /oldObject/spec/enforcement, add /oldObject/spec/guard",
        "`spec.deletionIntent`, `spec.enforcement` and `spec.guard` are there: "
        "today's "
        "CustomResourceDefinition "
        "of CriticalService has these fields, with defaults."}},
      {44,
       {"add /oldObject/spec/deletionIntent, add /oldObject/spec/enforcement, add /oldObject/spec/guard",
        "As 43."}},
  };
  return kDifferences;
}

class Reviews126 : public ReviewsTest {
 protected:
  Reviews126() : ReviewsTest("kubernetes-1.26", kube::KubernetesVersion::V1_26, differences126()) {}

  void workload();
  void orphans();
  void namespaceGoes();
  void definition();
  void collection();
  void story();
};

void Reviews126::workload() {
  expect(201, "POST", "/api/v1/namespaces" + kCreated, asWritten(recorded(1)["object"]));
  settle();
  createDeployment(3);
  reviewed(1, 7);
  const auto label = [&](const Json& value) {
    expect(200, "PATCH", kDeployments + "/web?fieldManager=kubectl-label",
           {{"metadata", {{"labels", {{"orkestra.io/deletion-protection", value}}}}}}, kMerge);
  };
  label("true");
  label(nullptr);
  expect(200, "PATCH", kDeployments + "/web", {{"metadata", {{"annotations", {{"a", "b"}}}}}}, kMerge);
  settle();
  reviewed(9, 10);
  const auto scale = [&](int replicas) {
    expect(200, "PATCH", kDeployments + "/web/scale", {{"spec", {{"replicas", replicas}}}}, kMerge);
  };
  scale(0);
  pass(milliseconds(110));  // nobody has noticed yet that this is done
  scale(1);
  settle();
  reviewed(11, 12);
  deleteInForeground(13);
  reviewed(14, 18);
}

void Reviews126::orphans() {
  createDeployment(3);
  expect(200, "DELETE", kDeployments + "/web", {{"propagationPolicy", "Orphan"}});
  settle();
  reviewed(19, 19);
  deleteReplicaSets();
  reviewed(20, 20);
}

void Reviews126::namespaceGoes() {
  const std::string maps = "/api/v1/namespaces/demo/configmaps";
  expect(201, "POST", maps + kCreated, asWritten(recorded(21)["object"]));
  expect(200, "DELETE", maps + "/cm", {{"gracePeriodSeconds", 0}, {"propagationPolicy", "Background"}});
  reviewed(21, 22);
  deleteByUid("/api/v1/namespaces/demo");
  pass(seconds(30));
  reviewed(23, 27);
}

void Reviews126::definition() {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  expect(201, "POST", definitions + kApplied, asWritten(recorded(28)["object"]));
  settle();
  deleteByUid(definitions + "/coolresources.my.crd.group");
  pass(seconds(30));
  reviewed(28, 32);
}

void Reviews126::collection() {
  createNamespace("finalizer-namespace");
  const std::string deployments = "/apis/apps/v1/namespaces/finalizer-namespace/deployments";
  const auto create = [&] {
    expect(201, "POST", deployments + kApplied, asWritten(recorded(33)["oldObject"]));
    settle();
  };
  create();
  expect(200, "DELETE", deployments);
  pass(seconds(5));
  reviewed(33, 34);
  create();
  expect(200, "DELETE", deployments + "/finalizer-deployment?dryRun=All");
  expect(200, "DELETE", deployments + "/finalizer-deployment");
  pass(seconds(5));
  reviewed(35, 36);
  expect(200, "DELETE", "/api/v1/namespaces/finalizer-namespace");
  pass(seconds(30));
}

// While the instance keeps its finalizer, the guard of the recorded story denies the provider's works.
void Reviews126::story() {
  createNamespace("cluster1");
  const std::string works = "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
  const auto work = [&](const std::string& name, const Json& manifests) {
    expect(201, "POST", works,
           {{"apiVersion", "work.open-cluster-management.io/v1"},
            {"kind", "ManifestWork"},
            {"metadata", {{"name", name}, {"namespace", "cluster1"}}},
            {"spec", {{"workload", {{"manifests", manifests}}}}}});
    pass(seconds(20));
  };
  work("crd", recorded(37)["oldObject"]["spec"]["workload"]["manifests"]);
  work("cr", recorded(8)["oldObject"]["spec"]["workload"]["manifests"]);
  Json manifests = Json::array();
  for (const int number : {43, 41, 42}) manifests.push_back(asWritten(recorded(number)["oldObject"]));
  manifests[1]["metadata"].erase("labels");
  work("finalizer", manifests);
  deny([](const Json& request) {
    const std::string resource = request["resource"]["resource"];
    return request["operation"] == "DELETE" &&
           (resource == "criticalservices" || resource == "deployments" || resource == "namespaces");
  });
  for (const char* name : {"crd", "cr", "finalizer"}) expect(200, "DELETE", works + "/" + name);
  pass(seconds(20));
  reviewed(37, 46);
  expect(200, "PATCH", "/apis/my.crd.group/v1/coolresources/some-instance",
         {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  pass(seconds(20));
  reviewed(8, 8);
}

TEST_F(Reviews126, AreSentForTheSameRequests) {
  workload();
  orphans();
  namespaceGoes();
  definition();
  collection();
  story();
  expectPage(&fidelity::PageParts::reviews126);
}

}  // namespace
}  // namespace lastout::testing
