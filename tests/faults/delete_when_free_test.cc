// The annotation lastout.dev/delete-when-free: a person asks on the object itself for its deletion once it
// may go. The policy that lets only those set it who may delete the object is answered for by a FaultyApi.
#include <algorithm>
#include <chrono>
#include <string>

#include "kube/timestamp.h"
#include "tests/faults/works_test.h"
#include "tests/support/shipped_policies.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;

constexpr const char* kAnnotation = "lastout.dev/delete-when-free";
constexpr const char* kPolicyPath =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/lastout-delete-when-free";
constexpr const char* kBindingPath =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/lastout-delete-when-free";

class DeleteWhenFreeTest : public ::testing::Test {
 public:
  explicit DeleteWhenFreeTest(size_t replicas = 1, Processes processes = Processes::OfBothRoles)
      : world(replicas, 1, processes) {}
  ~DeleteWhenFreeTest() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  void begin(const char* action) {
    const Json binding = {
        {"apiVersion", "admissionregistration.k8s.io/v1"},
        {"kind", "ValidatingAdmissionPolicyBinding"},
        {"metadata",
         {{"name", "lastout-delete-when-free"}, {"labels", {{"app.kubernetes.io/name", "lastout"}}}}},
        {"spec", {{"policyName", "lastout-delete-when-free"}, {"validationActions", Json::array({action})}}}};
    answerAll(kPolicyPath, shippedPolicy("lastout-delete-when-free").dump());
    answerAll(kBindingPath, binding.dump());
    world.serve();
    world.createStory();
    world.waitUntilGuarded();
  }
  // To each lastout that asks for the path; empty: it is not there.
  void answerAll(const std::string& path, const std::string& body) {
    for (size_t i = 0; i < world.replicas(); ++i) world.replica(i).api.answer(path, body);
  }
  void beginEnforced() {
    begin("Deny");
    waitUntilLogged("the ValidatingAdmissionPolicy lastout-delete-when-free is enforced");
  }
  void waitUntilLogged(const std::string& text) {
    world.waitUntil("it is logged: " + text, [&] { return world.logged().find(text) != std::string::npos; });
  }
  std::string uid() { return world.get(kFaultProvider)["metadata"]["uid"]; }
  std::string in(std::chrono::hours time) const {
    return " " + kube::timestampText(world.wallClock() + time);
  }
  std::string tomorrow() const { return in(std::chrono::hours(24)); }
  // As kubectl does.
  void annotate(const Json& value) {
    world.patch(kFaultProvider, {{"metadata", {{"annotations", {{kAnnotation, value}}}}}});
  }
  std::string statusMessage() {
    const Json conditions = world.get(kFaultService).value("/status/conditions"_json_pointer, Json::array());
    const auto found =
        std::ranges::find(conditions, Json("Satisfied"), [](const Json& one) { return one["type"]; });
    return found == conditions.end() ? "" : (*found)["message"].get<std::string>();
  }
  void clearTheWay() {
    world.deleteAll({kFaultInstances + std::string("/instance-0"), kFaultCrd});
    world.waitUntil("it is seen to be free", [&] {
      return world.get(kFaultService)["status"].value("unmetCriteria", Json::array()).empty();
    });
  }
  void expectNotDeleted() {
    clearTheWay();
    world.waitUntilCollected();
    EXPECT_TRUE(world.isThere(kFaultProvider));
    EXPECT_THAT(world.deletedByLastout(), IsEmpty()) << world.logged();
  }

  FaultWorld world;
};

using DeleteWhenFree = OfEachForm<DeleteWhenFreeTest>;
INSTANTIATE_TEST_SUITE_P(, DeleteWhenFree, kEachForm, formName);

TEST_P(DeleteWhenFree, TheDenialNamesTheCommandThatHasItDeletedLater) {
  beginEnforced();
  const std::string refusal = world.refusalOf(kFaultProvider);
  const std::string before =
      "; to have lastout delete it once it may go: kubectl annotate "
      "deployments.apps/provider -n app --overwrite '" +
      std::string(kAnnotation) + "=";
  const size_t at = refusal.find(before);
  ASSERT_NE(at, std::string::npos) << refusal;
  const std::string value = refusal.substr(at + before.size(), refusal.size() - at - before.size() - 1);
  EXPECT_THAT(value, HasSubstr(uid()));
  annotate(value);
  waitUntilLogged(
      "deployments.apps/app/provider: its deletion, asked for by its annotation "
      "lastout.dev/delete-when-free, is "
      "deferred until it may go");
  world.waitUntil("the status says so", [&] {
    return statusMessage().find(
               "deployments.apps/app/provider: its annotation lastout.dev/delete-when-free asks "
               "lastout to delete it once it may go, until ") != std::string::npos;
  });
  const std::string deleted = uid();
  EXPECT_THAT(world.deletedByLastout(), IsEmpty());
  world.deleteAll({kFaultInstances + std::string("/instance-0"), kFaultCrd});
  world.waitUntil("it is gone", [&] { return !world.isThere(kFaultProvider); });
  EXPECT_THAT(world.deletedByLastout(), Contains(Key(deleted)));
  EXPECT_TRUE(world.isThere(kFaultNamespace)) << "nobody has asked for that";
}

TEST_P(DeleteWhenFree, WhoeverTakesItAwayCallsTheDeletionOff) {
  beginEnforced();
  annotate(uid() + tomorrow());
  waitUntilLogged("is deferred until it may go");
  annotate(nullptr);
  waitUntilLogged("the annotation was taken away");
  expectNotDeleted();
}

TEST_F(DeleteWhenFreeTest, ItEndsByItself) {
  beginEnforced();
  annotate(uid() + tomorrow());
  waitUntilLogged("is deferred until it may go");
  annotate(uid() + " 2020-01-01T00:00:00Z");
  waitUntilLogged("its time has passed");
  expectNotDeleted();
}

TEST_F(DeleteWhenFreeTest, AWeekIsTheLongestThatCounts) {
  beginEnforced();
  annotate(uid() + in(std::chrono::hours(8 * 24)));
  waitUntilLogged("its time is more than 7 days ahead");
  expectNotDeleted();
  annotate(uid() + in(std::chrono::hours(6 * 24)));
  waitUntilLogged("is deferred until it may go");
}

TEST_F(DeleteWhenFreeTest, AnotherObjectOfTheSameNameStays) {
  beginEnforced();
  annotate("the-uid-of-a-former-one" + tomorrow());
  waitUntilLogged("is ignored: it is about another object of that name");
  expectNotDeleted();
}

TEST_F(DeleteWhenFreeTest, WhatMeansNothingIsToldAndIgnored) {
  beginEnforced();
  annotate("true");
  waitUntilLogged("its annotation lastout.dev/delete-when-free is ignored: \"true\" is not the object's uid");
  expectNotDeleted();
}

// Anybody who may change the object could have set it.
TEST_F(DeleteWhenFreeTest, ItCountsForNothingWithoutItsPolicy) {
  begin("Warn");
  EXPECT_THAT(world.refusalOf(kFaultProvider), Not(HasSubstr("kubectl annotate")));
  annotate(uid() + tomorrow());
  waitUntilLogged("is ignored: the API servers do not enforce the ValidatingAdmissionPolicy");
  expectNotDeleted();
}

// That it was enforced a moment ago is no authority.
TEST_P(DeleteWhenFree, NotOnceItsPolicyIsGone) {
  beginEnforced();
  annotate(uid() + tomorrow());
  waitUntilLogged("is deferred until it may go");
  answerAll(kBindingPath, "");
  expectNotDeleted();
}

}  // namespace
}  // namespace lastout::testing
