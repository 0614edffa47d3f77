// What the files say about workloads that somebody needs, and about the agent, and that the machine does not
// follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/assumptions.h"
#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Deletes a ConfigMap whose finalizer a controller in `runsIn` removes, and what `more` names.
std::string needing(const std::string& runsIn, const std::string& documents, const std::string& more = "") {
  return scenario("\n  guard: false\n  steps:\n    - delete: [configmaps/default/a" + more + R"(]
  controllers:
    - {name: op, removes: {finalizer: example.com/f, from: configmaps}, runsIn: )" +
                      runsIn + "}\n",
                  "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, "
                  "finalizers: [example.com/f]}}\n---\n"
                  "{apiVersion: v1, kind: Namespace, metadata: {name: op}}\n---\n" +
                      documents);
}

std::string podWith(const std::string& status, const std::string& spec = "containers: [{name: c}]") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: op}, spec: {" + spec + "}, status: {" +
         status + "}}\n";
}

std::string deploymentWith(const std::string& status, int replicas = 1, const std::string& spec = "") {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: op}, spec: {replicas: " +
         std::to_string(replicas) +
         ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
         "spec: {" +
         spec + "containers: [{name: c}]}}}, status: {" + status + "}}\n";
}

TEST(NeededWorkloads, AStatusWithoutReadyPodsIsNamed) {
  const auto of = [](const std::string& status, int replicas = 1) {
    return toldAssumptions(needing("deployments/op/d", deploymentWith(status, replicas)));
  };
  EXPECT_THAT(
      of("replicas: 1, unavailableReplicas: 1"),
      ElementsAre(HasSubstr("deployments/op/d becomes Ready: by its status none of its Pods is ready")));
  EXPECT_THAT(of("replicas: 1, readyReplicas: 1"), IsEmpty());
  EXPECT_THAT(of(""), IsEmpty()) << "a manifest says nothing about it";
  EXPECT_THAT(of("observedGeneration: 1", 0), IsEmpty()) << "that it is scaled to zero is followed";
  EXPECT_THAT(toldAssumptions(needing(
                  "pods/op/p", podWith("phase: Pending, conditions: [{type: Ready, status: 'False'}]"))),
              ElementsAre(HasSubstr("pods/op/p becomes Ready: by its status its condition Ready is False")));
}

// A webhook's Pods are needed as well.
TEST(NeededWorkloads, TheyStandBehindWebhooks) {
  const std::string hook =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: op}, spec: {selector: {a: b}, "
      "ports: [{port: 443}]}}\n---\n"
      "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: "
      "h}, webhooks: [{name: h.example.com, clientConfig: {service: {namespace: op, name: hook}}, rules: "
      "[{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}]}\n";
  const auto made = (scenario("\n  guard: false\n  steps:\n    - delete: configmaps/default/a\n",
                              "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "
                              "default}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: "
                              "op}}\n---\n" +
                                  deploymentWith("unavailableReplicas: 1") + hook));
  EXPECT_THAT(toldAssumptions(made), Contains(HasSubstr("deployments/op/d becomes Ready: ")));
}

// As are those of an APIService where a Namespace is to end: its content is found once each API server
// answers.
TEST(NeededWorkloads, TheyStandBehindApiServices) {
  const auto of = [](const std::string& deleted) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - delete: [" + deleted + "]\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: op}}\n---\n"
        "{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}\n---\n" +
            deploymentWith("unavailableReplicas: 1") +
            "---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: op}}\n---\n"
            "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: deny, namespace: op}}\n"
            "---\n{apiVersion: v1, kind: Service, metadata: {name: m, namespace: op}, spec: {selector: {a: "
            "b}, ports: [{port: 443}]}}\n---\n"
            "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.m.example.com}, "
            "spec: {group: m.example.com, version: v1, service: {namespace: op, name: m}}}\n"));
  };
  EXPECT_THAT(of("namespace/team, pods/op/*"),
              ElementsAre(HasSubstr("deployments/op/d becomes Ready: "),
                          HasSubstr("deployments/op/d can be reached, and reaches API servers, with and "
                                    "without networkpolicies"),
                          HasSubstr("resourcequotas/op/few admits the Pods")));
  EXPECT_THAT(of("configmaps/team/a, pods/op/*"), IsEmpty()) << "no Namespace ends";
}

// Its containers never run again: that is followed.
TEST(NeededWorkloads, APodThatHasEndedDoesNothing) {
  const auto ended = needing("pods/op/p", podWith("phase: Succeeded"));
  EXPECT_THAT(toldAssumptions(ended), IsEmpty());
  EXPECT_THAT(inOneLine(play(ended)), StartsWith("stuck"));
  EXPECT_THAT(inOneLine(play(needing("pods/op/p", podWith("phase: Running")))), StartsWith("empty"));
}

TEST(NeededWorkloads, ALostNodeAndOneThatGoesAreNamed) {
  const auto of = [](const std::string& condition, const std::string& more) {
    return toldAssumptions(
        needing("pods/op/p",
                podWith("phase: Running", "nodeName: n, containers: [{name: c}]") +
                    "---\n{apiVersion: v1, kind: Node, metadata: {name: n}, status: {conditions: "
                    "[{type: Ready, status: '" +
                    condition + "'}]}}\n",
                more));
  };
  EXPECT_THAT(of("Unknown", ""),
              ElementsAre(HasSubstr("node n runs pods/op/p: its condition Ready is not True")));
  EXPECT_THAT(of("True", ""), IsEmpty());
  EXPECT_THAT(of("True", ", nodes/n"), ElementsAre(HasSubstr("pods/op/p stays without node n: ")));
}

TEST(NeededWorkloads, ALostNodeIsNamedWhereNobodyKnowsWherePodsRun) {
  const auto of = [](const std::string& condition) {
    return toldAssumptions(
        needing("deployments/op/d", deploymentWith("") +
                                        "---\n{apiVersion: v1, kind: Node, metadata: {name: n}, status: "
                                        "{conditions: [{type: Ready, status: '" +
                                        condition + "'}]}}\n"));
  };
  EXPECT_THAT(of("Unknown"),
              ElementsAre(HasSubstr("another Node than n runs the Pods of deployments/op/d: its "
                                    "condition Ready is not True")));
  EXPECT_THAT(of("True"), IsEmpty());
}

// Its controller makes no new ReplicaSet while it is paused.
TEST(NeededWorkloads, APausedDeploymentIsNamed) {
  const auto of = [](const std::string& paused, const std::string& more = "") {
    std::string deployment = deploymentWith("");
    deployment.insert(deployment.find("selector:"), "paused: " + paused + ", ");
    return toldAssumptions(needing("deployments/op/d", deployment + more));
  };
  EXPECT_THAT(of("true"), ElementsAre(HasSubstr("deployments/op/d has Pods: it is paused")));
  EXPECT_THAT(of("false"), IsEmpty());
  EXPECT_THAT(of("true",
                 "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: d-1, namespace: op, "
                 "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: '', controller: "
                 "true}]}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: "
                 "{labels: {a: b}}, spec: {containers: [{name: c}]}}}}\n"),
              IsEmpty());
}

TEST(NeededWorkloads, ALeaseThatGoesIsNamed) {
  const auto of = [](const std::string& space, const std::string& more = "") {
    return toldAssumptions(needing("deployments/op/d",
                                   deploymentWith("") +
                                       "---\n{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: "
                                       "{name: leader, namespace: " +
                                       space + "}}\n",
                                   ", leases/" + space + "/leader" + more));
  };
  EXPECT_THAT(of("op"), ElementsAre(HasSubstr("deployments/op/d creates leases")));
  EXPECT_THAT(of("default"), IsEmpty());
  EXPECT_THAT(of("op", ", namespaces/op"), Not(Contains(HasSubstr(" again: "))))
      << "it goes with its controller";
}

// A kubelet unmounts the volumes of a Pod before that is gone.
TEST(NeededWorkloads, AnNfsServerInTheClusterThatGoesIsNamed) {
  const auto of = [](const std::string& volume, const std::string& deleted) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - delete: [pods/default/p, " + deleted + "]\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: files}}\n---\n{apiVersion: v1, kind: "
        "Service, metadata: {name: nfs, namespace: files}, spec: {clusterIP: 10.0.0.9, selector: {a: b}, "
        "ports: [{port: 2049}]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: nfs, namespace: files, "
        "labels: {a: b}}, spec: {containers: [{name: c}]}}\n---\n{apiVersion: v1, kind: PersistentVolume, "
        "metadata: {name: v}, spec: {claimRef: {namespace: default, name: c}, nfs: {server: 10.0.0.9, path: "
        "/}}}\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, "
        "spec: {volumeName: v}}\n---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: w}, spec: "
        "{csi: "
        "{driver: nfs.csi.k8s.io, volumeAttributes: {server: nfs.files.svc, share: /}}}}\n---\n{apiVersion: "
        "v1, "
        "kind: PersistentVolumeClaim, metadata: {name: d, namespace: default}, spec: {volumeName: "
        "w}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, "
        "spec: {containers: [{name: c}], volumes: [{name: v, " +
            volume + "}]}}\n"));
  };
  const auto named = ElementsAre(HasSubstr(
      "services/files/nfs reaches an NFS server until pods/default/p is gone: a kubelet ends no Pod"));
  EXPECT_THAT(of("nfs: {server: nfs.files.svc.cluster.local, path: /}", "pods/files/nfs"), named);
  EXPECT_THAT(of("nfs: {server: nfs.files, path: /}", "services/files/nfs"), named);
  EXPECT_THAT(of("persistentVolumeClaim: {claimName: c}", "services/files/nfs"), named);
  EXPECT_THAT(of("persistentVolumeClaim: {claimName: d}", "services/files/nfs"), named) << "by a CSI driver";
  EXPECT_THAT(of("nfs: {server: nfs.example.com, path: /}", "services/files/nfs"), IsEmpty());
  EXPECT_THAT(of("nfs: {server: nfs.files.svc, path: /}", "persistentvolumes/v"), IsEmpty());
}

TEST(NeededWorkloads, AClassThatGoesIsNamed) {
  const auto of = [](const std::string& more) {
    return toldAssumptions(
        needing("deployments/op/d",
                deploymentWith("", 1, "priorityClassName: high, runtimeClassName: gvisor, ") +
                    "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "
                    "high}, value: 1}\n---\n{apiVersion: node.k8s.io/v1, kind: RuntimeClass, "
                    "metadata: {name: gvisor}, handler: runsc}\n",
                more));
  };
  EXPECT_THAT(of(""), IsEmpty());
  EXPECT_THAT(of(", priorityclasses/high, runtimeclasses/gvisor"),
              ElementsAre(HasSubstr("deployments/op/d needs no new Pod without priorityclasses/high"),
                          HasSubstr("deployments/op/d needs no new Pod without runtimeclasses/gvisor")));
}

TEST(NeededWorkloads, AQuotaOverReplacedPodsIsNamed) {
  const auto of = [](const std::string& type, const std::string& quotaIn, const std::string& more) {
    return toldAssumptions(needing("deployments/op/d",
                                   deploymentWith("") + "---\n{apiVersion: v1, kind: " + type +
                                       ", metadata: {name: few, namespace: " + quotaIn + "}}\n",
                                   more));
  };
  EXPECT_THAT(of("ResourceQuota", "op", ", pods/op/*"),
              ElementsAre(HasSubstr(
                  "resourcequotas/op/few admits the Pods by which deployments/op/d replaces pods/op/d-")));
  EXPECT_THAT(of("LimitRange", "op", ", pods/op/*"), ElementsAre(HasSubstr("limitranges/op/few admits")));
  EXPECT_THAT(of("ResourceQuota", "op", ""), IsEmpty()) << "no Pod has to be replaced";
  EXPECT_THAT(of("ResourceQuota", "default", ", pods/op/*"), IsEmpty());
}

// Clients create the workload: it gets new Pods.
TEST(NeededWorkloads, WhatNewPodsNeedIsNamed) {
  const auto of = [&](const std::string& more, const std::string& extra) {
    return toldAssumptions(
        needing("deployments/op/d",
                deploymentWith("", 1, "priorityClassName: high, schedulerName: mine, ") + extra, more));
  };
  EXPECT_THAT(of("", "---\n{apiVersion: v1, kind: Node, metadata: {name: n}}\n"), IsEmpty())
      << "its Pods are there";
  const std::string pods = "the Pods by which deployments/op/d replaces pods/op/d-";
  EXPECT_THAT(of(", pods/op/*", ""),
              ElementsAre(HasSubstr("scheduler mine places " + pods),
                          AllOf(HasSubstr("priorityclasses"), HasSubstr("/high is there for " + pods))));
  EXPECT_THAT(of(", pods/op/*", "---\n{apiVersion: v1, kind: Node, metadata: {name: n}}\n"),
              Contains(HasSubstr("a Node takes " + pods)));
  EXPECT_THAT(
      of(", nodes/n", "---\n{apiVersion: v1, kind: Node, metadata: {name: n}}\n"),
      ElementsAre(HasSubstr("the Pods of deployments/op/d can run without node n: no file says where")));
}

TEST(NeededWorkloads, ATokenThatGoesWithItsAccountIsNamed) {
  const auto of = [](const std::string& more) {
    return toldAssumptions(needing(
        "deployments/op/d",
        deploymentWith("", 1, "volumes: [{name: t, secret: {secretName: token}}], ") +
            "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: remote, namespace: op}}\n---\n"
            "{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: "
            "token, "
            "namespace: op, annotations: {kubernetes.io/service-account.name: remote}}}\n",
        more));
  };
  EXPECT_THAT(of(", pods/op/*, serviceaccounts/op/remote"),
              ElementsAre(AllOf(HasSubstr("secrets/op/token is there for the Pods by which deployments/op/d"),
                                HasSubstr("Kubernetes deletes it with serviceaccounts/op/remote"))));
  EXPECT_THAT(of(", pods/op/*"), IsEmpty());
}

TEST(NeededWorkloads, PodSecurityOfNewPodsIsNamed) {
  const auto of = [](const std::string& level) {
    const std::string op = needing("deployments/op/d", deploymentWith(""), ", pods/op/*");
    const std::string plain = "metadata: {name: op}}";
    std::string labelled = op;
    labelled.replace(op.find(plain), plain.size(),
                     "metadata: {name: op, labels: {pod-security.kubernetes.io/enforce: " + level + "}}}");
    return toldAssumptions(labelled);
  };
  EXPECT_THAT(of("restricted"), ElementsAre(HasSubstr("Pod Security admission lets in the Pods by which")));
  EXPECT_THAT(of("privileged"), IsEmpty());
}

TEST(NeededWorkloads, ANetworkPolicyAroundThemIsNamed) {
  const auto of = [](const std::string& space) {
    return toldAssumptions(needing(
        "deployments/op/d", deploymentWith("") +
                                "---\n{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: "
                                "{name: deny, namespace: " +
                                space + "}, spec: {podSelector: {}}}\n"));
  };
  EXPECT_THAT(of("op"), ElementsAre(HasSubstr("networkpolicies/op/deny: NetworkPolicies are not followed")));
  EXPECT_THAT(of("default"), IsEmpty());
}

// A kubelet ends a Pod once its volumes are unmounted.
TEST(NeededWorkloads, AVolumePluginThatGoesIsNamed) {
  const auto of = [](const std::string& path, const std::string& volume) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - delete: [daemonsets/csi/node, pods/app/p]\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: csi}}\n---\n"
        "{apiVersion: v1, kind: Namespace, metadata: {name: app}}\n---\n"
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: node, namespace: csi}, spec: {selector: "
        "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}], "
        "volumes: "
        "[{name: d, hostPath: {path: " +
            path +
            "}}]}}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: app}, spec: "
            "{containers: "
            "[{name: c}], volumes: [{name: d, " +
            volume + "}]}}\n"));
  };
  EXPECT_THAT(
      of("/var/lib/kubelet/plugins/csi.x.io", "csi: {driver: csi.x.io}"),
      ElementsAre(HasSubstr("daemonsets/csi/node unmounts the volumes of pods/app/p before it goes")));
  EXPECT_THAT(of("/var/lib/kubelet/plugins/csi.x.io", "emptyDir: {}"), IsEmpty());
  EXPECT_THAT(of("/var/log", "csi: {driver: csi.x.io}"), IsEmpty());
}

// No manifest has what Kubernetes makes in each Namespace. What surely stays there is followed; Events
// expire.
TEST(NeededWorkloads, AWebhookOnWhatKubernetesMakesInANamespaceIsNamedWhereThatMayBeGone) {
  const auto of = [](const std::string& group, const std::string& resource, const std::string& operation,
                     const std::string& policy = "Fail", const std::string& deleted = "") {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - delete: namespace/team\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team" + deleted +
            "}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}}\n---\n"
            "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
            "{name: h}, "
            "webhooks: [{name: h.example.com, failurePolicy: " +
            policy + ", clientConfig: {service: {namespace: gone, name: hook}}, rules: [{apiGroups: ['" +
            group + "'], apiVersions: [v1], operations: [" + operation + "], resources: [" + resource +
            "]}]}]}\n"));
  };
  const std::string terminating = ", deletionTimestamp: '2026-11-01T10:00:00Z'";
  EXPECT_THAT(of("", "configmaps", "DELETE"), IsEmpty());
  EXPECT_THAT(of("", "events", "DELETE"), ElementsAre(HasSubstr("answers when events/team/* is deleted")));
  EXPECT_THAT(
      of("", "configmaps", "DELETE", "Fail", terminating),
      ElementsAre(HasSubstr("the webhook h/h.example.com answers when configmaps/team/kube-root-ca.crt is "
                            "deleted: Kubernetes makes that by itself, and no file has it")));
  EXPECT_THAT(of("", "serviceaccounts", "DELETE", "Fail", terminating),
              ElementsAre(HasSubstr("serviceaccounts/team/default")));
  EXPECT_THAT(of("", "configmaps", "DELETE", "Ignore", terminating), IsEmpty());
  EXPECT_THAT(of("", "secrets", "DELETE"), IsEmpty());
  EXPECT_THAT(of("coordination.k8s.io", "leases", "CREATE"), IsEmpty());
}

// Pods of Jobs carry the Job controller's finalizer, which no file has.
TEST(NeededWorkloads, AWebhookOnUpdatesOfAJobsPodsIsNamed) {
  const auto of = [](const std::string& client) {
    return toldAssumptions((scenario(
        "\n  guard: false\n  steps:\n    - delete: namespace/team\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: team}, spec: {template: {spec: "
        "{containers: [{name: c}]}}}}\n---\n"
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: "
        "{name: h}, webhooks: [{name: h.example.com, clientConfig: " +
            client +
            ", rules: [{apiGroups: [''], apiVersions: [v1], operations: [UPDATE], resources: "
            "[pods]}]}]}\n")));
  };
  EXPECT_THAT(of("{url: 'https://h.example.com'}"), ElementsAre(HasSubstr("it is reached by URL")));
  EXPECT_THAT(of("{service: {namespace: gone, name: hook}}"), IsEmpty())
      << "that it does not answer is known";
}

TEST(NeededWorkloads, TheAgentsOwnNamespaceAndRightsAreNamed) {
  const std::string work =
      "---\n{apiVersion: v1, kind: Namespace, metadata: {name: open-cluster-management-agent}}\n---\n"
      "{apiVersion: v1, kind: Namespace, metadata: {name: cluster1}}\n---\n"
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: work, namespace: "
      "cluster1}, roleRef: {kind: ClusterRole, name: work}, subjects: [{kind: Group, name: agents}]}\n---\n"
      "{apiVersion: work.open-cluster-management.io/v1, kind: ManifestWork, metadata: {name: w, namespace: "
      "cluster1}, spec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, "
      "namespace: default}}]}}}\n";
  const auto of = [&](const std::string& steps) {
    return toldAssumptions((scenario("\n  guard: false\n  steps:\n    - delete: [" + steps + "]\n", work)));
  };
  EXPECT_THAT(of("manifestworks/cluster1/w"), Not(Contains(HasSubstr("the agent finishes"))));
  EXPECT_THAT(of("manifestworks/cluster1/w, namespace/open-cluster-management-agent"),
              Contains(HasSubstr("the agent finishes its ManifestWorks without "
                                 "namespaces/open-cluster-management-agent")));
  EXPECT_THAT(of("namespace/cluster1"),
              Contains(HasSubstr("the agent finishes its ManifestWorks without rolebindings/cluster1/work")));
}

// Since kubernetes/kubernetes#125796 it goes on without a type that it cannot list.
TEST(NeededWorkloads, TheCollectorOf126WaitsForAllTypes) {
  const auto of = [](const std::string& version) {
    return toldAssumptions((scenario(
        "\n  guard: false\n  kubernetes: '" + version +
            "'\n  steps:\n    - delete: [customresourcedefinitions/others.example.com, "
            "deployments/default/d]\n",
        "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: default}, spec: "
        "{replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
        "{containers: [{name: c}]}}}}\n---\n"
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
        "others.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Other, plural: "
        "others}, versions: [{name: v1, served: true, storage: true}]}}\n---\n"
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
        "things.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: "
        "things}, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: "
        "{service: {namespace: op, name: hook}}}}, versions: [{name: v1, served: true, storage: true}, "
        "{name: v2, served: true, storage: false}]}}\n")));
  };
  EXPECT_THAT(of("1.26"), ElementsAre(HasSubstr("the garbage collector goes on while "
                                                "customresourcedefinitions/things.example.com")));
  EXPECT_THAT(of("1.36"), IsEmpty());
}

// Its controller runs on the hub.
TEST(Agent, TheHubOfAReplicaSetThatGoesIsNamed) {
  const auto of = [](const std::string& deleted) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - delete: [" + deleted + "]\n",
        "---\n{apiVersion: v1, kind: Namespace, metadata: {name: open-cluster-management-hub}}\n---\n"
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: open-cluster-management-hub}}\n"
        "---\n{apiVersion: work.open-cluster-management.io/v1alpha1, kind: ManifestWorkReplicaSet, metadata: "
        "{name: set, namespace: default}, spec: {manifestWorkTemplate: {workload: {manifests: []}}}}\n"));
  };
  const auto placements = HasSubstr("its placements are not followed");
  EXPECT_THAT(of("manifestworkreplicasets/default/set"), ElementsAre(placements));
  EXPECT_THAT(of("manifestworkreplicasets/default/set, namespace/open-cluster-management-hub"),
              ElementsAre(HasSubstr("the hub finishes its ManifestWorkReplicaSets without configmaps/"),
                          placements, HasSubstr("without namespaces/open-cluster-management-hub")));
}

// KEP-4368: Kubernetes' own Job controller leaves a Job alone that another controller manages, and its Pods.
TEST(Removers, WhoManagesAJobIsNamed) {
  const auto of = [](const std::string& manager) {
    return toldAssumptions(scenario(
        "\n  guard: false\n  steps:\n    - {delete: jobs/default/j, propagationPolicy: Foreground}\n",
        "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default}, spec: {" + manager +
            "template: {spec: {restartPolicy: Never, containers: [{name: c}]}}}}\n"));
  };
  EXPECT_THAT(of("managedBy: x.io/queue, "),
              ElementsAre(HasSubstr("x.io/queue, which manages jobs/default/j, takes finalizer "
                                    "batch.kubernetes.io/job-tracking off pods/default/j-")));
  EXPECT_THAT(of("managedBy: kubernetes.io/job-controller, "), IsEmpty());
  EXPECT_THAT(of(""), IsEmpty());
}

}  // namespace
}  // namespace lastout::replay
