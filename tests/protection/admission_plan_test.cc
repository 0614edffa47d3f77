// The ValidatingAdmissionPolicies that DeletionPolicies want: what is created, replaced and deleted, in which
// order.
#include "protection/admission_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kube/value.h"
#include "protection/cel.h"
#include "protection/hold_finalizers.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kLabelledPolicy = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect}]
)";

std::vector<StandingAdmissionPolicy> standingOf(const std::vector<DeletionPolicy>& policies) {
  std::vector<StandingAdmissionPolicy> standing;
  for (const DeletionPolicy& policy : policies) {
    for (const auto& object : admissionPoliciesOf(policy))
      standing.push_back({object["kind"] == "ValidatingAdmissionPolicyBinding",
                          object["metadata"]["name"].get<std::string>(), "uid-1", "7", object});
  }
  return standing;
}

std::vector<std::string> wordsOf(const std::vector<AdmissionPolicyAction>& actions) {
  std::vector<std::string> words;
  for (const AdmissionPolicyAction& action : actions) {
    using Kind = AdmissionPolicyAction::Kind;
    const char* verb = action.kind == Kind::Create    ? "create"
                       : action.kind == Kind::Replace ? "replace"
                                                      : "delete";
    words.push_back(std::string(verb) + (action.isBinding ? " binding " : " policy ") + action.name + " of " +
                    action.policy);
  }
  return words;
}

TEST(AdmissionPlan, CreatesThePolicyBeforeItsBinding) {
  EXPECT_THAT(
      wordsOf(planAdmissionPolicies({policyOf(kLabelledPolicy, "a"), policyOf(kLabelledPolicy, "b")}, {})),
      ElementsAre("create policy lastout-policy-a of a", "create policy lastout-policy-b of b",
                  "create binding lastout-policy-a of a", "create binding lastout-policy-b of b"));
}

TEST(AdmissionPlan, LeavesAloneWhatStandsAsTheApiServerFillsItIn) {
  const std::vector<DeletionPolicy> policies{policyOf(kLabelledPolicy)};
  std::vector<StandingAdmissionPolicy> standing = standingOf(policies);
  standing[0].object["spec"]["matchConstraints"]["namespaceSelector"] = nlohmann::ordered_json::object();
  standing[0].object["status"] = {{"observedGeneration", 1}};
  EXPECT_THAT(wordsOf(planAdmissionPolicies(policies, standing)), IsEmpty());
}

// It tells which finalizers are lastout's when the policy is gone.
TEST(AdmissionPlan, PutsBackTheFinalizerOfAHoldingPolicy) {
  const std::vector<DeletionPolicy> policies{policyOf(R"(  objects: [{resources: [{resource: secrets}]}]
  when: [{label: example.com/protect}]
  enforcement: Hold
  hold: {finalizer: example.com/held, force: {annotation: example.com/force}}
)")};
  std::vector<StandingAdmissionPolicy> standing = standingOf(policies);
  EXPECT_THAT(wordsOf(planAdmissionPolicies(policies, standing)), IsEmpty());
  standing[0].object["metadata"].erase("annotations");
  const auto actions = planAdmissionPolicies(policies, standing);
  ASSERT_THAT(wordsOf(actions), ElementsAre("replace policy lastout-policy-p of p"));
  EXPECT_EQ(actions[0].object["metadata"]["annotations"]["lastout.dev/hold-finalizer"], "example.com/held");
}

std::string holdingSecretsAnd(const std::string& resource, const std::string& hold) {
  return "  objects: [{resources: [{resource: secrets}, {resource: " + resource +
         "}]}]\n  when: [{label: example.com/protect}]\n" + hold;
}
std::string heldBy(const std::string& finalizer) {
  return "  enforcement: Hold\n  hold: {finalizer: " + finalizer +
         ", finalizersOfOthers: [example.com/operator], force: {annotation: example.com/force}}\n";
}
HoldFinalizers namedIn(const std::vector<StandingAdmissionPolicy>& standing) {
  HoldFinalizers named;
  for (const StandingAdmissionPolicy& one : standing) addOfAdmissionPolicy(kube::fromJson(one.object), named);
  return named;
}
// What stands once that is done.
std::vector<StandingAdmissionPolicy> after(const std::vector<StandingAdmissionPolicy>& standing,
                                           const std::vector<DeletionPolicy>& policies) {
  std::vector<StandingAdmissionPolicy> now;
  const auto actions = planAdmissionPolicies(policies, standing);
  for (const StandingAdmissionPolicy& one : standing) {
    const auto isOf = [&](const AdmissionPolicyAction& action) {
      return action.name == one.name && action.isBinding == one.isBinding;
    };
    const auto action = std::ranges::find_if(actions, isOf);
    if (action == actions.end())
      now.push_back(one);
    else if (action->kind != AdmissionPolicyAction::Kind::Delete)
      now.push_back({one.isBinding, one.name, "uid-1", "8", action->object});
  }
  return now;
}

// Whoever uninstalls lastout finds what objects may have from before the policy was changed.
TEST(AdmissionPlan, KeepsTheFinalizersThatAPolicyHadOnItsTypes) {
  const kube::GroupResource secrets{"", "secrets"};
  const kube::GroupResource maps{"", "configmaps"};
  const kube::GroupResource pods{"", "pods"};
  auto standing = standingOf({policyOf(holdingSecretsAnd("configmaps", heldBy("example.com/a")))});
  const std::vector<DeletionPolicy> renamed{policyOf(holdingSecretsAnd("pods", heldBy("example.com/b")))};
  standing = after(standing, renamed);
  const HoldFinalizers both{
      {secrets, {"example.com/a", "example.com/b"}}, {maps, {"example.com/a"}}, {pods, {"example.com/b"}}};
  EXPECT_EQ(namedIn(standing), both);
  EXPECT_THAT(wordsOf(planAdmissionPolicies(renamed, standing)), IsEmpty());
  standing = after(standing, {policyOf(holdingSecretsAnd("pods", heldBy("example.com/a")))});
  EXPECT_EQ(namedIn(standing), (HoldFinalizers{{secrets, {"example.com/a", "example.com/b"}},
                                               {maps, {"example.com/a"}},
                                               {pods, {"example.com/a", "example.com/b"}}}));
  standing = after(standing, {policyOf(holdingSecretsAnd("pods", ""))});
  EXPECT_EQ(namedIn(standing), (HoldFinalizers{{secrets, {"example.com/a", "example.com/b"}},
                                               {maps, {"example.com/a"}},
                                               {pods, {"example.com/a", "example.com/b"}}}))
      << "it denies by now";
}

// No webhook is told what a user may do.
TEST(AdmissionPlan, KeepsTheGuardOfForceWhereAllElseRunsInTheWebhook) {
  const std::vector<DeletionPolicy> policies{policyOf(kLabelledPolicy, "a"),
                                             policyOf(R"(  objects: [{resources: [{resource: secrets}]}]
  when: [{label: example.com/protect}]
  enforcement: Hold
  hold: {finalizer: example.com/held, force: {annotation: example.com/force}}
)",
                                                      "b")};
  EXPECT_THAT(wordsOf(planAdmissionPolicies(policies, {}, PolicyMode::Webhook)),
              ElementsAre("create policy lastout-force-b of b", "create binding lastout-force-b of b"));
  EXPECT_THAT(wordsOf(planAdmissionPolicies(policies, standingOf(policies), PolicyMode::Webhook)),
              ElementsAre("delete binding lastout-policy-a of a", "delete binding lastout-policy-b of b",
                          "delete policy lastout-policy-a of a", "delete policy lastout-policy-b of b"));
}

TEST(AdmissionPlan, PutsBackWhatSomebodyChanged) {
  const std::vector<DeletionPolicy> policies{policyOf(kLabelledPolicy)};
  std::vector<StandingAdmissionPolicy> standing = standingOf(policies);
  standing[1].object["spec"]["validationActions"] = {"Audit"};
  const auto actions = planAdmissionPolicies(policies, standing);
  ASSERT_THAT(wordsOf(actions), ElementsAre("replace binding lastout-policy-p of p"));
  EXPECT_EQ(actions[0].object["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(actions[0].object["metadata"]["uid"], "uid-1");
  EXPECT_EQ(actions[0].object["spec"]["validationActions"], nlohmann::ordered_json({"Deny"}));
}

TEST(AdmissionPlan, DeletesTheBindingBeforeItsPolicy) {
  const auto actions = planAdmissionPolicies({}, standingOf({policyOf(kLabelledPolicy)}));
  ASSERT_THAT(wordsOf(actions),
              ElementsAre("delete binding lastout-policy-p of p", "delete policy lastout-policy-p of p"));
  EXPECT_EQ(actions[0].object["metadata"]["uid"], "uid-1");
}

TEST(AdmissionPlan, MakesNothingOfAPolicyThatNeedsOtherObjects) {
  const DeletionPolicy policy = policyOf(
      "  objects: [{resources: [{resource: namespaces}]}]\n  when: [{label: example.com/protect, active: "
      "Pods}]\n");
  EXPECT_THAT(planAdmissionPolicies({policy}, {}), IsEmpty());
}

}  // namespace
}  // namespace lastout::protection
