// What lastout does by itself is one plan each, of works, deferred deletions and held providers: in every
// state of random clusters the server, which is told what watches tell, and reads what there is, does what
// the machine does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/transition.h"
#include "server/controllers/deferred_deletion_plan.h"
#include "server/controllers/held_provider_plan.h"
#include "server/controllers/work_finalizer_plan.h"
#include "tests/properties/coverage.h"
#include "tests/properties/dice.h"
#include "tests/properties/random_cluster.h"
#include "tests/properties/runs.h"
#include "tests/properties/shrink.h"
#include "tests/properties/walk.h"
#include "tests/properties/works_view.h"

namespace lastout::testing {
namespace {

using cluster::Slot;
using cluster::Transition;
using control::Fate;
using control::HeldProviderAction;
using control::Keeping;

using Acts = std::set<std::string>;

constexpr uint32_t kMostActions = 2'000;  // clients that contradict each other never end

bool isPerson(const std::string& user) { return user == WorksView::kPerson; }

// --- works

std::string actOf(Keeping keeping, const std::string& work, bool isForsaken) {
  if (keeping == Keeping::Begins) return "begins to keep " + work;
  return "lets go of " + work + (isForsaken ? ", too early" : "");
}

Acts worksOfServer(const WorksView& view) {
  Acts acts;
  server::AwaitedObjects awaited;  // by looks before: there were none
  for (const server::KeptWorkChange& change :
       server::keptWorksToChange(view.works(), {}, false, awaited, {isPerson, {}}))
    acts.insert(actOf(change.keeping, change.name, change.forsaken.has_value()));
  for (const server::DeferredDeletionOfWork& left : server::deferredDeletionsOf(view.works()))
    acts.insert("deletes " + toString(left.deletion.object) + " of " + left.work);
  return acts;
}

bool isOwnedBy(const Transition& transition, Slot slot, Slot owner) {
  const cluster::ObjectState object = transition.state().object(slot);
  const std::vector<cluster::OwnerLink>& owners = transition.info(slot).owners;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].owner == owner && object.owner(i) == cluster::OwnerState::Current) return true;
  }
  return false;
}

Acts worksOfMachine(const Transition& transition) {
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

// --- deferred deletions

// Of these the server looks at what goes before them first: when it forgets one depends on that.
bool isContainer(const kube::ObjectKey& key) {
  return key.type == types::kNamespaces || key.type == types::kCrds || key.type == types::kCriticalServices;
}

// Runs until nothing is found out any more: what was read to wait, or to be forgotten, keeps nothing that
// goes after it.
class ServersDeletions {
 public:
  explicit ServersDeletions(const WorksView& view)
      : view_(view),
        entries_(server::deferredDeletionEntriesIn(view.works(), server::Requesters{.personsCount = true})) {}

  Acts acts() {
    while (look())
      std::erase_if(entries_, [&](const auto& entry) { return forgotten_.contains(uidOf(entry)); });
    return acts_;
  }

 private:
  using Entry = server::DeferredDeletionEntry;
  using Job = server::DeferredDeletionJob;

  static const std::string& uidOf(const Entry& entry) { return entry.deletion.uid; }

  // True if something new was found out.
  bool look() {
    const client::TimePoint now{};
    const server::ProgressOf progress = [this](const std::string& uid) {
      const auto found = progress_.find(uid);
      return found == progress_.end() ? nullptr : &found->second;
    };
    const server::SeenDeletions seen(entries_, view_.works().view, progress, now);
    bool isNew = false;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (progress_[uidOf(entries_[i])].waits) continue;
      const Job job = server::jobOf(seen, entries_, i);
      if (job != Job::None) isNew = read(entries_[i], seen.isAllowed(i), job) || isNew;
    }
    return isNew;
  }

  bool read(const Entry& entry, bool isAllowed, Job job) {
    const std::string name = toString(entry.deletion.object);
    const bool mayGo = entry.isWanted && isAllowed;
    if (job == Job::Delete && !mayGo) return false;
    const auto object = server::readOwnedObject(entry, view_.reads());
    if (!object) return !acts_.insert("cannot read " + name + ": " + object.error()).second;
    const server::FateAsRead found = server::fateAsRead(
        *object, [&] { return mayGo; }, [&] { return isAllowed; });
    if (found.fate == Fate::Delete) acts_.insert("deletes " + name);
    if (found.fate == Fate::Forget) {
      if (!isContainer(entry.deletion.object)) acts_.insert("forgets " + name);
      forgotten_.insert(uidOf(entry));
    }
    if (found.waits) progress_[uidOf(entry)] = {.notBefore = client::TimePoint::max(), .waits = true};
    return found.waits || found.fate == Fate::Forget;
  }

  const WorksView& view_;
  std::vector<Entry> entries_;
  std::map<std::string, server::DeferredDeletionProgress> progress_;
  std::set<std::string> forgotten_;
  Acts acts_;
};

Acts deletionsOfServer(const WorksView& view) { return ServersDeletions(view).acts(); }

// The server looks, and may forget, once the verdict has turned.
Acts deletionsOfMachine(const Transition& transition) {
  Acts acts;
  const cluster::Model& model = transition.model();
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const Fate fate = cluster::deferredDeletionFate(transition, slot);
    if (fate == Fate::Delete) acts.insert("deletes " + model.name(slot));
    const bool isLookedAt = !isContainer(model.slots[slot].key) && transition.decide(slot).allowed;
    if (fate == Fate::Forget && isLookedAt) acts.insert("forgets " + model.name(slot));
  }
  return acts;
}

// --- held providers

std::string actOf(HeldProviderAction holding, const std::string& provider) {
  if (holding == HeldProviderAction::Begins) return "begins to hold " + provider;
  return (holding == HeldProviderAction::Ends ? "ends to hold " : "lets go of ") + provider;
}

Acts holdingsOfServer(const WorksView& view) {
  Acts acts;
  for (const server::HeldProviderChange& change : server::heldProviderChanges(view.works().view))
    acts.insert(actOf(change.holding, toString(change.provider)));
  return acts;
}

// Those of a type that no CriticalService names any more the server has to list (unwatched_held_providers.h).
Acts holdingsOfMachine(const Transition& transition) {
  Acts acts;
  const cluster::Model& model = transition.model();
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    if (model.slots[slot].heldBit == 0 || !transition.isPresent(slot) || !isFollowed(transition, slot))
      continue;
    const HeldProviderAction holding = cluster::heldProviderPlan(transition, slot);
    if (holding != HeldProviderAction::AsItIs) acts.insert(actOf(holding, model.name(slot)));
  }
  return acts;
}

// --- both, in random clusters

struct Plan {
  Acts (*ofServer)(const WorksView& view);
  Acts (*ofMachine)(const Transition& transition);
  std::vector<std::string> wanted;  // what has to be drawn
};

std::string textOf(const Acts& acts) {
  std::string text;
  for (const std::string& act : acts) text += (text.empty() ? "" : "; ") + act;
  return text.empty() ? "nothing" : text;
}

// What goes before a container, and waits, the server has not read while something else goes first: then it
// puts off the container, until that is gone.
void takePutOff(const Acts& server, Acts& ofMachine) {
  const auto isDelete = [](const std::string& act) { return act.starts_with("deletes "); };
  if (std::ranges::none_of(server, isDelete)) return;
  std::erase_if(ofMachine, [&](const std::string& act) {
    return !server.contains(act) &&
           (act.starts_with("deletes namespaces/") || act.starts_with("deletes customresourcedefinitions.") ||
            act.starts_with("deletes criticalservices."));
  });
}

// Several CriticalServices guard providers of one type, and say this.
void countServices(const cluster::Model& model, const cluster::StateRef& state, Coverage& coverage) {
  std::map<kube::GroupResource, std::set<std::string>> intents;
  for (size_t i = 0; i < model.services.size(); ++i) {
    const cluster::ObjectState service = state.object(model.services[i]);
    if (service.present())
      intents[model.serviceSpecs[i].provider.type].insert(std::string(
          criticalservice::toString(static_cast<criticalservice::DeletionIntent>(service.value))));
  }
  for (const auto& [type, said] : intents) {
    for (const std::string& intent : said) {
      if (said.size() > 1) coverage.count(intent + " beside others");
    }
  }
}

// Somebody writes into a status that a controller was denied a deletion.
void forgeOne(const cluster::Machine& machine, Walk& walk, Dice& dice) {
  const auto slot = static_cast<Slot>(dice.below(static_cast<uint32_t>(machine.model().slots.size())));
  const Transition transition(machine, walk.after(), nullptr);
  if (!transition.isLive(slot) || !isDeferredForControllers(transition, slot)) return;
  if (!walk.after().object(slot).deferredDeletion) walk.forge(slot, cluster::PropagationPolicy::Background);
}

std::string differenceIn(const Plan& plan, const ClusterSpec& spec, uint64_t seed, Coverage& coverage) {
  const auto model = toModel(spec);
  if (!model) return {};
  const cluster::Machine machine(*model);
  Walk walk(machine, seed);
  Dice dice(seed ^ 0x5bd1e995);
  WorksHistory history(*model, walk.after());
  do {
    if (walk.count() > 0 && !walk.changed()) continue;
    if (spec.forges && dice.oneIn(4)) forgeOne(machine, walk, dice);
    history.follow(walk.after());
    const Acts server = plan.ofServer(WorksView(history, walk.after()));
    Acts ofMachine = plan.ofMachine(Transition(machine, walk.after(), nullptr));
    takePutOff(server, ofMachine);
    if (server != ofMachine)
      return "the server: " + textOf(server) + "\nthe machine: " + textOf(ofMachine) + "\nafter " +
             std::to_string(walk.count()) + " actions";
    if (!server.empty()) countServices(*model, walk.after(), coverage);
    for (const std::string& act : server) coverage.count(act.substr(0, act.find(' ')));
    for (const std::string& act : server) {
      if (act.ends_with(", too early")) coverage.count("too early");
    }
  } while (walk.count() < kMostActions && walk.next());
  return {};
}

void expectOnePlan(Plan plan) {
  constexpr uint32_t kRuns = 3'000;
  plan.wanted.insert(plan.wanted.end(), {"Ordered beside others", "BestEffortDeletion beside others",
                                         "OrphanResources beside others"});
  Coverage coverage;
  const uint64_t first = firstSeed(1);
  for (uint64_t seed = first; seed < first + runsHere(kRuns); ++seed) {
    const ClusterSpec spec = worksCluster(seed);
    const std::string difference = differenceIn(plan, spec, seed, coverage);
    if (difference.empty()) continue;
    const auto differs = [&](const ClusterSpec& candidate) {
      Coverage ignored;
      return !differenceIn(plan, candidate, seed, ignored).empty();
    };
    const ClusterSpec small = shrink(spec, differs);
    Coverage ignored;
    FAIL() << "seed " << seed << ": " << difference
           << "\nsmaller: " << differenceIn(plan, small, seed, ignored) << "\n"
           << describe(small);
  }
  if (runsHere(kRuns) >= kRuns) {
    EXPECT_EQ(coverage.missingOf(plan.wanted), "") << coverage.text();
  }
}

TEST(KeptWorks, AreTheServersAsTheyAreTheMachines) {
  expectOnePlan({worksOfServer, worksOfMachine, {"begins", "lets", "too early", "deletes"}});
}

TEST(DeferredDeletions, AreTheServersAsTheyAreTheMachines) {
  expectOnePlan({deletionsOfServer, deletionsOfMachine, {"deletes", "forgets"}});
}

TEST(HeldProviders, AreTheServersAsTheyAreTheMachines) {
  expectOnePlan({holdingsOfServer, holdingsOfMachine, {"begins", "ends", "lets"}});
}

}  // namespace
}  // namespace lastout::testing
