// What the steps of a scenario lead to, and the machine does not follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Deletes a ConfigMap after `step`; a webhook has `selector`.
std::vector<std::string> patching(const std::string& step, const std::string& selector) {
  return toldAssumptions(scenario(
      "\n  guard: false\n  steps:\n    - patch: {" + step + "}\n    - delete: configmaps/app/a\n",
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: app}}\n---\n"
      "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: "
      "h}, webhooks: [{name: h.x.io, clientConfig: {service: {namespace: gone, name: gone}}, rules: "
      "[{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}], " +
          selector + "}]}\n"));
}

// An API server matches namespaceSelector and objectSelector against the labels at the time of the request.
TEST(LedToBySteps, LabelsByWhichAWebhookSelects) {
  const std::string ofSpace = "namespaceSelector: {matchLabels: {guard: on}}";
  const std::string ofObject = "objectSelector: {matchLabels: {guard: on}}";
  const auto named = ElementsAre(
      "validatingwebhookconfigurations/h: the webhook h/h.x.io is asked about configmaps/app/a as the labels "
      "at the start select: labels that change are not followed");
  EXPECT_THAT(patching("object: namespaces/app, labels: {guard: on}", ofSpace), named);
  EXPECT_THAT(patching("object: configmaps/app/a, labels: {guard: on}", ofObject), named);
  EXPECT_THAT(patching("object: configmaps/app/a, labels: {guard: on}", ofSpace), IsEmpty());
  EXPECT_THAT(patching("object: configmaps/app/a, labels: {other: x}", ofObject), IsEmpty());
  EXPECT_THAT(patching("object: namespaces/app, labels: {}",
                       "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: app}}"),
              IsEmpty())
      << "a Namespace keeps that label";
}

TEST(LedToBySteps, LabelsByWhichAPolicySelects) {
  const auto of = [](const std::string& labels) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - patch: {object: configmaps/app/a, labels: {" + labels +
            "}}\n    - delete: configmaps/app/a\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: app}}\n---\n"
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: p}, "
        "spec: {matchConstraints: {objectSelector: {matchLabels: {guard: on}}, resourceRules: [{apiGroups: "
        "[''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}, validations: "
        "[{expression: 'false'}]}}\n---\n"
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: "
        "{name: b}, spec: {policyName: p, validationActions: [Deny]}}\n"));
  };
  EXPECT_THAT(of("guard: on"), ElementsAre(HasSubstr("the policy p is asked about configmaps/app/a as")));
  EXPECT_THAT(of("other: x"), IsEmpty());
}

// https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#persistentvolumeclaim-retention
TEST(LedToBySteps, ClaimsThatGoWhenAStatefulSetIsScaled) {
  const auto of = [](const std::string& policy, const std::string& claim) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - scale: {object: statefulsets/app/web, replicas: 1}\n"
        "  expect: {exists: [persistentvolumeclaims/app/" +
            claim + "]}\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: app}, spec: {replicas: 2, "
        "selector: {matchLabels: {a: w}}, persistentVolumeClaimRetentionPolicy: {whenScaled: " +
            policy +
            "}, template: {metadata: {labels: {a: w}}, spec: {containers: [{name: c}]}}, "
            "volumeClaimTemplates: [{metadata: {name: data}}]}}\n"));
  };
  EXPECT_THAT(of("Delete", "data-web-1"),
              ElementsAre(HasSubstr("persistentvolumeclaims/app/data-web-1 stays when statefulsets/app/web "
                                    "is scaled to 1: ")));
  EXPECT_THAT(of("Delete", "data-web-0"), IsEmpty());
  EXPECT_THAT(of("Retain", "data-web-1"), IsEmpty());
}

// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
TEST(LedToBySteps, AVolumeThatGoesAfterItsClaim) {
  const auto of = [](const std::string& policy,
                     const std::string& steps = "delete: persistentvolumeclaims/app/c") {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - " + steps + "\n  expect: {exists: [persistentvolumes/v]}\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: app}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: app}, spec: "
        "{volumeName: v}}\n---\n"
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: "
        "{persistentVolumeReclaimPolicy: " +
            policy + ", claimRef: {namespace: app, name: c}}}\n"));
  };
  EXPECT_THAT(of("Delete"),
              ElementsAre(HasSubstr("persistentvolumes/v stays without persistentvolumeclaims/app/c: ")));
  EXPECT_THAT(of("Retain"), IsEmpty());
  EXPECT_THAT(of("Delete", "delete: configmaps/app/a"), IsEmpty()) << "its claim stays";
}

// Endpoints follow the labels of Pods.
TEST(LedToBySteps, AServiceThatSelectsAPodForSomeTime) {
  const auto of = [](const std::string& labels) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - patch: {object: pods/op/p, labels: " + labels +
            "}\n    - delete: configmaps/default/a\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: op}}\n---\n{apiVersion: v1, kind: Service, "
        "metadata: {name: hook, namespace: op}, spec: {selector: {app: hook}, ports: [{port: 443}]}}\n---\n"
        "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: op, labels: {app: hook}}, spec: "
        "{containers: "
        "[{name: c}]}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "
        "default}}\n---\n"
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
        "{name: h}, "
        "webhooks: [{name: h.example.com, clientConfig: {service: {namespace: op, name: hook}}, rules: "
        "[{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}]}\n"));
  };
  const auto selects = HasSubstr("services/op/hook selects pods/op/p as the labels at the start say");
  EXPECT_THAT(of("{app: other}"), ::testing::Contains(selects));
  EXPECT_THAT(of("{app: hook, more: x}"), ::testing::Not(::testing::Contains(selects)));
}

}  // namespace
}  // namespace lastout::replay
