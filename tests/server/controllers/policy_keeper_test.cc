// PolicyKeeper against the embedded cluster: what API servers evaluate follows the DeletionPolicies, is put
// back, and the status says so.
#include "server/controllers/policy_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "client/discovery.h"
#include "client/watcher.h"
#include "protection/implied.h"
#include "server/controllers/event_writer.h"
#include "server/watch/policy_types.h"
#include "server/watch/policy_view.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

const std::string kKeptPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
const std::string kAdmissionPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
const std::string kMadePolicy = kAdmissionPath + "ies/lastout-policy-p";
const std::string kMadeBinding = kAdmissionPath + "ybindings/lastout-policy-p";
const std::string kSettings = "/api/v1/namespaces/default/configmaps/settings";

Json policyFor(const std::string& label) {
  return {{"apiVersion", "lastout.dev/v1alpha1"},
          {"kind", "DeletionPolicy"},
          {"metadata", {{"name", "p"}}},
          {"spec",
           {{"objects", Json::array({{{"resources", Json::array({{{"group", "*"}, {"resource", "*"}}})}}})},
            {"when", Json::array({{{"label", label}}})},
            {"namespaces", "Ignore"},
            {"crds", "Ignore"}}}};
}

Json forcedPolicy() {
  Json policy = policyFor("example.com/a");
  policy["spec"]["objects"] = Json::parse(R"([{"resources": [{"resource": "configmaps"}]}])");
  policy["spec"]["enforcement"] = "Hold";
  policy["spec"]["hold"] =
      Json::parse(R"({"finalizer": "example.com/held", "force": {"annotation": "example.com/force"}})");
  return policy;
}

class PolicyKeeperTest : public lastout::testing::ServerWorld {
 public:
  PolicyKeeperTest() {
    create("/api/v1/namespaces/default/configmaps",
           {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", "settings"}, {"labels", {{"example.com/a", "x"}}}}}});
  }
  ~PolicyKeeperTest() override {
    if (keeper_) keeper_->stop();
  }

  void keep(protection::PolicyMode mode = protection::PolicyMode::ApiServer) {
    if (keeper_) keeper_->stop();
    PolicyKeeperOptions options;
    options.mode = mode;
    options.mayWrite = [this] { return leads_.load(); };
    options.webhookAsks = [this](const std::string& /*policy*/) { return asks_.load(); };
    options.clock = [this] { return std::chrono::sys_seconds(std::chrono::seconds(seconds_.load())); };
    options.holdProblem = [this](const protection::DeletionPolicy& policy) {
      return policy.hold ? std::optional<std::string>(holds_ ? "" : "it runs without") : std::nullopt;
    };
    if (types_)
      options.unknownTypes = [this](const protection::DeletionPolicy& policy) {
        return types_->unknownTo(policy);
      };
    if (types_)
      options.unreadableTypes = [this](const protection::DeletionPolicy& policy) {
        return types_->unreadableOf(policy);
      };
    options.written = [this](const kube::ObjectMeta& policy, const Json& before, const Json& after) {
      const kube::MutexLock lock(mutex_);
      for (const Event& event : eventsOfPolicy(policy.name, policy.uid, before, after))
        told_ += event.reason + " ";
    };
    options.random = lastout::testing::oneHalf;
    options.log = lastout::testing::noLog();
    keeper_ = std::make_unique<PolicyKeeper>(access, std::move(options));
    keeper_->start();
  }
  // Keeps them with the rights of a user of tests/simulator/wire.cc, from the next keep() on.
  void keepAs(const std::string& token) { access = accessOf(token); }
  // In the webhook, as that user, with API servers that ask about all.
  void askBy(const std::string& token) {
    keepAs(token);
    keep(protection::PolicyMode::Webhook);
    askTheWebhook(true);
    waitUntil([&] {
      pass(protection::kInForceAfter);
      return !condition("Enforced").empty() && condition("Enforced") != "False Spreading";
    });
  }
  // From now on keep() has the policies compared with what the cluster serves.
  void compareTypes(const std::string& lister = "") {
    follow();
    ownRights_ = std::make_unique<ObjectRights>(access);
    types_ = std::make_unique<PolicyTypes>(access, view, policies, *ownRights_, lister,
                                           std::chrono::milliseconds(0));
  }
  // The same, once another process compares them that has the rights of that user.
  void compareTypesAs(const std::string& token) {
    keeper_->stop();
    keepAs(token);
    ownRights_ = std::make_unique<ObjectRights>(access);
    types_ =
        std::make_unique<PolicyTypes>(access, view, policies, *ownRights_, "", std::chrono::milliseconds(0));
    keep();
  }
  void failReadsOfDefinitions() { types_->stop(); }  // from now on
  std::string told() {
    const kube::MutexLock lock(mutex_);
    return told_;
  }
  void lead(bool leads) {
    leads_ = leads;
    keeper_->reconsider();
  }
  void askTheWebhook(bool asks) {
    asks_ = asks;
    keeper_->reconsider();
  }
  void hold() { holds_ = true; }  // from now on
  void end() { keeper_->withdraw(); }
  PolicyKeeper::Problems problems() const { return keeper_->problems(); }
  void pass(std::chrono::seconds time) {
    seconds_ += time.count();
    keeper_->reconsider();
  }

  Json get(const std::string& path) { return call({"GET", path, {}, {}}); }
  bool isThere(const std::string& path) { return get(path)["kind"] != "Status"; }
  std::string deny() { return call({"DELETE", kSettings + "?dryRun=All", {}, {}}).value("message", ""); }
  // "True Enforced" of the condition of that type.
  std::string condition(const std::string& type) {
    const Json one = wholeCondition(type);
    return one.is_null() ? "" : one["status"].get<std::string>() + " " + one["reason"].get<std::string>();
  }
  Json wholeCondition(const std::string& type) {
    const Json policy = get(kKeptPolicies + "/p");
    for (const Json& one : policy.value("status", Json::object()).value("conditions", Json::array()))
      if (one["type"] == type) return one;
    return {};
  }
  // Until the message of the condition contains that.
  void waitForMessage(const std::string& type, const std::string& wanted) {
    waitUntil([&] {
      keeper_->reconsider();
      const Json one = wholeCondition(type);
      return !one.is_null() && one["message"].get<std::string>().find(wanted) != std::string::npos;
    });
  }
  // An Event follows the status that it tells of.
  void waitUntilTold(const std::string& reason) {
    waitUntil([&] { return told().find(reason) != std::string::npos; });
  }
  std::string message(const std::string& type) {
    const Json policy = get(kKeptPolicies + "/p");
    for (const Json& one : policy.value("status", Json::object()).value("conditions", Json::array()))
      if (one["type"] == type) return one["message"];
    return "";
  }
  void waitForCondition(const std::string& type, const std::string& wanted) {
    waitUntil([&] { return condition(type) == wanted; });
  }

 private:
  Json call(const lastout::testing::WireRequest& request) { return Json::parse(ask(request).body); }

  std::atomic<bool> leads_{true};
  std::atomic<bool> asks_{false};
  std::atomic<bool> holds_{false};
  std::atomic<int64_t> seconds_{1'000'000};
  kube::Mutex mutex_;
  std::string told_ LASTOUT_GUARDED_BY(mutex_);  // reasons of Events
  std::unique_ptr<ObjectRights> ownRights_;
  std::unique_ptr<PolicyTypes> types_;  // null: nobody compares
  std::unique_ptr<PolicyKeeper> keeper_;
};

TEST_F(PolicyKeeperTest, APolicyIsEnforcedOnceApiServersHaveReadIt) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitForCondition("Enforced", "False Spreading");
  EXPECT_EQ(condition("Accepted"), "True Accepted");
  EXPECT_THAT(deny(), HasSubstr("label example.com/a is x"));
  pass(protection::kInForceAfter);
  waitForCondition("Enforced", "True Enforced");
}

TEST_F(PolicyKeeperTest, AnEditedPolicyReplacesWhatWasMadeOfIt) {
  create(kKeptPolicies, policyFor("example.com/b"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  EXPECT_EQ(deny(), "");
  patch(kKeptPolicies + "/p", {{"spec", policyFor("example.com/a")["spec"]}});
  waitUntil([&] { return !deny().empty(); });
}

TEST_F(PolicyKeeperTest, OfAPolicyThatIsGoneNothingIsLeft) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  remove(kKeptPolicies + "/p");
  waitUntil([&] { return !isThere(kMadePolicy); });
  EXPECT_FALSE(isThere(kMadeBinding));
  EXPECT_EQ(deny(), "");
}

TEST_F(PolicyKeeperTest, PutsBackWhatSomebodyDeletesOrChanges) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  remove(kMadeBinding);
  waitUntil([&] { return isThere(kMadeBinding); });
  patch(kMadePolicy, {{"spec", {{"failurePolicy", "Ignore"}}}});
  waitUntil([&] { return get(kMadePolicy)["spec"]["failurePolicy"] == "Fail"; });
}

// An API server keeps what the CRD allows, which is more than can be understood.
TEST_F(PolicyKeeperTest, APolicyThatIsNotUnderstoodAnyMoreGoesOnProtecting) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  patch(kKeptPolicies + "/p", {{"spec", {{"message", "{king} stays"}}}});
  waitForCondition("Accepted", "False NotUnderstood");
  EXPECT_EQ(condition("Enforced"), "False NotAccepted");
  EXPECT_NE(deny(), "");
}

// So it does when another lastout keeps it, which has never understood it.
TEST_F(PolicyKeeperTest, TheFormThatWasUnderstoodLastCountsAfterARestart) {
  create(kKeptPolicies, policyFor("example.com/b"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  patch(kKeptPolicies + "/p", {{"spec", policyFor("example.com/a")["spec"]}});
  waitUntil([&] { return !deny().empty(); });
  Json broken = policyFor("example.com/b")["spec"];
  broken["message"] = "{king} stays";
  patch(kKeptPolicies + "/p", {{"spec", broken}});
  waitForCondition("Accepted", "False NotUnderstood");
  waitForMessage("Enforced", "as it was in generation 2 it goes on protecting");
  EXPECT_EQ(get(kKeptPolicies + "/p")["status"]["understood"]["spec"]["when"][0]["label"], "example.com/a");
  waitUntilTold("NotUnderstood");
  keep();
  remove(kMadeBinding);
  waitUntil([&] { return isThere(kMadeBinding); });
  waitUntil([&] { return !deny().empty(); });
  EXPECT_EQ(condition("Accepted"), "False NotUnderstood");

  PolicyView view(this->view, {});
  const Json stored = get(kKeptPolicies + "/p");
  const auto read = kube::parseObject(kube::fromJson(stored), "", kube::ResourceMap::builtIn());
  ASSERT_TRUE(read);
  view.upsertPolicy(*read);
  client::SyncStatus synced;
  synced.state = client::SyncStatus::State::Synced;
  view.knowPolicies(synced, {});
  ASSERT_EQ(view.policies()->all().size(), 1U);
  EXPECT_EQ(view.policies()->all()[0].when.at(0).key->key, "example.com/a");
}

// Fields of the former spec that the new one does not have go from the status, too.
TEST_F(PolicyKeeperTest, TheStatusKeepsNothingOfAFormerForm) {
  Json policy = policyFor("example.com/a");
  policy["spec"]["message"] = "it stays";
  create(kKeptPolicies, policy);
  keep();
  waitUntil([&] { return get(kKeptPolicies + "/p")["status"]["understood"]["generation"] == 1; });
  patch(kKeptPolicies + "/p", {{"spec", {{"message", nullptr}}}});
  waitUntil([&] { return get(kKeptPolicies + "/p")["status"]["understood"]["generation"] == 2; });
  EXPECT_FALSE(get(kKeptPolicies + "/p")["status"]["understood"]["spec"].contains("message"));
}

TEST_F(PolicyKeeperTest, WhatTheClusterDoesNotHaveIsSaidUntilItHasIt) {
  compareTypes();
  Json policy = policyFor("example.com/a");
  policy["spec"]["objects"] =
      Json::parse(R"([{"resources": [{"group": "example.com", "resource": "widgets"}]}])");
  policy["spec"]["when"] = Json::parse(R"([{"field": {"path": "spec.protcted"}}])");
  create(kKeptPolicies, policy);
  keep();
  waitForCondition("TypesKnown", "False NotFound");
  EXPECT_EQ(wholeCondition("TypesKnown")["message"],
            "spec.objects: the cluster serves no widgets.example.com");
  waitUntilTold("TypesNotFound");

  Json crd = lastout::testing::definition("example.com", "widgets", "Widget", "Namespaced");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = Json::parse(
      R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {"protected": {"type": "boolean"}}}}})");
  create(lastout::testing::kDefinitionsPath, crd);
  waitForMessage("TypesKnown",
                 "widgets.example.com v1 has no field spec.protcted; did you mean \"protected\"?");
  patch(kKeptPolicies + "/p",
        {{"spec", {{"when", Json::parse(R"([{"field": {"path": "spec.protected"}}])")}}}});
  waitForMessage("TypesKnown", "nothing that the policy names is known to be missing");
  EXPECT_EQ(condition("TypesKnown"), "True Known");
  waitUntilTold("TypesFound");
}

TEST_F(PolicyKeeperTest, TypesThatLastoutMayNotListAreSaidWithWhatFollows) {
  compareTypes();
  create(lastout::testing::kDefinitionsPath,
         lastout::testing::definition("example.com", "widgets", "Widget", "Namespaced"));
  Json policy = policyFor("example.com/a");
  policy["spec"]["objects"] = Json::parse(
      R"([{"resources": [{"group": "example.com", "resource": "widgets"}, {"resource": "endpoints"}]}])");
  create(kKeptPolicies, policy);
  keep();
  waitForCondition("Accepted", "True Accepted");
  EXPECT_EQ(condition("TypesReadable"), "") << "it seeks nothing in Namespaces, nor behind CRDs";
  patch(kKeptPolicies + "/p", {{"spec", {{"namespaces", "Imply"}, {"crds", "Imply"}}}});
  waitForCondition("TypesReadable", "True Readable");

  compareTypesAs("policy-watchers-token");
  waitForCondition("TypesReadable", "False Forbidden");
  waitUntil([&] {
    const std::string message = wholeCondition("TypesReadable")["message"];
    return message.starts_with(
               "lastout may not list endpoints and widgets.example.com: a Namespace is deleted "
               "with a Warning") &&
           message.find("no CustomResourceDefinition of these types can be deleted") != std::string::npos;
  });
  EXPECT_THAT(std::string(wholeCondition("TypesReadable")["message"]),
              HasSubstr("lastout.dev/aggregate-to-reads: \"true\""));
  waitUntilTold("TypesForbidden");
  patch(kKeptPolicies + "/p", {{"spec", {{"namespaces", "Strict"}, {"crds", "Ignore"}}}});
  waitForMessage(
      "TypesReadable",
      "lastout may not list endpoints and widgets.example.com: no Namespace that may hold protected ones "
      "can be deleted; let lastout's accounts get, list and watch them, by a ClusterRole with the label "
      "lastout.dev/aggregate-to-reads: \"true\", which Kubernetes adds to ClusterRole lastout-reads");
}

// The account that reviews DELETEs lists, not the one that keeps policies.
TEST_F(PolicyKeeperTest, TheAccountThatReviewsIsAskedAbout) {
  compareTypes(R"({"username": "policy-watcher", "groups": ["system:authenticated"]})");
  create(lastout::testing::kDefinitionsPath,
         lastout::testing::definition("example.com", "widgets", "Widget", "Namespaced"));
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  patch(kKeptPolicies + "/p", {{"spec", {{"namespaces", "Imply"}, {"crds", "Imply"}}}});
  waitForCondition("TypesReadable", "False Forbidden");
}

// What is uncertain is neither there nor missing.
TEST_F(PolicyKeeperTest, ADefinitionThatCannotBeReadDoesNotChangeWhatIsKnown) {
  compareTypes();
  Json crd = lastout::testing::definition("example.com", "widgets", "Widget", "Namespaced");
  crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = Json::parse(
      R"({"type": "object", "properties": {"spec": {"type": "object", "properties": {"protected": {"type": "boolean"}}}}})");
  create(lastout::testing::kDefinitionsPath, crd);
  Json policy = policyFor("example.com/a");
  policy["spec"]["objects"] =
      Json::parse(R"([{"resources": [{"group": "example.com", "resource": "widgets"}]}])");
  policy["spec"]["when"] = Json::parse(R"([{"field": {"path": "spec.protcted"}}])");
  create(kKeptPolicies, policy);
  keep();
  waitForMessage("TypesKnown", "widgets.example.com v1 has no field spec.protcted");

  failReadsOfDefinitions();
  patch(kKeptPolicies + "/p",
        {{"spec", {{"when", Json::parse(R"([{"field": {"path": "spec.prtected"}}])")}}}});
  waitForMessage("TypesKnown",
                 "widgets.example.com v1 has no field spec.prtected");  // by the last definition

  const Json before = wholeCondition("TypesKnown");
  compareTypesAs("policy-keepers-token");  // it may not read CRDs
  patch(kKeptPolicies + "/p",
        {{"spec", {{"when", Json::parse(R"([{"field": {"path": "spec.protected"}}])")}}}});
  waitUntil([&] {
    pass(std::chrono::seconds(0));
    return wholeCondition("Accepted")["observedGeneration"] == 3;
  });
  EXPECT_EQ(wholeCondition("TypesKnown"), before);
  EXPECT_THAT(told(), Not(HasSubstr("TypesFound")));
}

TEST_F(PolicyKeeperTest, ComparingOnceTellsWhatCannotBeCompared) {
  create(lastout::testing::kDefinitionsPath,
         lastout::testing::definition("example.com", "widgets", "Widget", "Namespaced"));
  Json policy = policyFor("example.com/a");
  policy["spec"]["objects"] = Json::parse(R"([{"resources": [{"group": "example.com", "resource": "widgets"},
                                                             {"group": "away.example.com", "resource": "gadgets"}]}])");
  policy["spec"]["when"] = Json::parse(R"([{"field": {"path": "spec.protected"}}])");
  const auto object = kube::parseObject(kube::fromJson(policy), "", kube::ResourceMap::builtIn());
  ASSERT_TRUE(object);
  const auto read = protection::parsePolicy(*object);
  ASSERT_TRUE(read);
  client::Discovery discovery;
  waitUntil([&] {
    discovery = client::discover(*access->newServer()).value();
    return discovery.find({"example.com", "widgets"}) != nullptr;
  });
  EXPECT_THAT(server::compareTypes(PolicyReads(access), discovery, *read).unknown,
              HasSubstr("the cluster serves no gadgets.away.example.com"));

  discovery.gaps.push_back({"away.example.com", "", "its API server is away"});
  keepAs("policy-keepers-token");  // it may not read CRDs
  const ComparedTypes compared = server::compareTypes(PolicyReads(access), discovery, *read);
  EXPECT_EQ(compared.unknown, "");
  EXPECT_THAT(
      compared.unclear,
      UnorderedElementsAre(
          AllOf(HasSubstr("fields of widgets.example.com are not compared"), HasSubstr("cannot get")),
          "whether the cluster serves gadgets.away.example.com is not known: its API server is away"));
}

TEST_F(PolicyKeeperTest, OnlyWhoLeadsWrites) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  lead(false);
  remove(kKeptPolicies + "/p");
  lead(true);
  waitUntil([&] { return !isThere(kMadePolicy); });
}

// The status says so, and the next lastout puts it back.
TEST_F(PolicyKeeperTest, AnOrderlyEndTakesAwayWhatIsToEndWithIt) {
  Json policy = policyFor("example.com/a");
  policy["spec"]["cleanupOnShutdown"] = true;
  create(kKeptPolicies, policy);
  Json staying = policyFor("example.com/b");
  staying["metadata"]["name"] = "q";
  create(kKeptPolicies, staying);
  keep();
  const std::string stayingBinding = kAdmissionPath + "ybindings/lastout-policy-q";
  waitForCondition("Enforced", "False Spreading");
  pass(protection::kInForceAfter);
  waitForCondition("Enforced", "True Enforced");
  end();
  EXPECT_FALSE(isThere(kMadeBinding));
  EXPECT_FALSE(isThere(kMadePolicy));
  EXPECT_TRUE(isThere(stayingBinding));
  EXPECT_EQ(deny(), "");
  EXPECT_EQ(condition("Enforced"), "False NotStored");
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
}

// Until API servers ask the webhook, they go on to deny by themselves: nothing is unprotected in between.
TEST_F(PolicyKeeperTest, NothingStandsInTheApiServerOnceItAsksTheWebhookAboutAll) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  keep(protection::PolicyMode::Webhook);
  waitForCondition("Enforced", "False Spreading");
  pass(protection::kInForceAfter);
  waitForCondition("Enforced", "False NotAsked");
  EXPECT_NE(deny(), "");
  askTheWebhook(true);
  waitUntil([&] { return !isThere(kMadePolicy); });
  EXPECT_EQ(deny(), "");
  waitForCondition("Enforced", "False Spreading");
  pass(protection::kInForceAfter);
  waitForCondition("Enforced", "True Enforced");
}

TEST_F(PolicyKeeperTest, WhatLostItsLabelIsLastoutsAllTheSame) {
  const Json unlabelled{{"metadata", {{"labels", {{"lastout.dev/deletion-policy", nullptr}}}}}};
  const auto isLabelled = [this](const std::string& path) {
    return get(path)["metadata"]["labels"].contains("lastout.dev/deletion-policy");
  };
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  patch(kMadePolicy, unlabelled);
  waitUntil([&] { return isLabelled(kMadePolicy); });
  lead(false);
  patch(kMadePolicy, unlabelled);
  patch(kMadeBinding, unlabelled);
  remove(kKeptPolicies + "/p");
  lead(true);
  waitUntil([&] { return !isThere(kMadePolicy) && !isThere(kMadeBinding); });
}

// deploy/ gives no right to write them: a policy that is to run there anyway protects nothing.
TEST_F(PolicyKeeperTest, CountsWhatIsNotInForce) {
  const auto has = [this](size_t policies, size_t bindings) {
    const PolicyKeeper::Problems now = problems();
    return now.policiesNotEnforced == policies && now.bindingsWithoutPolicy == bindings;
  };
  keep();
  waitUntil([&] { return has(0, 0); });
  create(kKeptPolicies, policyFor("example.com/a"));
  waitUntil([&] { return has(1, 0); });
  waitUntil([&] {
    pass(protection::kInForceAfter);
    return has(0, 0);
  });
  for (const char* name : {"lastout-shipped", "others"})
    create(kAdmissionPath + "ybindings", {{"apiVersion", "admissionregistration.k8s.io/v1"},
                                          {"kind", "ValidatingAdmissionPolicyBinding"},
                                          {"metadata", {{"name", name}}},
                                          {"spec", {{"policyName", name}, {"validationActions", {"Deny"}}}}});
  waitUntil([&] { return has(0, 1); });
  EXPECT_TRUE(isThere(kAdmissionPath + "ybindings/lastout-shipped")) << "it is not lastout's to take away";
}

TEST_F(PolicyKeeperTest, WithoutTheRightToWriteTheStatusNamesItAndWhatGivesIt) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keepAs("policy-watchers-token");
  keep();
  waitForCondition("Enforced", "False NotStored");
  EXPECT_THAT(
      message("Enforced"),
      AllOf(
          HasSubstr("cannot create resource \"validatingadmissionpolicies\" in API group "
                    "\"admissionregistration.k8s.io\""),
          HasSubstr("the component keeps-admission-policies of deploy/ gives lastout-controller that right"),
          HasSubstr("lastout serve --policies webhook does without")));
  EXPECT_EQ(condition("Accepted"), "True Accepted");
  EXPECT_FALSE(isThere(kMadePolicy));
}

TEST_F(PolicyKeeperTest, WithoutTheRightToListTheStatusSaysSo) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keepAs("policy-keepers-token");
  keep();
  waitForCondition("Enforced", "False NotStored");
  EXPECT_THAT(message("Enforced"), AllOf(HasSubstr("may not list ValidatingAdmissionPolicies"),
                                         HasSubstr("keeps-admission-policies"),
                                         HasSubstr("lastout serve --policies webhook does without")));
}

// As deploy/ has it.
TEST_F(PolicyKeeperTest, WithoutTheRightToWriteAPolicyIsEnforcedInTheWebhook) {
  create(kKeptPolicies, policyFor("example.com/a"));
  askBy("policy-watchers-token");
  waitForCondition("Enforced", "True Enforced");
}

TEST_F(PolicyKeeperTest, WithoutAnyRightOnThemAPolicyIsEnforcedInTheWebhook) {
  create(kKeptPolicies, policyFor("example.com/a"));
  askBy("policy-keepers-token");
  waitForCondition("Enforced", "True Enforced");
}

// Of an upgrade from a lastout that had the right: it denies as it stood until somebody deletes it.
TEST_F(PolicyKeeperTest, WhatItMayNotDeleteAnyMoreTheStatusNames) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitUntil([&] { return isThere(kMadeBinding); });
  waitForCondition("Enforced", "False Spreading");
  askBy("policy-watchers-token");
  waitUntil(
      [&] { return message("Enforced").ends_with("validatingadmissionpolicybinding lastout-policy-p"); });
  EXPECT_EQ(condition("Enforced"), "False NotStored");
  EXPECT_THAT(message("Enforced"),
              AllOf(HasSubstr("cannot delete resource \"validatingadmissionpolicybindings\""),
                    HasSubstr("keeps-admission-policies"),
                    HasSubstr("kubectl delete validatingadmissionpolicybinding lastout-policy-p")));
  EXPECT_NE(deny(), "");
  remove(kMadeBinding);
  waitUntil(
      [&] { return message("Enforced").ends_with("delete validatingadmissionpolicy lastout-policy-p"); });
  remove(kMadePolicy);
  waitForCondition("Enforced", "False Spreading");
  pass(protection::kInForceAfter);
  waitForCondition("Enforced", "True Enforced");
}

// Without its guard force does not count; the policy itself does.
TEST_F(PolicyKeeperTest, WithoutTheRightToWriteForceDoesNotCountAndTheStatusSaysWhy) {
  create(kKeptPolicies, forcedPolicy());
  hold();
  askBy("policy-watchers-token");
  waitForCondition("Enforced", "True Enforced");
  EXPECT_EQ(condition("Held"), "True Held");
  EXPECT_THAT(message("Held"),
              AllOf(HasSubstr("force does not count: "),
                    HasSubstr("cannot create resource \"validatingadmissionpolicies\""),
                    HasSubstr("the component keeps-admission-policies of deploy/ gives lastout-controller")));
}

// Nothing but an API server knows what a user may do.
TEST_F(PolicyKeeperTest, TheGuardOfForceStandsInTheApiServerAlsoWhereAllElseRunsInTheWebhook) {
  create(kKeptPolicies, forcedPolicy());
  const std::string guardBinding = kAdmissionPath + "ybindings/lastout-force-p";
  keep(protection::PolicyMode::Webhook);
  waitUntil([&] { return isThere(guardBinding); });
  EXPECT_FALSE(isThere(kMadePolicy));
  remove(guardBinding);
  waitUntil([&] { return isThere(guardBinding); });
  waitForCondition("Held", "False NotHeld");
}

TEST_F(PolicyKeeperTest, ANewLeaderTakesWhatIsEnforcedForEnforced) {
  create(kKeptPolicies, policyFor("example.com/a"));
  keep();
  waitForCondition("Enforced", "False Spreading");
  pass(protection::kInForceAfter);
  waitForCondition("Enforced", "True Enforced");
  const Json before = get(kKeptPolicies + "/p")["metadata"]["resourceVersion"];
  keep();
  Json another = policyFor("example.com/b");
  another["metadata"]["name"] = "q";
  create(kKeptPolicies, another);
  waitUntil([&] { return get(kKeptPolicies + "/q").contains("status"); });
  EXPECT_EQ(get(kKeptPolicies + "/p")["metadata"]["resourceVersion"], before);
}

}  // namespace
}  // namespace lastout::server
