// What lastout why says of files in which the API server calls somebody who does not answer.
#include "admission/unanswered_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/replay/why_in.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kConfiguration = "validatingwebhookconfigurations.admissionregistration.k8s.io/checks";

TEST(UnansweredCalls, AWebhookWithoutItsServiceRefusesTheDeletion) {
  const admission::Why why = whyIn(webhookFor("DELETE"), "things/t -n team");
  EXPECT_FALSE(why.allowed);
  EXPECT_TRUE(why.isBlocked());
  EXPECT_FALSE(why.guarded) << "it is not lastout that refuses";
  EXPECT_EQ(why.reason, "WebhookFails");
  EXPECT_EQ(
      why.message,
      "the API server refuses its deletion: the webhook things.example.io of "
      "validatingwebhookconfigurations.admissionregistration.k8s.io/checks does not answer, because its "
      "Service gone/hook is not in the files; bring it back, or delete "
      "validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  ASSERT_THAT(why.blockers, SizeIs(1));
  EXPECT_EQ(why.blockers[0].field, std::string(kConfiguration) + "#webhooks[1]");
  ASSERT_THAT(why.roots, SizeIs(1));
  EXPECT_EQ(why.roots[0].message, std::string(kConfiguration) +
                                      ": its webhook things.example.io does not answer, because its Service "
                                      "gone/hook is not in the files");
  EXPECT_THAT(why.roots[0].path, ElementsAre("things.example.com/team/t", kConfiguration));
}

TEST(UnansweredCalls, AWebhookThatNobodyNeedsToAnswerRefusesNothing) {
  const std::string byHand =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: gone}, spec: {ports: [{port: "
      "443}]}}\n";
  for (const std::string& yaml : {webhookFor("CREATE"), webhookFor("DELETE", "  failurePolicy: Ignore\n"),
                                  webhookFor("DELETE", "", "{url: 'https://hook.example.com'}"),
                                  webhookFor("DELETE", "  objectSelector: {matchLabels: {checked: 'yes'}}\n"),
                                  webhookFor("DELETE") + byHand}) {
    const admission::Why why = whyIn(yaml, "things/t -n team");
    EXPECT_TRUE(why.allowed) << yaml;
    EXPECT_FALSE(why.isBlocked()) << yaml;
  }
}

TEST(UnansweredCalls, AWebhookIsAnsweredByPodsBehindItsService) {
  const std::string service =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: gone}, spec: {selector: {app: "
      "hook}}}\n";
  const auto deployment = [](const std::string& name, int replicas) {
    return "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name +
           ", namespace: gone}, spec: {replicas: " + std::to_string(replicas) +
           ", selector: {matchLabels: {app: " + name + "}}, template: {metadata: {labels: {app: " + name +
           "}}, spec: {containers: []}}}}\n";
  };
  EXPECT_TRUE(whyIn(webhookFor("DELETE") + service + deployment("hook", 1), "things/t -n team").allowed);
  for (const std::string& behind : {std::string(), deployment("hook", 0), deployment("other", 1)}) {
    const admission::Why why = whyIn(webhookFor("DELETE") + service + behind, "things/t -n team");
    EXPECT_FALSE(why.allowed) << behind;
    EXPECT_THAT(why.message, HasSubstr("because no Pod is behind its Service gone/hook; bring it back"))
        << behind;
  }
}

TEST(UnansweredCalls, AServiceThatNoApiServerCanCallSaysWhy) {
  const auto messageFor = [](const std::string& spec) {
    return whyIn(
               webhookFor("DELETE") +
                   "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: gone}, spec: "
                   "{selector: {app: hook}, " +
                   spec +
                   "}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: gone, labels: {app: "
                   "hook}}, spec: {containers: [{name: c, ports: [{name: web, containerPort: 9443}]}]}}\n",
               "things/t -n team")
        .message;
  };
  EXPECT_THAT(
      messageFor("clusterIP: None"),
      HasSubstr("because its Service gone/hook is headless (clusterIP: None), which API servers cannot "
                "route to without --enable-aggregator-routing; bring it back"));
  EXPECT_THAT(messageFor("ports: [{port: 80}]"),
              HasSubstr("because its Service gone/hook has no port 443; bring it back"));
  EXPECT_THAT(
      messageFor("ports: [{port: 443, targetPort: hooks}]"),
      HasSubstr("because its Service gone/hook calls the port hooks of its Pods, which no container of "
                "theirs has; bring it back"));
  EXPECT_THAT(messageFor("ports: [{port: 443, targetPort: web}]"), Not(HasSubstr("does not answer")));
}

TEST(UnansweredCalls, ANamespaceStaysWithWhatIsRefusedInIt) {
  const admission::Why why = whyIn(webhookFor("DELETE"), "namespace/team");
  EXPECT_TRUE(why.allowed) << "its own deletion is accepted";
  EXPECT_TRUE(why.isBlocked());
  ASSERT_THAT(why.blockers, SizeIs(1));
  EXPECT_THAT(why.blockers[0].message,
              HasSubstr("things.example.com/team/t would stay: the API server refuses"));
  EXPECT_THAT(whyIn(webhookFor("DELETE"), "crd/things.example.com").blockers, IsEmpty())
      << "the clean-up of a CRD asks no webhook";
}

TEST(UnansweredCalls, FinalizersStayWhereAWebhookForUpdatesDoesNotAnswer) {
  std::string yaml = webhookFor("UPDATE");
  yaml.replace(yaml.find("{name: t, "), 10,
               "{name: t, finalizers: [example.com/f], deletionTimestamp: "
               "'2026-11-01T10:00:00Z', ");
  const admission::Why why = whyIn(yaml, "things/t -n team");
  EXPECT_TRUE(why.terminating);
  EXPECT_THAT(why.blockers,
              ::testing::Contains(::testing::Field(
                  &admission::WhyBlocker::message,
                  HasSubstr("its finalizers cannot be removed: the webhook things.example.io"))));
}

// Whose write it is, as far as manifests tell.
TEST(UnansweredCalls, TheyNameWhoCannotRemoveAFinalizer) {
  std::string yaml = webhookFor("UPDATE");
  yaml.replace(yaml.find("{name: t, "), 10,
               "{name: t, finalizers: [example.com/f, foregroundDeletion], deletionTimestamp: "
               "'2026-11-01T10:00:00Z', ");
  yaml += R"(---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: s}
spec:
  provider: {group: apps, resource: deployments, namespace: op, name: op}
  criteria: [{type: Finalizer, finalizer: {group: example.com, resource: things, finalizerName: example.com/f}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: op}
spec: {template: {spec: {containers: [{name: c, image: i}]}}}
)";
  EXPECT_THAT(blockersOf(whyIn(yaml, "things/t -n team")),
              ::testing::Contains(HasSubstr("its finalizers cannot be removed (example.com/f by "
                                            "deployments.apps/op/op and foregroundDeletion by the garbage "
                                            "collector): the webhook things.example.io")));
  EXPECT_THAT(blockersOf(whyIn(yaml, "namespace/team")),
              ::testing::Contains(HasSubstr("things.example.com/team/t would stay: its finalizers cannot")))
      << "and what it is in";
  EXPECT_THAT(blockersOf(whyIn(yaml, "crd/things.example.com")),
              ::testing::Contains(HasSubstr("things.example.com/team/t would stay: its finalizers cannot")));
}

TEST(UnansweredCalls, WhatEndsANamespaceOrACrdIsAWrite) {
  const auto ruleFor = [](const std::string& resources) {
    return std::string(kThings) +
           "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
           "metadata: {name: checks}\nwebhooks:\n- name: ends.example.io\n  clientConfig: {service: "
           "{namespace: "
           "gone, name: hook}}\n  rules: [{apiGroups: ['*'], apiVersions: ['*'], operations: [UPDATE], "
           "resources: ['" +
           resources + "']}]\n";
  };
  const admission::Why space = whyIn(ruleFor("namespaces/finalize"), "namespace/team");
  EXPECT_TRUE(space.allowed);
  EXPECT_TRUE(space.isBlocked());
  EXPECT_THAT(
      blockersOf(space),
      ElementsAre(HasSubstr("the namespace controller cannot take the finalizer kubernetes off it: the "
                            "webhook ends.example.io")));
  EXPECT_THAT(blockersOf(whyIn(ruleFor("customresourcedefinitions/*"), "crd/things.example.com")),
              ElementsAre(HasSubstr("the finalizer of its clean-up cannot be removed: the webhook")));
  EXPECT_THAT(blockersOf(whyIn(ruleFor("namespaces"), "namespace/team")), IsEmpty());
}

// isBeingUsed() of kube-controller-manager: a volume that no claim has goes without a word in its status.
TEST(UnansweredCalls, AVolumeIsReleasedInItsStatusIfAClaimHasIt) {
  const auto blockersFor = [](const std::string& status) {
    return blockersOf(whyIn(
        std::string(kThings) +
            "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, status: {phase: " + status +
            "}}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
            "metadata: {name: checks}\nwebhooks:\n- name: ends.example.io\n  clientConfig: {service: "
            "{namespace: gone, name: hook}}\n  rules: [{apiGroups: [''], apiVersions: ['*'], operations: "
            "[UPDATE], resources: [persistentvolumes/status]}]\n",
        "persistentvolume/v"));
  };
  EXPECT_THAT(blockersFor("Bound"), ElementsAre(HasSubstr("its finalizers cannot be removed")));
  EXPECT_THAT(blockersFor("Available"), IsEmpty());
}

TEST(UnansweredCalls, AConversionThatNobodyAnswersKeepsInstancesAndTheirCrd) {
  std::string yaml = kThings;
  yaml.replace(yaml.find("  versions:"), 0,
               "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, name: "
               "convert}}}}\n");
  yaml.insert(yaml.find("storage: true}") + 14, ", {name: v2, served: true, storage: false}");
  const admission::Why instance = whyIn(yaml, "things/t -n team");
  EXPECT_EQ(instance.reason, "ConversionFails");
  EXPECT_THAT(
      instance.message,
      AllOf(HasSubstr("the conversion webhook of customresourcedefinitions.apiextensions.k8s.io/"
                      "things.example.com does not answer, because its Service gone/convert is not in the "
                      "files"),
            HasSubstr("set spec.conversion.strategy to None")));
  EXPECT_THAT(whyIn(yaml, "crd/things.example.com").blockers, IsEmpty())
      << "its clean-up reads the storage version, and nothing is stored in another";
  yaml.insert(yaml.find("---"), "status: {storedVersions: [v2, v1]}\n");
  const admission::Why crd = whyIn(yaml, "crd/things.example.com");
  EXPECT_TRUE(crd.allowed);
  ASSERT_THAT(crd.blockers, SizeIs(1));
  EXPECT_THAT(crd.blockers[0].message, HasSubstr("things.example.com/team/t would stay: "));
}

TEST(UnansweredCalls, AConversionIsNotCalledForTheStoredVersion) {
  const auto whyOf = [](const std::string& finalizers) {
    std::string yaml = kThings;
    yaml.replace(
        yaml.find("  versions:"), 0,
        "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, name: "
        "convert}}}}\n");
    yaml.insert(yaml.find("storage: true}") + 14, ", {name: v1beta1, served: true, storage: false}");
    yaml +=
        "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: other, namespace: team, finalizers: [" +
        finalizers + "]}\n";
    return whyIn(yaml, "things/other -n team");
  };
  EXPECT_TRUE(whyOf("").allowed) << "the preferred version is the stored one";
  EXPECT_THAT(blockersOf(whyOf("")), IsEmpty());
  EXPECT_TRUE(whyOf("example.com/f").allowed);
  EXPECT_THAT(blockersOf(whyOf("example.com/f")),
              ElementsAre(AllOf(HasSubstr("its finalizers cannot be removed"),
                                HasSubstr("the conversion webhook of "))))
      << "nobody knows in which version its controller writes";
}

TEST(UnansweredCalls, AConversionThatNobodyAnswersKeepsWhatIsBeingDeleted) {
  std::string yaml = kThings;
  yaml.replace(yaml.find("  versions:"), 0,
               "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, name: "
               "convert}}}}\n");
  yaml.insert(yaml.find("storage: true}") + 14, ", {name: v2, served: true, storage: false}");
  yaml +=
      "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: going, namespace: team, finalizers: "
      "[example.com/f], deletionTimestamp: '2026-11-01T10:00:00Z'}\n";
  EXPECT_THAT(blockersOf(whyIn(yaml, "things/going -n team")),
              ElementsAre(AllOf(HasSubstr("its finalizers cannot be removed"),
                                HasSubstr("the conversion webhook of ")),
                          HasSubstr("it has finalizer example.com/f")));
}

TEST(UnansweredCalls, AnApiServiceKeepsEachNamespace) {
  const std::string yaml = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: going, deletionTimestamp: '2026-11-01T10:00:00Z'}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: other}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.m.example.com}, spec: {group: m.example.com,
  version: v1, service: {namespace: gone, name: m}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.local.example.com}, spec: {group:
  local.example.com, version: v1}}
)";
  for (const char* name : {"namespace/going", "namespace/other"}) {
    const admission::Why why = whyIn(yaml, name);
    EXPECT_TRUE(why.allowed) << name;
    EXPECT_TRUE(why.isBlocked()) << name;
    ASSERT_THAT(why.blockers, SizeIs(1)) << name;
    EXPECT_EQ(why.blockers[0].reason, "DiscoveryFails");
    EXPECT_EQ(why.blockers[0].message,
              "no Namespace ends while apiservices.apiregistration.k8s.io/v1.m.example.com does not answer, "
              "because "
              "its Service gone/m is not in the files; delete "
              "apiservices.apiregistration.k8s.io/v1.m.example.com, or bring it back");
    ASSERT_THAT(why.roots, SizeIs(1)) << name;
    EXPECT_EQ(why.roots[0].message,
              "apiservices.apiregistration.k8s.io/v1.m.example.com: it does not answer, because its Service "
              "gone/m is not in the files");
  }
  EXPECT_FALSE(whyIn(yaml, "configmap/c -n other").isBlocked()) << "content still goes";
}

// As kubectl get -o yaml has it.
TEST(UnansweredCalls, AnApiServiceThatWasReadFromAClusterSaysItself) {
  const auto withStatus = [](const std::string& service, const std::string& available) {
    return "{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
           "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.m.example.com}, "
           "spec: {group: "
           "m.example.com, version: v1, service: {namespace: m, name: " +
           service + "}}, status: {conditions: [{type: Available, status: '" + available +
           "'}]}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: there, namespace: m}, spec: {}}\n";
  };
  EXPECT_FALSE(whyIn(withStatus("elsewhere", "True"), "namespace/team").isBlocked());
  const admission::Why why = whyIn(withStatus("there", "False"), "namespace/team");
  ASSERT_THAT(why.blockers, SizeIs(1));
  EXPECT_THAT(why.blockers[0].message,
              HasSubstr("does not answer, because its condition Available is False"));
}

TEST(UnansweredCalls, AreToldBesideWhatLastoutDenies) {
  const std::string yaml = webhookFor("DELETE") + R"(---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: s}
spec:
  provider: {group: example.com, resource: things, namespace: team, name: t}
  criteria:
  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: team, name: c}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team}}
)";
  const admission::Why why = whyIn(yaml, "things/t -n team");
  EXPECT_EQ(why.reason, "CriterionUnmet");
  EXPECT_THAT(why.message, AllOf(HasSubstr("delete it first; the API server refuses its deletion"),
                                 Not(HasSubstr("ALLOW"))));
  EXPECT_THAT(why.blockers, SizeIs(2));
}

}  // namespace
}  // namespace lastout::replay
