// What a verdict takes for granted about webhooks and policies that are asked about the writes of
// controllers.
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

constexpr const char* kTeamGoes = "\n  guard: false\n  steps:\n    - delete: namespace/team\n";
constexpr const char* kTeamThatGoes = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n";

// Nobody answers it.
std::string unanswered(const std::string& operation, const std::string& resource) {
  return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
         "{name: "
         "h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: gone, name: hook}}, "
         "rules: "
         "[{apiGroups: ['*'], apiVersions: [v1], operations: [" +
         operation + "], resources: [" + resource + "]}]}]}\n---\n";
}

// `spec`: of the policy, beside what it matches.
std::string boundPolicy(const std::string& operation, const std::string& resource,
                        const std::string& actions = "Deny", const std::string& spec = "") {
  return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: "
         "p}, "
         "spec: {matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], resources: [" +
         resource + "], operations: [" + operation + "]}]}" + spec +
         "}}\n---\n{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, "
         "metadata: {name: p}, spec: {policyName: p, validationActions: [" +
         actions + "]}}\n---\n";
}

std::vector<std::string> toldOf(const std::string& documents, const std::string& spec = kTeamGoes) {
  return toldAssumptions(scenario(spec, kTeamThatGoes + documents));
}

// What a CronJob makes next may or may not be there when the Namespace ends.
TEST(AssumedCalls, WhatACronJobMakes) {
  const std::string cronJob =
      "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c, namespace: team}, spec: {schedule: '0 0 * * "
      "*', "
      "jobTemplate: {metadata: {labels: {a: b}}, spec: {template: {spec: {containers: [{name: c}]}}}}}}\n";
  EXPECT_THAT(
      toldOf(unanswered("DELETE", "jobs") + cronJob),
      ElementsAre(HasSubstr("the webhook h/h.example.com answers when jobs.batch/team/c-* is deleted")));
  EXPECT_THAT(toldOf(unanswered("DELETE", "pods") + cronJob), ElementsAre(HasSubstr("pods/team/c-*")));
  EXPECT_THAT(toldOf(unanswered("DELETE", "jobs")), IsEmpty());
}

TEST(AssumedCalls, WhatIsMadeForAPod) {
  const std::string pod =
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}, spec: {containers: [{name: c}], "
      "resourceClaims: [{name: gpu, resourceClaimTemplateName: t}], volumes: [{name: v, ephemeral: "
      "{volumeClaimTemplate: {spec: {}}}}]}}\n";
  for (const char* resource : {"persistentvolumeclaims", "resourceclaims", "events", "leases"})
    EXPECT_THAT(toldOf(unanswered("DELETE", resource) + pod), ElementsAre(HasSubstr(resource))) << resource;
}

// Events are served in two groups; a webhook that names one of them is called for requests in the other.
TEST(AssumedCalls, EventsOfEitherGroup) {
  const std::string event =
      "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: team}, involvedObject: {kind: Pod, name: "
      "p}}\n";
  std::string webhook = unanswered("DELETE", "events");
  webhook.replace(webhook.find("['*']"), 5, "[events.k8s.io]");
  const auto made = ready(scenario(kTeamGoes, kTeamThatGoes + webhook + event));
  const ScenarioReport report = replay(*made, {});
  EXPECT_GE(report.leftovers.size(), 2U) << "the Event stays, and its Namespace";
}

// Replicas elect the one that works by a Lease in their namespace; a leader that cannot renew it ends.
TEST(AssumedCalls, TheLeaseOfAController) {
  const std::string documents =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team, finalizers: "
      "[example.com/f]}}\n---\n"
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: op}, spec: {template: {spec: "
      "{containers: [{name: c}]}}}}\n---\n";
  const std::string spec = std::string(kTeamGoes) +
                           "  controllers: [{name: op, runsIn: deployments.apps/op/op, removes: {finalizer: "
                           "example.com/f, from: configmaps}}]\n";
  std::string webhook = unanswered("UPDATE", "leases");
  webhook.insert(webhook.find("rules:"),
                 "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: op}}, ");
  EXPECT_THAT(
      toldOf(documents + webhook, spec),
      Contains(HasSubstr("the webhook h/h.example.com answers while controller op has work: it is asked "
                         "about the Leases in namespace op")));
  EXPECT_THAT(toldOf(boundPolicy("UPDATE", "leases")),
              ElementsAre(AllOf(HasSubstr("the ValidatingAdmissionPolicy p allows what it matches as long as "
                                          "anything is deleted"),
                                HasSubstr("the Lease of kube-controller-manager"))));
}

// kube-controller-manager ends when it cannot renew its Lease (--leader-elect), and ends no Namespace then.
TEST(AssumedCalls, TheLeaseOfTheControllerManager) {
  const std::string webhook = unanswered("UPDATE", "leases");
  const auto told = [](const ScenarioReport& report) {
    std::string reasons;
    for (const Leftover& left : report.leftovers)
      for (const std::string& reason : left.reasons) reasons += left.object + ": " + reason + "\n";
    return reasons;
  };
  EXPECT_THAT(
      told(play(scenario(kTeamGoes, kTeamThatGoes + webhook))),
      HasSubstr("namespaces/team: no Namespace ends while the webhook h.example.com of "
                "validatingwebhookconfigurations/h does not answer (kube-controller-manager "
                "cannot renew its Lease then, and stops): its Service gone/hook is not in the files"));
  EXPECT_THAT(toldOf(webhook), IsEmpty()) << "it is followed";
  std::string elsewhere = webhook;
  elsewhere.insert(elsewhere.find("rules:"),
                   "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: op}}, ");
  EXPECT_EQ(told(play(scenario(kTeamGoes, kTeamThatGoes + elsewhere))), "");
  EXPECT_THAT(toldAssumptions(
                  scenario("\n  guard: false\n  steps: [{delete: configmaps/team/c}]\n",
                           kTeamThatGoes + webhook +
                               "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team}}\n")),
              ElementsAre(HasSubstr("answers as long as anything is deleted")));
}

// Many controllers write a status before they remove their finalizer.
TEST(AssumedCalls, TheStatusThatAControllerMayWriteFirst) {
  const auto told = [](const std::string& operation, const std::string& resource) {
    return toldAssumptions(
        scenario(std::string(kController) + "\n  guard: false\n  steps: [{delete: widgets/one}]\n",
                 std::string(kOperator) + "---\n" + unanswered(operation, resource)));
  };
  EXPECT_THAT(told("UPDATE", "widgets/status"),
              ElementsAre(HasSubstr(
                  "the webhook h/h.example.com answers, or controller cleanup removes its finalizer from "
                  "widgets/one without writing a status first")));
  EXPECT_THAT(told("CREATE", "widgets/status"), IsEmpty());
  EXPECT_THAT(told("UPDATE", "widgets"), IsEmpty()) << "it is stuck";
}

// Nodes, the Job controller and the garbage collector are clients like others.
TEST(AssumedCalls, PoliciesAboutTheWritesOfControllers) {
  const std::string job =
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: team}, spec: {template: {spec: "
      "{containers: "
      "[{name: c}]}}}}\n";
  for (const char* resource : {"pods", "pods/status", "jobs/status"})
    EXPECT_THAT(toldOf(boundPolicy("UPDATE", resource) + job),
                ElementsAre(HasSubstr("the ValidatingAdmissionPolicy p allows what it matches")))
        << resource;
  EXPECT_THAT(toldOf(boundPolicy("UPDATE", "jobs/scale") + job), IsEmpty());
}

// isDangling() of the garbage collector reads an owner in the version that the ownerReference names.
TEST(AssumedCalls, OwnersThatAreLookedForInAnotherVersion) {
  const auto named = [](const std::string& version, const std::string& policy) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps: [{delete: things/team/t, propagationPolicy: " + policy + "}]\n",
        "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
        "things.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: "
        "things}, conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, name: "
        "hook}}}}, versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, "
        "storage: false}]}}\n---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: t, namespace: "
        "team}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team, "
        "ownerReferences: [{apiVersion: example.com/" +
            version + ", kind: Thing, name: t, uid: '', blockOwnerDeletion: true}]}}\n"));
  };
  EXPECT_THAT(named("v1beta1", "Foreground"),
              ElementsAre(HasSubstr("the conversion webhook of customresourcedefinitions/things.example.com "
                                    "answers when the garbage collector looks for things/team/t, which "
                                    "configmaps/team/c names as its owner in v1beta1")));
  EXPECT_THAT(named("v1beta1", "Background"), IsEmpty()) << "it is gone by then";
  EXPECT_THAT(named("v1", "Foreground"), IsEmpty());
}

// A policy whose parameters cannot be found denies whatever its binding says
// (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources).
TEST(AssumedCalls, PoliciesThatOnlyAuditFindTheirParameters) {
  const std::string parameters = ", paramKind: {apiVersion: v1, kind: ConfigMap}";
  EXPECT_THAT(toldOf(boundPolicy("DELETE", "configmaps", "Audit", parameters)),
              ElementsAre(HasSubstr("the ValidatingAdmissionPolicy p finds its parameters")));
  EXPECT_THAT(toldOf(boundPolicy("DELETE", "configmaps", "Audit")), IsEmpty());
  EXPECT_THAT(toldOf(boundPolicy("DELETE", "configmaps", "Audit", parameters + ", failurePolicy: Ignore")),
              IsEmpty());
}

// With --use-service-account-credentials, as kubeadm sets it, its controllers ask for tokens in kube-system.
TEST(AssumedCalls, TheTokensOfKubeControllerManager) {
  const std::string claim = "it is asked about tokens of the ServiceAccounts in namespace kube-system";
  EXPECT_THAT(toldOf(unanswered("CREATE", "serviceaccounts/token")), ElementsAre(HasSubstr(claim)));
  EXPECT_THAT(toldOf(boundPolicy("CREATE", "serviceaccounts/token")), ElementsAre(HasSubstr(claim)));
  EXPECT_THAT(toldOf(unanswered("CREATE", "serviceaccounts")), IsEmpty());
  std::string elsewhere = unanswered("CREATE", "serviceaccounts/token");
  elsewhere.insert(elsewhere.find("rules:"),
                   "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: "
                   "NotIn, values: [kube-system]}]}, ");
  EXPECT_THAT(toldOf(elsewhere), IsEmpty());
}

// Kubernetes' aggregator sends requests by APIServices alone; one that a client made stays when a CRD of the
// same group and version comes.
TEST(AssumedCalls, AnApiServiceInFrontOfACrd) {
  const auto of = [](const std::string& version, const std::string& service) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps: [{delete: things/team/t}]\n",
        "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
        "things.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: "
        "things}, versions: [{name: v1, served: true, storage: true}]}}\n---\n{apiVersion: example.com/v1, "
        "kind: Thing, metadata: {name: t, namespace: team}}\n---\n{apiVersion: apiregistration.k8s.io/v1, "
        "kind: APIService, metadata: {name: " +
            version + ".example.com}, spec: {group: example.com, version: " + version + service + "}}\n"));
  };
  const std::string gone = ", service: {namespace: gone, name: gone}";
  EXPECT_THAT(of("v1", gone),
              ElementsAre(HasSubstr("things.example.com can be deleted: apiservices/v1.example.com sends the "
                                    "requests in example.com/v1 to another API server")));
  EXPECT_THAT(of("v2", gone), IsEmpty());
  EXPECT_THAT(of("v1", ""), IsEmpty()) << "that is what API servers make for the CRD themselves";
}

}  // namespace
}  // namespace lastout::replay
