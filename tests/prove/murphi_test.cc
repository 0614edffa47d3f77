// A second opinion: the rules in prove/murphi/ and the machine give the same verdicts and have the same
// states.
#include "prove/murphi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/prove/opinions.h"

namespace lastout::prove {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SecondOpinion : public ::testing::TestWithParam<const char*> {};

TEST_P(SecondOpinion, AgreesInVerdictAndStates) {
  const auto ready = shipped(GetParam());
  ASSERT_TRUE(ready);
  EXPECT_EQ(ofRumur(modelOf(*ready)), ofMachine(*ready));
}

std::string nameOf(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

// Each is translated to C and compiled, which takes seconds; a sanitizer sees nothing of that.
#ifdef LASTOUT_SANITIZED
const auto kCompared = ::testing::Values("own-namespace");
#else
const auto kCompared = ::testing::Values(
    "apiservice-left-behind", "controller-in-job", "crd-deleted-directly", "crd-of-criticalservices",
    "cycle-of-two", "dependency-apiservice", "dependency-of-a-criterions-type", "finalizer-prefix",
    "foreground-delete", "group-of-types", "hold-background", "hold-foreground", "intent-orphan",
    "late-instance-with-crd", "namespace-any-order", "namespace-pod-waits", "namespace-pods-first",
    "needs-credentials", "own-namespace", "own-namespace-excepted", "network-in-use",
    "operator-for-each-tenant", "operator-for-labelled-namespaces", "provider-recreated",
    "provider-statefulset", "provider-webhook-unguarded", "reapplied-crd", "webhook-refuses-collector",
    "webhook-refuses-controller");
#endif

INSTANTIATE_TEST_SUITE_P(Of, SecondOpinion, kCompared, nameOf);

TEST(SecondOpinionOnPods, CountAReplacedOneAsGone) {
  const auto replaced = replay::ready(
      replay::scenario("  guard: false\n  steps:\n    - delete: pods/operator/*", replay::kUnguarded));
  ASSERT_TRUE(replaced);
  EXPECT_EQ(ofMachine(*replaced).verdict, "PROVEN");
  EXPECT_EQ(ofRumur(modelOf(*replaced)), ofMachine(*replaced));
}

#ifndef LASTOUT_SANITIZED
// Of the scenario that deletes these, of these documents.
void expectOneOpinion(const std::string& steps, const std::string& documents, const std::string& verdict) {
  const auto ready = replay::ready(replay::scenario("  guard: false\n  steps:\n" + steps, documents));
  ASSERT_TRUE(ready);
  EXPECT_EQ(ofMachine(*ready).verdict, verdict);
  EXPECT_EQ(ofRumur(modelOf(*ready)), ofMachine(*ready));
}

TEST(SecondOpinionOnRings, FollowsWhatTheGarbageCollectorDoesAboutThem) {
  const std::string ring =
      "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, ownerReferences: "
      "[{apiVersion: v1, kind: ConfigMap, name: b, uid: '', blockOwnerDeletion: true}]}}\n"
      "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: default, ownerReferences: "
      "[{apiVersion: v1, kind: ConfigMap, name: a, uid: '', blockOwnerDeletion: true}]}}\n";
  const std::string first = "    - {delete: configmaps/default/a, propagationPolicy: Foreground}\n";
  expectOneOpinion(first, ring, "PROVEN");
  expectOneOpinion(first + "    - {delete: configmaps/default/b, propagationPolicy: Foreground}\n", ring,
                   "STUCK");
}

TEST(SecondOpinionOnNamespaces, KnowsWhatKubernetesMakesInThem) {
  const std::string hook =
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
      "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: "
      "h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: gone, name: hook}}, rules: "
      "[{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}]}\n";
  expectOneOpinion("    - delete: namespace/team\n", hook, "STUCK");
}

// What a webhook that nobody answers refuses, in a Namespace that a client deletes. `documents`: what is in
// it.
void expectOneOpinionOnHook(const std::string& resource, const std::string& documents,
                            const std::string& verdict, const std::string& controllers = "") {
  expectOneOpinion(
      "    - delete: namespace/team\n" + controllers,
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n" + documents +
          "---\n{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, "
          "metadata: {name: h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: gone, "
          "name: hook}}, rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [UPDATE], resources: [" +
          resource + "]}]}]}\n",
      verdict);
}

// syncBatch() of the kubelet's status manager writes the status before it deletes the Pod.
TEST(SecondOpinionOnPods, KnowsThatANodeReportsInTheirStatus) {
  expectOneOpinionOnHook("pods/status", "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}}\n",
                         "STUCK");
}

// PatchService() of k8s.io/cloud-provider patches services/status.
TEST(SecondOpinionOnServices, KnowsThatTheCloudLetsThemGoInTheirStatus) {
  const std::string service =
      "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: team, finalizers: "
      "[service.kubernetes.io/load-balancer-cleanup]}, spec: {type: LoadBalancer}}\n";
  const std::string cloud =
      "  controllers: [{name: ccm, removes: {finalizer: service.kubernetes.io/load-balancer-cleanup, from: "
      "services}}]\n";
  expectOneOpinionOnHook("services/status", service, "STUCK", cloud);
  expectOneOpinionOnHook("services", service, "PROVEN", cloud);
}

// The Job controller counts a Pod in the status of its Job before it takes its finalizer off. Since 1.33 the
// Pods of a Namespace go before the rest of it.
TEST(SecondOpinionOnJobs, KnowsThatTheirPodsAreCountedInTheirStatus) {
  const std::string job =
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: team}, spec: {template: {spec: "
      "{containers: [{name: c, image: i}]}}}}\n";
  expectOneOpinionOnHook("jobs/status", job, "STUCK");
}

TEST(SecondOpinionOnConversions, KnowsThatThePreferredVersionNeedsNone) {
  const std::string thing =
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "things.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: "
      "things}, conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, name: "
      "hook}}}}, versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, storage: "
      "false}]}}\n---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: t, namespace: team}}\n";
  expectOneOpinion("    - delete: namespace/team\n", thing, "PROVEN");
}
#endif

// One of Kubernetes' rules, written wrongly.
struct Mistake {
  const char* scenario;
  const char* right;
  const char* wrong;
};
std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  return out << mistake.wrong << " in " << mistake.scenario;
}

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreSeen) {
  const auto ready = shipped(GetParam().scenario);
  ASSERT_TRUE(ready);
  std::string model = modelOf(*ready);
  const size_t at = model.find(GetParam().right);
  ASSERT_NE(at, std::string::npos);
  model.replace(at, std::string(GetParam().right).size(), GetParam().wrong);
  EXPECT_NE(ofRumur(model), ofMachine(*ready));
}

#ifdef LASTOUT_SANITIZED
const auto kMistakes = ::testing::Values(
#else
const auto kMistakes = ::testing::Values(
    Mistake{"apiservice-left-behind", "& is_empty(s) & !namespace_call_fails() ==>", "& is_empty(s) ==>"},
    Mistake{"namespace-pod-waits", "(kind(s) = Pod | !awaits_pods(namespace_of(s)))", "true"},
    Mistake{"provider-webhook-unguarded", "elsif is_immortal(s) | call_fails(s, OnDelete) then",
            "elsif is_immortal(s) then"},
    Mistake{"webhook-refuses-collector", "ends_content(s) & !call_fails(s, OnCleanup) & is_empty(s)",
            "ends_content(s) & is_empty(s)"},
    Mistake{"foreground-delete", "return Foreground; end;\n  if object[s].finalizers[f_orphan]",
            "return Background; end;\n  if object[s].finalizers[f_orphan]"},
#endif
    Mistake{"crd-deleted-directly", "kind(s) = Crd & ends_content(s) & is_empty(s) ==>",
            "kind(s) = Crd & ends_content(s) ==>"});

INSTANTIATE_TEST_SUITE_P(Of, Mistakes, kMistakes);

TEST(Murphi, TheScriptComparesBoth) {
  const testing::Ran ran =
      testing::shell("LASTOUT=\"$(command -v lastout)\" scripts/second-opinion scenarios/own-namespace.yaml");
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_EQ(ran.out, "own-namespace.yaml: prove says STUCK, 20 states; Rumur says STUCK, 20 states\n");
}

TEST(Murphi, TellsWhatItHasNoRulesFor) {
  const auto ofWorks = toMurphi(shipped("story-one-work")->compiled, {});
  ASSERT_FALSE(ofWorks);
  EXPECT_THAT(ofWorks.error(),
              ElementsAre(::testing::Field(&kube::Error::message, HasSubstr("ManifestWorks"))));
  const auto ofPolicies = toMurphi(shipped("policy-usage")->compiled, {});
  ASSERT_FALSE(ofPolicies);
  EXPECT_THAT(ofPolicies.error().front().message, HasSubstr("DeletionPolicies"));
  const auto ofFinished = toMurphi(shipped("job-time-to-live")->compiled, {});
  ASSERT_FALSE(ofFinished);
  EXPECT_THAT(ofFinished.error().front().message, HasSubstr("ttlSecondsAfterFinished"));
  const auto ofReplicaSets = toMurphi(shipped("work-replica-set")->compiled, {});
  ASSERT_FALSE(ofReplicaSets);
  EXPECT_THAT(ofReplicaSets.error().back().message, HasSubstr("ManifestWorkReplicaSets"));
}

}  // namespace
}  // namespace lastout::prove
