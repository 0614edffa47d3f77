// The status of a DeletionPolicy.
#include "protection/policy_status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kube/parse.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr sys_seconds kNow{seconds(1'000'000)};

PolicyStanding inForce() {
  PolicyStanding standing;
  standing.generation = 3;
  standing.storedSince = kNow - seconds(10);
  return standing;
}

std::string enforcedIn(const PolicyStanding& standing) {
  const nlohmann::json condition = policyStatus(standing, {}, kNow)["conditions"][1];
  EXPECT_EQ(condition["type"], "Enforced");
  EXPECT_EQ(condition["observedGeneration"], 3);
  return condition["status"].get<std::string>() + " " + condition["reason"].get<std::string>();
}

TEST(PolicyStatus, EnforcedSaysWhatIsMissing) {
  EXPECT_EQ(enforcedIn(inForce()), "True Enforced");
  PolicyStanding standing = inForce();
  standing.isStored = false;
  EXPECT_EQ(enforcedIn(standing), "False NotStored");
  standing = inForce();
  standing.storedSince = kNow - seconds(2);
  EXPECT_EQ(enforcedIn(standing), "False Spreading");
  standing = inForce();
  standing.hasWebhookPart = true;
  EXPECT_EQ(enforcedIn(standing), "False NotAsked");
  standing.webhookAsks = true;
  EXPECT_EQ(enforcedIn(standing), "True Enforced");
  standing.writeProblem = "forbidden";
  EXPECT_EQ(enforcedIn(standing), "False NotStored");
  standing.problem = "spec.objects is missing";
  EXPECT_EQ(enforcedIn(standing), "False NotAccepted");
}

TEST(PolicyStatus, OfAPolicyThatKeepsLabelsItSaysWhetherTheyAreWritten) {
  PolicyStanding standing = inForce();
  EXPECT_EQ(policyStatus(standing, {}, kNow)["conditions"].size(), 2U);
  standing.labelProblem = "";
  const nlohmann::json kept = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(kept["type"], "LabelsKept");
  EXPECT_EQ(kept["status"], "True");
  standing.labelProblem = "cannot patch resource";
  const nlohmann::json notKept = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(notKept["status"], "False");
  EXPECT_EQ(notKept["reason"], "NotKept");
  EXPECT_EQ(notKept["message"], "cannot patch resource");
}

TEST(PolicyStatus, OfAPolicyThatHoldsItSaysWhetherItsObjectsGetTheirFinalizer) {
  PolicyStanding standing = inForce();
  standing.holdProblem = "";
  const nlohmann::json held = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(held["type"], "Held");
  EXPECT_EQ(held["status"], "True");
  standing.forceProblem = "nobody checks who sets it";
  const nlohmann::json unguarded = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(unguarded["status"], "True");
  EXPECT_EQ(unguarded["message"],
            "lastout keeps its finalizer on its objects; force does not count: nobody checks who sets it");
  standing.holdProblem = "lastout serve runs without --hold-policies";
  const nlohmann::json notHeld = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(notHeld["status"], "False");
  EXPECT_EQ(notHeld["reason"], "NotHeld");
  EXPECT_EQ(notHeld["message"], "lastout serve runs without --hold-policies");
}

TEST(PolicyStatus, AProblemIsToldAsItIs) {
  PolicyStanding standing = inForce();
  standing.problem = "spec.objects is missing";
  const nlohmann::json condition = policyStatus(standing, {}, kNow)["conditions"][0];
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["message"], "spec.objects is missing");
}

TEST(PolicyStatus, SaysWhichTypesAndFieldsTheClusterDoesNotHave) {
  PolicyStanding standing = inForce();
  standing.unknownTypes = "";
  const nlohmann::json known = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(known["type"], "TypesKnown");
  EXPECT_EQ(known["status"], "True");
  EXPECT_EQ(known["reason"], "Known");
  EXPECT_EQ(known["message"], "nothing that the policy names is known to be missing");
  standing.unknownTypes = "spec.objects: the cluster serves no databses.db.example.com";
  const nlohmann::json unknown = policyStatus(standing, {}, kNow)["conditions"].at(2);
  EXPECT_EQ(unknown["status"], "False");
  EXPECT_EQ(unknown["reason"], "NotFound");
  EXPECT_EQ(unknown["message"], "spec.objects: the cluster serves no databses.db.example.com");
}

// One read that fails must not flip the condition.
TEST(PolicyStatus, TypesKnownStaysAsItStandsWhileItCannotBeTold) {
  PolicyStanding standing = inForce();
  EXPECT_EQ(policyStatus(standing, {}, kNow)["conditions"].size(), 2U);
  for (const char* unknown : {"", "spec.objects: the cluster serves no databses.db.example.com"}) {
    standing = inForce();
    standing.unknownTypes = unknown;
    const nlohmann::json before = policyStatus(standing, {}, kNow);
    standing.unknownTypes.reset();
    EXPECT_EQ(policyStatus(standing, before, kNow + seconds(60)), before) << unknown;
    standing.generation = 4;
    const nlohmann::json after = policyStatus(standing, before, kNow + seconds(60));
    EXPECT_EQ(after["conditions"].at(0)["observedGeneration"], 4);
    EXPECT_EQ(after["conditions"].at(2), before["conditions"].at(2)) << "it is about generation 3";
  }
}

TEST(PolicyStatus, SaysWhichTypesMayNotBeListedOfAPolicyThatSeeksThem) {
  PolicyStanding standing = inForce();
  standing.unreadableTypes = "lastout may not list endpoints";
  EXPECT_EQ(policyStatus(standing, {}, kNow)["conditions"].size(), 2U);
  standing.seeksInContainers = true;
  const nlohmann::json before = policyStatus(standing, {}, kNow);
  EXPECT_EQ(before["conditions"].at(2)["type"], "TypesReadable");
  EXPECT_EQ(before["conditions"].at(2)["status"], "False");
  EXPECT_EQ(before["conditions"].at(2)["reason"], "Forbidden");
  EXPECT_EQ(before["conditions"].at(2)["message"], "lastout may not list endpoints");
  standing.unreadableTypes.reset();
  EXPECT_EQ(policyStatus(standing, before, kNow + seconds(60)), before) << "the API server did not say";
  standing.unreadableTypes = "";
  EXPECT_EQ(policyStatus(standing, before, kNow)["conditions"].at(2)["reason"], "Readable");
  standing.seeksInContainers = false;
  EXPECT_EQ(policyStatus(standing, before, kNow)["conditions"].size(), 2U);
}

constexpr const char* kUnderstoodSpec = R"(  objects: [{resources: [{resource: configmaps}]}]
  when: [{label: example.com/kept}]
)";

UnderstoodForm formOf(int64_t generation) {
  const kube::Value document = kube::parseYaml(policyText(kUnderstoodSpec), "")->front();
  return {generation, *document.find("spec"), policyOf(kUnderstoodSpec)};
}

TEST(PolicyStatus, KeepsTheFormThatCounts) {
  PolicyStanding standing = inForce();
  standing.understood = formOf(3);
  const nlohmann::json status = policyStatus(standing, {}, kNow);
  EXPECT_EQ(status["understood"]["generation"], 3);
  EXPECT_EQ(status["understood"]["spec"]["when"][0]["label"], "example.com/kept");

  standing.generation = 4;
  standing.problem = "spec.message names {king}";
  const nlohmann::json later = policyStatus(standing, status, kNow);
  EXPECT_EQ(later["understood"], status["understood"]);
  EXPECT_EQ(later["conditions"][1]["message"],
            "the policy is not understood as it stands; as it was in generation 3 it goes on protecting");
  standing.understood.reset();
  EXPECT_EQ(policyStatus(standing, status, kNow)["understood"], status["understood"])
      << "another version may understand it";
}

TEST(PolicyStatus, SaysInWordsWhatTheFormThatCountsBlocks) {
  PolicyStanding standing = inForce();
  standing.understood = formOf(3);
  EXPECT_EQ(policyStatus(standing, {}, kNow)["blocks"], "Delete");
  standing.understood->policy.blocks = {Block::Delete, Block::Orphan, Block::Unprotect};
  const nlohmann::json status = policyStatus(standing, {}, kNow);
  EXPECT_EQ(status["blocks"], "Delete, Orphan, Unprotect");
  standing.understood.reset();
  EXPECT_EQ(policyStatus(standing, status, kNow)["blocks"], status["blocks"]);
}

TEST(PolicyStatus, SaysThatNothingIsMadeOfAPolicyThatNeverWasUnderstood) {
  PolicyStanding standing = inForce();
  standing.problem = "spec.objects is missing";
  const nlohmann::json status = policyStatus(standing, {}, kNow);
  EXPECT_FALSE(status.contains("understood"));
  EXPECT_FALSE(status.contains("blocks"));
  EXPECT_EQ(status["conditions"][1]["message"],
            "lastout understands no form of the policy: it makes nothing of it, and what API servers "
            "evaluate already "
            "stays");
}

TEST(PolicyStatus, TheFormThatCountsIsReadFromTheStatus) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const std::string broken =
      policyText("  objects: [{resources: [{resource: configmaps}]}]\n  message: '{king}'\n");
  const std::string status = "status: {understood: {generation: 7, spec: ";
  const kube::Object kept = testing::object(
      broken + status + "{objects: [{resources: [{resource: secrets}]}], namespaces: Ignore}}}\n", types);
  const auto form = understoodFormIn(kept);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->generation, 7);
  EXPECT_EQ(form->policy.meta.name, "p");
  EXPECT_EQ(form->policy.objects.at(0).resources.at(0).resource, "secrets");
  for (const std::string& none : {std::string(), status + "{objects: []}}}\n", status + "null}}\n"})
    EXPECT_FALSE(understoodFormIn(testing::object(broken + none, types))) << none;
}

TEST(PolicyStatus, SaysOfWhichGenerationItIsEnforced) {
  const nlohmann::json status = policyStatus(inForce(), {}, kNow);
  EXPECT_TRUE(saysEnforced(status, 3));
  EXPECT_FALSE(saysEnforced(status, 4));
  EXPECT_FALSE(saysEnforced({}, 3));
  PolicyStanding standing = inForce();
  standing.isStored = false;
  EXPECT_FALSE(saysEnforced(policyStatus(standing, {}, kNow), 3));
}

TEST(PolicyStatus, ATransitionTimeStaysWhileTheStatusDoes) {
  const nlohmann::json before = policyStatus(inForce(), {}, kNow);
  EXPECT_EQ(policyStatus(inForce(), before, kNow + seconds(60)), before);
  PolicyStanding standing = inForce();
  standing.isStored = false;
  EXPECT_NE(policyStatus(standing, before, kNow + seconds(60))["conditions"][1]["lastTransitionTime"],
            before["conditions"][1]["lastTransitionTime"]);
}

}  // namespace
}  // namespace lastout::protection
