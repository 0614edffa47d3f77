// What lastout does for works is one rule: in every state of random clusters the server, which is told what
// watches tell, begins and ceases to keep the works that the machine does, and has the same deletions of
// theirs to carry out.
#include "server/controllers/kept_works.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cluster/transition.h"
#include "tests/properties/coverage.h"
#include "tests/properties/random_cluster.h"
#include "tests/properties/runs.h"
#include "tests/properties/shrink.h"
#include "tests/properties/walk.h"
#include "tests/properties/works_view.h"

namespace lastout::testing {
namespace {

using cluster::Slot;
using control::Keeping;

using Acts = std::set<std::string>;

constexpr uint32_t kMostActions = 2'000;  // clients that contradict each other never end

std::string actOf(Keeping keeping, const std::string& work, bool isForsaken) {
  if (keeping == Keeping::Begins) return "begins to keep " + work;
  return "lets go of " + work + (isForsaken ? ", too early" : "");
}

bool isPerson(const std::string& user) { return user == WorksView::kPerson; }

Acts actsOfServer(const WorksView& view) {
  Acts acts;
  server::AwaitedObjects awaited;  // by looks before: there were none
  for (const server::KeptWorkChange& change :
       server::keptWorksToChange(view.works(), {}, false, awaited, isPerson))
    acts.insert(actOf(change.keeping, change.name, change.forsaken.has_value()));
  for (const server::DeferredDeletionOfWork& left : server::deferredDeletionsOf(view.works()))
    acts.insert("deletes " + toString(left.deletion.object) + " of " + left.work);
  return acts;
}

bool isOwnedBy(const cluster::Transition& transition, Slot slot, Slot owner) {
  const cluster::ObjectState object = transition.state().object(slot);
  const std::vector<cluster::OwnerLink>& owners = transition.info(slot).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].owner == owner && object.owner(i) == cluster::OwnerState::Current) return true;
  }
  return false;
}

Acts actsOfMachine(const cluster::Transition& transition) {
  Acts acts;
  const cluster::Model& model = transition.model();
  for (const cluster::Work& work : model.works) {
    if (!transition.isPresent(work.applied)) continue;
    const std::string& name = model.slots[work.applied].key.name;
    const control::KeptWorkPlan<Slot> plan = cluster::keptWorkPlan(transition, work.applied);
    if (plan.keeping != Keeping::AsItIs) acts.insert(actOf(plan.keeping, name, plan.forsaken.has_value()));
    for (const Slot slot : model.slots[work.applied].dependents) {
      if (transition.isPresent(slot) && isOwnedBy(transition, slot, work.applied) &&
          cluster::isLeftBehind(transition, work.applied, slot))
        acts.insert("deletes " + model.name(slot) + " of " + name);
    }
  }
  return acts;
}

std::string textOf(const Acts& acts) {
  std::string text;
  for (const std::string& act : acts) text += (text.empty() ? "" : "; ") + act;
  return text.empty() ? "nothing" : text;
}

std::string differenceIn(const ClusterSpec& spec, uint64_t seed, Coverage& coverage) {
  const auto model = toModel(spec);
  if (!model) return {};
  const cluster::Machine machine(*model);
  Walk walk(machine, seed);
  WorksHistory history(*model, walk.after());
  do {
    if (walk.count() > 0 && !walk.changed()) continue;
    history.follow(walk.after());
    const Acts server = actsOfServer(WorksView(history, walk.after()));
    const Acts ofMachine = actsOfMachine(cluster::Transition(machine, walk.after(), nullptr));
    if (server != ofMachine)
      return "the server: " + textOf(server) + "\nthe machine: " + textOf(ofMachine) + "\nafter " +
             std::to_string(walk.count()) + " actions";
    for (const std::string& act : server) coverage.count(act.substr(0, act.find(' ')));
    for (const std::string& act : server) {
      if (act.ends_with(", too early")) coverage.count("too early");
    }
  } while (walk.count() < kMostActions && walk.next());
  return {};
}

TEST(KeptWorks, AreTheServersAsTheyAreTheMachines) {
  constexpr uint32_t kRuns = 3'000;
  Coverage coverage;
  const uint64_t first = firstSeed(1);
  for (uint64_t seed = first; seed < first + runsHere(kRuns); ++seed) {
    const ClusterSpec spec = worksCluster(seed);
    const std::string difference = differenceIn(spec, seed, coverage);
    if (difference.empty()) continue;
    const auto differs = [&](const ClusterSpec& candidate) {
      Coverage ignored;
      return !differenceIn(candidate, seed, ignored).empty();
    };
    const ClusterSpec small = shrink(spec, differs);
    Coverage ignored;
    FAIL() << "seed " << seed << ": " << difference << "\nsmaller: " << differenceIn(small, seed, ignored)
           << "\n"
           << describe(small);
  }
  if (runsHere(kRuns) >= kRuns) {
    EXPECT_EQ(coverage.missingOf({"begins", "lets", "too early", "deletes"}), "") << coverage.text();
  }
}

}  // namespace
}  // namespace lastout::testing
