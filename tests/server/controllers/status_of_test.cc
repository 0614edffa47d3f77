// The status of a CriticalService, from a view that a test fills.
#include "server/controllers/status_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/condition.h"
#include "kube/parse.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using graph::Knowledge;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using StatusTree = nlohmann::json;

const kube::GroupResource kCrds{"apiextensions.k8s.io", "customresourcedefinitions"};
const kube::GroupResource kCools{"my.crd.group", "coolresources"};
const kube::GroupResource kWorkloads{"apps", "deployments"};
const kube::ObjectKey kWorkload{kWorkloads, "n", "d"};

constexpr const char* kServiceText = R"({"apiVersion":"lastout.dev/v1alpha1","kind":"CriticalService",
  "metadata":{"name":"s","generation":3},
  "spec":{"provider":{"group":"apps","resource":"deployments","namespace":"n","name":"d"},
  "criteria":[
    {"type":"Finalizer","finalizer":{"group":"my.crd.group","resource":"coolresources","finalizerName":"a/b"}},
    {"type":"SpecificResource","specificResource":{"group":"apiextensions.k8s.io",
     "resource":"customresourcedefinitions","name":"coolresources.my.crd.group"}}]}})";

class StatusOfTest : public ::testing::Test {
 public:
  StatusOfTest() {
    guard(StatusTree::parse(kServiceText));
    for (const auto& type : {criticalservice::criticalServiceType(), kCrds, kCools, kWorkloads})
      view.know(type, Knowledge::Synced);
    for (const auto& type : criticalservice::DependencyFinder::types()) view.know(type, Knowledge::Synced);
    view.know({"apps", "replicasets"}, Knowledge::Synced);
    facts.readiness = {true, "PodsReady", "1 Pod is ready"};
    facts.enforcement = {std::nullopt, "ProbePending", "no probe"};
    facts.now = std::chrono::sys_seconds(std::chrono::seconds(1'760'000'000));
  }

  void guard(const StatusTree& service) {
    auto object = kube::parseObject(kube::fromJson(service), "", types);
    ASSERT_TRUE(object) << object.error().message;
    ASSERT_TRUE(view.guard(std::move(*object)));
  }
  void put(const kube::GroupResource& type, const std::string& namespaceName, const std::string& name,
           const std::string& uid, std::vector<std::string> finalizers = {}, bool terminating = false) {
    kube::ObjectMeta meta;
    meta.namespaceName = namespaceName;
    meta.name = name;
    meta.uid = uid;
    meta.resourceVersion = "1";
    meta.finalizers = std::move(finalizers);
    if (terminating) meta.deletionTimestamp = 1;
    view.upsert(type, meta);
  }
  void putProvider(const std::string& uid = "u-1") { put(kWorkloads, "n", "d", uid); }
  // What is written now stands there from now on.
  StatusTree write() {
    status = statusOf(view, *view.service("s"), status, facts);
    return status;
  }
  // The CriticalService has the status that was written.
  void remember() {
    StatusTree service = StatusTree::parse(kServiceText);
    service["status"] = status;
    guard(service);
  }
  const StatusTree& condition(const std::string& type) {
    for (const StatusTree& one : status["conditions"]) {
      if (one.value("type", StatusTree()) == type) return one;
    }
    ADD_FAILURE() << type;
    return status;
  }
  std::string brief(const std::string& type) {
    return condition(type)["status"].get<std::string>() + " " + condition(type)["reason"].get<std::string>();
  }
  std::string message(const std::string& type) { return condition(type)["message"]; }

  kube::ResourceMap types = kube::ResourceMap::builtIn();
  admission::ClusterView view{"", admission::ViewScope::WhatIsWatched};
  StatusFacts facts;
  StatusTree status;
};

TEST_F(StatusOfTest, OfCriteriaThatHold) {
  putProvider();
  write();
  EXPECT_EQ(status["observedGeneration"], 3);
  EXPECT_EQ(status["provider"], StatusTree({{"uid", "u-1"}, {"present", true}, {"ready", true}}));
  EXPECT_FALSE(status.contains("unmetCriteria"));
  EXPECT_EQ(status["remainingObjects"], 0);
  EXPECT_EQ(status["deferredDeletionsCount"], 0);
  EXPECT_EQ(brief("Satisfied"), "True CriteriaMet");
  EXPECT_EQ(brief("ProviderReady"), "True PodsReady");
  EXPECT_EQ(brief("Enforced"), "Unknown ProbePending");
  EXPECT_EQ(brief("Stuck"), "False NothingBeingDeleted");
  EXPECT_EQ(brief("Degraded"), "False AllKnown");
  for (const StatusTree& one : status["conditions"]) {
    EXPECT_EQ(one["observedGeneration"], 3);
    EXPECT_EQ(one["lastTransitionTime"], "2025-10-09T08:53:20Z");
  }
}

TEST_F(StatusOfTest, OfAProviderThatCannotBeHeld) {
  putProvider();
  facts.holdProblem = "deployments.apps/n/p cannot be held, and its deletion is denied instead: no right";
  write();
  EXPECT_EQ(brief("Degraded"), "True HoldFailed");
  EXPECT_EQ(message("Degraded"), facts.holdProblem);
  view.know(kCools, Knowledge::Forbidden);
  write();
  EXPECT_EQ(brief("Degraded"), "True TypeForbidden") << "what decides comes first";
}

// Nobody is asked when its last finalizer goes.
TEST_F(StatusOfTest, OfAProviderThatWasGoingWhenItWasSeenFirst) {
  facts.enforcement = {true, "ProbeDenied", "at each address"};
  put(kWorkloads, "n", "d", "u-1", {std::string(kube::kForegroundFinalizer)}, true);
  write();
  EXPECT_EQ(brief("Satisfied"), "True CriteriaMet");
  EXPECT_EQ(brief("Enforced"), "False ProviderTerminating");
  EXPECT_EQ(
      message("Enforced"),
      "deployments.apps/n/d is being deleted already: it goes with its last finalizer, and nobody is asked");
  remember();
  write();
  EXPECT_EQ(brief("Enforced"), "False ProviderTerminating") << "it was seen since, and is no safer";
  facts.enforcement = {false, "OrphanResources", "given up", true};
  write();
  EXPECT_EQ(brief("Enforced"), "False OrphanResources");
  facts.enforcement = {true, "ProbeDenied", "at each address"};
  put(kWorkloads, "n", "d", "u-2");
  write();
  EXPECT_EQ(brief("Enforced"), "True ProbeDenied") << "somebody has created it again";
}

TEST_F(StatusOfTest, OfAProviderThatGoesLater) {
  facts.enforcement = {true, "ProbeDenied", "at each address"};
  putProvider();
  write();
  remember();
  put(kWorkloads, "n", "d", "u-1", {std::string(kube::kForegroundFinalizer)}, true);
  write();
  EXPECT_EQ(brief("Enforced"), "True ProbeDenied") << "its criteria hold: it was let go";
  put(kCools, "", "i", "i", {"a/b"});
  write();
  EXPECT_EQ(brief("Enforced"), "False ProviderTerminating");
  view.remove({kCools, "", "i"});
  write();
  EXPECT_EQ(brief("Enforced"), "False ProviderTerminating") << "nobody knows who let it go";
  put(kWorkloads, "n", "d", "u-1", {std::string(kube::kCriteriaFinalizer)}, true);
  write();
  EXPECT_EQ(brief("Enforced"), "True ProbeDenied") << "it is held";
}

TEST_F(StatusOfTest, OfCriteriaThatDoNot) {
  putProvider();
  put(kCrds, "", "coolresources.my.crd.group", "c");
  for (int i = 20; i > 0; --i) put(kCools, "", "i" + std::to_string(10 + i), std::to_string(i), {"a/b"});
  put(kCools, "", "without", "w");
  write();
  EXPECT_EQ(brief("Satisfied"), "False CriterionUnmet");
  EXPECT_THAT(
      message("Satisfied"),
      AllOf(HasSubstr("20 coolresources.my.crd.group have finalizer a/b"),
            HasSubstr("customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group exists")));
  ASSERT_EQ(status["unmetCriteria"].size(), 2U);
  const StatusTree& first = status["unmetCriteria"][0];
  EXPECT_EQ(first["field"], "spec.criteria[0]");
  EXPECT_EQ(first["count"], 20);
  ASSERT_EQ(first["examples"].size(), 10U);
  EXPECT_EQ(first["examples"][0], "coolresources.my.crd.group/i11");
  EXPECT_EQ(first["examples"][9], "coolresources.my.crd.group/i20");
  EXPECT_EQ(status["unmetCriteria"][1]["field"], "spec.criteria[1]");
  EXPECT_EQ(status["unmetCriteria"][1]["count"], 1);
  EXPECT_EQ(status["remainingObjects"], 21);
}

TEST_F(StatusOfTest, OfATypeThatMayNotBeRead) {
  putProvider();
  view.know(kCools, Knowledge::Forbidden);
  write();
  EXPECT_EQ(brief("Satisfied"), "Unknown CriterionUnknown");
  EXPECT_EQ(brief("Degraded"), "True TypeForbidden");
  EXPECT_EQ(message("Degraded"),
            "lastout is not allowed to list coolresources.my.crd.group; let lastout's accounts get, list and "
            "watch them, by a "
            "ClusterRole with the label lastout.dev/aggregate-to-reads: \"true\", which Kubernetes adds to "
            "ClusterRole "
            "lastout-reads");
  EXPECT_EQ(status["unmetCriteria"][0]["count"], 0);
  EXPECT_FALSE(status["unmetCriteria"][0].contains("examples"));
  view.know(kCools, Knowledge::Stale);
  view.know(kCrds, Knowledge::Unserved);
  write();
  EXPECT_EQ(brief("Degraded"), "True TypeUnserved");
  EXPECT_THAT(message("Degraded"), HasSubstr("the watch of coolresources.my.crd.group is broken"));
  view.know(kCrds, Knowledge::Synced);
  EXPECT_EQ(write()["unmetCriteria"].size(), 1U);
  EXPECT_EQ(brief("Degraded"), "True TypeStale");
}

TEST_F(StatusOfTest, OfCriteriaThatMeanNothing) {
  putProvider();
  std::set<kube::GroupResource> there;
  view.understandBy(
      {.isThere = [&](const kube::GroupResource& type) { return there.contains(type) || type == kCrds; },
       .wasThere = [](const kube::GroupResource&) { return false; },
       .isDefined = [&](const kube::GroupResource& type) { return there.contains(type); },
       .isCertain = [](const kube::GroupResource&) { return true; },
       .isNamespaced = [](const kube::GroupResource&) -> std::optional<bool> { return false; },
       .isServed = [&](std::string_view group) { return group == "my.crd.group" && !there.empty(); },
       .all = [&] { return std::vector<kube::GroupResource>(there.begin(), there.end()); },
       .kindOf = [](const kube::GroupResource&) { return std::string(); }});
  write();
  EXPECT_EQ(brief("Satisfied"), "Unknown CriterionUnknown");
  EXPECT_EQ(brief("Degraded"), "True TypeNeverSeen");
  EXPECT_FALSE(status.contains("seenTypes"));
  there = {{"my.crd.group", "coolresource"}};
  view.understandAgain("my.crd.group");
  write();
  EXPECT_EQ(brief("Satisfied"), "Unknown CriterionUnknown");
  EXPECT_EQ(brief("Degraded"), "True NotUnderstood");
  EXPECT_THAT(
      message("Degraded"),
      AllOf(HasSubstr("spec.criteria[0]: there is no type \"coolresources\" in group \"my.crd.group\"; "
                      "did you mean \"coolresource.my.crd.group\"?"),
            HasSubstr("spec.criteria[1]: there is no CRD \"coolresources.my.crd.group\"")));
  EXPECT_EQ(status["unmetCriteria"].size(), 2U);
  there = {kCools};
  view.understandAgain("my.crd.group");
  write();
  EXPECT_EQ(brief("Satisfied"), "True CriteriaMet");
  EXPECT_EQ(brief("Degraded"), "False AllKnown");
  EXPECT_EQ(status["seenTypes"], StatusTree({"coolresources.my.crd.group"}));
  there = {{"my.crd.group", "coolresource"}};
  view.understandAgain();
  EXPECT_EQ(write()["seenTypes"], StatusTree({"coolresources.my.crd.group"}));
  EXPECT_EQ(brief("Satisfied"), "True CriteriaMet") << "it was there, and nothing of it is left";
}

// The criterion names "a/b", which no instance carries.
class NamesKnown : public StatusOfTest {
 public:
  NamesKnown() { putProvider(); }
  void nameFinalizer(const std::string& name, const std::string& resource = "coolresources") {
    StatusTree service = StatusTree::parse(kServiceText);
    service["spec"]["criteria"][0]["finalizer"]["finalizerName"] = name;
    service["spec"]["criteria"][0]["finalizer"]["resource"] = resource;
    service["status"] = status;
    guard(service);
  }
  std::string written() {
    write();
    return brief("NamesKnown");
  }
};

TEST_F(NamesKnown, IsFalseOfAMisspeltFinalizer) {
  nameFinalizer("my.crd.group/super-importnat");
  put(kCools, "", "i", "i", {"my.crd.group/super-important"});
  EXPECT_EQ(written(), "False FinalizerNeverSeen");
  EXPECT_EQ(message("NamesKnown"),
            "spec.criteria[0]: no coolresources.my.crd.group was ever seen with finalizer "
            "my.crd.group/super-importnat, so it keeps nothing; did you mean "
            "\"my.crd.group/super-important\"?");
  EXPECT_FALSE(status.contains("seenFinalizers"));
  nameFinalizer("my.crd.group/super-important");
  EXPECT_EQ(written(), "True FinalizersSeen");
  nameFinalizer("my.crd.group/super-importnat");
  EXPECT_EQ(written(), "False FinalizerNeverSeen");
  put(kCools, "", "j", "j", {"my.crd.group/super-importnat"});
  EXPECT_EQ(written(), "True FinalizersSeen") << "both names are in use";
}

TEST_F(NamesKnown, IsFalseOfAMisspeltBuiltInFinalizer) {
  nameFinalizer("kubernetes.io/pvc-protecton");
  put(kCools, "", "i", "i", {std::string(kube::kPvcProtectionFinalizer)});
  EXPECT_EQ(written(), "False FinalizerNeverSeen");
}

TEST_F(NamesKnown, IsUnknownWhileAnotherControllersFinalizerAloneIsCarried) {
  nameFinalizer("my.crd.group/clean-up");
  put(kCools, "", "i", "i", {"my.crd.group/back-up", "other.example.com/clean-up"});
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
}

// Both are meant, and one of them is in use.
TEST_F(NamesKnown, IsUnknownOfANameThatIsNearToThatOfAnotherCriterion) {
  StatusTree service = StatusTree::parse(kServiceText);
  service["spec"]["criteria"][1] = service["spec"]["criteria"][0];
  service["spec"]["criteria"][1]["finalizer"]["finalizerName"] = "a/c";
  guard(service);
  put(kCools, "", "i", "i", {"a/b"});
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
  EXPECT_EQ(status["seenFinalizers"].size(), 1U);
}

TEST_F(NamesKnown, IsUnknownBeforeTheOperatorHasStarted) {
  put(kCools, "", "i", "i");
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
  put(kCools, "", "i", "i", {"a/b"});
  EXPECT_EQ(written(), "True FinalizersSeen");
}

// Another operator's name is near, and the process that saw the finalizer has ended.
TEST_F(NamesKnown, StaysTrueAtTheEndOfATeardown) {
  put(kCools, "", "i", "i", {"my.crd.group/super-important"});
  nameFinalizer("my.crd.group/super-important");
  EXPECT_EQ(written(), "True FinalizersSeen");
  EXPECT_EQ(status["seenFinalizers"],
            StatusTree::parse(R"([{"group":"my.crd.group","resource":"coolresources",
                                        "finalizerName":"my.crd.group/super-important"}])"));
  const StatusTree before = status;
  view.forget(kCools);
  nameFinalizer("none/such");
  nameFinalizer("my.crd.group/super-important");
  status = before;
  view.know(kCools, Knowledge::Synced);
  put(kCools, "", "i", "i", {"my.crd.group/super-imported"});
  EXPECT_EQ(written(), "True FinalizersSeen");
  status.erase("seenFinalizers");
  EXPECT_EQ(written(), "False FinalizerNeverSeen") << "only the status remembers it";
}

TEST_F(NamesKnown, IsTrueOfAFinalizerThatCameAndWentBetweenTwoStatuses) {
  put(kCools, "", "i", "i", {"a/b"});
  put(kCools, "", "i", "i", {"a/bb"});
  EXPECT_EQ(written(), "True FinalizersSeen");
}

TEST_F(NamesKnown, IsUnknownWithoutInstances) {
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
  EXPECT_EQ(message("NamesKnown"),
            "spec.criteria[0]: no coolresources.my.crd.group was seen with finalizer a/b yet");
}

TEST_F(NamesKnown, IsUnknownOfBuiltInFinalizers) {
  nameFinalizer("orphans");
  put(kCools, "", "i", "i", {std::string(kube::kOrphanFinalizer), std::string(kube::kForegroundFinalizer)},
      true);
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
  nameFinalizer(std::string(kube::kPvcProtectionFinalizer));
  put(kCools, "", "i", "i", {std::string(kube::kPvProtectionFinalizer)});
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
}

TEST_F(NamesKnown, IsUnknownOfATypeThatIsNotKnown) {
  nameFinalizer("a/c");
  put(kCools, "", "i", "i", {"a/b"});
  view.know(kCools, Knowledge::Stale);
  EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
}

TEST_F(NamesKnown, IsTrueWithoutFinalizers) {
  StatusTree service = StatusTree::parse(kServiceText);
  service["spec"]["criteria"].erase(0);
  guard(service);
  EXPECT_EQ(written(), "True NoFinalizers");
}

// What others write there is no reason to fail.
TEST_F(NamesKnown, IsNotDisturbedByAStatusOfOthers) {
  for (const char* seen : {"7", "[7, {}]", "{}"}) {
    status["seenFinalizers"] = StatusTree::parse(seen);
    EXPECT_EQ(written(), "Unknown FinalizerNotSeenYet");
    EXPECT_FALSE(status.contains("seenFinalizers"));
  }
}

TEST_F(StatusOfTest, OfATypeThatIsNotListedYet) {
  EXPECT_FALSE(awaitsLists(view, *view.service("s")));
  view.know(kCools, Knowledge::Unknown);
  EXPECT_TRUE(awaitsLists(view, *view.service("s")));
  write();
  EXPECT_EQ(brief("Degraded"), "Unknown TypeNotListed");
}

TEST_F(StatusOfTest, OfAProviderThatIsNotThere) {
  write();
  EXPECT_EQ(status["provider"], StatusTree({{"present", false}, {"ready", false}}));
  EXPECT_EQ(brief("ProviderReady"), "False ProviderAbsent");
  view.know(kWorkloads, Knowledge::Forbidden);
  write();
  EXPECT_FALSE(status.contains("provider")) << "nothing is known of it";
  EXPECT_EQ(brief("ProviderReady"), "Unknown ProviderUnknown");
}

TEST_F(StatusOfTest, TheFirstUidStaysAndAReplacedProviderIsReported) {
  guard([] {
    StatusTree service = StatusTree::parse(kServiceText);
    service["status"] = {{"provider", {{"uid", "u-1"}}}};
    return service;
  }());
  status = {{"provider", {{"uid", "u-1"}}}};
  putProvider("u-2");
  write();
  EXPECT_EQ(status["provider"],
            StatusTree({{"uid", "u-1"}, {"present", true}, {"ready", true}, {"replacedBy", "u-2"}}));
  EXPECT_THAT(message("ProviderReady"), HasSubstr("it has uid u-2, the one that was seen first had u-1"));
  view.remove(kWorkload);
  EXPECT_EQ(write()["provider"], StatusTree({{"uid", "u-1"}, {"present", false}, {"ready", false}}));
}

TEST_F(StatusOfTest, IsStuckWhenTheProviderOfATerminatingInstanceIsGone) {
  put(kCools, "", "i", "i", {"a/b"});
  write();
  EXPECT_EQ(brief("Stuck"), "False NothingBeingDeleted");
  put(kCools, "", "i", "i", {"a/b"}, true);
  write();
  EXPECT_EQ(brief("Stuck"), "True ProviderAbsent");
  EXPECT_THAT(message("Stuck"), AllOf(HasSubstr("coolresources.my.crd.group/i is being deleted"),
                                      HasSubstr("bring the provider back")));
  putProvider();
  write();
  EXPECT_EQ(brief("Stuck"), "False ProviderReady");
}

// A Deployment that is rolled out is not ready for a moment.
TEST_F(StatusOfTest, IsStuckWhenTheProviderIsNotReadyForLong) {
  putProvider();
  write();
  put(kCools, "", "i", "i", {"a/b"}, true);
  facts.readiness = {false, "NoPodReady", "none of its Pods is ready"};
  write();
  EXPECT_EQ(brief("Stuck"), "False ProviderNotReadyYet");
  facts.now += std::chrono::seconds(59);
  write();
  EXPECT_EQ(brief("Stuck"), "False ProviderNotReadyYet");
  facts.now += std::chrono::seconds(1);
  write();
  EXPECT_EQ(brief("Stuck"), "True ProviderNotReady");
  EXPECT_EQ(condition("Stuck")["lastTransitionTime"], "2025-10-09T08:54:20Z");
  EXPECT_EQ(condition("ProviderReady")["lastTransitionTime"], "2025-10-09T08:53:20Z");
  facts.readiness = {std::nullopt, criticalservice::kUnreadable, "it cannot be read: no", true};
  write();
  EXPECT_EQ(brief("Stuck"), "Unknown ProviderUnreadable");
  EXPECT_EQ(brief("Degraded"), "True ProviderUnreadable");
}

TEST_F(StatusOfTest, IsStuckInACycle) {
  putProvider();
  StatusTree other = StatusTree::parse(kServiceText);
  other["metadata"]["name"] = "t";
  other["spec"]["provider"]["name"] = "other";
  other["spec"]["criteria"] = {
      {{"type", "SpecificResource"},
       {"specificResource",
        {{"group", "apps"}, {"resource", "deployments"}, {"namespace", "n"}, {"name", "d"}}}}};
  guard(other);
  put(kWorkloads, "n", "other", "o", {}, true);
  StatusTree mine = StatusTree::parse(kServiceText);
  mine["spec"]["criteria"] = {
      {{"type", "SpecificResource"},
       {"specificResource",
        {{"group", "apps"}, {"resource", "deployments"}, {"namespace", "n"}, {"name", "other"}}}}};
  guard(mine);
  write();
  EXPECT_EQ(brief("Stuck"), "True Cycle");
  EXPECT_THAT(message("Stuck"), HasSubstr("waits for itself"));
}

TEST_F(StatusOfTest, WhatDidNotChangeKeepsItsTimeAndWhatOthersWroteStays) {
  putProvider();
  status = {{"conditions", {{{"type", "Others"}, {"status", "True"}}}}, {"more", 1}};
  write();
  const StatusTree before = status;
  facts.now += std::chrono::hours(1);
  EXPECT_EQ(write(), before);
  EXPECT_EQ(statusPatch(before, status), std::nullopt);
  EXPECT_EQ(condition("Others")["status"], "True");
  EXPECT_EQ(status["more"], 1);
  put(kCools, "", "i", "i", {"a/b"});
  write();
  EXPECT_EQ(condition("Satisfied")["lastTransitionTime"], "2025-10-09T09:53:20Z");
  EXPECT_EQ(condition("Degraded")["lastTransitionTime"], "2025-10-09T08:53:20Z");
}

TEST_F(StatusOfTest, WhateverStandsThereIsMended) {
  putProvider();
  for (const char* text : {"null", "[]", "7", R"({"conditions":7,"provider":[],"unmetCriteria":{}})",
                           R"({"conditions":[7,{"type":3},{"type":"Stuck","lastTransitionTime":[]}]})"}) {
    status = StatusTree::parse(text);
    write();
    EXPECT_EQ(brief("Stuck"), "False NothingBeingDeleted") << text;
    EXPECT_EQ(status["provider"]["uid"], "u-1") << text;
  }
}

TEST_F(StatusOfTest, APatchTakesAwayWhatIsNoLongerSo) {
  const StatusTree standing = {{"provider", {{"uid", "a"}, {"replacedBy", "b"}}}, {"unmetCriteria", {1}}};
  const StatusTree wanted = {{"provider", {{"uid", "a"}, {"present", false}}}};
  EXPECT_EQ(*statusPatch(standing, wanted),
            StatusTree({{"provider", {{"uid", "a"}, {"present", false}, {"replacedBy", nullptr}}},
                        {"unmetCriteria", nullptr}}));
}

TEST_F(StatusOfTest, CountsTheDeletionsThatItRecords) {
  StatusTree service = StatusTree::parse(kServiceText);
  for (const char* name : {"d", "e"})
    service["status"]["deferredDeletions"].push_back({{"group", "apps"},
                                                      {"resource", "deployments"},
                                                      {"namespace", "n"},
                                                      {"name", name},
                                                      {"uid", name},
                                                      {"requestedBy", "agent"},
                                                      {"requestedAt", "2026-11-29T10:00:00Z"}});
  const StatusTree without = write();
  guard(service);
  EXPECT_EQ(write()["deferredDeletionsCount"], 2);
  EXPECT_FALSE(isPressing(without, status));
}

TEST_F(StatusOfTest, CountsAndWordsArePressingToNobody) {
  putProvider();
  put(kCools, "", "i", "i", {"a/b"});
  const StatusTree one = write();
  put(kCools, "", "j", "j", {"a/b"});
  const StatusTree two = write();
  EXPECT_NE(one, two);
  EXPECT_FALSE(isPressing(one, two));
  put(kCrds, "", "coolresources.my.crd.group", "c");
  EXPECT_TRUE(isPressing(two, write())) << "another criterion";
  EXPECT_TRUE(isPressing(StatusTree(), one));
}

TEST_F(StatusOfTest, OfWhatCannotBeUnderstood) {
  status = {{"provider", {{"uid", "a"}}}, {"unmetCriteria", {1}}};
  status = statusOfNotUnderstood(4, "spec.criteria is empty", status, facts.now, true);
  EXPECT_EQ(brief("Satisfied"), "Unknown NotUnderstood");
  EXPECT_EQ(brief("Enforced"), "Unknown NotUnderstood");
  EXPECT_THAT(message("Enforced"), HasSubstr("what it said before is guarded"));
  EXPECT_EQ(brief("Degraded"), "True NotUnderstood");
  EXPECT_EQ(message("Degraded"), "spec.criteria is empty");
  EXPECT_EQ(status["provider"]["uid"], "a");
  EXPECT_EQ(status["observedGeneration"], 4);
  status = statusOfNotUnderstood(4, "spec.criteria is empty", status, facts.now, false);
  EXPECT_EQ(brief("Enforced"), "False NotUnderstood");
  EXPECT_THAT(message("Enforced"), HasSubstr("nothing is guarded"));
}

// The one that is being deleted may be any of them.
TEST_F(StatusOfTest, LooksAtThousandsOfInstances) {
  const auto putMany = [this](int from, int to, int terminating) {
    for (int i = from; i < to; ++i)
      put(kCools, "", "i" + std::to_string(100'000 + i), std::to_string(i), {"a/b"}, i == terminating);
  };
  putMany(0, 3'000, 0);
  write();
  EXPECT_EQ(brief("Stuck"), "True ProviderAbsent");
  EXPECT_THAT(message("Stuck"), HasSubstr("coolresources.my.crd.group/i100000 is being deleted"));
  EXPECT_EQ(status["unmetCriteria"][0]["examples"][0], "coolresources.my.crd.group/i100000");
  putMany(0, 10'001, -1);
  write();
  EXPECT_EQ(brief("Stuck"), "Unknown TooManyToLookAt");
  view.remove({kCools, "", "i100000"});
  write();
  EXPECT_EQ(brief("Stuck"), "False NothingBeingDeleted");
}

TEST_F(StatusOfTest, OfWhatTheProviderNeeds) {
  const kube::GroupResource bindings{"rbac.authorization.k8s.io", "rolebindings"};
  putProvider();
  const auto provider = kube::parseYaml(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: n}\n"
      "spec: {template: {spec: {containers: [{name: c, envFrom: [{secretRef: {name: s}}]}]}}}",
      "");
  view.tell(kube::parseObject(provider->front(), "", types).value());
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "True Found");
  EXPECT_EQ(message("DependenciesKnown"), "1 object is guarded, as far as the provider was seen to need any");
  view.know(bindings, Knowledge::Unknown);
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "Unknown TypeNotListed");
  EXPECT_TRUE(awaitsLists(view, *view.service("s")));
  view.know(bindings, Knowledge::Forbidden);
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "False TypeForbidden");
  EXPECT_EQ(message("DependenciesKnown"),
            "what the provider needs may not all be guarded: lastout is not allowed to list "
            "rolebindings.rbac.authorization.k8s.io; the ClusterRole lastout-finds-dependencies grants that");
  EXPECT_EQ(brief("Degraded"), "False AllKnown") << "the provider itself is guarded as ever";
  StatusTree service = StatusTree::parse(kServiceText);
  service["spec"]["guard"]["dependencies"] = "None";
  guard(service);
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "True NotWanted");
  service["spec"]["guard"]["dependencies"] =
      StatusTree::parse(R"([{"resource":"secrets","namespace":"n","name":"s"}])");
  guard(service);
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "True Listed");
  service["spec"]["deletionIntent"] = "OrphanResources";
  guard(service);
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "True OrphanResources");
}

TEST_F(StatusOfTest, OfTooMuchThatTheProviderNeeds) {
  const auto tell = [&](const std::string& yaml) {
    const auto text = kube::parseYaml(yaml, "");
    view.tell(kube::parseObject(text->front(), "", types).value());
  };
  tell(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: n}\n"
      "spec: {template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c}]}}}");
  const auto service = [](int i) {
    return "apiVersion: v1\nkind: Service\nmetadata: {name: s" + std::to_string(i) +
           ", namespace: n}\nspec: {selector: {app: d}}";
  };
  for (int i = 0; i < 14; ++i) tell(service(i));
  tell(
      "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.example.com}\n"
      "spec: {group: example.com, version: v1, service: {namespace: n, name: s0}}");
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "True Found");
  EXPECT_THAT(message("DependenciesKnown"),
              HasSubstr("; delete APIService v1.example.com before the provider: it is not guarded"));
  for (int i = 14; i < 20; ++i) tell(service(i));
  write();
  EXPECT_EQ(brief("DependenciesKnown"), "False TooMany");
  EXPECT_THAT(message("DependenciesKnown"),
              HasSubstr("15 of 20 Services of its Pods are guarded, the rest is not"));
  EXPECT_EQ(view.leftOutDependencies(), 5U);
  view.remove({{"", "services"}, "n", "s0"});
  EXPECT_EQ(view.leftOutDependencies(), 4U);
  view.remove({criticalservice::criticalServiceType(), "", "s"});
  EXPECT_EQ(view.leftOutDependencies(), 0U);
}

TEST_F(StatusOfTest, OfWhatTheProviderConverts) {
  const auto tell = [&](const char* yaml) {
    const auto text = kube::parseYaml(yaml, "");
    view.tell(kube::parseObject(text->front(), "", types).value());
  };
  putProvider();
  tell(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: n, uid: u-1}\n"
      "spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}");
  tell("apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: n}\nspec: {selector: {a: b}}");
  tell(
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
      "metadata: {name: others.my.crd.group}\nspec: {names: {kind: Other}, conversion: {strategy: Webhook, "
      "webhook: {clientConfig: {service: {namespace: n, name: s}}}}}");
  const kube::GroupResource others{"my.crd.group", "others"};
  write();
  EXPECT_EQ(brief("Satisfied"), "Unknown CriterionUnknown") << "it is not listed yet";
  EXPECT_TRUE(awaitsLists(view, *view.service("s")));
  view.know(others, Knowledge::Forbidden);
  write();
  EXPECT_EQ(brief("Degraded"), "True TypeForbidden");
  view.know(others, Knowledge::Synced);
  write();
  EXPECT_EQ(brief("Satisfied"), "True CriteriaMet");
  put(others, "", "one", "u-2");
  write();
  EXPECT_EQ(brief("Satisfied"), "False CriterionUnmet");
  ASSERT_EQ(status["unmetCriteria"].size(), 1U);
  EXPECT_EQ(status["unmetCriteria"][0]["field"], "spec.guard.dependencies");
  EXPECT_EQ(status["unmetCriteria"][0]["message"],
            "others.my.crd.group/one exists, and the provider converts it");
  EXPECT_EQ(status["unmetCriteria"][0]["count"], 1);
}

TEST(Enforcement, SaysWhatSpeaksAgainstIt) {
  criticalservice::CriticalService service;
  service.provider = kWorkload;
  EnforcementFacts facts;
  const auto reason = [&] {
    const WebhookEnforcement result = enforcementOf(facts, service);
    return (!result.enforced ? "unknown " : *result.enforced ? "yes " : "no ") + result.reason;
  };
  EXPECT_EQ(reason(), "unknown WebhookUnknown");
  facts.asksAbout = false;
  EXPECT_EQ(reason(), "no WebhookNotInForce");
  facts.asksAbout = true;
  facts.probed = {true, "ProbeDenied", "at each address"};
  EXPECT_EQ(reason(), "yes ProbeDenied");
  facts.undecided = "what the provider needs is not listed yet";
  EXPECT_EQ(reason(), "unknown DependenciesUnknown");
  facts.undecided.clear();
  facts.keepsWebhook = false;
  EXPECT_EQ(reason(), "unknown WebhookNotManaged");
  facts.ownNamespace = "n";
  EXPECT_EQ(reason(), "no NamespaceExcluded");
  facts.ownNamespace = "lastout";
  facts.auditOnly = true;
  EXPECT_EQ(reason(), "no AuditOnly");
  facts.auditOnly = false;
  service.provider.namespaceName = "kube-system";
  EXPECT_EQ(reason(), "no NamespaceExcluded");
  service.dependencyDoubts = {{0, "secrets are namespaced: the namespace is missing"}};
  EXPECT_EQ(reason(), "no NamespaceExcluded") << "the provider is understood";
  service.providerDoubt = "deployments.apps are namespaced: the namespace is missing";
  EXPECT_EQ(reason(), "no NotUnderstood");
  service.intent = criticalservice::DeletionIntent::OrphanResources;
  EXPECT_EQ(reason(), "no OrphanResources");
}

}  // namespace
}  // namespace lastout::server
