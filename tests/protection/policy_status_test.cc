// The status of a DeletionPolicy.
#include "protection/policy_status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

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
