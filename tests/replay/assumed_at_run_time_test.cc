// Assumptions about what appears in a cluster only after its manifests are applied.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kNamespaces =
    "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n---\n{apiVersion: v1, kind: Namespace, "
    "metadata: {name: op}}\n---\n";

// An operator in namespace op that may update Boxes and the finalizers on them.
constexpr const char* kBoxer =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: boxer, namespace: op}, spec: {selector: "
    "{matchLabels: {app: b}}, template: {metadata: {labels: {app: b}}, spec: {serviceAccountName: boxer, "
    "containers: [{name: c}]}}}}\n---\n"
    "{apiVersion: v1, kind: ServiceAccount, metadata: {name: boxer, namespace: op}}\n---\n"
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: boxer}, rules: "
    "[{apiGroups: "
    "[example.com], resources: [boxes, boxes/finalizers], verbs: [update]}]}\n---\n"
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: boxer}, roleRef: "
    "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: boxer}, subjects: [{kind: "
    "ServiceAccount, "
    "name: boxer, namespace: op}]}\n---\n"
    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
    "boxes.example.com}, "
    "spec: {group: example.com, scope: Namespaced, names: {kind: Box, plural: boxes, singular: box}, "
    "versions: "
    "[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}\n---\n";

std::string box(const std::string& metadata = "") {
  return "{apiVersion: example.com/v1, kind: Box, metadata: {name: b, namespace: shop" + metadata +
         "}}\n---\n";
}

std::vector<std::string> toldOf(const std::vector<std::string>& deleted, const std::string& documents) {
  std::string steps;
  for (const std::string& one : deleted) steps += "    - delete: " + one + "\n";
  return toldAssumptions(scenario("\n  guard: false\n  steps:\n" + steps, kNamespaces + documents));
}

// Manifests show the finalizers of controllers only after these have run.
TEST(AtRunTime, AFinalizerThatAControllerMaySet) {
  const auto said = HasSubstr(
      "deployments/op/boxer sets no finalizer on boxes/shop/b that it cannot remove later: "
      "clusterroles.rbac.authorization.k8s.io/boxer lets its ServiceAccount update boxes/finalizers");
  EXPECT_THAT(toldOf({"namespace/op", "namespace/shop"}, kBoxer + box()), ElementsAre(said));
  EXPECT_THAT(toldOf({"clusterrolebinding/boxer", "namespace/shop"}, kBoxer + box()), Contains(said));
  EXPECT_THAT(toldOf({"namespace/shop"}, kBoxer + box()), IsEmpty()) << "the operator stays";
  EXPECT_THAT(toldOf({"namespace/op"}, kBoxer + box()), IsEmpty()) << "nobody deletes the Box";
  EXPECT_THAT(toldOf({"namespace/op", "namespace/shop"}, kBoxer + box(", uid: u")), IsEmpty())
      << "it was read from a cluster in which the operator has set what it sets";
}

TEST(AtRunTime, PoliciesOfOtherProjects) {
  const auto policy = [](const std::string& group, const std::string& kind, const std::string& plural) {
    return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: " +
           plural + "." + group + "}, spec: {group: " + group + ", scope: Cluster, names: {kind: " + kind +
           ", plural: " + plural +
           "}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
           "object}}}]}}\n---\n{apiVersion: " +
           group + "/v1, kind: " + kind + ", metadata: {name: p}}\n---\n";
  };
  EXPECT_THAT(toldOf({"namespace/shop"}, policy("kyverno.io", "ClusterPolicy", "clusterpolicies")),
              ElementsAre(HasSubstr("clusterpolicies/p allows what the goal needs")));
  EXPECT_THAT(toldOf({"namespace/shop"}, policy("constraints.gatekeeper.sh", "K8sNoDelete", "k8snodelete")),
              ElementsAre(HasSubstr("k8snodelete/p allows")));
  EXPECT_THAT(toldOf({"namespace/shop"}, policy("apiextensions.crossplane.io", "Usage", "usages")),
              ElementsAre(HasSubstr("usages/p allows")));
  EXPECT_THAT(
      toldOf({"namespace/shop"}, policy("apiextensions.crossplane.io", "Composition", "compositions")),
      IsEmpty());
}

// helm template prints hooks, too. https://helm.sh/docs/topics/charts_hooks/
TEST(AtRunTime, HooksOfHelm) {
  const auto job = [](const std::string& annotation) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: op, annotations: {" +
           annotation +
           ": pre-delete}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: "
           "c}]}}}}\n---\n";
  };
  const auto told = [](const std::string& documents) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps: [{delete: namespace/shop}]\n  controllers: [{name: c, runsIn: jobs/op/j, "
        "removes: {finalizer: example.com/f, from: configmaps}}]\n",
        kNamespaces + documents +
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, finalizers: "
            "[example.com/f]}}\n"));
  };
  const auto said = HasSubstr("jobs/op/j is there: Helm creates it only as its hook pre-delete");
  EXPECT_THAT(told(job("helm.sh/hook")), Contains(said));
  EXPECT_THAT(told(job("example.com/hook")), Not(Contains(said)));
}

// "-----BEGIN CERTIFICATE-----" and no more; what injectors are to replace; and none.
TEST(AtRunTime, CertificatesThatAreInjected) {
  const auto told = [](const std::string& bundle) {
    return toldOf(
        {"configmaps/shop/c"},
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}\n---\n"
        "{apiVersion: v1, kind: Service, metadata: {name: h, namespace: op}, spec: {selector: {app: b}, "
        "ports: [{port: 443}]}}\n---\n"
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
        "{name: h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: op, name: h}" +
            bundle +
            "}, rules: [{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: "
            "[configmaps]}]}]}\n---\n" +
            kBoxer);
  };
  const auto said = HasSubstr("validatingwebhookconfigurations/h gets a caBundle");
  EXPECT_THAT(told(", caBundle: Cg=="), Contains(said));
  EXPECT_THAT(told(", caBundle: '%'"), Contains(said));
  EXPECT_THAT(told(", caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"), Not(Contains(said)));
  EXPECT_THAT(told(""), Not(Contains(said)));
}

TEST(AtRunTime, CertificatesOfApiServersAndConversions) {
  EXPECT_THAT(
      toldOf({"namespace/shop"},
             "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: "
             "v1.metrics.example.com}, spec: {group: metrics.example.com, version: v1, caBundle: Cg==, "
             "service: {namespace: op, name: h}}}\n---\n"
             "{apiVersion: v1, kind: Service, metadata: {name: h, namespace: op}, spec: {selector: {app: "
             "b}, ports: [{port: 443}]}}\n---\n" +
                 std::string(kBoxer)),
      Contains(HasSubstr("without which API servers cannot call its Service")));
}

// A kubelet starts no container without them.
TEST(AtRunTime, WhatNewPodsNeedAndNoFileHas) {
  const auto told = [](const std::string& reference) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - delete: pods/op/*\n    - {delete: configmaps/shop/c, at: 20s}\n  "
        "controllers: [{name: c, runsIn: deployments/op/d, removes: {finalizer: example.com/f, from: "
        "configmaps}}]\n",
        std::string(kNamespaces) +
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: op}, spec: {template: "
            "{spec: "
            "{containers: [{name: c, envFrom: [" +
            reference +
            "]}]}}}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, "
            "finalizers: "
            "[example.com/f]}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: known, namespace: "
            "op}}\n"));
  };
  const auto said = HasSubstr("no file has it");
  EXPECT_THAT(told("{secretRef: {name: token}}"),
              Contains(AllOf(HasSubstr("secrets/op/token is there for the Pods by which"), said)));
  EXPECT_THAT(told("{configMapRef: {name: settings}}"),
              Contains(HasSubstr("configmaps/op/settings is there")));
  EXPECT_THAT(told("{secretRef: {name: known}}"), Not(Contains(said)));
  EXPECT_THAT(told("{secretRef: {name: token, optional: true}}"), Not(Contains(said)));
}

}  // namespace
}  // namespace lastout::replay
