// What actions declare that they read and write (cluster/footprint.h): in random clusters, and in every
// scenario that is shipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cluster/footprint.h"
#include "replay/batch.h"
#include "tests/properties/footprint_check.h"
#include "tests/properties/random_cluster.h"
#include "tests/properties/random_policies.h"
#include "tests/properties/runs.h"
#include "tests/replay/play.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {
namespace {

using cluster::Action;
using cluster::Actor;
using cluster::Fields;
using cluster::Footprint;
using cluster::Machine;
using cluster::Model;
using cluster::PartFields;
using cluster::PartSet;
using cluster::Slot;
using cluster::StatePart;
using Kind = Action::Kind;

using Counts = std::map<std::string, uint64_t>;

// Checks in so many states of the model.
std::string failureOf(const Model& model, uint64_t seed, uint32_t states, Counts& counts,
                      const FootprintCheck::Omission& omission = nullptr) {
  const Machine machine(model);
  FootprintCheck check(machine, seed, omission);
  std::string failure = check.run(states);
  for (const auto& [what, count] : check.counts()) counts[what] += count;
  return failure;
}

std::string text(const Counts& counts) {
  std::string lines;
  for (const auto& [what, count] : counts) lines += what + ": " + std::to_string(count) + "\n";
  return lines;
}

void expectAll(const Counts& counts, const std::vector<std::string>& wanted) {
  for (const std::string& what : wanted)
    EXPECT_TRUE(counts.contains(what)) << what << " was never looked at\n" << text(counts);
}

// Each cluster is made by one of these generators.
ClusterSpec anyCluster(uint64_t seed) {
  ClusterSpec spec;
  switch (seed % 4) {
    case 0:
      spec = worksCluster(seed);
      break;
    case 1:
      spec = racingCluster(seed);
      break;
    case 2:
      spec = emptyingCluster(seed, 12, Works::WithClaims);
      break;
    default:
      spec = randomCluster(seed, 14);
      break;
  }
  if (seed % 3 == 0) spec.kubernetes = kube::KubernetesVersion::V1_26;
  if (seed % 5 < 3) spec.runsDeferredDeletions = true;
  return spec;
}

Model modelWithPolicies(uint64_t seed) {
  RandomPolicies random(seed);
  const std::vector<kube::Object> given = objects(random.manifests(), random.types());
  Model model = random.model(given);
  std::vector<const kube::Object*> sources;
  sources.reserve(given.size());
  for (const kube::Object& object : given) sources.push_back(&object);
  if (!cluster::addPolicies(model, random.policies(), sources, random.types())) stop("no policies");
  return model;
}

TEST(Footprints, AreThoseOfTheActionsInRandomClusters) {
  constexpr uint32_t kRuns = 400;
  constexpr uint32_t kStates = 60;
  Counts counts;
  const uint64_t first = firstSeed(1);
  for (uint64_t seed = first; seed < first + runsHere(kRuns); ++seed) {
    const ClusterSpec spec = anyCluster(seed);
    const auto model = toModel(spec);
    if (!model) continue;
    ASSERT_EQ(failureOf(*model, seed, kStates, counts), "") << "seed " << seed << "\n" << describe(spec);
  }
  if (runsHere(kRuns) < kRuns) return;  // too few to have drawn all of it
  expectAll(counts, {"Send by Client",
                     "Confirm by Client",
                     "Commit by Client",
                     "AgentStep by Agent",
                     "Confirm by Agent",
                     "Commit by Agent",
                     "CollectorDelete by Collector",
                     "Confirm by Collector",
                     "Commit by Collector",
                     "CollectorRelease by Collector",
                     "CrdInstances by CrdCleanup",
                     "CrdFinish by CrdCleanup",
                     "NamespaceDelete by Lifecycle",
                     "Confirm by Lifecycle",
                     "Commit by Lifecycle",
                     "NamespaceFinish by Lifecycle",
                     "WorkloadSync by Workloads",
                     "PodReady by Kubelet",
                     "PodStop by Kubelet",
                     "ClaimRelease by Claims",
                     "DeleteDeferred by Lastout",
                     "Confirm by Lastout",
                     "Commit by Lastout",
                     "KeepWork by Lastout",
                     "HoldProvider by Lastout",
                     "Finalize by Finalizers",
                     "pairs, independent",
                     "guards, changed",
                     "fields, changed"});
}

TEST(Footprints, AreThoseOfTheActionsUnderRandomPolicies) {
  constexpr uint32_t kRuns = 60;
  constexpr uint32_t kStates = 40;
  Counts counts;
  const uint64_t first = firstSeed(1);
  for (uint64_t seed = first; seed < first + runsHere(kRuns); ++seed) {
    ASSERT_EQ(failureOf(modelWithPolicies(seed), seed, kStates, counts), "") << "seed " << seed;
  }
  if (runsHere(kRuns) < kRuns) return;
  expectAll(counts, {"WriteLabels by Lastout", "DeleteHeld by Lastout", "Confirmation by Lastout",
                     "LetGo by Lastout", "pairs, independent", "guards, changed"});
}

// --- what a declaration lacks is found

enum class Where : uint8_t { Own, Others };  // the action's own client, work or object, or any other part

struct Omitted {
  const char* what;
  Action::Kind kind;
  PartSet Footprint::*from;
  Where where;
  StatePart::Kind part;
  Fields fields;
  bool needsPolicies = false;
};

std::ostream& operator<<(std::ostream& out, const Omitted& omitted) { return out << omitted.what; }

bool isOwn(const Action& action, const StatePart& part) {
  const cluster::ActionSubject subject = cluster::subjectOf(action);
  const StatePart::Kind kind = subject.kind == cluster::ActionSubject::Kind::Step   ? StatePart::Kind::Step
                               : subject.kind == cluster::ActionSubject::Kind::Work ? StatePart::Kind::Work
                                                                                    : StatePart::Kind::Object;
  return part == StatePart{kind, subject.number};
}

PartSet without(const Omitted& omitted, const Action& action, const PartSet& parts) {
  PartSet left;
  for (const PartFields& one : parts.all()) {
    const bool isOmitted =
        one.part.kind == omitted.part && isOwn(action, one.part) == (omitted.where == Where::Own);
    left.add(one.part, isOmitted ? static_cast<Fields>(one.fields & ~omitted.fields) : one.fields);
  }
  return left;
}

class FootprintsThatLack : public ::testing::TestWithParam<Omitted> {};

TEST_P(FootprintsThatLack, SomethingAreFound) {
  const Omitted& omitted = GetParam();
  const auto omission = [&](const Action& action, Footprint& footprint) {
    if (action.kind != omitted.kind) return;
    footprint.*omitted.from = without(omitted, action, footprint.*omitted.from);
  };
  constexpr uint64_t kSeeds = 300;
  constexpr uint32_t kStates = 40;
  std::string failure;
  for (uint64_t seed = 1; failure.empty() && seed < kSeeds; ++seed) {
    Counts ignored;
    if (omitted.needsPolicies) {
      failure = failureOf(modelWithPolicies(seed), seed, kStates, ignored, omission);
    } else if (const auto model = toModel(anyCluster(seed))) {
      failure = failureOf(*model, seed, kStates, ignored, omission);
    }
  }
  EXPECT_NE(failure, "") << omitted.what;
}

constexpr auto kObject = StatePart::Kind::Object;
INSTANTIATE_TEST_SUITE_P(
    Kinds, FootprintsThatLack,
    ::testing::Values(Omitted{"a request is sent once", Kind::Send, &Footprint::guard, Where::Own,
                              StatePart::Kind::Step, cluster::kEveryField},
                      Omitted{"a client's DELETE is noted", Kind::Send, &Footprint::writes, Where::Own,
                              StatePart::Kind::Step, cluster::kEveryField},
                      Omitted{"a DELETE goes by who is there", Kind::Send, &Footprint::reads, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"a verdict goes by intents", Kind::Confirm, &Footprint::reads, Where::Others,
                              kObject, cluster::kValueField},
                      Omitted{"a commit marks the object", Kind::Commit, &Footprint::writes, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"an agent goes by owners", Kind::AgentStep, &Footprint::guard, Where::Others,
                              kObject, cluster::kOwnersField},
                      Omitted{"an agent records what it applied", Kind::AgentStep, &Footprint::writes,
                              Where::Others, StatePart::Kind::Link, cluster::kEveryField},
                      Omitted{"owners are gone", Kind::CollectorDelete, &Footprint::guard, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"an owner waits for its dependents", Kind::CollectorDelete, &Footprint::guard,
                              Where::Others, kObject, cluster::kFinalizersField},
                      Omitted{"dependents are orphaned", Kind::CollectorRelease, &Footprint::writes,
                              Where::Others, kObject, cluster::kOwnersField},
                      Omitted{"instances are marked", Kind::CrdInstances, &Footprint::writes, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"no instance is left", Kind::CrdFinish, &Footprint::guard, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"the Namespace terminates", Kind::NamespaceDelete, &Footprint::guard,
                              Where::Others, kObject, cluster::kPresenceField},
                      Omitted{"no content is left", Kind::NamespaceFinish, &Footprint::guard, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"replicas are missing", Kind::WorkloadSync, &Footprint::guard, Where::Own,
                              kObject, cluster::kValueField},
                      Omitted{"a child is made", Kind::WorkloadSync, &Footprint::writes, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"a Pod is not Ready yet", Kind::PodReady, &Footprint::guard, Where::Own,
                              kObject, cluster::kValueField},
                      Omitted{"a stopped Pod goes", Kind::PodStop, &Footprint::writes, Where::Own, kObject,
                              cluster::kPresenceField},
                      Omitted{"no Pod mounts the claim", Kind::ClaimRelease, &Footprint::guard, Where::Others,
                              kObject, cluster::kPresenceField},
                      Omitted{"a deletion is deferred", Kind::DeleteDeferred, &Footprint::guard, Where::Own,
                              kObject, cluster::kDeferredDeletionField},
                      Omitted{"a work owns something guarded", Kind::KeepWork, &Footprint::guard,
                              Where::Others, kObject, cluster::kOwnersField},
                      Omitted{"a CriticalService says Hold", Kind::HoldProvider, &Footprint::guard,
                              Where::Others, kObject, cluster::kPresenceField},
                      Omitted{"labels are written", Kind::WriteLabels, &Footprint::writes, Where::Own,
                              kObject, cluster::kFormField, true},
                      Omitted{"a cascade takes children along", Kind::DeleteHeld, &Footprint::guard,
                              Where::Others, kObject, cluster::kPresenceField, true},
                      Omitted{"a confirmation is an annotation", Kind::Confirmation, &Footprint::guard,
                              Where::Own, kObject, cluster::kFormField, true},
                      Omitted{"nothing is left that refers to it", Kind::LetGo, &Footprint::guard,
                              Where::Others, kObject, cluster::kPresenceField, true},
                      Omitted{"the operator's Pod is Ready", Kind::Finalize, &Footprint::guard, Where::Others,
                              kObject, cluster::kValueField},
                      Omitted{"a finalizer goes", Kind::Finalize, &Footprint::writes, Where::Own, kObject,
                              cluster::kFinalizersField}));

// --- they do not claim everything

// Two instances whose finalizers an operator removes, a CriticalService that lets the operator go after them,
// and somebody who deletes all of that, and a ConfigMap that nobody guards.
class DeclaredFootprints : public ::testing::Test {
 protected:
  DeclaredFootprints() {
    ClusterSpec spec;
    spec.objects.push_back({.key = namespaceKey("operator")});
    spec.objects.push_back({.key = operator_, .app = "operator"});
    criticalservice::CriticalService service;
    service.provider = operator_;
    service.criteria.push_back(
        criticalservice::FinalizerCriterion{.type = types::kWidgets, .finalizerName = "example.com/cleanup"});
    spec.objects.push_back({.key = {types::kCriticalServices, "", "operator"}, .service = service});
    for (const kube::ObjectKey& widget : {one_, two_})
      spec.objects.push_back({.key = widget, .finalizers = {"example.com/cleanup"}});
    spec.objects.push_back({.key = settings_});
    spec.controllers.push_back(
        {.finalizer = "example.com/cleanup", .from = types::kWidgets, .runsIn = operator_});
    for (const kube::ObjectKey& object : {one_, two_, settings_, operator_})
      spec.steps.push_back({.object = object});
    model_ = *toModel(spec);
    machine_.emplace(model_);
  }

  Slot slot(const kube::ObjectKey& key) const { return *model_.find(key); }
  // The only Pod of the operator.
  Slot pod() const { return model_.slots[model_.slots[slot(operator_)].children.front()].children.front(); }
  Footprint of(const Action& action) const { return footprintOf(*machine_, action); }
  Footprint deletes(const kube::ObjectKey& key) const {
    return of({Kind::Send, Actor::Client, model_.slots[slot(key)].steps.front(), 0});
  }
  Footprint finalizes(const kube::ObjectKey& key) const {
    return of({Kind::Finalize, Actor::Finalizers, slot(key), 0});
  }
  // The objects that it reads or writes.
  std::set<std::string> objectsOf(const Footprint& footprint) const {
    std::set<std::string> names;
    for (const PartSet* parts : {&footprint.guard, &footprint.reads, &footprint.writes})
      for (const PartFields& one : parts->all())
        if (one.part.kind == kObject) names.insert(model_.name(one.part.number));
    return names;
  }

  const kube::ObjectKey operator_{types::kDeployments, "operator", "operator"};
  const kube::ObjectKey one_{types::kWidgets, "", "one"};
  const kube::ObjectKey two_{types::kWidgets, "", "two"};
  const kube::ObjectKey settings_{types::kConfigMaps, "operator", "settings"};
  Model model_;
  std::optional<Machine> machine_;
};

TEST_F(DeclaredFootprints, AreThoseOfTheObjectAndWhatItDependsOn) {
  EXPECT_EQ(objectsOf(deletes(settings_)), std::set<std::string>{model_.name(slot(settings_))});
  EXPECT_EQ(objectsOf(finalizes(one_)), (std::set<std::string>{model_.name(slot(one_)), model_.name(pod())}));
  EXPECT_EQ(objectsOf(of({Kind::PodReady, Actor::Kubelet, pod(), 0})),
            std::set<std::string>{model_.name(pod())});
}

TEST_F(DeclaredFootprints, OfUnrelatedObjectsAreIndependent) {
  EXPECT_TRUE(areIndependent(deletes(one_), deletes(two_)));
  EXPECT_TRUE(areIndependent(finalizes(one_), finalizes(two_)));
  EXPECT_TRUE(areIndependent(finalizes(one_), deletes(settings_)));
}

TEST_F(DeclaredFootprints, OfWhatDependsOnEachOtherAreNot) {
  EXPECT_FALSE(areIndependent(deletes(one_), finalizes(one_))) << "it has to be deleted first";
  EXPECT_FALSE(areIndependent(finalizes(one_), deletes(operator_))) << "its finalizer holds a criterion";
  EXPECT_FALSE(areIndependent(finalizes(one_), of({Kind::PodStop, Actor::Kubelet, pod(), 0})))
      << "the operator runs in the Pod";
}

class Shipped : public ::testing::TestWithParam<std::string> {};

TEST_P(Shipped, FootprintsAreThoseOfTheActions) {
  const auto all = replay::loadAll({{GetParam(), true}});
  ASSERT_TRUE(all.has_value());
  Counts counts;
  constexpr uint32_t kStates = 150;
  const uint32_t states = std::max(runsHere(kStates), 1u);
  EXPECT_EQ(failureOf(all->front()->compiled.model, 1, states, counts), "");
  if (states < kStates) return;  // too few to come to all of it
  // No random cluster has these kinds of action.
  const std::map<std::string, std::vector<std::string>> kinds = {
      {"job-time-to-live", {"DeleteFinished by TimeToLive"}},
      {"volume-of-a-claim", {"VolumeRelease by Claims"}},
      {"work-replica-set", {"ReplicaSetWork by ReplicaSets", "ReplicaSetFinish by ReplicaSets"}}};
  const auto found = kinds.find(std::filesystem::path(GetParam()).stem().string());
  if (found != kinds.end()) expectAll(counts, found->second);
}

std::string testNameOf(const ::testing::TestParamInfo<std::string>& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Shipped, ::testing::ValuesIn(replay::shippedFiles()), testNameOf);

}  // namespace
}  // namespace lastout::testing
