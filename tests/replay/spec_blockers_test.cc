// The chain from an object to what keeps it, where the contents of other objects say that: calls that nobody
// answers, storage that is in use, Nodes that are not Ready.
#include "admission/spec_blockers.h"

#include <gmock/gmock.h>

#include "kube/well_known.h"
#include "tests/replay/why_in.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr const char* kDeleted = "deletionTimestamp: '2026-11-01T10:00:00Z'";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Without the finalizers that it has (finalizer_removal_test.cc).
std::vector<std::string> reasonsOf(const admission::Why& why) {
  std::vector<std::string> messages = blockersOf(why);
  std::erase_if(messages, [](const std::string& one) { return one.starts_with("it has finalizer "); });
  return messages;
}

// The Namespace and the Thing in it are being deleted.
std::string goingThings(const std::string& yaml) {
  return replaced(replaced(yaml, "{name: team}", std::string("{name: team, ") + kDeleted + "}"), "{name: t, ",
                  std::string("{name: t, finalizers: [example.com/f], ") + kDeleted + ", ");
}

TEST(SpecBlockers, ANamespaceLeadsToTheWebhookThatKeepsWhatIsInIt) {
  const admission::Why why = whyIn(goingThings(webhookFor("UPDATE")), "namespace/team");
  EXPECT_THAT(
      chainsOf(why),
      ElementsAre("namespaces/team > things.example.com/team/t > "
                  "validatingwebhookconfigurations.admissionregistration.k8s.io/checks > "
                  "validatingwebhookconfigurations.admissionregistration.k8s.io/checks: its webhook "
                  "things.example.io does not answer, because its Service gone/hook is not in the files"))
      << "the Thing is no root: its finalizer cannot be removed";
  // What the namespace controller has not deleted yet, it may not delete.
  const std::string yaml =
      replaced(webhookFor("DELETE"), "{name: team}", std::string("{name: team, ") + kDeleted + "}");
  EXPECT_THAT(chainsOf(whyIn(yaml, "namespace/team")),
              ElementsAre(StartsWith("namespaces/team > things.example.com/team/t > validatingwebhook")));
  EXPECT_THAT(chainsOf(whyIn(webhookFor("DELETE"), "namespace/team")), SizeIs(1))
      << "before its deletion, too";
}

TEST(SpecBlockers, ANamespaceLeadsToTheConversionAndTheApiServiceThatKeepIt) {
  const std::string conversion =
      "versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]\n"
      "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, name: "
      "convert}}}}";
  const std::string yaml =
      replaced(goingThings(kThings), "versions: [{name: v1, served: true, storage: true}]", conversion) +
      "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.m.io}, spec: {group: "
      "m.io, "
      "version: v1, service: {namespace: gone, name: api}}}\n";
  const admission::Why why = whyIn(yaml, "namespace/team");
  EXPECT_THAT(
      chainsOf(why),
      ElementsAre("namespaces/team > apiservices.apiregistration.k8s.io/v1.m.io > "
                  "apiservices.apiregistration.k8s.io/v1.m.io: it does not answer, because its Service "
                  "gone/api is not in the files",
                  "namespaces/team > things.example.com/team/t > "
                  "customresourcedefinitions.apiextensions.k8s.io/things.example.com > "
                  "customresourcedefinitions.apiextensions.k8s.io/things.example.com: its conversion "
                  "webhook does not answer, because its Service gone/convert is not in the files"));
}

// Its clean-up reads objects in the storage version: if all are stored in that, it converts none.
TEST(SpecBlockers, ACrdLeadsToTheConversionThatItsCleanUpNeeds) {
  const auto chains = [](const std::string& storedVersions, const std::string& finalizers) {
    std::string yaml =
        replaced(kThings, "versions: [{name: v1, served: true, storage: true}]",
                 "versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: "
                 "false}]\n"
                 "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: gone, "
                 "name: convert}}}}\nstatus: {storedVersions: [" +
                     storedVersions + "]}");
    yaml = replaced(yaml, "{name: things.example.com}",
                    std::string("{name: things.example.com, finalizers: "
                                "[customresourcecleanup.apiextensions.k8s.io], ") +
                        kDeleted + "}");
    yaml = replaced(yaml, "{name: t, ", "{name: t, finalizers: [" + finalizers + "], ");
    return chainsOf(whyIn(yaml, "crd/things.example.com"));
  };
  EXPECT_THAT(chains("v1", ""), ElementsAre(EndsWith(" > things.example.com/team/t")));
  EXPECT_THAT(chains("v1, v2", ""), ElementsAre(HasSubstr("its conversion webhook does not answer")));
  EXPECT_THAT(chains("v1", "example.com/f"), ElementsAre(HasSubstr("its conversion webhook does not answer")))
      << "who removes its finalizer writes it";
}

// What a webhook says of a Namespace that could not be read is not known.
TEST(SpecBlockers, AWebhookThatSelectsNamespacesMayLeaveOutOneThatIsUnknown) {
  const auto blocks = [](const std::string& selector, bool isUnknown) {
    auto manifests = readManifests({{"m.yaml", webhookFor("DELETE", selector)}});
    std::vector<const kube::Object*> objects;
    for (const kube::Object& one : manifests.value().objects) {
      if (one.key.type != kube::kNamespaces) objects.push_back(&one);
    }
    admission::SpecSource cluster{.isCluster = true};
    cluster.isUnknown = [isUnknown](const kube::ObjectKey& key) {
      return isUnknown && key == kube::namespaceKey("team");
    };
    return admission::findInSpecs(objects, manifests->types, cluster)
        .blockers.contains({{"example.com", "things"}, "team", "t"});
  };
  const std::string selector = "  namespaceSelector: {matchLabels: {checked: all}}\n";
  EXPECT_TRUE(blocks(selector, false));
  EXPECT_FALSE(blocks(selector, true));
  EXPECT_TRUE(blocks("", true)) << "it selects all";
}

TEST(SpecBlockers, AWebhookWithMatchConditionsMayLeaveTheRequestOut) {
  const std::string yaml =
      webhookFor("DELETE", "  matchConditions: [{name: mine, expression: 'request.name != \"t\"'}]\n");
  EXPECT_THAT(whyIn(yaml, "things/t -n team").message,
              HasSubstr("(its matchConditions, which are not evaluated, may leave the request out)"));
}

TEST(SpecBlockers, NoReasonIsToldTwice) {
  const std::string more =
      "---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: u, namespace: team}}\n";
  const admission::Why space = whyIn(goingThings(webhookFor("UPDATE, DELETE")) + more, "namespace/team");
  EXPECT_THAT(space.roots, SizeIs(1)) << "two Things are kept by one webhook";
  const std::string held =
      replaced(webhookFor("UPDATE, DELETE"), "{name: t, ", "{name: t, finalizers: [example.com/f], ");
  EXPECT_THAT(
      blockersOf(whyIn(held, "things/t -n team")),
      ElementsAre(StartsWith("the API server refuses its deletion and its finalizers cannot be removed: "
                             "the webhook things.example.io")));
}

TEST(SpecBlockers, EndpointSlicesSayWhetherAnybodyIsReady) {
  const std::string service =
      "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: gone}, spec: {selector: {app: "
      "hook}}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: gone, labels: {app: "
      "hook}}}\n";
  const auto slice = [](const std::string& conditions) {
    return "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: hook-1, namespace: "
           "gone, "
           "labels: {kubernetes.io/service-name: hook}}, addressType: IPv4, endpoints: [{addresses: "
           "[10.0.0.1], "
           "conditions: " +
           conditions + "}]}\n";
  };
  const std::string yaml = webhookFor("DELETE") + service;
  EXPECT_TRUE(whyIn(yaml, "things/t -n team").allowed);
  EXPECT_TRUE(whyIn(yaml + slice("{ready: true}"), "things/t -n team").allowed);
  EXPECT_TRUE(whyIn(yaml + slice("{}"), "things/t -n team").allowed)
      << "an endpoint counts as ready by default";
  EXPECT_TRUE(
      whyIn(yaml + slice("{ready: false, serving: true, terminating: true}"), "things/t -n team").allowed)
      << "where no endpoint is Ready, kube-proxy uses those that still serve";
  for (const char* conditions : {"{ready: false}", "{ready: false, serving: false, terminating: true}"})
    EXPECT_THAT(whyIn(yaml + slice(conditions), "things/t -n team").message,
                HasSubstr("because no endpoint of its Service gone/hook is Ready"));
}

// A Pod without a port of the name that targetPort has is an endpoint without that port.
TEST(SpecBlockers, EndpointSlicesSayWhichPortsAreCalled) {
  const auto messageFor = [](const std::string& targetPort, const std::string& endpointPorts) {
    return whyIn(webhookFor("DELETE") +
                     "---\n{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: gone}, spec: "
                     "{selector: {app: hook}, ports: [{name: https, port: 443, targetPort: " +
                     targetPort +
                     "}]}}\n---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: "
                     "hook-1, namespace: gone, labels: {kubernetes.io/service-name: hook}}, addressType: "
                     "IPv4, endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}], ports: " +
                     endpointPorts + "}\n",
                 "things/t -n team")
        .message;
  };
  EXPECT_THAT(messageFor("hooks", "[{name: https, port: 9443}]"), Not(HasSubstr("does not answer")));
  EXPECT_THAT(messageFor("hooks", "[]"),
              HasSubstr("because its Service gone/hook calls the port hooks of its Pods, which no container "
                        "of theirs has; bring it back"));
  EXPECT_THAT(messageFor("9443", "[{name: metrics, port: 8080}]"),
              HasSubstr("because its Service gone/hook has no endpoint for its port 443; bring it back"));
}

// --- storage

std::string object(const std::string& apiVersion, const std::string& kind, const std::string& metadata,
                   const std::string& rest) {
  return "---\n{apiVersion: " + apiVersion + ", kind: " + kind + ", metadata: {uid: " + kind + "-" +
         metadata.substr(0, metadata.find(',')) + ", name: " + metadata + "}, " + rest + "}\n";
}

const std::string kClaim =
    object("v1", "PersistentVolumeClaim",
           std::string("data, namespace: shop, finalizers: [kubernetes.io/pvc-protection], ") + kDeleted,
           "spec: {volumeName: disk}");
const std::string kVolume = object(
    "v1", "PersistentVolume",
    std::string("disk, finalizers: [kubernetes.io/pv-protection, external-attacher/csi-driver], ") + kDeleted,
    "spec: {claimRef: {namespace: shop, name: data}}, status: {phase: Bound}");

std::string pod(const std::string& metadata, const std::string& spec = "nodeName: n",
                const std::string& phase = "Running") {
  return object("v1", "Pod", metadata + ", namespace: shop",
                "spec: {" + spec +
                    ", volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: " +
                    phase + "}");
}

std::string node(const std::string& ready, const std::string& spec = "{}") {
  return object("v1", "Node", "n",
                "spec: " + spec + ", status: {conditions: [{type: Ready, status: " + ready + "}]}");
}

std::string attachment(const std::string& metadata, const std::string& status = "{attached: true}") {
  return object(
      "storage.k8s.io/v1", "VolumeAttachment", metadata,
      "spec: {attacher: csi, nodeName: n, source: {persistentVolumeName: disk}}, status: " + status);
}

std::string shop(const std::string& yaml) { return object("v1", "Namespace", "shop", "spec: {}") + yaml; }

TEST(SpecBlockers, AClaimStaysWhilePodsUseIt) {
  const std::string replicaSet = object(
      "apps/v1", "ReplicaSet",
      "web-1, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: w, "
      "controller: true}]",
      "spec: {}");
  const std::string ofReplicaSet =
      pod("web-1-a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: "
          "ReplicaSet-web-1, controller: true}]");
  const admission::Why why = whyIn(
      shop(kClaim + replicaSet + ofReplicaSet + pod(std::string("db, ") + kDeleted) + pod("waits", "a: b")),
      "pvc/data -n shop");
  EXPECT_THAT(blockersOf(why), ElementsAre("it stays while Pods use it: pods/shop/web-1-a (of "
                                           "deployments.apps/shop/web) and pods/shop/db (being deleted)"))
      << "a Pod without a Node uses nothing";
  EXPECT_THAT(
      chainsOf(why),
      UnorderedElementsAre("persistentvolumeclaims/shop/data > pods/shop/web-1-a > pods/shop/web-1-a",
                           "persistentvolumeclaims/shop/data > pods/shop/db > pods/shop/db (being deleted)"));
  EXPECT_THAT(blockersOf(whyIn(shop(kClaim + pod("done", "nodeName: n", "Succeeded")), "pvc/data -n shop")),
              ElementsAre(HasSubstr("pods/shop/done")))
      << "a finished Pod counts until it is deleted";
}

TEST(SpecBlockers, AnEphemeralClaimStaysWhileThePodThatControlsItIsThere) {
  const auto blockersOfClaimOf = [](const std::string& owner, const std::string& pod = "p") {
    const std::string claim = replaced(
        kClaim, "name: data",
        "name: p-d, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, controller: true, uid: " + owner +
            "}]");
    return reasonsOf(whyIn(shop(claim + object("v1", "Pod", pod + ", namespace: shop",
                                               "spec: {nodeName: n, volumes: [{name: d, ephemeral: {}}]}")),
                           "pvc/p-d -n shop"));
  };
  EXPECT_THAT(blockersOfClaimOf("Pod-p"), ElementsAre("it stays while Pods use it: pods/shop/p"));
  EXPECT_THAT(blockersOfClaimOf("Pod-former-p"), IsEmpty()) << "it was made for another Pod of that name";
  const std::string going = std::string("p, ") + kDeleted + ", deletionGracePeriodSeconds: ";
  EXPECT_THAT(blockersOfClaimOf("Pod-p", going + "30"), SizeIs(1));
  EXPECT_THAT(blockersOfClaimOf("Pod-p", going + "0"), IsEmpty()) << "the Pod may itself wait for the claim";
}

// Manifests that were never applied have no Pods.
TEST(SpecBlockers, AClaimStaysWhileAWorkloadOfTheManifestsUsesIt) {
  const auto deployment = [](const std::string& replicas) {
    return "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: "
           "{replicas: " +
           replicas +
           ", template: {spec: {containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: "
           "data}}]}}}}\n";
  };
  EXPECT_THAT(blockersOf(whyIn(shop(kClaim + deployment("2")), "pvc/data -n shop")),
              ElementsAre("it stays while Pods that these make use it: deployments.apps/shop/web"));
  EXPECT_THAT(reasonsOf(whyIn(shop(kClaim + deployment("0")), "pvc/data -n shop")), IsEmpty());
}

TEST(SpecBlockers, AVolumeStaysWhileItIsBoundOrAttached) {
  const std::string yaml = shop(kVolume + kClaim + attachment("csi-1") + pod(std::string("db, ") + kDeleted));
  EXPECT_THAT(
      reasonsOf(whyIn(yaml, "pv/disk")),
      ElementsAre("it stays while a claim is bound to it: persistentvolumeclaims/shop/data (being deleted)",
                  "it stays while it is attached: volumeattachments.storage.k8s.io/csi-1"));
  EXPECT_THAT(chainsOf(whyIn(yaml, "pv/disk")),
              ElementsAre(AllOf(StartsWith("persistentvolumes/disk > "),
                                HasSubstr(" > pods/shop/db > pods/shop/db"))))
      << "both wait for the same Pod";
  EXPECT_FALSE(whyIn(yaml, "volumeattachment/csi-1").isBlocked()) << "a DELETE of it detaches at once";
  const std::string released = replaced(kVolume, "phase: Bound", "phase: Released");
  for (const char* phase : {"Released", "Available", "Failed"}) {
    const std::string volume = replaced(kVolume, "phase: Bound", std::string("phase: ") + phase);
    EXPECT_THAT(reasonsOf(whyIn(shop(volume + kClaim), "pv/disk")), IsEmpty()) << phase;
  }
  const std::string fails =
      attachment(std::string("csi-1, finalizers: [external-attacher/csi-driver], ") + kDeleted,
                 "{attached: true, detachError: {message: no such disk}}");
  EXPECT_THAT(
      chainsOf(whyIn(shop(released + fails), "pv/disk")),
      ElementsAre("persistentvolumes/disk > volumeattachments.storage.k8s.io/csi-1 > "
                  "volumeattachments.storage.k8s.io/csi-1: its volume cannot be detached from nodes/n: no "
                  "such disk"));
}

// --- Nodes

TEST(SpecBlockers, APodStaysOnANodeThatIsNotReady) {
  const std::string db = pod(std::string("db, deletionGracePeriodSeconds: 30, ") + kDeleted);
  const admission::Why why = whyIn(shop(db + node("Unknown")), "pod/db -n shop");
  EXPECT_THAT(
      blockersOf(why),
      ElementsAre("nodes/n ends no Pods, because its condition Ready is Unknown; bring it back, or, once "
                  "that machine is off, delete nodes/n"));
  EXPECT_THAT(
      chainsOf(whyIn(shop(kVolume + kClaim + db + node("Unknown")), "pv/disk")),
      ElementsAre("persistentvolumes/disk > persistentvolumeclaims/shop/data > pods/shop/db > nodes/n > "
                  "nodes/n: its condition Ready is Unknown, so nobody ends its Pods"));
  EXPECT_THAT(
      chainsOf(whyIn(shop(db + node("'False'")), "namespace/shop")),
      ElementsAre(StartsWith("namespaces/shop > pods/shop/db > nodes/n > nodes/n: its condition Ready is "
                             "False, so it may not end its Pods")));
  EXPECT_THAT(
      blockersOf(whyIn(shop(db + node("'False'")), "pod/db -n shop")),
      ElementsAre("nodes/n may end no Pods, because its condition Ready is False; its other conditions "
                  "and its events say why"))
      << "a kubelet that says so works: deleting its Node would not help";
  EXPECT_TRUE(whyIn(shop(pod("db") + node("Unknown")), "pod/db -n shop").isBlocked())
      << "before its deletion, too";
}

TEST(SpecBlockers, APodEndsWhereNobodyHasToSaySo) {
  const std::string outOfService = "{taints: [{key: node.kubernetes.io/out-of-service, effect: NoExecute}]}";
  const std::string db = pod(std::string("db, ") + kDeleted);
  for (const std::string& yaml :
       {db + node("'True'"), db + node("Unknown", outOfService), db,
        pod(std::string("db, deletionGracePeriodSeconds: 0, ") + kDeleted) + node("Unknown"),
        pod("db", "nodeName: n", "Failed") + node("Unknown")})
    EXPECT_THAT(blockersOf(whyIn(shop(yaml), "pod/db -n shop")), IsEmpty()) << yaml;
  const std::string failedLater = pod(std::string("db, ") + kDeleted, "nodeName: n", "Failed");
  EXPECT_THAT(blockersOf(whyIn(shop(failedLater + node("Unknown")), "pod/db -n shop")), SizeIs(1))
      << "an API server looks at the phase when the Pod is deleted, not later";
}

// The Pods of a Node are one reason.
TEST(SpecBlockers, TheNodeOfSeveralPodsIsToldOnce) {
  const std::string yaml = pod("one") + pod("two") + pod("three") + node("Unknown");
  EXPECT_THAT(blockersOf(whyIn(shop(yaml), "namespace/shop")),
              ElementsAre(AllOf(HasSubstr(" and 2 more in it would stay: nodes/n ends no Pods"))));
}

TEST(SpecBlockers, SeveralReasonsAreAllTold) {
  const std::string db = replaced(pod(std::string("db, ") + kDeleted), "namespace: shop", "namespace: team");
  const std::string yaml = goingThings(webhookFor("UPDATE")) + db + node("Unknown") +
                           "---\n{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: "
                           "v1.m.io}, spec: {group: m.io, "
                           "version: v1, service: {namespace: gone, name: api}}}\n";
  EXPECT_THAT(chainsOf(whyIn(yaml, "namespace/team")),
              UnorderedElementsAre(HasSubstr("its webhook things.example.io does not answer"),
                                   HasSubstr("nodes/n: its condition Ready is Unknown"),
                                   HasSubstr("v1.m.io: it does not answer")));
}

}  // namespace
}  // namespace lastout::replay
