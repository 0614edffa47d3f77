// An object's metadata from its creation to its end, held against recorded objects.
#include "simulator/metadata.h"

#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

const TypeRules kCoolRules{{"my.crd.group", "coolresources"}, "CoolResource", true, true, true};
const TypeRules kDeploymentRules{{"apps", "deployments"}, "Deployment", false, true, true};
const TypeRules kNamespaceRules{{"", "namespaces"}, "Namespace"};
const TypeRules kPodRules{{"", "pods"}, "Pod"};
const TypeRules kConfigMapRules{{"", "configmaps"}, "ConfigMap"};
const TypeRules kCrdRules{
    {"apiextensions.k8s.io", "customresourcedefinitions"}, "CustomResourceDefinition", false, true, true};

// `object` as it would be before its DELETE.
Json alive(Json object) {
  object["metadata"].erase("deletionTimestamp");
  object["metadata"].erase("deletionGracePeriodSeconds");
  return object;
}

Json withGeneration(Json object, int generation) {
  object["metadata"]["generation"] = generation;
  return object;
}

TEST(Creation, GivesWhatTheServerRecorded) {
  for (const char* name : {"013-create-with-finalizer", "014-create-plain", "023-create-generate-name"}) {
    const Json recorded = recordedAnswer(name);
    Json sent = recordedRequest(name);
    sent["metadata"]["namespace"] = "app";  // from the path
    // What a client may not set.
    sent["metadata"]["uid"] = "mine";
    sent["metadata"]["resourceVersion"] = "7";
    sent["metadata"]["generation"] = 9;
    sent["metadata"]["deletionTimestamp"] = "2020-01-01T00:00:00Z";
    sent["metadata"]["managedFields"] = Json::array({1});
    sent["metadata"]["labels"] = Json::object();
    sent["status"] = {{"ok", true}};
    Json stored = prepareForCreate(kCoolRules, sent,
                                   {recorded["metadata"]["uid"], recorded["metadata"]["creationTimestamp"],
                                    [](uint32_t bound) { return bound - 1; }});
    if (stored["metadata"].contains("generateName")) {
      EXPECT_EQ(stored["metadata"]["name"], "gen-99999");
      stored["metadata"]["name"] = recorded["metadata"]["name"];
    }
    stored["metadata"]["resourceVersion"] = recorded["metadata"]["resourceVersion"];  // the storage's
    EXPECT_EQ(stored, recorded) << name;
  }
}

TEST(Creation, CountsNoGenerationsOfSomeTypes) {
  const Birth birth{"u", "2026-11-21T02:46:55Z", {}};
  for (const TypeRules& rules : {kNamespaceRules, kPodRules, kConfigMapRules})
    EXPECT_FALSE(
        prepareForCreate(rules, {{"metadata", {{"name", "x"}}}}, birth)["metadata"].contains("generation"));
}

TEST(GeneratedName, StaysALabel) {
  const std::string name = generatedName(std::string(300, 'a'), [](uint32_t) { return 0; });
  EXPECT_EQ(name, std::string(58, 'a') + "bbbbb");
}

TEST(Update, OfMetadataChangesNoGeneration) {
  const Json old = recordedAnswer("048-patch-merge");
  Json sent = old;
  sent["metadata"]["labels"]["x"] = "y";
  sent["metadata"]["uid"] = "another";
  sent["metadata"]["generation"] = 12;
  sent["status"] = {{"mine", 1}};
  sent["metadata"].erase("creationTimestamp");
  Json expected = recordedAnswer("049-patch-json");
  expected["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"];
  const auto update = prepareForUpdate(kCoolRules, old, sent, "");
  ASSERT_TRUE(update);
  EXPECT_EQ(update->object, expected);
  EXPECT_TRUE(update->changed);
}

TEST(Update, ThatChangesNothingSaysSo) {
  const Json old =
      recordedAnswer("052-patch-status");  // {"ok": true} was pruned: the schema does not know it
  const auto update = prepareForUpdate(kCoolRules, old, old, "status");
  ASSERT_TRUE(update);
  EXPECT_FALSE(update->changed);
  EXPECT_EQ(update->object, old);
}

TEST(Update, FillsDefaultsInBeforeItCompares) {
  const auto update = prepareForUpdate(kDeploymentRules, recordedAnswer("072-create-deployment"),
                                       recordedRequest("072-create-deployment"), "");
  ASSERT_TRUE(update);
  EXPECT_FALSE(update->changed);
}

TEST(Update, ThroughStatusChangesNothingElseOfACustomResource) {
  const Json old = recordedAnswer("049-patch-json");
  Json sent = old;
  sent["spec"]["size"] = 5;
  sent["metadata"]["labels"] = {{"mine", "1"}};
  sent["status"] = {{"ok", true}};
  Json expected = old;
  expected["status"] = {{"ok", true}};
  const auto update = prepareForUpdate(kCoolRules, old, sent, "status");
  ASSERT_TRUE(update);
  EXPECT_EQ(update->object, expected);
}

TEST(Update, ThroughStatusMayAnnotateADeployment) {
  const Json review = recordedReview("05-update-deployments-status-deployment-controller");
  Json sent = review["object"];
  sent["metadata"]["labels"]["app"] = "another";
  sent["spec"]["replicas"] = 7;
  const auto update = prepareForUpdate(kDeploymentRules, review["oldObject"], sent, "status");
  ASSERT_TRUE(update);
  EXPECT_EQ(update->object, review["object"]);
}

TEST(Update, OfADeploymentsSpecOrAnnotationsIsANewGeneration) {
  const Json old = recordedAnswer("072-create-deployment");
  Json scaled = old;
  scaled["spec"]["replicas"] = 0;
  EXPECT_EQ(prepareForUpdate(kDeploymentRules, old, scaled, "")->object, withGeneration(scaled, 2));
  Json annotated = old;
  annotated["metadata"]["annotations"] = {{"a", "b"}};
  EXPECT_EQ(prepareForUpdate(kDeploymentRules, old, annotated, "")->object, withGeneration(annotated, 2));
  const Json labelled = recordedReview("09-update-deployments-admin");
  EXPECT_EQ(prepareForUpdate(kDeploymentRules, labelled["oldObject"], labelled["object"], "")->object,
            labelled["object"]);
}

TEST(Update, KeepsANamespacesFinalizersUnlessItFinalizes) {
  const Json review = recordedReview("27-update-namespaces-finalize-namespace-controller");
  EXPECT_EQ(prepareForUpdate(kNamespaceRules, review["oldObject"], review["object"], "finalize")->object,
            review["object"]);
  EXPECT_FALSE(prepareForUpdate(kNamespaceRules, review["oldObject"], review["object"], "")->changed);
}

TEST(Update, AddsNoFinalizerToWhatTerminates) {
  Json sent = recordedAnswer("059-get-terminating");
  const Json old = sent;
  sent["metadata"]["finalizers"] = {"my.crd.group/super-important", "x.dev/second"};
  const auto update = prepareForUpdate(kCoolRules, old, sent, "");
  ASSERT_FALSE(update);
  EXPECT_EQ(statusOf(update.error()), recordedAnswer("065-add-finalizer-while-terminating"));

  const Json labelled = recordedAnswer("066-label-while-terminating");
  Json patched = old;
  patched["metadata"]["labels"] = labelled["metadata"]["labels"];
  patched = prepareForUpdate(kCoolRules, old, patched, "")->object;
  EXPECT_EQ(anonymous(patched), anonymous(labelled));
  patched["metadata"]["finalizers"] = nullptr;
  EXPECT_EQ(anonymous(prepareForUpdate(kCoolRules, labelled, patched, "")->object),
            anonymous(recordedAnswer("067-remove-finalizers")));
}

TEST(Update, RefusesAnotherNameAndAnotherSelector) {
  const Json old = recordedAnswer("072-create-deployment");
  Json renamed = old;
  renamed["metadata"]["name"] = "other";
  EXPECT_EQ(prepareForUpdate(kDeploymentRules, old, renamed, "").error().message,
            "Deployment.apps \"fg\" is invalid: metadata.name: Invalid value: \"other\": field is immutable");
  Json selecting = old;
  selecting["spec"]["selector"]["matchLabels"] = {{"a", "x"}};
  const auto update = prepareForUpdate(kDeploymentRules, old, selecting, "");
  EXPECT_EQ(update.error().code, 422);
  EXPECT_EQ(update.error().message,
            "Deployment.apps \"fg\" is invalid: spec.selector: Invalid value: "
            "v1.LabelSelector{MatchLabels:map[string]string{\"a\":\"x\"}, "
            "MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: field is immutable");
}

TEST(Deletion, MarksObjectsAsRecorded) {
  const std::vector<std::pair<TypeRules, std::string>> deletions = {
      {kCoolRules, "056-delete-with-finalizer"},
      {kDeploymentRules, "079-delete-deployment-foreground"},
      {kConfigMapRules, "095-release-configmap"},
      {kCoolRules, "085-get-instance-of-terminating-crd"}};
  for (const auto& [rules, name] : deletions) {
    const Json recorded = recordedAnswer(name);
    Json before = alive(recorded);
    if (before["metadata"].contains("generation"))
      before = withGeneration(before, before["metadata"]["generation"].get<int>() - 1);
    const std::string now = recorded["metadata"]["deletionTimestamp"];
    EXPECT_EQ(markDeleted(rules, before, now), recorded) << name;
    EXPECT_EQ(markDeleted(rules, recorded, "2030-01-01T00:00:00Z"), recorded) << "a second DELETE: " << name;
  }
}

TEST(Deletion, OfANamespaceAndOfACrdChangesTheirStatus) {
  const Json bye = recordedAnswer("090-create-namespace-bye");
  EXPECT_EQ(anonymous(markDeleted(kNamespaceRules, bye, "2026-11-21T02:47:19Z")),
            anonymous(recordedAnswer("092-delete-namespace")));
  const Json crd = recordedAnswer("011-get-crd-established");
  EXPECT_EQ(anonymous(markDeleted(kCrdRules, crd, "2026-11-21T02:47:10Z")),
            anonymous(recordedAnswer("083-delete-crd")));
}

TEST(Deletion, GivesARunningPodItsTimeAndMayShortenIt) {
  const Json running = storyObject("guarded", 1);
  const Json leaving = storyObject("guarded", 80);
  const Json gone = storyObject("guarded", 84);
  const Json marked = markDeleted(kPodRules, running, "2026-11-21T02:39:56Z");
  EXPECT_EQ(anonymous(marked), anonymous(leaving));
  EXPECT_EQ(anonymous(markDeleted(kPodRules, marked, "2026-11-21T02:39:58Z", 0)), anonymous(gone));
  EXPECT_EQ(markDeleted(kPodRules, marked, "2026-11-21T02:39:58Z", 60), marked);

  const Json pending = recordedReview("06-create-pods-replicaset-controller")["object"];
  EXPECT_EQ(
      markDeleted(kPodRules, pending, "2026-11-21T02:39:56Z", 60)["metadata"]["deletionGracePeriodSeconds"],
      0);
}

TEST(Finalizers, KeepTheirOrder) {
  const Json plain = {{"metadata", {{"name", "x"}}}};
  const Json two = setFinalizers(plain, {"b", "a"});
  EXPECT_EQ(finalizersOf(two), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(finalizersOf(setFinalizers(two, {"a", "c", "b"})), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(finalizersOf(setFinalizers(two, {"a"})), std::vector<std::string>{"a"});
  EXPECT_EQ(setFinalizers(two, {}), plain);
  const Json first = recordedAnswer("057-delete-again-while-terminating");
  EXPECT_EQ(anonymous(setFinalizers(first, {"foregroundDeletion", "my.crd.group/super-important"})),
            anonymous(recordedAnswer("058-delete-again-foreground-while-terminating")));
}

TEST(Owners, AreAddedAndRemovedByUid) {
  const Json orphan = recordedReview("20-delete-replicasets-admin-background")["oldObject"];
  const Json deployment = recordedReview("19-delete-deployments-admin-orphan")["oldObject"];
  const Json owned = addOwner(addOwner(orphan, plainReference(deployment)), controllerReference(deployment));
  EXPECT_EQ(owned["metadata"]["ownerReferences"].size(), 1U);
  EXPECT_EQ(owned["metadata"]["ownerReferences"][0]["controller"], true);
  EXPECT_EQ(removeOwner(owned, std::string(deployment["metadata"]["uid"])), orphan);
}

TEST(Metadata, OfTheWrongTypeHarmsNobody) {
  for (const char* text :
       {"7", "[]", R"({"metadata": 1})", R"({"metadata": {"finalizers": 1, "name": []}})",
        R"({"metadata": {"ownerReferences": [1], "deletionTimestamp": 3}, "status": 1})"}) {
    const Json odd = Json::parse(text);
    for (const TypeRules& rules : {kCoolRules, kDeploymentRules, kNamespaceRules, kPodRules, kCrdRules}) {
      prepareForCreate(rules, odd, {"u", "n", [](uint32_t) { return 0; }});
      markDeleted(rules, odd, "now", 3);
      removeOwner(addOwner(setFinalizers(odd, {"a"}), odd), "x");
      const Json old = recordedAnswer("072-create-deployment");
      for (const char* subresource : {"", "status", "finalize"}) {
        prepareForUpdate(rules, old, odd, subresource).has_value();
        prepareForUpdate(rules, odd, old, subresource).has_value();
      }
    }
  }
}

}  // namespace
}  // namespace lastout::simulator
