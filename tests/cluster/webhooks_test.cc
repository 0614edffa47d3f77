// Other people's webhooks and conversion webhooks: what fails while nobody answers for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cluster/manifests.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A webhook that the provider's Pods answer, without its rules.
const std::string kChecks = R"(
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: operator}, spec: {selector: {app: c}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: operator, name: hook}})";

// The document's motivation: without Pods behind it, a webhook keeps everything it guards from being changed.
TEST(Webhook, WithoutPodsMakesRequestsFailUntilItsConfigurationIsGone) {
  World world(kProvider + kChecks + R"(
  rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
)");
  world.deletes(kDeployment);
  world.settle();
  world.deletes("configmaps/x/a");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError");
  world.deletes("validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  world.deletes("configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Webhook, IsCalledForTheOperationsOfItsRulesOnly) {
  World world(kProvider + kInstances + kChecks + R"(
  rules: [{operations: [UPDATE], apiGroups: [example.com], apiVersions: [v1], resources: [widgets]}]
)");
  world.controller("cleaner", "", "example.com/clean", "widgets.example.com");
  world.deletes(kDeployment);
  world.settle();
  world.deletes(kWidget);
  EXPECT_TRUE(world.terminating(kWidget));
  EXPECT_FALSE(world.enabled(Kind::Finalize, kWidget)) << "removing a finalizer is an UPDATE";
  world.deletes("validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  EXPECT_TRUE(world.enabled(Kind::Finalize, kWidget));
}

// A webhook that nothing answers, for these operations on ConfigMaps. `rule` and `webhook`: more fields.
std::string deadWebhook(const std::string& operations, const std::string& resources = "configmaps",
                        const std::string& rule = "", const std::string& webhook = "") {
  return R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, finalizers: [f/one]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: x}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {selector: {app: hook}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: {service: {namespace: h, name: hook}}
  rules: [{operations: [)" +
         operations + R"(], apiGroups: [""], apiVersions: [v1], resources: [")" + resources + R"("])" + rule +
         "}]\n" + webhook;
}

TEST(Webhook, ThatDoesNotAnswerStopsClientsPatches) {
  World world(deadWebhook("UPDATE"));
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError");
  EXPECT_THAT(world.finalizers("configmaps/x/a"), ElementsAre("f/one"));
}

TEST(Webhook, ThatDoesNotAnswerStopsClientsCreates) {
  World world(deadWebhook("CREATE"), {.absent = {"configmaps/x/late"}});
  world.does(ClientStep::Verb::Create, "configmaps/x/late");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/late: InternalError");
  world.does(ClientStep::Verb::SetFinalizers, "configmaps/x/a", 0);
  EXPECT_THAT(world.finalizers("configmaps/x/a"), IsEmpty()) << "it is not called for that";
}

TEST(Webhook, MayNameResourcesWithTheirSubresources) {
  for (const char* all : {"*/*", "*", "configmaps/*"}) {
    World world(deadWebhook("DELETE", all));
    world.deletes("configmaps/x/a");
    EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError") << all;
  }
  World world(deadWebhook("DELETE", "configmaps/status"));
  world.deletes("configmaps/x/a");
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
}

TEST(Webhook, IsCalledForTheScopeOfItsRulesOnly) {
  for (const char* scope : {"Namespaced", "'*'"}) {
    World world(deadWebhook("DELETE", "configmaps", std::string(", scope: ") + scope));
    world.deletes("configmaps/x/a");
    EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError") << scope;
  }
  World world(deadWebhook("DELETE", "*", ", scope: Cluster") +
              "---\n{apiVersion: v1, kind: Namespace, metadata: {name: x}}\n");
  world.deletes("configmaps/x/a");
  EXPECT_TRUE(world.terminating("configmaps/x/a"));
  world.deletes("namespaces/x");
  EXPECT_EQ(world.log().back(), "client denied namespaces/x: InternalError")
      << "a Namespace is of the cluster";
}

// https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// #matching-requests-namespaceselector
TEST(Webhook, SelectsANamespaceByItsOwnLabels) {
  constexpr const char* kNamespace = R"(
---
{apiVersion: v1, kind: Namespace, metadata: {name: blue, labels: {team: blue}}}
)";
  const auto selecting = [](const std::string& team) {
    return deadWebhook("DELETE", "namespaces", "",
                       "  namespaceSelector: {matchLabels: {team: " + team + "}}");
  };
  World selected(selecting("blue") + kNamespace);
  selected.deletes("namespaces/blue");
  EXPECT_EQ(selected.log().back(), "client denied namespaces/blue: InternalError");
  World other(selecting("red") + kNamespace);
  other.deletes("namespaces/blue");
  EXPECT_TRUE(other.terminating("namespaces/blue"));
}

// A webhook configuration for DELETEs of ConfigMaps; `client`: of its clientConfig, in braces.
std::string webhookWith(const std::string& client, const std::string& more = "") {
  return R"(
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: checks}
webhooks:
- name: checks.example.com
  clientConfig: )" +
         client + R"(
  rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
)" + more;
}

constexpr const char* kHookService = "{service: {namespace: h, name: hook}}";

TEST(Webhook, WhoseServiceIsNotInTheFilesDoesNotAnswer) {
  World world(webhookWith(kHookService));
  world.deletes("configmaps/x/a");
  EXPECT_EQ(world.log().back(), "client denied configmaps/x/a: InternalError");
  world.deletes("validatingwebhookconfigurations.admissionregistration.k8s.io/checks");
  world.deletes("configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Webhook, ThatMayBeIgnoredOrIsReachedOutsideTheModelKeepsNothing) {
  constexpr const char* kByHand =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {ports: [{port: "
      "443}]}}\n";
  constexpr const char* kExternal =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {type: ExternalName, "
      "externalName: hook.example.com}}\n";
  for (const std::string& yaml : {webhookWith(kHookService, "  failurePolicy: Ignore\n"),
                                  webhookWith("{url: 'https://hook.example.com'}"),
                                  webhookWith(kHookService, kByHand), webhookWith(kHookService, kExternal)}) {
    World world(yaml);
    world.deletes("configmaps/x/a");
    EXPECT_FALSE(world.present("configmaps/x/a")) << yaml;
  }
}

// The Service's ports: 443 where the webhook names none.
TEST(Webhook, WhosePortItsServiceDoesNotHaveDoesNotAnswer) {
  const auto deleted = [](const std::string& port, const std::string& ports) {
    World world(
        webhookWith("{service: {namespace: h, name: hook" + port + "}}",
                    "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: "
                    "{selector: {app: hook}, ports: [" +
                        ports +
                        "]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: h, "
                        "labels: {app: hook}}}\n"));
    world.settle();
    world.deletes("configmaps/x/a");
    return !world.present("configmaps/x/a");
  };
  EXPECT_TRUE(deleted("", "{port: 443, targetPort: 8443}"));
  EXPECT_TRUE(deleted(", port: 8443", "{port: 80}, {port: 8443}"));
  EXPECT_FALSE(deleted("", "{port: 8443}"));
  EXPECT_FALSE(deleted(", port: 8443", "{port: 443, targetPort: 8443}"));
  EXPECT_FALSE(deleted("", "{port: 443, protocol: UDP}"));
}

// "cannot route to service with ClusterIP "None"" (ResolveCluster() of k8s.io/apiserver).
TEST(Webhook, OfAHeadlessServiceDoesNotAnswer) {
  for (const auto& [address, answers] :
       {std::pair("clusterIP: None", false), std::pair("clusterIP: 10.0.0.9", true)}) {
    World world(webhookWith(
        kHookService, std::string("---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: "
                                  "h}, spec: {selector: {app: hook}, ") +
                          address +
                          "}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: h, "
                          "labels: {app: hook}}}\n"));
    world.settle();
    world.deletes("configmaps/x/a");
    EXPECT_EQ(world.present("configmaps/x/a"), !answers) << address;
  }
}

// https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports
TEST(Webhook, WhoseTargetPortNoContainerHasDoesNotAnswer) {
  const auto answers = [](const std::string& targetPort, const std::string& containers) {
    World world(
        webhookWith(kHookService,
                    "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: "
                    "{selector: {app: hook}, ports: [{port: 443, targetPort: " +
                        targetPort +
                        "}]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: h, "
                        "labels: {app: hook}}, spec: {" +
                        containers + "}}\n"));
    world.settle();
    world.deletes("configmaps/x/a");
    return !world.present("configmaps/x/a");
  };
  const std::string two = "containers: [{name: a}, {name: b, ports: [{name: web, containerPort: 9443}]}]";
  EXPECT_TRUE(answers("web", two));
  EXPECT_TRUE(answers("9443", two));
  EXPECT_FALSE(answers("metrics", two));
  EXPECT_FALSE(
      answers("web", "containers: [{name: a, ports: [{name: web, containerPort: 1, protocol: UDP}]}]"));
  const std::string init =
      "containers: [{name: a}], initContainers: [{name: i, ports: [{name: web, containerPort: 1}]";
  EXPECT_FALSE(answers("web", init + "}]"));
  EXPECT_TRUE(answers("web", init + ", restartPolicy: Always}]")) << "a sidecar";
}

// matchPolicy Equivalent: every version that is served counts, and no other.
TEST(Webhook, IsCalledForTheVersionsThatAreServed) {
  const auto denied = [](const std::string& versions) {
    std::string instances = kInstances;
    const std::string one = "{name: v1, served: true, storage: true}";
    instances.replace(instances.find(one), one.size(),
                      one +
                          ", {name: v2, served: true, storage: false}, "
                          "{name: v1beta1, served: false, storage: false}");
    const std::string any = "apiVersions: ['*']";
    std::string hook = cluster::deadWebhook("DELETE", "widgets");
    hook.replace(hook.find(any), any.size(), "apiVersions: [" + versions + "]");
    World world(instances + hook);
    world.deletes(kWidget);
    return !world.terminating(kWidget);
  };
  EXPECT_TRUE(denied("'*'"));
  EXPECT_TRUE(denied("v1"));
  EXPECT_TRUE(denied("v2"));
  EXPECT_FALSE(denied("v1beta1"));
  EXPECT_FALSE(denied("v3"));
}

TEST(Webhook, OfLastoutIsLeftToLastoutWhereItsServiceIsNotInTheFiles) {
  std::string yaml = webhookWith(kHookService);
  yaml.replace(yaml.find("checks.example.com"), std::string("checks.example.com").size(),
               "deletions.lastout.dev");
  World world(yaml);
  world.deletes("configmaps/x/a");
  EXPECT_FALSE(world.present("configmaps/x/a"));
}

TEST(Webhook, IsAnsweredByAPodOrByATypeThatTheMachineDoesNotFollow) {
  const std::string service =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: h}, spec: {selector: {app: "
      "hook}}}\n";
  const std::string pod =
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: h, labels: {app: hook}}}\n";
  const std::string controller =
      "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
      "sets.x.org}, spec: {group: x.org, scope: Namespaced, names: {kind: Set, plural: sets}, versions: "
      "[{name: v1, served: true, storage: true}]}}\n"
      "---\n{apiVersion: x.org/v1, kind: Set, metadata: {name: r, namespace: h}, "
      "spec: {template: {metadata: {labels: {app: hook}}}}}\n";
  for (const auto& [behind, name] : {std::pair(pod, "pods/h/p"), std::pair(controller, "sets/h/r")}) {
    World answered(webhookWith(kHookService, service + behind));
    answered.deletes("configmaps/x/a");
    EXPECT_FALSE(answered.present("configmaps/x/a")) << name;
    World alone(webhookWith(kHookService, service + behind));
    alone.deletes(name);
    alone.settle();
    alone.deletes("configmaps/x/a");
    EXPECT_TRUE(alone.present("configmaps/x/a")) << name;
  }
  World elsewhere(webhookWith(kHookService, service + "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, "
                                                      "namespace: x, labels: {app: hook}}}\n"));
  elsewhere.deletes("configmaps/x/a");
  EXPECT_TRUE(elsewhere.present("configmaps/x/a")) << "a Service selects in its own namespace";
}

// https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-metadata-name
TEST(Webhook, SelectsANamespaceByItsName) {
  const auto selecting = [](const std::string& name) {
    return webhookWith(kHookService,
                       "  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: " + name + "}}\n");
  };
  World selected(selecting("x"));
  selected.deletes("configmaps/x/a");
  EXPECT_TRUE(selected.present("configmaps/x/a"));
  World other(selecting("y"));
  other.deletes("configmaps/x/a");
  EXPECT_FALSE(other.present("configmaps/x/a"));
}

const std::string kAlsoStoredInV2 = std::string(kConvertedByNobody) + "status: {storedVersions: [v2, v1]}";

TEST(Conversion, WhoseServiceIsNotInTheFilesKeepsTheInstances) {
  World world(things(", {name: v2, served: true, storage: false}", kAlsoStoredInV2));
  world.deletes("things.example.com/t");
  EXPECT_EQ(world.log().back(), "client denied things.example.com/t: InternalError");
  world.deletes("crd/things.example.com");
  world.settle();
  EXPECT_TRUE(world.terminating("crd/things.example.com"));
  EXPECT_FALSE(world.terminating("things.example.com/t"));
}

// The clean-up lists and deletes by the storage of the storage version
// (GetCustomResourceListerCollectionDeleter() of k8s.io/apiextensions-apiserver), so what is stored in that
// one is not converted.
TEST(Conversion, IsNotCalledByTheCleanUpForTheStorageVersion) {
  for (const char* status : {"", "status: {storedVersions: [v1]}"}) {
    World world(
        things(", {name: v2, served: true, storage: false}", std::string(kConvertedByNobody) + status));
    world.deletes("things.example.com/t");
    EXPECT_EQ(world.log().back(), "client denied things.example.com/t: InternalError");
    world.deletes("crd/things.example.com");
    world.settle();
    EXPECT_THAT(world.left(), IsEmpty()) << status;
  }
}

// Nobody asks for another version than the one that is stored.
TEST(Conversion, OfASingleVersionNeedsNoWebhook) {
  const auto deleted = [](const std::string& versions, const std::string& status) {
    World world(things(versions, kConvertedByNobody + status));
    world.deletes("things.example.com/t");
    return !world.present("things.example.com/t");
  };
  EXPECT_TRUE(deleted("", ""));
  EXPECT_TRUE(deleted(", {name: v1beta1, served: false, storage: false}", "status: {storedVersions: [v1]}"));
  EXPECT_FALSE(deleted(", {name: v2, served: true, storage: false}", ""));
  EXPECT_FALSE(
      deleted(", {name: v1beta1, served: false, storage: false}", "status: {storedVersions: [v1beta1, v1]}"))
      << "some may be stored in it";
}

// Discovery's preferred version is what the namespace controller and the garbage collector use
// (ServerPreferredResources() of client-go), and kubectl.
TEST(Conversion, IsNotCalledWhereThePreferredVersionIsTheStoredOne) {
  const auto deleted = [](const std::string& versions, const std::string& status) {
    World world(things(versions, kConvertedByNobody + status));
    world.deletes("things.example.com/t");
    return !world.present("things.example.com/t");
  };
  const std::string older = ", {name: v1beta1, served: true, storage: false}";
  EXPECT_TRUE(deleted(older, ""));
  EXPECT_TRUE(deleted(older, "status: {storedVersions: [v1]}"));
  EXPECT_FALSE(deleted(older, "status: {storedVersions: [v1beta1, v1]}"));
}

TEST(Conversion, OfWhatAFinalizerKeepsIsCalledByItsController) {
  World world(
      things(", {name: v1beta1, served: true, storage: false}", kConvertedByNobody) +
      "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: kept, finalizers: [f/one]}}\n");
  world.controller("c", "", "f/one", "things.example.com");
  world.deletes("things.example.com/kept");
  EXPECT_TRUE(world.terminating("things.example.com/kept"));
  EXPECT_FALSE(world.enabled(Kind::Finalize, "things.example.com/kept"))
      << "nobody knows in which version it writes";
}

}  // namespace
}  // namespace lastout::cluster
