// What a verdict takes for granted about the objects of a scenario.
#include "replay/assumptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A ConfigMap is deleted, with these documents beside it.
std::vector<std::string> assumed(const std::string& documents, const std::string& spec = "") {
  const auto made =
      ready(scenario("\n  guard: false\n" + spec + R"(
  steps:
    - delete: [configmaps/default/a, namespace/team])",
                     "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, "
                     "finalizers: [example.com/f]}}\n---\n"
                     "{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
                     "{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: "
                     "team}}\n---\n" +
                         documents));
  std::vector<std::string> lines;
  for (const Assumption& one : assumptionsOf(made->scenario, made->compiled))
    lines.push_back(one.object + ": " + one.text);
  return lines;
}

// `client`: in braces; `more`: of the webhook's fields.
std::string webhook(const std::string& client, const std::string& more = "",
                    const std::string& rule = "resources: [configmaps], operations: [DELETE]") {
  return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
         "metadata: {name: checks}\nwebhooks:\n- name: checks.example.io\n  clientConfig: " +
         client + "\n" + more + "  rules: [{apiGroups: ['*'], apiVersions: ['*'], " + rule + "}]\n";
}

constexpr const char* kByUrl = "{url: 'https://checks.example.io'}";
constexpr const char* kByService = "{service: {namespace: hooks, name: checks}}";
constexpr const char* kSelectingPods =
    "---\n{apiVersion: v1, kind: Service, metadata: {name: checks, namespace: hooks}, spec: {selector: {app: "
    "checks}}}\n";

TEST(Assumptions, AWebhookByUrlAnswersAndAllows) {
  EXPECT_THAT(
      assumed(webhook(kByUrl)),
      ElementsAre("validatingwebhookconfigurations/checks: the webhook checks/checks.example.io answers and "
                  "allows: it is reached by URL"));
  EXPECT_THAT(assumed(webhook(kByUrl, "  failurePolicy: Ignore\n")),
              ElementsAre(HasSubstr("allows, if it answers: it is reached by URL")));
}

TEST(Assumptions, AnOwnerOfAVersionThatNobodyServesIsNamed) {
  const auto owned = [](const std::string& apiVersion, const std::string& kind) {
    return "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: team, ownerReferences: "
           "[{apiVersion: " +
           apiVersion + ", kind: " + kind + ", name: o, uid: u1}]}}\n";
  };
  EXPECT_THAT(assumed(owned("batch/v1beta1", "CronJob")),
              ElementsAre("secrets/team/s: no API server serves CronJob.batch in v1beta1, by which it names "
                          "its owner o: Kubernetes 1.36 has it in v1"));
  EXPECT_THAT(assumed(owned("autoscaling/v1", "HorizontalPodAutoscaler")), IsEmpty());
  const std::string crd =
      "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "parents.x.org}, spec: {group: x.org, scope: Namespaced, names: {kind: Parent, plural: parents}, "
      "versions: [{name: v1, served: true, storage: true}]}}\n";
  EXPECT_THAT(assumed(owned("x.org/v1alpha1", "Parent") + crd),
              ElementsAre("secrets/team/s: no API server serves Parent.x.org in v1alpha1, by which it names "
                          "its owner o: customresourcedefinitions/parents.x.org serves v1"));
}

// https://kubernetes.io/docs/reference/labels-annotations-taints/ and the controllers of
// kube-controller-manager that set them.
TEST(Assumptions, KubernetesRemovesTheFinalizersOfWhatIsInUse) {
  struct Case {
    const char* document;
    const char* reference;
    const char* finalizer;
  };
  for (const Case& one :
       {Case{"apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {namespace: team, name: o",
             "resourceclaims/team/o", "resource.kubernetes.io/delete-protection"},
        Case{"apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: o",
             "volumeattributesclasses/o", "kubernetes.io/vac-protection"},
        Case{"apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: o", "servicecidrs/o",
             "networking.k8s.io/service-cidr-finalizer"},
        Case{"apiVersion: v1, kind: PersistentVolume, metadata: {name: o", "persistentvolumes/o",
             "kubernetes.io/pv-controller"}}) {
    const std::string deletes = std::string("\n  guard: false\n  steps:\n    - delete: ") + one.reference;
    const std::string document =
        std::string("---\n{") + one.document + ", finalizers: [" + one.finalizer + "]}}\n";
    EXPECT_THAT(play(scenario(deletes, document)).leftovers, IsEmpty()) << one.reference;
    const auto made = ready(scenario(deletes, document));
    const auto assumptions = assumptionsOf(made->scenario, made->compiled);
    ASSERT_EQ(assumptions.size(), 1U) << one.reference;
    EXPECT_EQ(assumptions[0].text, std::string("Kubernetes removes finalizer ") + one.finalizer + " from " +
                                       one.reference +
                                       " once nothing uses it: whether something does is not followed");
    const std::string other = std::string("---\n{") + one.document + ", finalizers: [example.com/f]}}\n";
    EXPECT_FALSE(play(scenario(deletes, other)).leftovers.empty()) << "nobody removes any other";
  }
}

TEST(Assumptions, AServiceWithoutASelectorIsNamed) {
  EXPECT_THAT(assumed(webhook(kByService) +
                      "---\n{apiVersion: v1, kind: Service, metadata: {name: checks, namespace: "
                      "hooks}, spec: {ports: [{port: 443}]}}\n"),
              ElementsAre(HasSubstr("answers and allows: its Service hooks/checks has no selector")));
  EXPECT_THAT(assumed(webhook(kByService) +
                      "---\n{apiVersion: v1, kind: Service, metadata: {name: checks, namespace: "
                      "hooks}, spec: {type: ExternalName, externalName: checks.example.io}}\n"),
              ElementsAre(HasSubstr("its Service hooks/checks leads out of the cluster")));
}

// What `kubectl get services,endpointslices -o yaml` prints, without the Pods.
TEST(Assumptions, APodThatOnlyAnEndpointSliceNamesIsNamed) {
  const auto dump = [](const std::string& ofService, const std::string& isReady) {
    return webhook(kByService) + kSelectingPods +
           "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: checks-1, "
           "namespace: "
           "hooks, labels: {kubernetes.io/service-name: " +
           ofService +
           "}}, addressType: IPv4, endpoints: [{addresses: [10.0.0.4], conditions: {ready: " + isReady +
           "}}]}\n";
  };
  EXPECT_THAT(
      assumed(dump("checks", "true")),
      ElementsAre(HasSubstr("answers and allows: the Pods that endpointslices/hooks/checks-1 lists for "
                            "its Service hooks/checks are not in the files")));
  EXPECT_THAT(assumed(dump("checks", "false")), IsEmpty()) << "nobody answers";
  EXPECT_THAT(assumed(dump("another", "true")), IsEmpty());
}

TEST(Assumptions, AWebhookWithPodsAllowsAndOneThatIsDeadIsNone) {
  const std::string pod =
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: hooks, labels: {app: checks}}}\n";
  EXPECT_THAT(assumed(webhook(kByService) + kSelectingPods + pod),
              ElementsAre(HasSubstr("the webhook checks/checks.example.io allows what it is asked about")));
  EXPECT_THAT(assumed(webhook(kByService) + kSelectingPods), IsEmpty()) << "nobody answers: that is followed";
  EXPECT_THAT(assumed(webhook(kByService)), IsEmpty());
  EXPECT_THAT(assumed(webhook(kByService, "  failurePolicy: Ignore\n")), IsEmpty());
  EXPECT_THAT(
      assumed(
          webhook(kByService) + kSelectingPods +
          "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
          "sets.x.org}, spec: {group: x.org, scope: Namespaced, names: {kind: Set, plural: sets}, versions: "
          "[{name: v1, served: true, storage: true}]}}\n"
          "---\n{apiVersion: x.org/v1, kind: Set, metadata: {name: r, namespace: hooks}, spec: "
          "{template: {metadata: {labels: {app: checks}}}}}\n"),
      ElementsAre(HasSubstr("answers and allows: the Pods of sets/hooks/r, behind its "
                            "Service hooks/checks, are not followed")));
}

// Whoever asks: the garbage collector, the namespace controller.
TEST(Assumptions, AWebhookIsNamedForTheWritesOfKubernetesItself) {
  const auto rule = [](const std::string& resources, const std::string& operations = "UPDATE") {
    return webhook(kByUrl, "", "resources: ['" + resources + "'], operations: [" + operations + "]");
  };
  EXPECT_THAT(assumed(rule("namespaces/finalize")), ElementsAre(HasSubstr("answers and allows")));
  EXPECT_THAT(assumed(rule("namespaces/status")), IsEmpty());
  EXPECT_THAT(assumed(rule("configmaps")), IsEmpty()) << "nobody removes its finalizer, so nobody writes it";
  const auto deleted = [&](const std::string& policy, const std::string& resources) {
    const auto made = ready(scenario(
        "\n  guard: false\n  steps:\n    - delete: configmaps/x/owner\n      propagationPolicy: " + policy +
            "\n",
        "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: owner, namespace: x}}\n---\n"
        "{apiVersion: v1, kind: Secret, metadata: {name: owned, namespace: x, ownerReferences: [{apiVersion: "
        "v1, kind: ConfigMap, name: owner, uid: '1', blockOwnerDeletion: true}]}}\n---\n" +
            rule(resources)));
    return assumptionsOf(made->scenario, made->compiled).size();
  };
  EXPECT_EQ(deleted("Foreground", "configmaps"), 1u) << "the collector takes foregroundDeletion off";
  EXPECT_EQ(deleted("Foreground", "secrets"), 0u) << "what owns nothing goes at once";
  EXPECT_EQ(deleted("Orphan", "secrets"), 1u) << "the collector lets what is owned go";
  EXPECT_EQ(deleted("Background", "*"), 0u) << "the collector writes nothing";
}

TEST(Assumptions, AnExactMatchOfVersionsIsNamed) {
  const std::string exact = "  matchPolicy: Exact\n";
  std::string some = webhook(kByService, exact);
  some.replace(some.find("apiVersions: ['*']"), 18, "apiVersions: [v1]");
  EXPECT_THAT(assumed(some), ElementsAre(HasSubstr("its matchPolicy is Exact")));
  EXPECT_THAT(assumed(webhook(kByService, exact)), IsEmpty()) << "its rules are for all versions";
}

TEST(Assumptions, ConditionsInCelAreNamedWhereTheAnswerMatters) {
  const std::string conditions = "  matchConditions: [{name: some, expression: 'false'}]\n";
  EXPECT_THAT(assumed(webhook(kByService, conditions)),
              ElementsAre(HasSubstr("is asked about all that its rules match: its matchConditions are not "
                                    "evaluated")));
  EXPECT_THAT(assumed(webhook(kByUrl, conditions)), ElementsAre(HasSubstr("answers and allows")));
}

TEST(Assumptions, WhatDoesNotConcernTheGoalIsNone) {
  for (const char* rule :
       {"resources: [secrets], operations: [DELETE]", "resources: [configmaps], operations: [CREATE]",
        "resources: [configmaps], operations: [UPDATE]"}) {
    EXPECT_THAT(assumed(webhook(kByUrl, "", rule)), IsEmpty()) << rule;
  }
  EXPECT_THAT(assumed(webhook(kByUrl, "  objectSelector: {matchLabels: {checked: 'yes'}}\n")), IsEmpty());
}

// Removing a finalizer is an UPDATE.
TEST(Assumptions, AWebhookForUpdatesCountsWhereAControllerRemovesAFinalizer) {
  const std::string controllers =
      "  controllers:\n    - {name: cleanup, removes: {finalizer: example.com/f, from: configmaps}}\n";
  EXPECT_THAT(assumed(webhook(kByUrl, "", "resources: [configmaps], operations: [UPDATE]"), controllers),
              ElementsAre("controller cleanup: controller cleanup always works: it runs outside of the files",
                          HasSubstr("the webhook checks/checks.example.io answers and allows")));
}

TEST(Assumptions, OfAControllerItsAbsentRights) {
  const std::string controllers =
      "  controllers:\n    - {name: cleanup, runsIn: deployments.apps/hooks/op, removes: {finalizer: "
      "example.com/f, "
      "from: configmaps}}\n";
  const auto documents = [](const std::string& role) {
    return std::string(R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: hooks}
spec:
  template: {metadata: {labels: {app: op}}, spec: {serviceAccountName: op, containers: [{name: a, image: a}]}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: op}, roleRef: {apiGroup:
  rbac.authorization.k8s.io, kind: ClusterRole, name: )") +
           role + "}, subjects: [{kind: ServiceAccount, name: op, namespace: hooks}]}\n";
  };
  EXPECT_THAT(
      assumed(documents("cleaner"), controllers),
      ElementsAre("clusterroles.rbac.authorization.k8s.io/cleaner: controller cleanup has the rights that it "
                  "needs: clusterroles.rbac.authorization.k8s.io/cleaner, which a binding of its "
                  "ServiceAccount names, is not in the files",
                  "serviceaccounts/hooks/op: controller cleanup has the rights that it needs: "
                  "serviceaccounts/hooks/op, as which it runs, is not in the files"));
  EXPECT_THAT(assumed(documents("cluster-admin"), controllers), ElementsAre(HasSubstr("as which it runs")))
      << "Kubernetes makes that role";
}

// Rights that were never there: the ConfigMap is default/a, and hooks/op runs the controller.
TEST(Assumptions, OfAControllerTheRightsThatNothingGives) {
  const std::string controllers =
      "  controllers:\n    - {name: cleanup, runsIn: deployments.apps/hooks/op, removes: {finalizer: "
      "example.com/f, from: configmaps}}\n";
  const auto rights = [&](const std::string& binding, const std::string& subject, const std::string& rule) {
    const std::string group = "apiVersion: rbac.authorization.k8s.io/v1, ";
    return assumed(R"({apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: hooks}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: hooks}
spec:
  template: {metadata: {labels: {app: op}}, spec: {serviceAccountName: op, containers: [{name: a, image: a}]}}
---
{)" + group + "kind: ClusterRole, metadata: {name: op}, rules: [{" +
                       rule + "}]}\n---\n{" + group + binding +
                       ", roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: op}, "
                       "subjects: [{" +
                       subject + "}]}\n",
                   controllers);
  };
  const std::string everywhere = "kind: ClusterRoleBinding, metadata: {name: op}";
  const std::string op = "kind: ServiceAccount, name: op, namespace: hooks";
  const std::string patches = "apiGroups: [''], resources: [configmaps], verbs: [patch]";
  const auto inNamespace = [](const std::string& name) {
    return "kind: RoleBinding, metadata: {name: op, namespace: " + name + "}";
  };
  EXPECT_THAT(rights(everywhere, op, patches), IsEmpty());
  EXPECT_THAT(rights(inNamespace("default"), op, patches), IsEmpty());
  EXPECT_THAT(rights(inNamespace("hooks"), op, patches),
              ElementsAre("deployments/hooks/op: controller cleanup may take finalizer example.com/f off "
                          "configmaps/default/a: no binding in the files lets its ServiceAccount update it"));
  for (const char* other : {"kind: ServiceAccount, name: op2, namespace: hooks",
                            "kind: ServiceAccount, name: op, namespace: default",
                            "kind: User, name: op, apiGroup: rbac.authorization.k8s.io"})
    EXPECT_THAT(rights(everywhere, other, patches), ElementsAre(HasSubstr("no binding"))) << other;
  for (const char* rule : {"apiGroups: [''], resources: [configmaps], verbs: [get, list, watch, delete]",
                           "apiGroups: [apps], resources: [configmaps], verbs: [update]",
                           "apiGroups: [''], resources: [configmaps/finalizers], verbs: [update]",
                           "apiGroups: [''], resources: [configmaps], resourceNames: [b], verbs: [update]"})
    EXPECT_THAT(rights(everywhere, op, rule), ElementsAre(HasSubstr("no binding"))) << rule;
}

TEST(Assumptions, AnAdmissionPolicyByItsBindings) {
  const auto documents = [](const std::string& operation, const std::string& actions) {
    return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: "
           "keep}\n"
           "spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: "
           "[configmaps], "
           "operations: [" +
           operation +
           "]}]}, validations: [{expression: 'false'}]}\n---\n"
           "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
           "metadata: {name: keep}\nspec: {policyName: keep, validationActions: [" +
           actions + "]}\n";
  };
  EXPECT_THAT(
      assumed(documents("DELETE", "Deny")),
      ElementsAre("validatingadmissionpolicies/keep: the ValidatingAdmissionPolicy keep allows what it "
                  "matches: its expressions are not evaluated"));
  EXPECT_THAT(assumed(documents("DELETE", "Audit")), IsEmpty());
  EXPECT_THAT(assumed(documents("CREATE", "Deny")), IsEmpty());
  const std::string whole = documents("DELETE", "Deny");
  EXPECT_THAT(assumed(whole.substr(0, whole.find("---\n"))), IsEmpty()) << "it is bound by nothing";
}

TEST(Assumptions, AMutatingAdmissionPolicyByItsBindings) {
  const auto documents = [](const std::string& operation) {
    return "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {name: m}\n"
           "spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: "
           "[configmaps], operations: [" +
           operation + "]}]}}\n---\n";
  };
  const std::string binding =
      "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\nmetadata: {name: "
      "m}\nspec: {policyName: m}\n";
  const std::string cleanup =
      "  controllers:\n    - {name: cleanup, removes: {finalizer: example.com/f, from: configmaps}}\n";
  const auto named = [&](const std::string& operation) {
    return assumed(documents(operation) + binding, cleanup);
  };
  const auto names = Contains(
      "mutatingadmissionpolicies/m: the MutatingAdmissionPolicy m allows what it matches: its expressions "
      "are "
      "not evaluated");
  EXPECT_THAT(named("UPDATE"), names);
  EXPECT_THAT(named("'*'"), names);
  EXPECT_THAT(named("CREATE"), Not(names));
  EXPECT_THAT(named("DELETE"), Not(names)) << "it cannot match that";
  EXPECT_THAT(assumed(documents("UPDATE"), cleanup), Not(names)) << "it is bound by nothing";
}

TEST(Assumptions, ANodeThatIsNotReadyWithAPodThatIsToGo) {
  const auto documents = [](const std::string& status, const std::string& node,
                            const std::string& taints = "[]", const std::string& phase = "Running",
                            const std::string& metadata = "") {
    return "{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {taints: " + taints +
           "}, status: {conditions: [{type: Ready, status: " + status +
           "}]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team" + metadata +
           "}, spec: {nodeName: " + node + "}, status: {phase: " + phase + "}}\n";
  };
  for (const char* status : {"'False'", "Unknown"})
    EXPECT_THAT(assumed(documents(status, "n")),
                ElementsAre("nodes/n: node n stops pods/team/p: its condition Ready is not True"));
  EXPECT_THAT(assumed(documents("'True'", "n")), IsEmpty());
  EXPECT_THAT(assumed(documents("'False'", "other")), IsEmpty());
  EXPECT_THAT(
      assumed(documents("Unknown", "n", "[{key: node.kubernetes.io/out-of-service, effect: NoExecute}]")),
      IsEmpty())
      << "the Pod garbage collector ends its Pods";
  EXPECT_THAT(assumed(documents("Unknown", "n", "[]", "Failed")), IsEmpty()) << "it has stopped";
  const std::string going = ", deletionTimestamp: '2026-11-01T10:00:00Z', deletionGracePeriodSeconds: ";
  EXPECT_THAT(assumed(documents("Unknown", "n", "[]", "Running", going + "0")), IsEmpty());
  EXPECT_THAT(assumed(documents("Unknown", "n", "[]", "Running", going + "30")), SizeIs(1));
}

TEST(Assumptions, AnApiServiceThatIsNotAvailable) {
  const auto documents = [](const std::string& status) {
    return "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.m.example.com}, "
           "spec: "
           "{group: m.example.com, version: v1, service: {namespace: hooks, name: m}}, status: {conditions: "
           "[{type: Available, status: " +
           status +
           "}]}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: m, namespace: hooks}, spec: "
           "{selector: "
           "{app: m}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: m, namespace: hooks, labels: {app: "
           "m}}}\n";
  };
  EXPECT_THAT(
      assumed(documents("'False'")),
      ElementsAre(HasSubstr("apiservices/v1.m.example.com answers: its condition Available is False")));
  EXPECT_THAT(assumed(documents("'True'")), IsEmpty());
}

TEST(Assumptions, AnApiServiceWhereANamespaceEnds) {
  EXPECT_THAT(
      assumed("{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.m.example.com}, "
              "spec: {group: m.example.com, version: v1, service: {namespace: hooks, name: m}}}\n---\n"
              "{apiVersion: v1, kind: Service, metadata: {name: m, namespace: hooks}, spec: {}}\n"),
      ElementsAre(
          "apiservices/v1.m.example.com: apiservices/v1.m.example.com answers: its Service hooks/m has "
          "no selector, so somebody writes its endpoints"));
}

TEST(Assumptions, FinalizersThatComeInACluster) {
  const std::string balanced =
      "{apiVersion: v1, kind: Service, metadata: {name: front, namespace: team}, spec: {type: "
      "LoadBalancer}}\n";
  EXPECT_THAT(assumed(balanced),
              ElementsAre(HasSubstr("services/team/front: the cloud lets services/team/front go")));
}

TEST(Assumptions, ControllersOfACloudAndOfACsiDriverRunOutsideOfTheFiles) {
  const std::string front =
      "{apiVersion: v1, kind: Service, metadata: {finalizers: [service.kubernetes.io/load-balancer-cleanup], "
      "name: front, namespace: team}, spec: {type: LoadBalancer}}\n";
  EXPECT_THAT(
      assumed(front),
      ElementsAre("services/team/front: the cloud lets services/team/front go: no file has the controller "
                  "that removes finalizer service.kubernetes.io/load-balancer-cleanup"));
  EXPECT_THAT(assumed(front,
                      "  controllers: [{name: ccm, removes: {finalizer: "
                      "service.kubernetes.io/load-balancer-cleanup, from: services}}]\n"),
              ElementsAre(HasSubstr("controller ccm always works")));
  EXPECT_THAT(
      assumed(front +
              "---\n{apiVersion: lastout.dev/v1alpha1, kind: CriticalService, metadata: {name: ccm}, spec: "
              "{provider: {group: apps, resource: daemonsets, namespace: cloud, name: ccm}, criteria: "
              "[{type: Finalizer, finalizer: {resource: services, finalizerName: "
              "service.kubernetes.io/load-balancer-cleanup}}]}}\n"),
      IsEmpty())
      << "the CriticalService says who removes it, and that is not there";

  const auto made =
      ready(scenario("\n  guard: false\n  steps: [{delete: persistentvolumes/pv}]\n",
                     "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, finalizers: "
                     "[external-provisioner.volume.kubernetes.io/finalizer]}, spec: {csi: {driver: "
                     "d.example.com}, persistentVolumeReclaimPolicy: Delete}}\n"));
  EXPECT_THAT(assumptionsOf(made->scenario, made->compiled),
              ElementsAre(::testing::Field(
                  &Assumption::text,
                  HasSubstr("the provisioner of d.example.com lets persistentvolumes/pv go: no file has"))));
}

TEST(Assumptions, OfACsiDriversAttacher) {
  const auto made = ready(scenario("\n  guard: false\n  steps: [{delete: persistentvolumes/pv}]\n",
                                   "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, "
                                   "finalizers: [external-attacher/d-example-com]}}\n"));
  EXPECT_THAT(
      assumptionsOf(made->scenario, made->compiled),
      ElementsAre(::testing::Field(
          &Assumption::text, HasSubstr("the attacher of its CSI driver lets persistentvolumes/pv go"))));
}

TEST(Assumptions, OfAConversionByUrl) {
  const std::string crd = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing}
  conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'https://convert.example.io'}}}
  versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]
)";
  EXPECT_THAT(assumed(crd), IsEmpty()) << "no instance is to go";
  EXPECT_THAT(
      assumed(crd + "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: t, namespace: team}}\n"),
      Contains("customresourcedefinitions/things.example.com: the conversion webhook of "
               "customresourcedefinitions/things.example.com answers: it is reached by URL"));
}

// The texts of what is assumed where these steps are sent.
std::vector<std::string> assumedOf(const std::string& steps, const std::string& documents) {
  const auto made = ready(scenario("\n  guard: false\n" + steps, "---\n" + documents));
  std::vector<std::string> lines;
  for (const Assumption& one : assumptionsOf(made->scenario, made->compiled)) lines.push_back(one.text);
  return lines;
}

constexpr const char* kCopies = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: copy, namespace: x}
spec: {ttlSecondsAfterFinished: 60, template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: x}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
)";

// Nobody deletes the Job, and the claim goes with it alone.
TEST(Assumptions, OfAPodWithoutANodeThatItUsesNoClaim) {
  const auto of = [](const std::string& uid) {
    return assumed(
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: team}}\n"
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team" +
        uid + "}, spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}\n");
  };
  EXPECT_THAT(of(", uid: u"),
              ElementsAre("pods/team/p: pods/team/p gets no Node before persistentvolumeclaims/team/data is "
                          "gone: without one it does not use that claim"));
  EXPECT_THAT(of(""), IsEmpty());
}

TEST(Assumptions, ThatSomethingFinishesIsNamedWhereItsEndIsAwaited) {
  EXPECT_THAT(assumedOf("  steps: [{delete: persistentvolumeclaims/x/data}]\n", kCopies),
              ElementsAre("jobs/x/copy finishes some time: it is deleted by its ttlSecondsAfterFinished"));
  EXPECT_THAT(assumedOf("  steps: [{delete: configmaps/x/other}]\n", kCopies), IsEmpty());
  EXPECT_THAT(assumedOf("  steps: [{delete: namespaces/x}]\n", kCopies), IsEmpty()) << "it is deleted anyway";
}

TEST(Assumptions, AControllerInAJobIsNamed) {
  EXPECT_THAT(assumedOf(R"(
  controllers: [{name: c, runsIn: jobs.batch/x/copy, removes: {finalizer: f/f, from: configmaps}}]
  steps: [{delete: configmaps/x/held}]
)",
                        std::string(kCopies) +
                            "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: x, "
                            "finalizers: [f/f]}}\n"),
              Contains("controller c has done its work before jobs/x/copy ends: when that is, the files "
                       "do not say"));
}

TEST(Assumptions, ThePlacementsOfAReplicaSetAreNamed) {
  const std::string sets = R"(
{apiVersion: work.open-cluster-management.io/v1alpha1, kind: ManifestWorkReplicaSet, metadata: {name: web, namespace: fleet}}
---
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: web
  namespace: cluster1
  labels: {work.open-cluster-management.io/manifestworkreplicaset: fleet.web}
spec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: x}}
)";
  for (const char* deleted : {"manifestworkreplicasets/fleet/web", "manifestworks/cluster1/web"}) {
    EXPECT_THAT(
        assumedOf(std::string("  steps: [{delete: ") + deleted + "}]\n", sets),
        ElementsAre("manifestworkreplicasets/fleet/web has the ManifestWorks that are in the files, and "
                    "no others: its placements are not followed"))
        << deleted;
  }
  EXPECT_THAT(assumedOf("  steps: [{delete: configmaps/x/other}]\n", sets), IsEmpty());
}

// In a managed cluster: the work itself is on the hub.
TEST(Assumptions, AnAppliedManifestWorkWithoutItsWorkIsNamed) {
  const auto input = [](const std::string& finalizer, const std::string& owner = "hash-w") {
    return scenario(
        "\n  guard: false\n  steps: [{delete: appliedmanifestworks/hash-w}]\n",
        "---\napiVersion: work.open-cluster-management.io/v1\nkind: AppliedManifestWork\nmetadata: "
        "{name: hash-w, uid: a1, finalizers: "
        "[cluster.open-cluster-management.io/applied-manifest-work-cleanup]}\nspec: {manifestWorkName: "
        "w, hubHash: hash}\nstatus: {appliedResources: [{group: '', version: v1, resource: configmaps, "
        "name: c, namespace: default, uid: u1}]}\n"
        "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: default, uid: u1, "
        "finalizers: [" +
            finalizer +
            "], ownerReferences: [{apiVersion: work.open-cluster-management.io/v1, kind: "
            "AppliedManifestWork, name: " +
            owner + ", uid: a1}]}}\n");
  };
  EXPECT_THAT(inOneLine(play(input(""))), StartsWith("empty")) << "the agent deletes what it applied";
  EXPECT_THAT(inOneLine(play(input("example.com/keep"))), StartsWith("stuck"));
  EXPECT_THAT(toldAssumptions(input("")),
              ElementsAre(HasSubstr("the hub has deleted ManifestWork w, of appliedmanifestworks/hash-w")));
}

// The hub manages itself: both are in one cluster.
TEST(Assumptions, AnAppliedManifestWorkOfAWorkInTheFilesIsThatWorks) {
  const std::string both =
      "---\napiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: w, "
      "namespace: "
      "local-cluster, uid: m1}\nspec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: "
      "{name: c, "
      "namespace: default}}]}}\n"
      "---\napiVersion: work.open-cluster-management.io/v1\nkind: AppliedManifestWork\nmetadata: {name: "
      "hash-w, uid: "
      "a1}\nspec: {manifestWorkName: w, hubHash: hash}\nstatus: {appliedResources: [{group: '', version: v1, "
      "resource: configmaps, name: c, namespace: default, uid: u1}]}\n";
  EXPECT_THAT(toldAssumptions(
                  scenario("\n  guard: false\n  steps: [{delete: manifestworks/local-cluster/w}]\n", both)),
              Not(Contains(HasSubstr("the hub has deleted"))));
}

}  // namespace
}  // namespace lastout::replay
