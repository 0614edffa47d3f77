// What prove says in words, of the recorded stories and of small clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "prove/proof_report.h"
#include "tests/prove/small_operator.h"
#include "tests/prove/small_scenario.h"

namespace lastout::prove {
namespace {

using replay::Compiled;
using replay::Ending;
using replay::Leftover;
using replay::loadAll;
using replay::Names;
using replay::Ready;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::string> texts(const std::vector<NarratedStep>& steps) {
  std::vector<std::string> result;
  result.reserve(steps.size());
  for (const NarratedStep& step : steps) result.push_back(step.text);
  return result;
}

ProofReport proved(const Ready& ready, const Compiled& compiled) {
  const ProofScope question{.bounds = {}, .orders = ready.scenario.expect.ends != Ending::Stuck};
  return reportOf(ready, question, proveScenario(compiled, question));
}

ProofReport provedFile(const std::string& name) {
  const auto all = loadAll({{"scenarios/" + name + ".yaml", true}});
  EXPECT_TRUE(all);
  return proved(*all->front(), all->front()->compiled);
}

const Leftover& leftover(const StuckReport& stuck, const std::string& object) {
  static const Leftover kNothing;
  for (const Leftover& each : stuck.leftovers) {
    if (each.object == object) return each;
  }
  return kNothing;
}

TEST(Tell, OfManifestsWhatElseWouldHaveToBeDeletedIsSaid) {
  const auto reasonsWith = [](const std::vector<std::string>& references) {
    auto scenario = replay::scenarioOfDeletions({{"m.yaml", std::string(kOperator) + kGuard}}, references);
    if (!scenario) return std::vector<std::string>{"it cannot be read"};
    auto compiled = replay::compile(*scenario);
    if (!compiled) return std::vector<std::string>{"it cannot be compiled"};
    const Ready ready{std::move(*scenario), std::move(*compiled)};
    const ProofReport report = proved(ready, ready.compiled);
    return report.stuck ? leftover(*report.stuck, "widgets/one").reasons : std::vector<std::string>();
  };
  EXPECT_THAT(reasonsWith({"deployment/operator -n operator"}),
              ElementsAre("nobody has asked for its deletion (--delete widgets.example.com/one would)"));
  EXPECT_THAT(reasonsWith({"deployment/operator -n operator", "widgets/one"}), IsEmpty());
}

// Another tenant's object is no cure: the criterion is to leave it out, or that tenant to delete it.
TEST(Tell, OfAnObjectInAnotherNamespaceItsDeletionIsNotOffered) {
  const auto reasonsIn = [](const std::string& path, const std::string& old, const std::string& now,
                            const std::vector<std::string>& references, const std::string& object) {
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    text.erase(0, text.find("---\n"));
    text.replace(text.find(old), old.size(), now);
    auto scenario = replay::scenarioOfDeletions({{"m.yaml", text}}, references);
    if (!scenario) return std::vector<std::string>{"it cannot be read"};
    auto compiled = replay::compile(*scenario);
    if (!compiled) return std::vector<std::string>{"it cannot be compiled"};
    const Ready ready{std::move(*scenario), std::move(*compiled)};
    const ProofReport report = proved(ready, ready.compiled);
    return report.stuck ? leftover(*report.stuck, object).reasons : std::vector<std::string>();
  };
  const std::string field = "namespaces: { sameAsProvider: true }";
  const auto ofTenant = [&](const std::string& now) {
    return reasonsIn("scenarios/operator-for-each-tenant.yaml", field, now,
                     {"kafkatopics/orders -n a", "namespace/a"}, "kafkatopics/b/orders");
  };
  const std::string nobody = "nobody has asked for its deletion (";
  const std::string elsewhere = nobody + "nothing else in namespace b is to go: if it is somebody else's, ";
  const std::string ofA = " in spec.criteria[0] of criticalservices.lastout.dev/entity-operator-of-a)";
  EXPECT_THAT(ofTenant(""), ElementsAre(elsewhere + "set finalizer.namespaces" + ofA));
  EXPECT_THAT(ofTenant("namespaces: { names: [a, b] }"),
              ElementsAre(elsewhere + "take b out of finalizer.namespaces" + ofA));
  EXPECT_THAT(ofTenant("exceptProviderNamespace: true"),
              ElementsAre(elsewhere + "set finalizer.namespaces, instead of exceptProviderNamespace," + ofA));
  const std::string named =
      "\n    - { type: SpecificResource, specificResource: { group: kafka.strimzi.io, resource: kafkatopics, "
      "namespace: b, name: orders } }";
  EXPECT_THAT(ofTenant(named), ElementsAre(nobody + "--delete kafkatopics.kafka.strimzi.io/b/orders would)"));
  EXPECT_THAT(
      reasonsIn("scenarios/policy-class-in-use.yaml", "", "", {"volumesnapshotclasses/fast"},
                "volumesnapshots/shop/nightly"),
      ElementsAre(nobody + "if it is yours, --delete volumesnapshots.snapshot.storage.k8s.io/shop/nightly "
                           "would; if it is somebody else's, they have to delete it first)"));
}

// Roles point to two controllers: whichever it is, the verdict has to hold.
TEST(Tell, OfSeveralThatMayRemoveAFinalizerAllHaveToWork) {
  const std::string cluster = std::string(kOperator) + R"(---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: second, namespace: operator}, spec: {selector: {matchLabels: {app: second}}, template: {metadata: {labels: {app: second}}, spec: {containers: [{name: main}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, rules: [{apiGroups: [example.com], resources: ['*'], verbs: ['*']}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: all}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: all}, subjects: [{kind: ServiceAccount, name: default, namespace: operator}]}
)";
  const auto proof = [&](const std::string& documents, const std::vector<std::string>& references) {
    auto scenario = replay::scenarioOfDeletions({{"m.yaml", documents}}, references);
    auto compiled = replay::compile(*scenario);
    const Ready ready{std::move(*scenario), std::move(*compiled)};
    return proved(ready, ready.compiled);
  };
  const ProofReport both = proof(cluster, {"widgets/one"});
  EXPECT_EQ(both.proof.verdict, ProofResult::Proven);
  ASSERT_EQ(both.assumptions.size(), 2U);
  EXPECT_THAT(both.assumptions[0].text,
              HasSubstr("controller operator may be the one that removes finalizer example.com/cleanup"));
  for (const char* gone : {"deployment/operator -n operator", "deployment/second -n operator"}) {
    const ProofReport report = proof(cluster, {"widgets/one", gone});
    ASSERT_TRUE(report.stuck) << gone;
    EXPECT_THAT(leftover(*report.stuck, "widgets/one").reasons,
                ElementsAre(AllOf(HasSubstr("may be for controller "), HasSubstr("is gone")),
                            StartsWith("several controllers may remove finalizer example.com/cleanup")));
  }
  // A CriticalService that says who it is decides.
  const std::string guard(kGuard);
  EXPECT_EQ(proof(cluster + guard, {"widgets/one", "deployment/second -n operator"}).proof.verdict,
            ProofResult::Proven);
}

// A Job that has ended, what is scaled to 0 and a Pod that has finished do no work, also if a role lets them.
TEST(Tell, WhatRunsNoPodsIsNoCandidate) {
  const std::string cluster = std::string(kOperator) + R"(---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, rules: [{apiGroups: [example.com], resources: ['*'], verbs: ['*']}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: all}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: all}, subjects: [{kind: ServiceAccount, name: default, namespace: operator}]}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: hook, namespace: operator}, spec: {template: {spec: {containers: [{name: c}]}}}, status: {conditions: [{type: Complete, status: 'True'}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: idle, namespace: operator}, spec: {replicas: 0, selector: {matchLabels: {app: idle}}, template: {metadata: {labels: {app: idle}}, spec: {containers: [{name: c}]}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: debug, namespace: operator}, spec: {containers: [{name: c}]}, status: {phase: Succeeded}}
)";
  auto scenario = replay::scenarioOfDeletions({{"m.yaml", cluster}}, {"widgets/one"});
  auto compiled = replay::compile(*scenario);
  const Ready ready{std::move(*scenario), std::move(*compiled)};
  const ProofReport report = proved(ready, ready.compiled);
  EXPECT_EQ(report.proof.verdict, ProofResult::Proven);
  ASSERT_EQ(report.assumptions.size(), 1U);
  EXPECT_THAT(report.assumptions[0].text,
              HasSubstr("controller operator removes finalizer example.com/cleanup"));
}

// managedFields tell of each object who set its finalizer.
TEST(Tell, WhoSetItOnTheObjectIsTheOnlyCandidate) {
  const auto widget = [](const std::string& name) {
    return "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: of-" + name +
           ", finalizers: [example.com/cleanup], managedFields: [{manager: " + name +
           ", operation: Update, fieldsType: FieldsV1, fieldsV1: {'f:metadata': {'f:finalizers': "
           "{'v:\"example.com/cleanup\"': {}}}}}]}}\n";
  };
  const std::string second =
      "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: second, namespace: operator}, spec: "
      "{selector: {matchLabels: {app: second}}, template: {metadata: {labels: {app: second}}, spec: "
      "{containers: [{name: main}]}}}}\n";
  const auto verdict = [&](const std::vector<std::string>& references) {
    auto scenario = replay::scenarioOfDeletions(
        {{"m.yaml", std::string(kOperator) + second + widget("operator") + widget("second")}}, references);
    auto compiled = replay::compile(*scenario);
    const Ready ready{std::move(*scenario), std::move(*compiled)};
    return proved(ready, ready.compiled).proof.verdict;
  };
  EXPECT_EQ(verdict({"widgets/of-operator", "deployment/second -n operator"}), ProofResult::Proven);
  EXPECT_EQ(verdict({"widgets/of-second", "deployment/second -n operator"}), ProofResult::Stuck);
}

// What has the rights in the object's namespace alone is no other candidate.
TEST(Tell, OnlyThoseThatMayUpdateTheObjectMayBeTheOne) {
  std::string cluster;
  for (const std::string team : {"a", "b"})
    cluster +=
        "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: op-" + team +
        "}, spec: {selector: {matchLabels: {app: op}}, template: {metadata: {labels: {app: op}}, spec: "
        "{containers: [{name: c}]}}}}\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, "
        "metadata: {name: op, namespace: " +
        team +
        "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: op}, subjects: "
        "[{kind: ServiceAccount, name: default, namespace: op-" +
        team +
        "}]}\n---\n{apiVersion: example.com/v1, kind: Thing, metadata: {name: one, namespace: " + team +
        ", finalizers: [example.com/f]}}\n";
  cluster +=
      "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: op}, rules: "
      "[{apiGroups: [example.com], resources: [things, things/finalizers], verbs: "
      "[update]}]}\n---\n{apiVersion: "
      "apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: "
      "{group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, "
      "served: true, storage: true}]}}\n";
  const auto verdict = [&](const std::vector<std::string>& references) {
    auto scenario = replay::scenarioOfDeletions({{"m.yaml", cluster}}, references);
    auto compiled = replay::compile(*scenario);
    const Ready ready{std::move(*scenario), std::move(*compiled)};
    return proved(ready, ready.compiled).proof.verdict;
  };
  EXPECT_EQ(verdict({"things/a/one", "deployment/op -n op-b"}), ProofResult::Proven);
  EXPECT_EQ(verdict({"things/a/one", "deployment/op -n op-a"}), ProofResult::Stuck);
}

TEST(Tell, TheUnguardedStoryGetsStuckAfterOneDeleteOfAClient) {
  const ProofReport report = provedFile("story-unguarded");
  ASSERT_TRUE(report.stuck);
  const std::vector<std::string> steps = texts(report.stuck->steps);
  EXPECT_THAT(steps[0], StartsWith("admin deletes manifestworks/cluster1/finalizer: accepted"));
  size_t byClients = 0;
  for (const std::string& step : steps) byClients += step.rfind("admin ", 0) == 0;
  EXPECT_LE(byClients, 2u);
  EXPECT_THAT(report.stuck->lost, Contains("coolresources/some-instance"));
  EXPECT_THAT(leftover(*report.stuck, "coolresources/some-instance").reasons,
              ElementsAre(AllOf(HasSubstr("my.crd.group/super-important"),
                                HasSubstr("deployments/finalizer-namespace/finalizer-deployment"),
                                HasSubstr("is gone"))));
  EXPECT_EQ(report.expectation, "as the scenario expects");
}

// tests/recordings, story-deadlock.jsonl: nobody asks for the Deployment any more, and all wait for each
// other.
TEST(Tell, TheRecordedDeadlockHasTheRecordedReason) {
  const ProofReport report = provedFile("story-only-denied");
  ASSERT_TRUE(report.stuck);
  const std::string deployment = "deployments/finalizer-namespace/finalizer-deployment";
  const std::vector<std::string> steps = texts(report.stuck->steps);
  EXPECT_THAT(steps.back(), AllOf(HasSubstr("asks to delete " + deployment + ": denied"),
                                  HasSubstr("some-instance has finalizer my.crd.group/super-important"),
                                  HasSubstr("it forgets it")));
  EXPECT_THAT(
      leftover(*report.stuck, deployment).reasons,
      ElementsAre(AllOf(HasSubstr("nothing would deny its deletion now, but nobody asks"),
                        HasSubstr("in step " + std::to_string(steps.size())), HasSubstr("has forgotten it")),
                  HasSubstr("the garbage collector leaves it alone because its owner "
                            "appliedmanifestworks/cluster1-finalizer is still there")));
  EXPECT_THAT(report.stuck->ring, ElementsAre(deployment, "appliedmanifestworks/cluster1-finalizer",
                                              "persistentvolumeclaims/finalizer-namespace/data",
                                              StartsWith("pods/"), StartsWith("replicasets/")));
}

TEST(Tell, TheGuardedStoriesAreProven) {
  for (const char* name : {"story-three-works", "story-one-work"}) {
    const ProofReport report = provedFile(name);
    EXPECT_EQ(report.proof.verdict, ProofResult::Proven);
    EXPECT_TRUE(report.expected);
    EXPECT_THAT(report.proven, Contains(HasSubstr("nothing gets stuck")));
    EXPECT_THAT(report.proven, Contains(HasSubstr("confirming read")));
    EXPECT_THAT(toText(report, {}), StartsWith("PROVEN  " + std::string(name)));
  }
}

TEST(Tell, AnUnsafeCommitSaysWhatWasOverlooked) {
  const auto small = smallScenario(R"(  steps:
    - delete: [widgets/one, deployments.apps/operator/operator, widgets/late]
    - apply:
        apiVersion: example.com/v1
        kind: Widget
        metadata: {name: late, finalizers: [example.com/cleanup]}
)",
                                   std::string(kOperator) + kGuard);
  Ready careless = *small;
  careless.compiled.model.confirms = false;
  const ProofReport report = proved(careless, careless.compiled);
  ASSERT_TRUE(report.unsafe);
  EXPECT_THAT(texts(report.unsafe->steps),
              Contains(AllOf(StartsWith("nobody looks again before deployments/operator/operator is deleted"),
                             HasSubstr("late has finalizer example.com/cleanup"))));
  EXPECT_THAT(report.unsafe->steps.back().text, HasSubstr("deletes deployments/operator/operator: gone"));
  EXPECT_THAT(toText(report, {}), AllOf(StartsWith("UNSAFE  small"), HasSubstr("way to an unsafe commit")));
}

TEST(Tell, ABrokenOrderNamesBothEvents) {
  const auto small = smallScenario(
      "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one]\n"
      "  expect: {before: [[deployments.apps/operator/operator requested, widgets/one gone]]}\n",
      std::string(kOperator) + kGuard);
  const ProofReport report = proved(*small, small->compiled);
  ASSERT_THAT(report.broken, SizeIs(1));
  EXPECT_EQ(report.broken[0].text, "deployments/operator/operator requested before widgets/one gone");
  EXPECT_THAT(texts(report.broken[0].steps),
              ElementsAre(HasSubstr("deletes widgets/one: accepted"),
                          "controller cleanup removes example.com/cleanup from widgets/one: gone"));
}

TEST(Tell, AWorkThatIsReportedGoneTooEarlySaysWhatIsStillThere) {
  const auto all = loadAll({{"scenarios/story-only-denied.yaml", true}});
  ASSERT_TRUE(all);
  Compiled compiled = all->front()->compiled;
  const auto work =
      compiled.model.find({{"work.open-cluster-management.io", "manifestworks"}, "cluster1", "finalizer"});
  ASSERT_TRUE(work);
  const auto bit = cluster::watch(compiled.model, *work, cluster::EventKind::Gone);
  ASSERT_TRUE(bit);
  compiled.never.push_back({*work, cluster::EventKind::Gone, *bit, 0});
  compiled.neverBits |= uint64_t{1} << *bit;
  const Proof proof = proveScenario(compiled);
  const cluster::Machine machine(compiled.model);
  std::vector<std::string> ends;
  for (const auto& broken : proof.broken) {
    Narrative told;
    tell(machine, Names(compiled.model), broken.way, told);
    ends.push_back(told.steps.back().text);
  }
  EXPECT_THAT(ends, Contains(AllOf(HasSubstr("manifestworks/cluster1/finalizer"), HasSubstr("gone"),
                                   HasSubstr("although"), HasSubstr("still there"))));
}

TEST(Tell, WhatGoesOnForEverIsNamed) {
  const auto small = smallScenario("  steps:\n    - delete: widgets/one\n", std::string(kOperator) + kGuard);
  const cluster::Machine machine(small->compiled.model);
  std::vector<cluster::Action> actions;
  std::vector<uint64_t> state = machine.initial();
  machine.enabled({state.data(), machine.layout()}, actions);
  Proof proof;
  proof.verdict = ProofResult::Stuck;
  proof.stuck.emplace();
  proof.stuck->state = state;
  proof.stuck->states = 2;
  proof.stuck->churn = {{state, actions.at(0)}};
  const ProofReport report = reportOf(*small, {}, proof);
  EXPECT_THAT(report.stuck->churn, ElementsAre(StartsWith("admin deletes widgets/one: accepted")));
  EXPECT_THAT(toText(report, {}),
              AllOf(HasSubstr("round and round in 2 states"), HasSubstr("- admin deletes widgets/one"),
                    HasSubstr("stuck from the beginning")));
}

TEST(Tell, AnUndecidedProofClaimsNothing) {
  const auto small = smallScenario("  steps:\n    - delete: widgets/one\n", std::string(kOperator) + kGuard);
  const ProofScope question{.bounds = {.states = 2}, .orders = true};
  const ProofReport report = reportOf(*small, question, proveScenario(small->compiled, question));
  EXPECT_THAT(report.proven, IsEmpty());
  EXPECT_THAT(toText(report, {}),
              AllOf(StartsWith("NOT DECIDED  small"), HasSubstr("--max-states"), Not(HasSubstr("PROVEN"))));
}

TEST(Tell, TheSameScenarioIsToldInTheSameWords) {
  const auto told = [] {
    ProofReport report = provedFile("story-only-denied");
    return toText(report, {.color = false, .timeline = true, .width = 100}) + toJson({&report, 1});
  };
  EXPECT_EQ(told(), told());
}

TEST(Tell, WhatShouldExistAndWhereItWent) {
  const auto small = smallScenario(R"(  guard: false
  steps:
    - delete: crd/widgets.example.com
    - apply: crd/widgets.example.com
      after: crd/widgets.example.com gone
  expect: {exists: [widgets/one]}
)",
                                   kOperator);
  const ProofReport report = reportOf(*small, {}, proveScenario(small->compiled));
  ASSERT_TRUE(report.stuck);
  ASSERT_EQ(report.stuck->missing.size(), 1U);
  EXPECT_EQ(report.stuck->missing[0].object, "widgets/one");
  EXPECT_THAT(report.stuck->missing[0].reasons,
              ElementsAre(AllOf(StartsWith("widgets/one went in step "),
                                HasSubstr(", and nothing creates it again"))));
  EXPECT_THAT(toText(report, {}), HasSubstr("Expected to exist, and not there then"));
  const auto json = nlohmann::json::parse(toJson({&report, 1}));
  EXPECT_EQ(json.at("scenarios").at(0).at("stuck").at("missing").at(0).at("object"), "widgets/one");
}

TEST(Tell, JsonHoldsEverythingThatTheTextSays) {
  const ProofReport report = provedFile("story-only-denied");
  const auto json = nlohmann::json::parse(toJson({&report, 1}));
  const auto& scenario = json.at("scenarios").at(0);
  EXPECT_EQ(scenario.at("verdict"), "STUCK");
  EXPECT_EQ(scenario.at("kubernetes"), "1.36");
  EXPECT_EQ(scenario.at("asExpected"), true);
  EXPECT_EQ(scenario.at("lookedAt"), "everything");
  EXPECT_EQ(scenario.at("states"), report.proof.states);
  EXPECT_EQ(scenario.at("stuck").at("steps").size(), report.stuck->steps.size());
  EXPECT_EQ(scenario.at("stuck").at("ring").size(), 5u);
  EXPECT_EQ(scenario.at("stuck").at("stillThere").size(), report.stuck->leftovers.size());
  EXPECT_TRUE(scenario.at("unsafe").is_null());
}

TEST(Tell, AVerdictAboutAnOldKubernetesNamesIt) {
  const ProofReport old = provedFile("namespace-any-order");
  EXPECT_THAT(toText(old, {}), HasSubstr(" s, Kubernetes 1.26  (scenarios/namespace-any-order.yaml)"));
  EXPECT_EQ(nlohmann::json::parse(toJson({&old, 1})).at("scenarios").at(0).at("kubernetes"), "1.26");
  EXPECT_THAT(toText(provedFile("namespace-pods-first"), {}), Not(HasSubstr("Kubernetes")));
}

}  // namespace
}  // namespace lastout::prove
