// Files that the embedded cluster begins with.
#include "simulator/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/manifests.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::simulator {
namespace {

using ::testing::HasSubstr;

class LoaderTest : public testing::ClusterTest {
 public:
  tl::expected<LoadedManifests, kube::Errors> load(const std::string& text) {
    const auto manifests = replay::readManifests({{"cluster.yaml", text}});
    if (!manifests) return tl::unexpected(manifests.error());
    return loadManifests(cluster, *manifests);
  }
  std::string uidOf(const std::string& path) { return expect(200, "GET", path)["metadata"]["uid"]; }
};

TEST_F(LoaderTest, OwnersComeFirstAndAreNamedByTheUidsTheyHaveHere) {
  const auto loaded = load(R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  namespace: made
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: from-another-cluster}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: owner, namespace: made}
)");
  ASSERT_TRUE(loaded) << toString(loaded.error().front());
  EXPECT_EQ(loaded->objects, 2U);
  const std::string maps = "/api/v1/namespaces/made/configmaps/";
  EXPECT_EQ(expect(200, "GET", maps + "owned")["metadata"]["ownerReferences"][0]["uid"],
            uidOf(maps + "owner"));
}

// No webhook answers here.
TEST_F(LoaderTest, WebhooksComeLast) {
  ASSERT_TRUE(load(R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "https://checks.example.com/"}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: first, namespace: default}
)"));
  expect(500, "POST", kMaps, configMap("second"));
}

// A real API server evaluates these; they are in force here, too, as what always fails.
TEST_F(LoaderTest, APolicyThatIsNotEvaluatedIsStoredWithAWarningAndDeniesWhatItMatches) {
  const auto loaded = load(R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limits}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations:
  - {expression: "size(object.data) <= namespaceObject.metadata.labels.size() + 0"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limits}
spec: {policyName: limits, validationActions: [Deny]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: first, namespace: default}
)");
  ASSERT_TRUE(loaded) << toString(loaded.error().front());
  ASSERT_EQ(loaded->warnings.size(), 1U);
  EXPECT_EQ(toString(loaded->warnings.front()),
            "cluster.yaml:1:1: validatingadmissionpolicies.admissionregistration.k8s.io/limits: "
            "spec.validations[0].expression: lastout up does not evaluate this expression "
            "(\"namespaceObject\" at 1:22 "
            "is not supported): it fails for every request, and failurePolicy Fail denies that");
  const Json denied = expect(422, "POST", kMaps, configMap("second"));
  EXPECT_THAT(std::string(denied["message"]),
              HasSubstr("ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: expression "
                        "'size(object.data) <= namespaceObject.metadata.labels.size() + 0' resulted in "
                        "error: lastout up does not "
                        "evaluate this expression: \"namespaceObject\" at 1:22 is not supported"));
}

TEST_F(LoaderTest, WhatIsBeingDeletedInAFileIsDeleted) {
  ASSERT_TRUE(load(R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: ends
  namespace: default
  finalizers: [example.com/clean-up]
  deletionTimestamp: "2026-11-21T01:45:25Z"
)"));
  EXPECT_TRUE(expect(200, "GET", kMaps + "/ends")["metadata"].contains("deletionTimestamp"));
}

TEST_F(LoaderTest, ASlipOfThePenIsNotDropped) {
  const auto loaded = load(R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.a.b}
spec:
  group: a.b
  scope: Cluster
  names: {kind: Other, plural: others}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {colour: {type: string}}}}}}
---
apiVersion: a.b/v1
kind: Other
metadata: {name: misspelt}
spec: {color: red}
)");
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.error().size(), 1U);
  EXPECT_THAT(toString(loaded.error().front()),
              ::testing::AllOf(HasSubstr("cluster.yaml:14:1: others.a.b/misspelt was refused: "),
                               HasSubstr("unknown field \"spec.color\"")));
}

}  // namespace
}  // namespace lastout::simulator
