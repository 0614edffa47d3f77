// The agenda of a LiveCluster is what the machine would list of the whole state, whatever happens to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "tests/cluster/live_world.h"

namespace lastout::cluster {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kNames = {
    "namespaces/a",
    "namespaces/b",
    kLiveCrd,
    "widgets.example.com/one",
    "widgets.example.com/two",
    "configmaps/a/x",
    "configmaps/a/y",
    "configmaps/b/x",
    "deployments.apps/a/web",
    "replicasets.apps/a/rs",
    "statefulsets.apps/b/db",
    "pods/a/single",
    "pods/b/db-1",
    "persistentvolumeclaims/a/data",
    kLiveWork,
    "manifestworks.work.open-cluster-management.io/hub/other",
    "namespaces/hub",
};

// One random life of a small cluster; a step that contradicts the machine fails the test.
class Life {
 public:
  explicit Life(uint32_t seed) : random_(seed) {
    FinalizerController free;
    free.name = "free";
    free.finalizer = "f/1";
    free.from = {"", "configmaps"};
    EXPECT_TRUE(world_.cluster.addController(free, std::nullopt));
    FinalizerController bound;
    bound.name = "bound";
    bound.finalizer = "f/2";
    bound.from = {"example.com", "widgets"};
    EXPECT_TRUE(world_.cluster.addController(bound, world_.key("deployments.apps/a/web")));
    for (const char* name : {"namespaces/a", "namespaces/b", "namespaces/hub"}) create(name);
  }

  void step() {
    const uint32_t what = below(10);
    if (what < 3)
      create(kNames[below(static_cast<uint32_t>(kNames.size()))]);
    else if (what == 3)
      update();
    else if (what == 4)
      remove();
    else
      controllers();
  }

  // Actions as the machine lists them, and as the agenda has them.
  testing::AssertionResult agrees() {
    std::vector<Action> all;
    world_.cluster.machine().enabled(world_.cluster.state(), all);
    std::sort(all.begin(), all.end(), [](const Action& a, const Action& b) {
      return std::tuple(subjectOf(a), a.kind, a.b) < std::tuple(subjectOf(b), b.kind, b.b);
    });
    const std::vector<Action> ours = world_.cluster.possible();
    if (ours == all) return contentIsWhatIsThere();
    return testing::AssertionFailure()
           << "the machine lists " << describe(all) << ", the agenda " << describe(ours);
  }

  LiveWorld& world() { return world_; }

 private:
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  bool oneIn(uint32_t n) { return below(n) == 0; }

  std::string describe(const std::vector<Action>& actions) const {
    std::string text;
    for (const Action& action : actions) {
      text += "[" + std::to_string(static_cast<int>(action.kind)) + " ";
      text += action.kind == Action::Kind::AgentStep ? "work " + std::to_string(action.a)
                                                     : world_.nameOf(action.a);
      text += "]";
    }
    return text;
  }

  testing::AssertionResult contentIsWhatIsThere() const {
    const Model& model = world_.cluster.model();
    std::vector<size_t> present(model.slots.size(), 0);
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if (!world_.cluster.object(slot).present()) continue;
      for (const Slot container : {model.slots[slot].namespaceSlot, model.slots[slot].crd}) {
        if (container != kNone) ++present[container];
      }
    }
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if (model.slots[slot].kind == SlotKind::PersistentVolumeClaim) continue;
      if (model.slots[slot].content.size() != present[slot])
        return testing::AssertionFailure() << model.name(slot) << " has wrong content";
    }
    return testing::AssertionSuccess();
  }

  std::vector<Slot> presentSlots() const {
    std::vector<Slot> slots;
    for (Slot slot = 0; slot < world_.cluster.model().slots.size(); ++slot) {
      if (world_.cluster.object(slot).present()) slots.push_back(slot);
    }
    return slots;
  }

  std::vector<std::string> someFinalizers() {
    std::vector<std::string> names;
    for (const char* name : {"f/1", "f/2", "f/3"}) {
      if (oneIn(4)) names.emplace_back(name);
    }
    return names;
  }

  std::vector<LiveOwner> someOwners() {
    std::vector<LiveOwner> owners;
    const std::vector<Slot> slots = presentSlots();
    while (oneIn(2) && owners.size() < 3 && !slots.empty()) {
      const std::string uid =
          oneIn(6) ? "nobody" : world_.cluster.uid(slots[below(static_cast<uint32_t>(slots.size()))]);
      owners.push_back(
          {.uid = uid, .controller = owners.empty() && oneIn(2), .blockOwnerDeletion = oneIn(2)});
    }
    return owners;
  }

  void fill(LiveObject& object) {
    object.finalizers = someFinalizers();
    object.owners = someOwners();
    object.replicas = below(4);
    if (oneIn(2)) object.claims = {"data"};
    if (object.key.type.resource != "manifestworks") return;
    object.appliedName = "applied-" + object.key.name;
    for (const std::string& name : kNames) {
      if (oneIn(4)) object.applies.push_back(world_.key(name));
    }
  }

  void create(const std::string& reference) {
    LiveObject object = world_.object(reference);
    if (world_.cluster.refusesCreation(object.key, oneIn(2))) return;
    fill(object);
    Events events;
    if (world_.cluster.create(object, events)) world_.note(events);
  }

  void update() {
    const std::vector<Slot> slots = presentSlots();
    if (slots.empty()) return;
    const Slot slot = slots[below(static_cast<uint32_t>(slots.size()))];
    LiveObject object = world_.asIs(slot);
    const std::vector<std::string> has = object.finalizers;
    fill(object);
    if (oneIn(2) || world_.cluster.object(slot).terminating()) {
      object.finalizers = has;
      if (!has.empty() && oneIn(3))
        object.finalizers.erase(object.finalizers.begin() + below(static_cast<uint32_t>(has.size())));
    }
    Events events;
    if (world_.cluster.update(slot, object, events)) world_.note(events);
  }

  void remove() {
    const std::vector<Slot> slots = presentSlots();
    if (slots.empty()) return;
    const PropagationPolicy policies[] = {PropagationPolicy::Background, PropagationPolicy::Foreground,
                                          PropagationPolicy::Orphan};
    Events events;
    world_.cluster.remove(slots[below(static_cast<uint32_t>(slots.size()))], policies[below(3)], events);
    world_.note(events);
  }

  // Something due is planned, and perhaps done: at once, or after somebody was quicker.
  void controllers() {
    const auto due = world_.cluster.nextAt();
    if (!due) return;
    world_.now = std::max(world_.now, *due);
    world_.cluster.plan(world_.now);  // names that nobody means any more are dropped now
    const std::span<const uint64_t> words = world_.cluster.state().words();
    const std::vector<uint64_t> before(words.begin(), words.end());
    const auto plan = world_.cluster.plan(world_.now);
    ASSERT_TRUE(plan);
    const std::span<const uint64_t> after = world_.cluster.state().words();
    ASSERT_TRUE(std::equal(before.begin(), before.end(), after.begin(), after.end()))
        << "a plan did something";
    const bool late = oneIn(5);
    if (late) oneIn(2) ? update() : remove();
    const AdmissionOutcome verdict = oneIn(5) ? AdmissionOutcome::Denied : AdmissionOutcome::Allowed;
    Events events;
    const bool done = world_.cluster.execute(*plan, verdict, world_.now, events);
    if (!late) {
      EXPECT_TRUE(done);
      if (verdict == AdmissionOutcome::Allowed) {
        EXPECT_EQ(describeEvents(events), describeEvents(plan->events));
      }
    }
    world_.note(events);
  }

  std::string describeEvents(const Events& events) const {
    std::string text;
    for (const ClusterEvent& event : events)
      text += std::to_string(static_cast<int>(event.kind)) + " " + std::to_string(event.slot) + ";";
    return text;
  }

  LiveWorld world_;
  std::mt19937 random_;
};

TEST(Agenda, HoldsWhatTheMachineListsWhateverHappens) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Life life(seed);
    for (int step = 0; step < 150; ++step) {
      life.step();
      ASSERT_TRUE(life.agrees()) << "seed " << seed << ", step " << step;
      ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(Agenda, IsTheSameForTheSameHistory) {
  Life one(7);
  Life two(7);
  for (int step = 0; step < 400; ++step) {
    one.step();
    two.step();
  }
  EXPECT_EQ(one.world().log, two.world().log);
  EXPECT_EQ(one.world().cluster.nextAt(), two.world().cluster.nextAt());
}

}  // namespace
}  // namespace lastout::cluster
