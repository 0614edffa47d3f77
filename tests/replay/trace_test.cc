// Traces: the form of the recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "replay/output.h"
#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

std::vector<json> trace(const std::string& yaml) {
  const auto loaded = ready(yaml);
  std::istringstream lines(toTrace(*loaded, replay(*loaded, {})));
  std::vector<json> result;
  for (std::string line; std::getline(lines, line);) result.push_back(json::parse(line));
  return result;
}

const std::string kNoLine = "there is no such line";

// The first line that has all of these fields.
json find(const std::vector<json>& lines, const json& fields) {
  for (const json& line : lines) {
    bool same = true;
    for (const auto& [key, value] : fields.items()) same = same && line.contains(key) && line[key] == value;
    if (same) return line;
  }
  return kNoLine;
}

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  for (const auto& [key, value] : object.items()) result.push_back(key);
  return result;
}

// Not a constant: the documents are initialized in another file.
std::string teardown() {
  return scenario(std::string(kController) + R"(
  steps:
    - delete: deployments.apps/operator/operator
    - delete: crd/widgets.example.com
      at: 1s
      as: alice)");
}

TEST(Trace, BeginsWithWhatIsThereAndEndsWithHowItEnded) {
  const std::vector<json> lines = trace(teardown());
  EXPECT_EQ(lines.front(), json({{"t", 0.0}, {"kind", "marker"}, {"note", "s: written order"}}));
  EXPECT_EQ(lines.back(), json({{"t", 10.524}, {"kind", "marker"}, {"note", "ends empty"}}));
  EXPECT_EQ(find(lines, {{"type", "ADDED"}, {"resource", "widgets"}}),
            json({{"t", 0.0},
                  {"kind", "watch"},
                  {"resource", "widgets"},
                  {"type", "ADDED"},
                  {"namespace", nullptr},
                  {"name", "one"},
                  {"terminating", false},
                  {"finalizers", {"example.com/cleanup"}},
                  {"object",
                   {{"apiVersion", "example.com/v1"},
                    {"kind", "Widget"},
                    {"metadata",
                     {{"name", "one"},
                      {"uid", "00000000-0000-4000-8000-000004000000"},
                      {"finalizers", {"example.com/cleanup"}}}}}}}));
}

// The same keys as tests/recordings' story-guarded.jsonl has on its lines of each kind; and the group, which
// tells types apart.
TEST(Trace, HasTheKeysOfTheRecordings) {
  const std::vector<json> lines = trace(teardown());
  EXPECT_THAT(keys(find(lines, {{"kind", "admission"}})),
              ::testing::UnorderedElementsAre("t", "kind", "operation", "group", "resource", "namespace",
                                              "name", "uid", "propagationPolicy", "dryRun", "requestName",
                                              "user", "allowed", "why"));
  EXPECT_THAT(keys(find(lines, {{"kind", "watch"}})),
              ::testing::UnorderedElementsAre("t", "kind", "resource", "type", "namespace", "name",
                                              "terminating", "finalizers", "object"));
  EXPECT_THAT(keys(find(lines, {{"kind", "client"}})),
              ::testing::UnorderedElementsAre("t", "kind", "action", "name", "status"));
  EXPECT_THAT(keys(find(lines, {{"kind", "finalizer-controller"}})),
              ::testing::UnorderedElementsAre("t", "kind", "action", "name", "status"));
}

TEST(Trace, TellsADenialWithItsReasons) {
  const json line = find(trace(teardown()), {{"kind", "admission"}, {"resource", "deployments"}});
  EXPECT_EQ(line["allowed"], false);
  EXPECT_EQ(line["why"], json({"widgets.example.com/one has finalizer example.com/cleanup",
                               "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com exists"}));
  EXPECT_EQ(find(trace(teardown()), {{"kind", "client"}, {"name", "operator"}})["status"], 403);
}

TEST(Trace, TellsADeniedPatchAsAnUpdate) {
  const std::vector<json> lines =
      trace(scenario("  steps:\n    - patch: {object: namespaces/shop, labels: {}}",
                     R"(---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {example.com/keep: Always}}
---
apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: strict}
spec:
  objects: [{resources: [{resource: namespaces}]}]
  when: [{label: example.com/keep}]
  blocks: [Unprotect]
)"));
  const json line = find(lines, {{"kind", "admission"}, {"resource", "namespaces"}});
  EXPECT_EQ(line["operation"], "UPDATE");
  EXPECT_EQ(line["allowed"], false);
}

TEST(Trace, TellsWhoAskedForWhat) {
  const std::vector<json> lines = trace(teardown());
  EXPECT_EQ(find(lines, {{"kind", "admission"}, {"resource", "customresourcedefinitions"}})["user"], "alice");
  EXPECT_EQ(find(lines, {{"kind", "client"}, {"name", "widgets.example.com"}}),
            json({{"t", 1.0},
                  {"kind", "client"},
                  {"action", "DELETE customresourcedefinition"},
                  {"name", "widgets.example.com"},
                  {"status", 200}}));
  // Instances are marked deleted by their CRD's clean-up, without any review.
  EXPECT_EQ(find(lines, {{"kind", "admission"}, {"resource", "widgets"}}), kNoLine);
  EXPECT_EQ(find(lines, {{"kind", "watch"}, {"resource", "widgets"}, {"type", "MODIFIED"}})["terminating"],
            true);
}

// Nobody reviews: tests/recordings' story-unguarded.jsonl has no such line either.
TEST(Trace, HasNoReviewsWithoutLastout) {
  const std::vector<json> lines = trace(scenario("  guard: false\n  steps:\n    - delete: widgets/one"));
  EXPECT_EQ(find(lines, {{"kind", "admission"}}), kNoLine);
  EXPECT_EQ(find(lines, {{"kind", "client"}})["status"], 200);
}

// As recorded: admission/14 to 16.
TEST(Trace, TellsThePolicyThatTheGarbageCollectorAsksWith) {
  const std::vector<json> lines = trace(scenario(R"(
  steps:
    - delete: deployments.apps/operator/operator
      propagationPolicy: Foreground)",
                                                 kUnguarded));
  const auto policyOf = [&](const std::string& resource) {
    return find(lines, {{"kind", "admission"}, {"resource", resource}})["propagationPolicy"];
  };
  EXPECT_EQ(policyOf("deployments"), "Foreground");
  EXPECT_EQ(policyOf("replicasets"), "Foreground");
  EXPECT_EQ(policyOf("pods"), "Background");
}

TEST(Trace, TellsThePolicyOfWhatTheGarbageCollectorIsDenied) {
  std::string documents(kOperator);
  const std::string name = "metadata: { name: operator, namespace: operator }";
  documents.replace(documents.find(name), name.size(), R"(metadata:
  name: operator
  namespace: operator
  ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: owner, uid: "1", blockOwnerDeletion: true }])");
  documents +=
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: owner, namespace: operator, uid: \"1\" }\n";
  const std::vector<json> lines = trace(scenario(std::string(kController) + R"(
  carryOut: false
  steps:
    - delete: configmaps/operator/owner
      propagationPolicy: Foreground
    - delete: crd/widgets.example.com
      at: 1s)",
                                                 documents));
  const auto review = [&](bool allowed) {
    return find(lines, {{"kind", "admission"}, {"resource", "deployments"}, {"allowed", allowed}});
  };
  EXPECT_EQ(review(false)["propagationPolicy"], "Foreground");
  EXPECT_EQ(review(true)["propagationPolicy"], "Foreground");
  EXPECT_EQ(review(true)["user"], "system:serviceaccount:kube-system:generic-garbage-collector");
}

// attemptToDeleteItem() of kube-controller-manager: a ring of owners, of which one waits in the foreground.
TEST(Trace, ShowsThatTheGarbageCollectorUnblocksOwners) {
  const auto owned = [](const std::string& name, const std::string& owner) {
    return "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
           ", namespace: default, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: " + owner +
           ", uid: '', blockOwnerDeletion: true}]}}\n";
  };
  const std::vector<json> lines = trace(
      scenario("  guard: false\n  steps: [{delete: configmaps/default/a, propagationPolicy: Foreground}]",
               owned("a", "b") + owned("b", "a")));
  const json ofB = find(lines, {{"kind", "watch"}, {"name", "b"}, {"type", "MODIFIED"}});
  const json& reference = ofB["object"]["metadata"]["ownerReferences"][0];
  EXPECT_EQ(reference["name"], "a");
  EXPECT_FALSE(reference.contains("blockOwnerDeletion")) << ofB;
}

TEST(Trace, NamesTheControllerOfEachWorkload) {
  const auto user = [](const std::string& kind, const std::string& name, const std::string& resource) {
    std::string documents(kUnguarded);
    const std::string deployment = "kind: Deployment";
    documents.replace(documents.find(deployment), deployment.size(), "kind: " + kind);
    const std::string spec = "  steps:\n    - scale: { object: " + name + "/operator/operator, replicas: 0 }";
    return find(trace(scenario(spec, documents)), {{"kind", "admission"}, {"resource", resource}});
  };
  const std::string account = "system:serviceaccount:kube-system:";
  const json ofStatefulSet = user("StatefulSet", "statefulsets", "pods");
  EXPECT_EQ(ofStatefulSet["user"], account + "statefulset-controller");
  // As recorded: admission/12.
  const json ofDeployment = user("Deployment", "deployments", "pods");
  EXPECT_EQ(ofDeployment["user"], account + "replicaset-controller");
  EXPECT_EQ(ofDeployment["propagationPolicy"], nullptr);
}

TEST(Trace, ShowsNoReviewOfANamespaceThatAlreadyTerminates) {
  const std::string yaml = scenario(R"(
  steps:
    - delete: namespaces/operator
    - delete: namespaces/operator
      at: 1s
      as: alice)",
                                    kUnguarded);
  const std::vector<json> lines = trace(yaml);
  EXPECT_EQ(find(lines, {{"kind", "admission"}, {"user", "alice"}}), kNoLine);
  EXPECT_EQ(find(lines, {{"kind", "client"}, {"t", 1.0}})["status"], 200);
  EXPECT_THAT(
      told(play(yaml)),
      ::testing::Contains("1.000 s  alice asks to delete namespaces/operator: it already terminates"));
}

TEST(Trace, ShowsWhatIsGoneAsItWasLastSeen) {
  const json line = find(trace(teardown()), {{"type", "DELETED"}, {"resource", "widgets"}});
  EXPECT_EQ(line["t"], 2.02);
  EXPECT_EQ(line["terminating"], true);
  EXPECT_EQ(line["finalizers"], json({"example.com/cleanup"}));
  EXPECT_EQ(line["object"]["metadata"]["deletionTimestamp"], "2000-01-01T00:00:01Z");
}

TEST(Trace, NamesWhatIsStuck) {
  EXPECT_EQ(trace(scenario("  steps:\n    - delete: widgets/one")).back()["note"],
            "STUCK: widgets.example.com/one");
}

TEST(Trace, GivesWhatIsCreatedAgainAnotherUid) {
  const std::vector<json> lines = trace(scenario(R"(
  steps:
    - delete: deployments.apps/operator/operator
    - apply: deployments.apps/operator/operator
      after: deployments.apps/operator/operator gone)",
                                                 kUnguarded));
  std::vector<std::string> uids;
  for (const json& line : lines) {
    if (line["kind"] == "watch" && line["type"] == "ADDED" && line["resource"] == "deployments")
      uids.push_back(line["object"]["metadata"]["uid"]);
  }
  ASSERT_EQ(uids.size(), 2u);
  EXPECT_NE(uids[0], uids[1]);
}

}  // namespace
}  // namespace lastout::replay
