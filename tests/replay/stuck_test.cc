// Why something is still there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> reasons(const ScenarioReport& report, std::string_view object) {
  for (const Leftover& leftover : report.leftovers) {
    if (leftover.object == object) return leftover.reasons;
  }
  return {"nothing is said of it"};
}

ScenarioReport shipped(const std::string& name) {
  auto scenario = load("scenarios/" + name);
  auto compiled = compile(*scenario);
  return replay(Ready{std::move(*scenario), std::move(*compiled)}, {});
}

TEST(Stuck, AFinalizerWhoseControllerIsGone) {
  const ScenarioReport report = play(scenario(std::string(kController) + R"(
  steps:
    - delete: deployments.apps/operator/operator
    - delete: crd/widgets.example.com
      at: 5s)",
                                              kUnguarded));
  EXPECT_THAT(reasons(report, "widgets/one"),
              ElementsAre("finalizer example.com/cleanup is for controller cleanup to remove, and "
                          "deployments/operator/operator, where it ran, is gone"));
  EXPECT_THAT(reasons(report, "customresourcedefinitions/widgets.example.com"),
              ElementsAre("it waits for its instances: widgets/one"));
  EXPECT_THAT(report.ring, IsEmpty());
}

TEST(Stuck, AFinalizerWhoseControllerHasNoPod) {
  EXPECT_THAT(reasons(play(scenario(std::string(kController) + R"(
  steps:
    - scale: { object: deployments.apps/operator/operator, replicas: 0 }
    - delete: widgets/one
      at: 5s)",
                                    kUnguarded)),
                      "widgets/one"),
              ElementsAre(HasSubstr("deployments/operator/operator, where it runs, has no Ready Pod")));
}

TEST(Stuck, AFinalizerWhoseControllerComesTooLate) {
  const ScenarioReport report = play(scenario(R"(
  guard: false
  controllers: [{name: late, runsIn: deployments.apps/default/late, removes: {finalizer: example.com/f, from: configmaps}}]
  steps:
    - delete: configmaps/default/a
    - apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: late, namespace: default}, spec: {template: {spec: {containers: [{name: c}]}}}}
      after: configmaps/default/a gone)",
                                              "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, "
                                              "namespace: default, finalizers: [example.com/f]}}\n"));
  EXPECT_THAT(
      reasons(report, "configmaps/default/a"),
      ElementsAre("finalizer example.com/f is for controller late to remove, and deployments/default/late, "
                  "where it would run, is not there"));
}

TEST(Stuck, AFinalizerThatNobodyRemoves) {
  EXPECT_THAT(reasons(play(scenario("  steps:\n    - delete: widgets/one")), "widgets/one"),
              ElementsAre("nobody here removes its finalizer example.com/cleanup"));
}

// The words of the API server are in tests/simulator/builtin_types_test.cc.
TEST(Stuck, APriorityClassThatNoApiServerDeletes) {
  const auto left = [](const std::string& name) {
    const std::string object = "priorityclasses/" + name;
    return reasons(play(scenario("\n  guard: false\n  steps:\n    - delete: " + object + "\n",
                                 "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1, "
                                 "metadata: {name: " +
                                     name + "}}\n")),
                   object);
  };
  for (const char* name : {"system-cluster-critical", "system-node-critical"})
    EXPECT_THAT(left(name), Contains("its deletion is denied: no API server deletes the PriorityClasses "
                                     "system-cluster-critical and system-node-critical"));
  EXPECT_THAT(left("system-else"), ElementsAre("nothing is said of it"));
}

// The namespace controller takes `kubernetes` out of spec.finalizers, and out of nothing else.
TEST(Stuck, AFinalizerOfTheSpecInTheMetadataOfANamespace) {
  const auto left = [](const std::string& metadata) {
    return reasons(play(scenario("\n  guard: false\n  steps:\n    - delete: namespace/app\n",
                                 "---\n{apiVersion: v1, kind: Namespace, metadata: {name: app" + metadata +
                                     "}, spec: {finalizers: [kubernetes]}}\n")),
                   "namespaces/app");
  };
  EXPECT_THAT(left(", finalizers: [kubernetes]"),
              ElementsAre("nobody here removes its finalizer kubernetes"));
  EXPECT_THAT(left(""), ElementsAre("nothing is said of it"));
}

TEST(Stuck, ANamespaceThatWaitsForItsPods) {
  const std::string cluster = R"(---
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
---
{apiVersion: v1, kind: Pod, metadata: {name: held, namespace: x, finalizers: [f/one]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
)";
  const ScenarioReport report = play(scenario("  steps:\n    - delete: namespace/x", cluster));
  EXPECT_THAT(reasons(report, "namespaces/x"),
              ElementsAre("its Pods have to be gone before anything else in it is deleted (until then, "
                          "its conditions may say that all of it was): pods/x/held",
                          "it waits for its content: pods/x/held and configmaps/x/a"));
  EXPECT_THAT(reasons(report, "configmaps/x/a"),
              ElementsAre("its namespace deletes it after its Pods, and waits for pods/x/held"));
  EXPECT_THAT(reasons(report, "pods/x/held"), ElementsAre("nobody here removes its finalizer f/one"));
  const ScenarioReport before =
      play(scenario("  kubernetes: '1.26'\n  steps:\n    - delete: namespace/x", cluster));
  EXPECT_THAT(reasons(before, "namespaces/x"), ElementsAre("it waits for its content: pods/x/held"));
}

TEST(Stuck, ADenialThatGoesOn) {
  const ScenarioReport report = play(scenario("  steps:\n    - delete: deployments.apps/operator/operator"));
  EXPECT_THAT(
      reasons(report, "deployments/operator/operator"),
      ElementsAre("its deletion is denied: widgets.example.com/one has finalizer example.com/cleanup and "
                  "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com exists"));
  EXPECT_THAT(reasons(report, "widgets/one"), ElementsAre("nobody has asked for its deletion"));
}

TEST(Stuck, AProviderThatIsHeld) {
  std::string held(kOperator);
  held.insert(held.find("  provider:"), "  enforcement: Hold\n");
  const ScenarioReport report =
      play(scenario("  steps:\n    - delete: deployments.apps/operator/operator", held));
  EXPECT_THAT(told(report),
              Contains(HasSubstr("deployments/operator/operator: accepted, waits for its criteria")));
  EXPECT_THAT(reasons(report, "deployments/operator/operator"),
              ElementsAre("lastout holds it: widgets.example.com/one has finalizer example.com/cleanup and "
                          "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com exists"));
  EXPECT_THAT(reasons(report, "widgets/one"), ElementsAre("nobody has asked for its deletion"));
}

TEST(Stuck, AClientThatDoesNotAskAgain) {
  EXPECT_THAT(
      reasons(play(scenario(std::string(kController) + R"(
  steps:
    - delete: deployments.apps/operator/operator
      retry: false
      as: bob
    - delete: crd/widgets.example.com
      at: 1s)")),
              "deployments/operator/operator"),
      ElementsAre(
          "nothing would deny its deletion now, but nobody asks: bob was denied at 0.000 s, and does not "
          "ask again"));
}

// Who put it off holds it back, and says for whom.
TEST(Stuck, AProviderThatSomebodyElseOwns) {
  std::string owned(kOperator);
  const std::string meta = "metadata: { name: operator, namespace: operator";
  owned.insert(owned.find(meta) + meta.size(),
               ", ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: own, uid: u }]");
  const ScenarioReport report = play(scenario(std::string(kController) + R"(
  steps:
    - delete: [manifestworks/hub/provider, manifestworks/hub/widgets])",
                                              owned + R"(---
apiVersion: v1
kind: ConfigMap
metadata: { name: own, namespace: operator, uid: u }
---
kind: ManifestWork
metadata: { name: provider, namespace: hub }
spec:
  criticalservices/operator
  deployments.apps/operator
---
kind: ManifestWork
metadata: { name: widgets, namespace: hub }
spec:
  crd/widgets.example.com
  widgets/one
)"));
  EXPECT_THAT(reasons(report, "deployments/operator/operator"),
              ElementsAre("lastout waits with its deletion because its owner configmaps/operator/own is "
                          "still there"));
}

// It follows nobody any more.
TEST(Stuck, APodThatWasOrphaned) {
  const ScenarioReport report = play(scenario(R"(  steps:
    - delete: pods/agents/*
      retry: false
    - delete: daemonsets.apps/agents/agent
      propagationPolicy: Orphan
      at: 60s)",
                                              R"(---
apiVersion: v1
kind: Namespace
metadata: { name: agents }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: agents }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec: { containers: [{ name: main, image: example.com/agent:1 }] }
)"));
  ASSERT_EQ(report.leftovers.size(), 1U);
  EXPECT_THAT(report.leftovers[0].object, ::testing::StartsWith("pods/agents/agent-"));
  EXPECT_THAT(report.leftovers[0].reasons, ElementsAre("nobody has asked for its deletion"));
}

// attemptToDeleteItem() of the garbage collector: while another owner stays, it takes the reference to the
// one that waits off, which an UPDATE of the dependent may be refused. It does not wait for that owner.
TEST(Stuck, ADependentWithAnotherOwnerDoesNotWaitForTheOneThatGoes) {
  const ScenarioReport report = play(scenario(R"(
  guard: false
  steps: [{ delete: configmaps/default/goes, propagationPolicy: Foreground }])",
                                              R"(---
{apiVersion: v1, kind: ConfigMap, metadata: {name: goes, uid: u1}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: stays, uid: u2}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  ownerReferences:
    - {apiVersion: v1, kind: ConfigMap, name: goes, uid: u1, blockOwnerDeletion: true}
    - {apiVersion: v1, kind: ConfigMap, name: stays, uid: u2, blockOwnerDeletion: true}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: h}
webhooks:
  - name: h.example.com
    clientConfig: {service: {namespace: gone, name: hook}}
    rules: [{apiGroups: [''], apiVersions: ['*'], operations: [UPDATE], resources: [configmaps]}]
)"));
  EXPECT_THAT(reasons(report, "configmaps/default/dependent"),
              ElementsAre(HasSubstr("the garbage collector cannot write its ownerReferences"),
                          "the garbage collector leaves it alone because its owner configmaps/default/stays "
                          "is still there"));
  EXPECT_THAT(report.ring, IsEmpty());
}

// The reasons are those that tests/recordings' story-deadlock shows.
TEST(Stuck, TheRecordedDeadlock) {
  const ScenarioReport report = shipped("story-only-denied.yaml");
  EXPECT_THAT(
      reasons(report, "deployments/finalizer-namespace/finalizer-deployment"),
      ElementsAre(
          HasSubstr("nothing would deny its deletion now, but nobody asks: the agent of "
                    "manifestworks/cluster1/finalizer was denied at "),
          "the garbage collector leaves it alone because its owner appliedmanifestworks/cluster1-finalizer "
          "is still there"));
  EXPECT_THAT(reasons(report, "persistentvolumeclaims/finalizer-namespace/data"),
              ElementsAre(HasSubstr("it waits until it is mounted no more by pods/finalizer-namespace/")));
  EXPECT_THAT(
      reasons(report, "appliedmanifestworks/cluster1-finalizer"),
      ElementsAre("its agent waits for what it applied: persistentvolumeclaims/finalizer-namespace/data"));
  EXPECT_THAT(report.ring, ElementsAre("deployments/finalizer-namespace/finalizer-deployment",
                                       "appliedmanifestworks/cluster1-finalizer",
                                       "persistentvolumeclaims/finalizer-namespace/data", HasSubstr("pods/"),
                                       HasSubstr("replicasets/")));
}

TEST(Stuck, ARingOfTwoServices) {
  EXPECT_THAT(shipped("cycle-of-two.yaml").ring,
              ElementsAre("deployments/left/left", "deployments/right/right"));
}

TEST(Stuck, AWebhookThatDoesNotAnswer) {
  EXPECT_THAT(
      reasons(shipped("provider-webhook-unguarded.yaml"), "widgets/one"),
      Contains("its deletion is denied: the webhook checks.example.com of "
               "validatingwebhookconfigurations/widget-checks does not answer: nothing Ready is behind "
               "services/checks/checks; validatingwebhookconfigurations/widget-checks has to be deleted, or "
               "its webhook to answer again"));
}

// Whose request it is, which webhook refuses it, and the way out.
TEST(Stuck, AWebhookThatRefusesAController) {
  EXPECT_THAT(
      reasons(shipped("webhook-refuses-controller.yaml"), "widgets/one"),
      ElementsAre("finalizer example.com/cleanup is for controller widgets to remove, whose UPDATE is "
                  "refused: the webhook widgets.example.com of validatingwebhookconfigurations/widgets does "
                  "not answer: nothing Ready is behind services/operator/webhook; "
                  "validatingwebhookconfigurations/widgets has to be deleted, or its webhook to answer "
                  "again"));
}

// One webhook refuses both removals: it is told once, and so is the way out.
TEST(Stuck, AWebhookThatRefusesTwoControllersIsToldOnce) {
  const std::string cluster = R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: updates }
webhooks:
- name: updates.example.com
  clientConfig: { service: { namespace: gone, name: hook } }
  rules: [{ apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [UPDATE] }]
---
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [f.x/one, f.x/two]}}
)";
  const std::string controllers = R"(  controllers:
    - { name: one, removes: { finalizer: f.x/one, from: configmaps } }
    - { name: two, removes: { finalizer: f.x/two, from: configmaps } }
)";
  const std::string steps = "  steps:\n    - delete: namespace/x\n";
  const std::string refused =
      "the webhook updates.example.com of validatingwebhookconfigurations/updates does not answer: its "
      "Service "
      "gone/hook is not in the files; validatingwebhookconfigurations/updates has to be deleted, or its "
      "webhook "
      "to answer again";
  EXPECT_THAT(reasons(play(scenario(controllers + steps, cluster)), "configmaps/x/a"),
              ElementsAre("finalizer f.x/one is for controller one to remove, whose UPDATE is refused, and "
                          "finalizer f.x/two is for controller two to remove, whose UPDATE is refused: " +
                          refused));
  const ScenarioReport byHand = play(scenario(steps, cluster));
  EXPECT_THAT(reasons(byHand, "namespaces/x"), ElementsAre("it waits for its content: configmaps/x/a"));
  EXPECT_THAT(reasons(byHand, "configmaps/x/a"),
              ElementsAre("nobody here removes its finalizer f.x/one, and a removal by hand is refused, and "
                          "nobody here removes its finalizer f.x/two, and a removal by hand is refused: " +
                          refused));
  EXPECT_THAT(reasons(byHand, "validatingwebhookconfigurations/updates"),
              ElementsAre("nobody has asked for its deletion"))
      << "the end of the chain";
  // Of manifests alone it also says where who removes them was looked for.
  auto manifests = scenarioOfDeletions({{"m.yaml", cluster}}, {"namespace/x"});
  ASSERT_TRUE(manifests);
  auto compiled = compile(*manifests);
  ASSERT_TRUE(compiled);
  EXPECT_THAT(reasons(replay(Ready{std::move(*manifests), std::move(*compiled)}, {}), "configmaps/x/a"),
              ElementsAre(EndsWith(refused), HasSubstr("removes its finalizer f.x/one: no CriticalService, "),
                          HasSubstr("removes its finalizer f.x/two: no CriticalService, ")));
}

// It is to be there again, so that it is none of the objects that were to go.
TEST(Stuck, WhatAStepWaitsForIsExplained) {
  const ScenarioReport report = play(scenario(R"(
  guard: false
  steps:
    - delete: crd/widgets.example.com
    - apply: crd/widgets.example.com
      after: crd/widgets.example.com gone
  expect: { exists: [crd/widgets.example.com] })"));
  EXPECT_THAT(reasons(report, "customresourcedefinitions/widgets.example.com"),
              ElementsAre("it waits for its instances: widgets/one"));
  EXPECT_THAT(reasons(report, "widgets/one"),
              ElementsAre("nobody here removes its finalizer example.com/cleanup"));
}

// The operator's Pods are to come back, and a webhook is asked about that.
TEST(Stuck, AWebhookThatRefusesTheControllersPods) {
  const auto refusing = [](const std::string& resource) {
    return reasons(play(scenario(std::string(kController) + R"(
  steps:
    - scale: { object: deployments.apps/operator/operator, replicas: 0 }
    - scale: { object: deployments.apps/operator/operator, replicas: 1 }
      at: 20s
    - delete: widgets/one
      at: 40s)",
                                 std::string(kUnguarded) + R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: { name: inject }
webhooks:
  - name: inject.example.com
    clientConfig: { service: { namespace: former, name: inject } }
    rules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [)" +
                                     resource + "] }]\n")),
                   "widgets/one");
  };
  const std::string webhook =
      "the webhook inject.example.com of mutatingwebhookconfigurations/inject does not answer: its Service "
      "former/inject is not in the files; mutatingwebhookconfigurations/inject has to be deleted, or its "
      "webhook to "
      "answer again";
  EXPECT_THAT(refusing("pods"),
              ElementsAre(AllOf(
                  HasSubstr("operator/operator, where it runs, has no Ready Pod, because the API server "
                            "refuses to create pods/operator/operator-"),
                  EndsWith(": " + webhook))));
  EXPECT_THAT(refusing("pods/binding"),
              ElementsAre(AllOf(HasSubstr("has no Ready Pod, because the API server refuses to let "
                                          "pods/operator/operator-"),
                                EndsWith(" start: " + webhook))));
}

TEST(Stuck, WebhooksThatRefuseKubernetesItself) {
  const ScenarioReport report = shipped("webhook-refuses-collector.yaml");
  EXPECT_THAT(
      reasons(report, "configmaps/default/of-one"),
      ElementsAre(HasSubstr("its deletion is denied to the garbage collector: the webhook "
                            "deletions.example.com of validatingwebhookconfigurations/engine does not "
                            "answer: its Service engine/engine is not in the files; ")));
  EXPECT_THAT(
      reasons(report, "namespaces/team"),
      ElementsAre(HasSubstr("the namespace controller cannot take finalizer kubernetes off: its UPDATE "
                            "is refused: the webhook cluster.example.com of ")));
  EXPECT_THAT(
      reasons(report, "persistentvolumeclaims/default/data"),
      ElementsAre(HasSubstr("the controller that protects claims cannot take finalizer "
                            "kubernetes.io/pvc-protection off: its UPDATE is refused: the webhook "
                            "claims.example.com of mutatingwebhookconfigurations/engine does not answer")));
}

TEST(Stuck, AReplicaSetOfWorksWaitsForThem) {
  const ScenarioReport report = play(scenario(R"(
  guard: false
  steps:
    - delete: manifestworkreplicasets/fleet/web)",
                                              R"(---
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: { name: web, namespace: fleet }
spec: { cascadeDeletionPolicy: Foreground }
---
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: web
  namespace: cluster1
  labels: { work.open-cluster-management.io/manifestworkreplicaset: fleet.web }
spec: { workload: { manifests: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: x, finalizers: [f/f] } }] } }
)"));
  EXPECT_THAT(reasons(report, "manifestworkreplicasets/fleet/web"),
              ElementsAre("its controller waits for its ManifestWorks: manifestworks/cluster1/web"));
  EXPECT_THAT(reasons(report, "configmaps/x/a"), ElementsAre("nobody here removes its finalizer f/f"));
}

// Of one owner, what its garbage collector may not write.
TEST(Stuck, WhatTheGarbageCollectorMayNotWrite) {
  const auto left = [](const std::string& steps, const std::string& resources) {
    return play(scenario(
        "\n  guard: false\n  steps:\n    - delete: configmaps/x/owner\n      propagationPolicy: " + steps +
            "\n",
        R"(---
{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: x}}
---
apiVersion: v1
kind: Secret
metadata:
  name: owned
  namespace: x
  ownerReferences:
  - {apiVersion: v1, kind: ConfigMap, name: owner, uid: "1", blockOwnerDeletion: true}
  - {apiVersion: v1, kind: ConfigMap, name: other, uid: "2"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: left }
webhooks:
  - name: left.example.com
    clientConfig: { service: { namespace: former, name: left } }
    rules: [{ apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [)" +
            resources + "] }]\n"));
  };
  EXPECT_THAT(reasons(left("Foreground", "secrets"), "secrets/x/owned"),
              Contains(HasSubstr("the garbage collector cannot write its ownerReferences: the webhook "
                                 "left.example.com")));
  EXPECT_THAT(reasons(left("Orphan", "secrets"), "configmaps/x/owner"),
              ElementsAre(HasSubstr("the garbage collector cannot take its finalizer off: its dependent "
                                    "secrets/x/owned cannot be let go: the webhook left.example.com")));
  EXPECT_THAT(reasons(left("Orphan", "configmaps"), "configmaps/x/owner"),
              ElementsAre(HasSubstr("the garbage collector cannot take its finalizer off: the webhook "
                                    "left.example.com")));
}

TEST(Stuck, EachWebhookThatDoesNotAnswerIsNamedWithItsService) {
  EXPECT_THAT(reasons(shipped("webhook-without-service.yaml"), "widgets/one"),
              ElementsAre("its deletion is denied: the webhook widgets.example.com of "
                          "validatingwebhookconfigurations/leftover does not answer: its Service "
                          "former/checks is not in the files; validatingwebhookconfigurations/leftover has "
                          "to be deleted, or its webhook to answer again"));
  const ScenarioReport two = play(scenario(R"(
  guard: false
  steps:
    - delete: [configmaps/default/a, service/former/late])",
                                           R"(---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
---
{apiVersion: v1, kind: Service, metadata: {name: late, namespace: former}, spec: {selector: {app: late}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: { name: both }
webhooks:
  - name: one.example.com
    clientConfig: { service: { namespace: former, name: one } }
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: [configmaps], operations: ["*"] }]
  - name: two.example.com
    clientConfig: { service: { namespace: former, name: late } }
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: [DELETE], scope: Namespaced }]
    objectSelector: { matchExpressions: [{ key: free, operator: DoesNotExist }] }
  - name: elsewhere.example.com
    clientConfig: { service: { namespace: former, name: one } }
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: [secrets], operations: [DELETE] }]
)"));
  EXPECT_THAT(
      reasons(two, "configmaps/default/a"),
      ElementsAre("its deletion is denied: the webhook one.example.com of "
                  "mutatingwebhookconfigurations/both does not answer: its Service former/one is not in "
                  "the files; the webhook two.example.com of mutatingwebhookconfigurations/both does not "
                  "answer: nothing Ready is behind services/former/late; mutatingwebhookconfigurations/both "
                  "has to be deleted, or its webhook to answer again"));
}

TEST(Stuck, AServiceThatNoApiServerCanCallSaysWhy) {
  const auto reasonsFor = [](const std::string& spec) {
    return reasons(play(scenario("\n  guard: false\n  steps:\n    - delete: configmaps/default/a",
                                 R"(---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: checks }
webhooks:
  - name: one.example.com
    clientConfig: { service: { namespace: op, name: hook } }
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: [configmaps], operations: ["*"] }]
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: op, labels: {app: hook}}, spec: {containers: [{name: c}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: op}, spec: {selector: {app: hook}, )" +
                                     spec + "}}\n")),
                   "configmaps/default/a");
  };
  EXPECT_THAT(reasonsFor("ports: [{port: 9443}]"),
              ElementsAre(HasSubstr("services/op/hook has no port 443;")));
  EXPECT_THAT(reasonsFor("ports: [{port: 443, targetPort: web}]"),
              ElementsAre(HasSubstr("services/op/hook calls the port web of its Pods, which no container of "
                                    "theirs has;")));
  EXPECT_THAT(
      reasonsFor("clusterIP: None"),
      ElementsAre(HasSubstr("services/op/hook is headless (clusterIP: None), which API servers cannot "
                            "route to without --enable-aggregator-routing;")));
}

TEST(Stuck, AConversionThatNobodyAnswers) {
  const ScenarioReport report = play(scenario(R"(
  guard: false
  steps:
    - delete: crd/things.example.com)",
                                              R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { kind: Thing, plural: things, singular: thing }
  conversion: { strategy: Webhook, webhook: { clientConfig: { service: { namespace: former, name: convert } } } }
  versions: [{ name: v1, served: true, storage: true }, { name: v2, served: true, storage: false }]
status: { storedVersions: [v2, v1] }
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}}
)"));
  EXPECT_THAT(
      reasons(report, "things/t"),
      Contains(HasSubstr("the conversion webhook of customresourcedefinitions/things.example.com does not "
                         "answer: its Service former/convert is not in the files")));
}

// `documents`: what is in the Namespace, and is deleted with it; of the webhook: what it is asked about.
ScenarioReport withDeadWebhook(const std::string& operation, const std::string& resource,
                               const std::string& documents = "") {
  return play(scenario("\n  guard: false\n  steps:\n    - delete: namespace/team\n",
                       "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n" + documents +
                           "apiVersion: admissionregistration.k8s.io/v1\nkind: "
                           "ValidatingWebhookConfiguration\nmetadata: {name: checks}\nwebhooks:\n- name: "
                           "checks.example.io\n  clientConfig: {service: {namespace: hooks, name: checks}}\n"
                           "  rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [" +
                           operation + "], resources: [" + resource + "]}]\n"));
}

constexpr const char* kNoAnswer =
    "the webhook checks.example.io of validatingwebhookconfigurations/checks does not answer: its Service "
    "hooks/checks is not in the files; validatingwebhookconfigurations/checks has to be deleted, or its "
    "webhook to answer again";

TEST(Stuck, ANamespaceWhoseUnwrittenContentAWebhookKeeps) {
  EXPECT_THAT(reasons(withDeadWebhook("DELETE", "configmaps"), "namespaces/team"),
              ElementsAre(std::string("the namespace controller cannot delete "
                                      "configmaps/team/kube-root-ca.crt, which Kubernetes makes in it: ") +
                          kNoAnswer));
}

TEST(Stuck, APodOfAJobWhoseTrackingAWebhookKeeps) {
  const ScenarioReport report =
      withDeadWebhook("UPDATE", "pods",
                      "{apiVersion: v1, kind: Pod, metadata: {name: j-1, namespace: team, finalizers: "
                      "[batch.kubernetes.io/job-tracking]}}\n---\n");
  EXPECT_THAT(reasons(report, "pods/team/j-1"),
              ElementsAre(std::string("finalizer batch.kubernetes.io/job-tracking is for controller "
                                      "job-controller to remove, whose UPDATE is refused: ") +
                          kNoAnswer));
}

// The Job controller counts a Pod in the status of its Job before it takes its finalizer off; it does not
// wait for that once the Job is being deleted. Pods go before Jobs where a Namespace ends, since 1.33.
TEST(Stuck, APodOfAJobWhoseStatusAWebhookKeeps) {
  const std::string job =
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: team}, spec: {template: {spec: "
      "{containers: [{name: c, image: i}]}}}}\n---\n";
  const ScenarioReport report = withDeadWebhook("UPDATE", "jobs/status", job);
  const auto pod = std::ranges::find_if(
      report.leftovers, [](const Leftover& one) { return one.object.starts_with("pods/team/j-"); });
  ASSERT_NE(pod, report.leftovers.end());
  EXPECT_THAT(pod->reasons,
              ElementsAre(std::string("finalizer batch.kubernetes.io/job-tracking is for controller "
                                      "job-controller to remove; job-controller writes the status of "
                                      "jobs/team/j first, and that is refused: ") +
                          kNoAnswer));
  EXPECT_THAT(withDeadWebhook("UPDATE", "jobs", job).leftovers, IsEmpty());
}

// The cloud's controller patches services/status (PatchService() of k8s.io/cloud-provider).
TEST(Stuck, ALoadBalancerWhoseStatusAWebhookKeeps) {
  const std::string service =
      "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: team, finalizers: "
      "[service.kubernetes.io/load-balancer-cleanup]}, spec: {type: LoadBalancer}}\n---\n";
  EXPECT_THAT(reasons(withDeadWebhook("UPDATE", "services/status", service), "services/team/s"),
              Contains(HasSubstr("is for controller cloud-controller-manager to remove, whose UPDATE is "
                                 "refused")));
  EXPECT_THAT(withDeadWebhook("UPDATE", "services", service).leftovers, IsEmpty());
}

TEST(Stuck, ANamespaceThatAnApiServiceKeeps) {
  const ScenarioReport report = shipped("apiservice-left-behind.yaml");
  EXPECT_THAT(
      reasons(report, "namespaces/team-a"),
      ElementsAre("no Namespace ends while apiservices/v1beta1.custom.metrics.example.com does not answer: "
                  "its Service metrics/adapter is gone; it has to be deleted, or to answer again"));
  EXPECT_THAT(reasons(report, "apiservices/v1beta1.custom.metrics.example.com"),
              ElementsAre("nobody has asked for its deletion"));
}

TEST(Stuck, AVolumeWithAClaim) {
  EXPECT_THAT(
      reasons(shipped("volume-of-a-claim.yaml"), "persistentvolumes/orders"),
      ElementsAre("it waits for the claims that are bound to it: persistentvolumeclaims/shop/orders"));
}

TEST(Stuck, AForegroundDeletionThatWaitsForItsDependents) {
  EXPECT_THAT(reasons(play(scenario(R"(
  steps:
    - delete: configmaps/default/owner
      propagationPolicy: Foreground)",
                                    R"(---
apiVersion: v1
kind: ConfigMap
metadata: { name: owner, namespace: default }
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  namespace: default
  finalizers: [example.com/held]
  ownerReferences:
    - { apiVersion: v1, kind: ConfigMap, name: owner, uid: "", controller: true, blockOwnerDeletion: true }
)")),
                      "configmaps/default/owner"),
              ElementsAre("it waits in the foreground for its dependents configmaps/default/owned"));
}

}  // namespace
}  // namespace lastout::replay
