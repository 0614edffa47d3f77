// Uninstalling where DeletionPolicies are: API servers deny nothing for them any more, nothing holds their
// objects, and the policies themselves stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "kube/parse.h"
#include "protection/cel.h"
#include "tests/server/uninstall/uninstall_fixture.h"

namespace lastout::server {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kStandingPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
const std::string kMadePolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const std::string kMadeBindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const std::string kDefaultMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kMadeName = "validatingadmissionpolicies.admissionregistration.k8s.io/";
constexpr const char* kBindingName = "validatingadmissionpolicybindings.admissionregistration.k8s.io/";

constexpr const char* kDenies = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when: [{label: example.com/protect}]
)";
constexpr const char* kHoldsMaps =
    R"(  objects: [{resources: [{resource: configmaps}], namespaces: [default]}]
  when: [{label: example.com/keep}]
  enforcement: Hold
  hold: {finalizer: example.com/held, force: {annotation: example.com/force}}
)";

class UninstallPoliciesTest : public UninstallTest {
 public:
  // With policies as a lastout leaves them that has ended, and what it made of them.
  void installWithPolicies() {
    install();
    apply("denies", kDenies);
    apply("holds", kHoldsMaps);
    createMap("held", {{"finalizers", {"example.com/held", "others.io/f"}}});
    createMap("protected", {{"labels", {{"example.com/protect", "x"}}}});
  }
  void apply(const std::string& name, const std::string& spec) {
    const std::string text =
        "apiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: " + name + "}\nspec:\n" +
        spec;
    const auto documents = kube::parseYaml(text, name);
    const auto read = protection::parsePolicies(text, name);
    ASSERT_TRUE(documents && read);
    create(kStandingPolicies, kube::toJson(documents->front()));
    for (const auto& made : protection::admissionPoliciesOf(read->front()))
      create(made["kind"] == "ValidatingAdmissionPolicy" ? kMadePolicies : kMadeBindings, made);
  }
  void createMap(const std::string& name, const Json& metadata) {
    Json map = lastout::testing::objectOf("v1", "ConfigMap", name);
    map["metadata"].update(metadata);
    create(kDefaultMaps, map);
  }
  void label(const std::string& path) {
    patch(path, {{"metadata", {{"labels", {{"example.com/protect", "x"}}}}}});
  }
  void refuseTo(const std::string& method, const std::string& path, int status = 403) {
    server.rule = [=](const client::ApiRequest& request) {
      return request.method == method && request.target.starts_with(path) ? std::optional(status)
                                                                          : std::nullopt;
    };
  }
  void expectNothingOfPoliciesHoldsOrDenies() {
    EXPECT_THAT(get(kMadeBindings)["items"], IsEmpty());
    EXPECT_THAT(get(kMadePolicies)["items"], IsEmpty());
    EXPECT_EQ(finalizersOf(kDefaultMaps + "/held"), Json({"others.io/f"}));
    EXPECT_EQ(statusOfDelete(kDefaultMaps + "/protected"), 200);
  }
};

// Bindings go when nobody is left to put them back, and before what they may protect; what names a finalizer
// goes after that.
TEST_F(UninstallPoliciesTest, TakesBackWhatPoliciesMade) {
  installWithPolicies();
  EXPECT_EQ(statusOfDelete(kDefaultMaps + "/protected"), 403);
  EXPECT_TRUE(run());
  EXPECT_THAT(complaints, IsEmpty());
  EXPECT_THAT(
      server.writes,
      ElementsAre(std::string("DELETE ") + kOwnDeployment, "DELETE " + kMadeBindings + "/lastout-force-holds",
                  "DELETE " + kMadeBindings + "/lastout-policy-denies",
                  "DELETE " + kMadeBindings + "/lastout-policy-holds", std::string("DELETE ") + kOwnWebhook,
                  "PATCH " + kDefaultMaps + "/held", std::string("PATCH ") + kWork,
                  "DELETE " + kMadePolicies + "/lastout-force-holds",
                  "DELETE " + kMadePolicies + "/lastout-policy-denies",
                  "DELETE " + kMadePolicies + "/lastout-policy-holds", std::string("DELETE ") + kOwnSecret,
                  std::string("DELETE ") + kOwnLease));
  expectNothingHoldsOrDenies();
  expectNothingOfPoliciesHoldsOrDenies();
}

TEST_F(UninstallPoliciesTest, LeavesThePoliciesAndSaysHowToRemoveThem) {
  installWithPolicies();
  create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         kube::toJson(kube::parseYaml(*kube::readFile("deploy/crd/deletionpolicies.yaml"), "")->front()));
  EXPECT_TRUE(run());
  EXPECT_TRUE(isThere(kStandingPolicies + "/denies") && isThere(kStandingPolicies + "/holds"));
  EXPECT_THAT(told, IsSupersetOf(
                        {"  2 DeletionPolicies, whose objects nothing protects now, whatever the status says",
                         "  the CustomResourceDefinition of DeletionPolicies",
                         "  kubectl delete deletionpolicies --all            DeletionPolicies "
                         "alone"}));
  remove("/api/v1/namespaces/lastout");
  EXPECT_TRUE(run());
  EXPECT_EQ(told.back(), "  kubectl delete crd deletionpolicies.lastout.dev");
}

TEST_F(UninstallPoliciesTest, HasNothingToDoTheSecondTimeThoughPoliciesAreLeft) {
  installWithPolicies();
  EXPECT_TRUE(run());
  EXPECT_TRUE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(complaints, IsEmpty());
}

TEST_F(UninstallPoliciesTest, ADryRunTellsEachThingAndChangesNothing) {
  installWithPolicies();
  options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(
      told,
      IsSupersetOf({std::string(kBindingName) + "lastout-policy-denies: would be deleted",
                    std::string(kBindingName) + "lastout-force-holds: would be deleted",
                    std::string(kMadeName) + "lastout-policy-denies: would be deleted",
                    std::string(kMadeName) + "lastout-force-holds: would be deleted",
                    std::string("configmaps/default/held: would be freed of example.com/held"),
                    std::string("It would leave:"),
                    std::string("  2 DeletionPolicies, whose objects nothing would protect then, whatever "
                                "the status says")}));
}

// Its DELETE was accepted, and somebody counts on what lastout does before it lets the object go.
TEST_F(UninstallPoliciesTest, AnObjectThatIsBeingDeletedAndHeldNeedsAYes) {
  installWithPolicies();
  remove(kDefaultMaps + "/held");
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(told, ElementsAre(AllOf(HasSubstr("1 object is being deleted and held for a deletion policy"),
                                      HasSubstr("outside of the cluster is not deleted")),
                                "  configmaps/default/held"));
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("a teardown is under way")));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(told,
              Contains("configmaps/default/held: freed of example.com/held, while it is being deleted"));
  expectNothingOfPoliciesHoldsOrDenies();
}

TEST_F(UninstallPoliciesTest, OfManyObjectsThatAreHeldTheFirstAreTold) {
  installWithPolicies();
  for (int i = 0; i < 25; ++i) {
    const std::string name = "m" + std::to_string(i);
    createMap(name, {{"finalizers", {"example.com/held"}}});
    remove(kDefaultMaps + "/" + name);
  }
  EXPECT_FALSE(run());
  EXPECT_THAT(told, SizeIs(22));
  EXPECT_THAT(told.front(), HasSubstr("25 objects are being deleted and held for deletion policies"));
  EXPECT_EQ(told.back(), "objects that wait for lastout: the same of 5 more");
}

// What is made of a policy stands until a lastout that runs takes it away, and says what the policy held by.
TEST_F(UninstallPoliciesTest, FinalizersOfAPolicyThatIsGoneAreFound) {
  installWithPolicies();
  remove(kStandingPolicies + "/holds");
  remove(kDefaultMaps + "/held");
  EXPECT_FALSE(run());
  EXPECT_THAT(told, Contains("  configmaps/default/held"));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  expectNothingOfPoliciesHoldsOrDenies();
}

TEST_F(UninstallPoliciesTest, AFinalizerThatAPolicyHadBeforeItWasChangedIsFound) {
  install();
  createMap("held", {{"finalizers", {"example.com/held", "others.io/f"}}});
  std::string renamed = kHoldsMaps;
  renamed.replace(renamed.find("example.com/held"), std::string("example.com/held").size(),
                  "example.com/new");
  apply("holds", renamed);
  patch(kMadePolicies + "/lastout-force-holds",
        {{"metadata",
          {{"annotations", {{"lastout.dev/former-hold-finalizers", "configmaps:example.com/held"}}}}}});
  EXPECT_TRUE(run());
  EXPECT_EQ(finalizersOf(kDefaultMaps + "/held"), Json({"others.io/f"}));
  EXPECT_THAT(get(kMadePolicies)["items"], IsEmpty());
}

// Of another type, or another finalizer, nobody has said that it is lastout's.
TEST_F(UninstallPoliciesTest, WhatNoPolicyNamesIsLeft) {
  installWithPolicies();
  Json other = lastout::testing::objectOf("v1", "Secret", "other");
  other["metadata"]["finalizers"] = {"example.com/held"};
  create("/api/v1/namespaces/default/secrets", other);
  createMap("others", {{"finalizers", {"example.com/helden"}}});
  EXPECT_TRUE(run());
  EXPECT_EQ(finalizersOf("/api/v1/namespaces/default/secrets/other"), Json({"example.com/held"}));
  EXPECT_EQ(finalizersOf(kDefaultMaps + "/others"), Json({"example.com/helden"}));
}

// The policy selects objects in one namespace; it may have selected others before it was edited.
TEST_F(UninstallPoliciesTest, AllObjectsOfAPolicysTypesAreFreed) {
  installWithPolicies();
  create("/api/v1/namespaces", lastout::testing::objectOf("v1", "Namespace", "elsewhere"));
  Json map = lastout::testing::objectOf("v1", "ConfigMap", "held");
  map["metadata"]["finalizers"] = {"example.com/held", "lastout.dev/later"};
  create("/api/v1/namespaces/elsewhere/configmaps", map);
  EXPECT_TRUE(run());
  EXPECT_EQ(finalizersOf("/api/v1/namespaces/elsewhere/configmaps/held"), Json::array());
}

// API servers go on denying for a moment after the binding is gone.
TEST_F(UninstallPoliciesTest, APolicyMayProtectTheWebhookConfiguration) {
  installWithPolicies();
  label(kOwnWebhook);
  const Json binding = {{"apiVersion", "admissionregistration.k8s.io/v1"},
                        {"kind", "ValidatingAdmissionPolicyBinding"},
                        {"metadata", {{"name", "late"}}},
                        {"spec", {{"policyName", "lastout-policy-denies"}, {"validationActions", {"Deny"}}}}};
  bool isLate = true;
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "DELETE" && request.target == kOwnWebhook && std::exchange(isLate, false)) {
      create(kMadeBindings, binding);
      meanwhile = [&] {
        if (isThere(kMadeBindings + "/late")) remove(kMadeBindings + "/late");
      };
    }
    return std::nullopt;
  };
  EXPECT_TRUE(run());
  EXPECT_FALSE(isLate);
  EXPECT_THAT(complaints, IsEmpty());
  expectNothingHoldsOrDenies();
  expectNothingOfPoliciesHoldsOrDenies();
}

// A lastout that runs would put the binding back; so it ends first, and its Deployment goes later.
TEST_F(UninstallPoliciesTest, APolicyMayProtectLastoutsDeploymentAndSecret) {
  installWithPolicies();
  label(kOwnDeployment);
  label(kOwnSecret);
  label(kOwnLease);
  EXPECT_EQ(statusOfDelete(kOwnDeployment), 403);
  EXPECT_TRUE(run());
  EXPECT_THAT(complaints, IsEmpty());
  const auto at = [this](const std::string& write) {
    return std::ranges::find(server.writes, write) - server.writes.begin();
  };
  EXPECT_LT(at(std::string("PATCH ") + kOwnDeployment),
            at("DELETE " + kMadeBindings + "/lastout-policy-denies"));
  EXPECT_THAT(told,
              IsSupersetOf({"deployments.apps/lastout/lastout: scaled to 0, as a deletion policy denies "
                            "its deletion, and its Pods are gone",
                            "deployments.apps/lastout/lastout: deleted"}));
  cluster.runUntil(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()) +
                   seconds(9));
  expectNothingHoldsOrDenies();
  expectNothingOfPoliciesHoldsOrDenies();
}

TEST_F(UninstallPoliciesTest, WhereAProtectedDeploymentMayNotBeScaledNothingIsDone) {
  installWithPolicies();
  label(kOwnDeployment);
  refuseTo("PATCH", kOwnDeployment);
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints,
              ElementsAre(AllOf(HasSubstr("cannot be scaled to 0, while a deletion policy denies"),
                                HasSubstr("a right is missing"))));
  EXPECT_TRUE(isThere(kMadeBindings + "/lastout-policy-denies"));
}

TEST_F(UninstallPoliciesTest, WhetherPoliciesHoldHasToBeKnown) {
  installWithPolicies();
  for (const std::string& unseen :
       std::vector<std::string>{kStandingPolicies, kMadePolicies, kMadeBindings, "/api/v1/configmaps"}) {
    refuseTo("GET", unseen);
    EXPECT_FALSE(run());
    EXPECT_THAT(server.writes, IsEmpty()) << unseen;
    EXPECT_THAT(complaints,
                Contains(AllOf(HasSubstr("whether objects that policies hold wait: cannot be known"),
                               HasSubstr("a right is missing"))))
        << unseen;
  }
}

// Of what cannot be deleted the right is named, and the rest is done.
TEST_F(UninstallPoliciesTest, SaysWhichRightOnPoliciesIsMissing) {
  installWithPolicies();
  refuseTo("DELETE", kMadeBindings);
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints,
              ElementsAre(HasSubstr(std::string(kBindingName) + "lastout-force-holds: cannot be "
                                                                "deleted, a right is missing"),
                          HasSubstr(std::string(kBindingName) + "lastout-policy-denies: cannot be "
                                                                "deleted, a right is missing"),
                          HasSubstr(std::string(kBindingName) + "lastout-policy-holds: cannot be "
                                                                "deleted, a right is missing")));
  EXPECT_FALSE(isThere(kOwnWebhook) || isThere(kOwnSecret));
  server.allow();
  EXPECT_TRUE(run());
  expectNothingOfPoliciesHoldsOrDenies();
}

// Otherwise nothing would say any more by what the policy held.
TEST_F(UninstallPoliciesTest, WhatNamesAFinalizerStaysUntilThatIsOff) {
  installWithPolicies();
  remove(kStandingPolicies + "/holds");
  refuseTo("PATCH", kDefaultMaps);
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints,
              ElementsAre(HasSubstr("configmaps/default/held: cannot be freed of example.com/held, "
                                    "a right is missing")));
  EXPECT_TRUE(isThere(kMadePolicies + "/lastout-force-holds"));
  EXPECT_FALSE(isThere(kMadeBindings + "/lastout-force-holds"));
  EXPECT_FALSE(isThere(kMadePolicies + "/lastout-policy-denies"));
  server.allow();
  EXPECT_TRUE(run());
  expectNothingOfPoliciesHoldsOrDenies();
}

TEST_F(UninstallPoliciesTest, MayBeInterruptedAnywhere) {
  installWithPolicies();
  label(kOwnDeployment);
  remove(kStandingPolicies + "/holds");
  bool isDone = false;
  for (size_t most = 1; !isDone && most < 200; ++most) {
    server.rule = [&](const client::ApiRequest&) {
      return server.asked.size() > most ? std::optional(0) : std::nullopt;
    };
    server.asked.clear();
    isDone = uninstall(server, options).value_or(false);
  }
  EXPECT_TRUE(isDone);
  expectNothingHoldsOrDenies();
  expectNothingOfPoliciesHoldsOrDenies();
}

// Before Kubernetes 1.30.
TEST_F(UninstallPoliciesTest, AnApiServerWithoutAdmissionPoliciesHasNothingOfThem) {
  install();
  server.rule = [](const client::ApiRequest& request) {
    return request.target.find("validatingadmissionpolic") != std::string::npos ? std::optional(404)
                                                                                : std::nullopt;
  };
  EXPECT_TRUE(run());
  EXPECT_THAT(complaints, IsEmpty());
  expectNothingHoldsOrDenies();
}

}  // namespace
}  // namespace lastout::server
