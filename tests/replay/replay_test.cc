// Replay: a few lines of YAML in, what happened out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/replay/play.h"

namespace lastout::replay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string withController(std::string_view spec) { return std::string(kController) + std::string(spec); }

TEST(Replay, ProviderGoesLastAlthoughItIsDeletedFirst) {
  const ScenarioReport report = play(scenario(withController(R"(
  steps:
    - delete: deployments.apps/operator/operator
    - delete: crd/widgets.example.com
      at: 1s)")));
  EXPECT_THAT(
      told(report),
      ElementsAre(AllOf(StartsWith("0.000 s  admin asks to delete deployments/operator/operator: denied, "),
                        HasSubstr("widgets.example.com/one has finalizer example.com/cleanup")),
                  "1.000 s  admin deletes customresourcedefinitions/widgets.example.com: accepted, waits for "
                  "its instances",
                  "1.020 s  CRD clean-up deletes widgets/one: accepted, waits for example.com/cleanup",
                  "2.020 s  controller cleanup removes example.com/cleanup from widgets/one: gone",
                  "7.020 s  no instance of customresourcedefinitions/widgets.example.com is left: gone",
                  "10.000 s  admin asks to delete deployments/operator/operator: allowed, to be confirmed",
                  "10.004 s  admin deletes deployments/operator/operator: gone",
                  AllOf(StartsWith("10.014 s  the garbage collector deletes replicasets/operator/operator-"),
                        EndsWith(": gone")),
                  AllOf(StartsWith("10.024 s  the garbage collector deletes pods/operator/operator-"),
                        EndsWith(": it is stopping")),
                  AllOf(StartsWith("10.524 s  pods/operator/operator-"), EndsWith(" has stopped: gone"))));
  EXPECT_EQ(inOneLine(report), "empty at 10.524 s: held");
}

TEST(Replay, WithoutLastoutTheFinalizerStays) {
  const std::string spec = withController(R"(
  guard: false
  steps:
    - delete: deployments.apps/operator/operator
    - delete: crd/widgets.example.com
      at: 5s)");
  EXPECT_EQ(inOneLine(play(scenario(spec, kUnguarded))), "stuck at 5.020 s: held");
  // The CriticalService itself does nothing where lastout is not there.
  EXPECT_EQ(inOneLine(play(scenario(spec))), "stuck at 5.020 s: held");
}

TEST(Replay, ADeniedClientAsksAgainUnlessItIsToldNotTo) {
  const auto denials = [](const std::string& retry) {
    return play(scenario("  steps:\n    - delete: deployments.apps/operator/operator\n      retry: " + retry))
        .timeline.at(0)
        .repeats;
  };
  EXPECT_EQ(denials("false"), 0u);
  EXPECT_EQ(denials("true"), 1u);  // and then nothing can change any more
}

TEST(Replay, AGlobIsEveryObjectThatMatches) {
  EXPECT_THAT(told(play(scenario("  steps:\n    - delete: pods/operator/*", kUnguarded))),
              Contains(AllOf(StartsWith("0.000 s  admin deletes pods/operator/operator-"),
                             EndsWith("it is stopping"))));
}

TEST(Replay, ADeleteMayNameTheUserAndThePolicy) {
  EXPECT_THAT(
      told(play(scenario(R"(
  steps:
    - delete: deployments.apps/operator/operator
      propagationPolicy: Orphan
      as: alice)",
                         kUnguarded))),
      ElementsAre("0.000 s  alice deletes deployments/operator/operator, leaving its dependents: "
                  "accepted, waits for its dependents to be let go",
                  StartsWith("0.010 s  the garbage collector releases replicasets/operator/operator-"),
                  "0.010 s  the garbage collector releases deployments/operator/operator: gone"));
}

TEST(Replay, ADeleteMayInsistOnTheVersionItSaw) {
  const auto lastWord = [](const std::string& precondition) {
    return told(play(scenario(R"(
  steps:
    - delete: deployments.apps/operator/operator
      precondition: )" + precondition +
                              R"(
    - patch: { object: deployments.apps/operator/operator, labels: { seen: again } }
      at: 1s)")))
        .back();
  };
  EXPECT_EQ(lastWord("resourceVersion"),
            "10.000 s  admin asks to delete deployments/operator/operator: refused, Conflict");
  EXPECT_EQ(lastWord("uid"),
            "1.000 s  admin changes deployments/operator/operator");  // and the denial goes on
}

TEST(Replay, ADryRunLeavesNoTrace) {
  const ScenarioReport report = play(scenario(
      "  steps:\n    - delete: [deployments.apps/operator/operator, widgets/one]\n      dryRun: true"));
  EXPECT_THAT(told(report), ElementsAre(HasSubstr("deployments/operator/operator: denied")));
  EXPECT_EQ(inOneLine(report), "empty at 0.000 s: held");  // nothing was to be deleted
}

TEST(Replay, ScalingMakesAndTakesPods) {
  const ScenarioReport report = play(scenario(R"(
  steps:
    - scale: { object: deployments.apps/operator/operator, replicas: 2 }
    - scale: { object: deployments.apps/operator/operator, replicas: 0 }
      at: 10s)",
                                              kUnguarded));
  EXPECT_THAT(told(report), Contains(HasSubstr("the workload controller creates pods/operator/operator-")));
  EXPECT_THAT(told(report), Contains(AllOf(StartsWith("10."), EndsWith("has stopped: gone"))).Times(2));
}

TEST(Replay, APatchSetsFinalizers) {
  EXPECT_EQ(inOneLine(play(scenario(R"(
  steps:
    - delete: widgets/one
    - patch: { object: widgets/one, finalizers: [] }
      at: 3s)"))),
            "empty at 3.000 s: held");
}

TEST(Replay, AnApplyPutsBackWhatStandsInTheFile) {
  const ScenarioReport report = play(scenario(R"(
  steps:
    - delete: namespace/operator
    - apply: [namespace/operator, deployments.apps/operator/operator]
      after: namespace/operator gone
  expect: { before: [[namespace/operator gone, namespace/operator created]] })",
                                              kUnguarded));
  EXPECT_TRUE(report.held);
  EXPECT_THAT(told(report), Contains(HasSubstr("admin creates namespaces/operator")));
  EXPECT_THAT(told(report), Contains(HasSubstr("admin creates deployments/operator/operator")));
}

TEST(Replay, CreateIsRefusedWhileTheCrdTerminatesAndServerSideApplyIsNot) {
  const std::string steps = R"(
  steps:
    - delete: crd/widgets.example.com
    - apply: { apiVersion: example.com/v1, kind: Widget, metadata: { name: late } }
      at: 10ms
      serverSide: )";
  EXPECT_THAT(told(play(scenario(steps + "false"))),
              Contains(HasSubstr("admin asks to write widgets/late: refused")));
  EXPECT_THAT(told(play(scenario(steps + "true"))), Contains("0.010 s  admin creates widgets/late"));
}

// --- what was refused is tried again

// A Deployment that is scaled down and keeps its Pods: nobody answers their webhook. And other steps.
std::string podsThatStay(std::string_view steps) {
  return scenario(
      "  steps:\n    - scale: { object: deployments.apps/hub/web, replicas: 1 }\n" + std::string(steps),
      R"(
---
{ apiVersion: v1, kind: Namespace, metadata: { name: hub } }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: first, namespace: hub } }
---
{ apiVersion: v1, kind: ConfigMap, metadata: { name: second, namespace: hub } }
---
{ apiVersion: v1, kind: Service, metadata: { name: checks, namespace: hub }, spec: { selector: { app: checks } } }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: checks }
webhooks:
  - name: checks.example.com
    clientConfig: { service: { namespace: hub, name: checks } }
    rules: [{ apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [DELETE] }]
    sideEffects: None
    admissionReviewVersions: [v1]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: hub }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: example.com/operator:1 }] }
)");
}

// When the workload controller asked for something, in virtual milliseconds.
std::vector<int64_t> workloadRequests(const ScenarioReport& report) {
  std::vector<int64_t> times;
  for (const Happening& happening : report.log) {
    const bool isRequest = happening.event.kind == cluster::EventKind::Requested ||
                           happening.event.kind == cluster::EventKind::Changed;
    if (happening.action.kind == cluster::Action::Kind::WorkloadSync && isRequest)
      times.push_back(happening.at.count());
  }
  return times;
}

// The Deployment tells its ReplicaSet after 50 ms; that asks for the first time 50 ms later, and doubles its
// delay with each refusal (docs/semantics.md). That objects elsewhere go is no reason to come back; the last
// look is the one after which nothing can change any more.
TEST(Replay, AControllerThatIsRefusedDoublesItsDelayWhateverHappensElsewhere) {
  const std::vector<int64_t> requests = workloadRequests(play(podsThatStay(R"(
    - { delete: configmaps/hub/first, at: 10s }
    - { delete: configmaps/hub/second, at: 100s })")));
  std::vector<int64_t> expected = {50};
  for (int64_t delay = 50; delay <= 102'400; delay *= 2) expected.push_back(50 + delay);
  EXPECT_EQ(requests, expected);
}

TEST(Replay, AControllerThatIsRefusedComesBackWhenItsOwnObjectChanges) {
  const std::vector<int64_t> requests = workloadRequests(play(podsThatStay(R"(
    - { scale: { object: deployments.apps/hub/web, replicas: 0 }, at: 10s })")));
  EXPECT_THAT(requests, Contains(6'450));
  EXPECT_THAT(requests, Contains(10'100));
  EXPECT_THAT(requests, Not(Contains(12'850)));
}

TEST(Replay, AStepWaitsForItsEventInEveryOrder) {
  const std::string yaml = scenario(withController(R"(
  steps:
    - delete: widgets/one
    - delete: deployments.apps/operator/operator
      after: widgets/one gone
  expect:
    ends: empty
    before: [[widgets/one gone, deployments.apps/operator/operator requested]])"),
                                    kUnguarded);
  EXPECT_TRUE(play(yaml).held);
  EXPECT_TRUE(play(yaml, {.order = Order::Random, .seed = 1, .runs = 500}).held);
}

TEST(Replay, AStepWhoseEventNeverComesIsNeverSent) {
  const ScenarioReport report = play(scenario(R"(
  steps:
    - delete: deployments.apps/operator/operator
      after: widgets/one gone)"));
  EXPECT_THAT(told(report), ElementsAre());
  EXPECT_EQ(inOneLine(report), "stuck at 0.000 s: held");
}

TEST(Replay, ARunThatNeverSettlesIsGivenUp) {
  const auto loaded = ready(scenario(withController("  steps:\n    - delete: crd/widgets.example.com")));
  Replayer replayer(loaded->compiled);
  replay::Run run;
  replayer.run(
      {.order = Order::Written, .seed = 1, .horizon = std::chrono::milliseconds(500), .maxActions = 1000},
      run);
  EXPECT_EQ(run.end, End::Undecided);
  replayer.run({.order = Order::Random, .seed = 1, .maxActions = 2}, run);
  EXPECT_EQ(run.end, End::Undecided);
}

// --- the same seed gives the same run

std::string everythingOf(const Ready& loaded, const ScenarioReport& report) {
  std::string text = inOneLine(report);
  for (const std::string& line : told(report)) text += "\n" + line;
  for (const Happening& happening : report.log) text += "\n" + std::to_string(happening.number);
  return text + loaded.scenario.name;
}

TEST(Replay, TheSameSeedGivesTheSameRunAndAnotherSeedAnother) {
  const std::string yaml =
      scenario(withController("  steps:\n    - delete: [crd/widgets.example.com, widgets/one, "
                              "deployments.apps/operator/operator, criticalservices/operator]"));
  const auto loaded = ready(yaml);
  const auto run = [&](uint64_t seed) {
    return everythingOf(*loaded, replay(*loaded, {.order = Order::Random, .seed = seed, .runs = 1}));
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_EQ(run(8), run(8));
  EXPECT_NE(run(7), run(8));
  // A run is the same whether others came before it or not.
  Replayer replayer(loaded->compiled);
  replay::Run first;
  replay::Run again;
  replayer.run({.order = Order::Random, .seed = 7}, first);
  replayer.run({.order = Order::Random, .seed = 8}, again);
  replayer.run({.order = Order::Random, .seed = 7}, again);
  EXPECT_EQ(first.state, again.state);
  EXPECT_EQ(first.actions, again.actions);
  EXPECT_EQ(first.time, again.time);
}

// The numbers themselves are part of what a seed means, on every platform.
TEST(Replay, TheGeneratorsNumbersAreThePublishedOnes) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Replay, RandomRunsReachDifferentEnds) {
  const ScenarioReport report = play(scenario(withController(R"(
  guard: false
  steps:
    - delete: [deployments.apps/operator/operator, widgets/one])"),
                                              kUnguarded),
                                     {.order = Order::Random, .seed = 1, .runs = 200});
  EXPECT_GT(report.ended[static_cast<size_t>(End::Empty)], 0u);
  EXPECT_GT(report.ended[static_cast<size_t>(End::Stuck)], 0u);
  EXPECT_EQ(report.ended[static_cast<size_t>(End::Undecided)], 0u);
}

TEST(Replay, TimeNeverGoesBack) {
  const std::string yaml =
      scenario(withController("  steps:\n    - delete: [crd/widgets.example.com, namespace/operator]"));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const ScenarioReport report = play(yaml, {.order = Order::Random, .seed = seed, .runs = 1});
    std::chrono::milliseconds last{0};
    for (const Happening& happening : report.log) {
      EXPECT_LE(last, happening.at) << "seed " << seed;
      last = happening.at;
    }
  }
}

TEST(Replay, AStepThatIsNeverSentIsNoEnd) {
  const ScenarioReport report = play(scenario(R"(
  steps:
    - delete: deployments.apps/operator/operator
      retry: false
      after: ns/operator denied
  expect: { ends: empty })",
                                              kUnguarded));
  EXPECT_EQ(report.end, End::Stuck);
  ASSERT_FALSE(report.leftovers.empty());
  EXPECT_THAT(report.leftovers.back().reasons,
              ElementsAre("it is sent after namespaces/operator denied, which did not happen"));
}

// A client may ask again for hours: what is kept of it does not grow with the asking.
TEST(Replay, DenialsThatFindTheSameShareTheStateThatTheyFound) {
  const ScenarioReport report = play(scenario("  steps:\n    - delete: deployments.apps/operator/operator"));
  std::set<const void*> states;
  size_t denials = 0;
  for (const Happening& happening : report.log) {
    if (happening.event.kind != cluster::EventKind::Denied) continue;
    ++denials;
    states.insert(happening.state.get());
  }
  EXPECT_GE(denials, 2u);
  EXPECT_LT(states.size(), denials);
}

}  // namespace
}  // namespace lastout::replay
