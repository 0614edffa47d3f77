#include "tests/cluster/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "kube/parse.h"
#include "kube/reference.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

constexpr std::string_view kEvents[] = {"requested", "denied", "accepted", "gone", "created", "changed"};
constexpr std::string_view kActors[] = {"client",     "agent",     "collector",   "lifecycle",
                                        "crd",        "workloads", "kubelet",     "claims",
                                        "finalizers", "ttl",       "replicasets", "lastout"};

// "name: ref ref" into a work and the objects it applies. The work itself may be one of `objects`, which it
// leaves.
WorkSpec workFrom(const std::string& text, std::vector<kube::Object>& objects,
                  const kube::ResourceMap& types) {
  std::istringstream words(text);
  std::string name;
  words >> name;
  name.pop_back();
  WorkSpec work;
  work.manifestWork.key = {{"work.open-cluster-management.io", "manifestworks"}, "hub", name};
  const auto written = std::ranges::find(objects, work.manifestWork.key, &kube::Object::key);
  if (written != objects.end()) {
    work.manifestWork = std::move(*written);
    objects.erase(written);
  }
  work.appliedName = "applied-" + name;
  for (std::string word; words >> word;) {
    const kube::ObjectKey key = *kube::parseReference(word, types);
    const auto found = std::find_if(objects.begin(), objects.end(),
                                    [&](const kube::Object& object) { return object.key == key; });
    if (found == objects.end()) throw std::runtime_error("no object " + word);
    work.manifests.push_back(*found);
  }
  return work;
}

}  // namespace

World::World(std::string_view yaml, const WorldOptions& options) : types_(kube::ResourceMap::builtIn()) {
  auto documents = kube::parseYaml(yaml, "test.yaml");
  if (!documents) throw std::runtime_error(kube::toString(documents.error()));
  auto objects = kube::parseObjects(std::move(*documents), "test.yaml", types_);
  if (!objects) throw std::runtime_error(kube::toString(objects.error()));
  BuildInput input;
  input.kubernetes = options.kubernetes;
  input.guarded = options.guarded;
  input.runsDeferredDeletions = options.runsDeferredDeletions;
  input.lastoutNamespace = options.lastoutNamespace;
  input.types = types_;
  for (const std::string& work : options.works) {
    input.works.push_back(workFrom(work, *objects, types_));
    manifestwork::DeleteOption& option = input.works.back().deleteOption;
    for (const std::string& reference : options.readOnly)
      option.readOnly.push_back(*kube::parseReference(reference, types_));
    if (options.orphans.empty()) continue;
    option.policy = manifestwork::DeleteOption::PropagationPolicy::SelectivelyOrphan;
    for (const std::string& reference : options.orphans)
      option.orphaningRules.push_back(*kube::parseReference(reference, types_));
  }
  for (const kube::Object& object : *objects) {
    const bool later = std::any_of(
        options.absent.begin(), options.absent.end(),
        [&](const std::string& reference) { return *kube::parseReference(reference, types_) == object.key; });
    (later ? input.later : input.objects).push_back(object);
  }
  auto model = build(input);
  if (!model) throw std::runtime_error(kube::toString(model.error().front()));
  model_ = std::move(*model);
  rebuild();
}

// The layout may have grown: the state is taken over object by object.
void World::rebuild() {
  const std::unique_ptr<Machine> before = std::move(machine_);
  const std::vector<uint64_t> words = words_;
  machine_ = std::make_unique<Machine>(model_);
  words_ = machine_->initial();
  if (!before) return;
  std::vector<uint64_t> copy = words;
  const StateRef old(copy.data(), before->layout());
  StateRef now(words_.data(), machine_->layout());
  now.setMonitors(old.monitors());
  const uint32_t slots = before->layout().works - before->layout().objects;
  for (Slot slot = 0; slot < slots; ++slot) now.setObject(slot, old.object(slot));
  for (uint32_t work = 0; work < model_.works.size(); ++work) now.setWork(work, old.work(work));
  for (uint32_t step = 0; step + 1 < model_.steps.size(); ++step) now.setStep(step, old.step(step));
  for (uint32_t link = 0; link < model_.links.size(); ++link) now.setLink(link, old.link(link));
}

Slot World::slot(std::string_view reference) const {
  const auto key = kube::parseReference(reference, types_);
  if (!key) throw std::runtime_error(kube::toString(key.error()));
  const auto found = model_.find(*key);
  if (!found) throw std::runtime_error("no slot " + std::string(reference));
  return *found;
}

void World::controller(std::string_view name, std::string_view runsIn, std::string_view finalizer,
                       std::string_view from) {
  FinalizerController controller;
  controller.name = name;
  controller.runsIn = runsIn.empty() ? kNone : slot(runsIn);
  controller.finalizer = finalizer;
  controller.from = (*types_.resolve(from))->type;
  const auto added = addController(model_, controller);
  if (!added) throw std::runtime_error(added.error().message);
}

uint32_t World::step(ClientStep::Verb verb, std::string_view reference,
                     const std::function<void(ClientStep&)>& adjust) {
  ClientStep step;
  step.verb = verb;
  step.object = slot(reference);
  if (adjust) adjust(step);
  const auto added = addStep(model_, step);
  if (!added) throw std::runtime_error(added.error().message);
  rebuild();
  return *added;
}

void World::send(uint32_t number) {
  performWhere([&](const Action& action) { return action.kind == Kind::Send && action.a == number; }, "send");
}

void World::deletes(std::string_view reference, std::optional<PropagationPolicy> policy) {
  const uint32_t number = step(ClientStep::Verb::Delete, reference, [&](ClientStep& step) {
    step.hasPolicy = policy.has_value();
    step.policy = policy.value_or(PropagationPolicy::Background);
    step.retry = false;
  });
  send(number);
  for (const Kind kind : {Kind::Confirm, Kind::Commit}) {
    if (state().step(number).flight.phase == Flight::Phase::None) return;
    performWhere(
        [&](const Action& action) {
          return action.kind == kind && action.actor == Actor::Client && action.a == number;
        },
        "review");
  }
}

void World::does(ClientStep::Verb verb, std::string_view reference, uint16_t value) {
  send(step(verb, reference, [&](ClientStep& step) { step.value = value; }));
}

std::vector<Action> World::actions() const {
  std::vector<Action> result;
  machine_->enabled(state(), result);
  return result;
}

bool World::apply(const Action& action) {
  const std::vector<uint64_t> before = words_;
  Events events;
  machine_->apply(state(), action, &events);
  for (const ClusterEvent& event : events) {
    std::string line{kActors[static_cast<size_t>(event.actor)]};
    line += " ";
    line += kEvents[static_cast<size_t>(event.kind)];
    line += " " + model_.name(event.slot);
    if (event.refused != nullptr) line += std::string(": ") + event.refused;
    log_.push_back(std::move(line));
  }
  return words_ != before;
}

void World::performWhere(const std::function<bool(const Action&)>& matches, const std::string& what) {
  const std::vector<Action> list = actions();
  const auto found = std::find_if(list.begin(), list.end(), matches);
  if (found == list.end()) {
    ADD_FAILURE() << what << " is not enabled";
    return;
  }
  apply(*found);
}

bool World::enabled(Kind kind, std::string_view reference) const {
  const Slot wanted = slot(reference);
  const std::vector<Action> list = actions();
  return std::any_of(list.begin(), list.end(),
                     [&](const Action& action) { return action.kind == kind && action.a == wanted; });
}

bool World::enabledWork(uint32_t work) const {
  const std::vector<Action> list = actions();
  return std::any_of(list.begin(), list.end(),
                     [&](const Action& action) { return action.actor == Actor::Agent && action.a == work; });
}

void World::perform(Kind kind, std::string_view reference) {
  const Slot wanted = slot(reference);
  performWhere([&](const Action& action) { return action.kind == kind && action.a == wanted; },
               std::string(reference));
}

void World::perform(Kind kind, std::string_view reference, Actor actor) {
  const Slot wanted = slot(reference);
  performWhere(
      [&](const Action& action) {
        return action.kind == kind && action.a == wanted && action.actor == actor;
      },
      std::string(reference));
}

void World::agent(uint32_t work) {
  performWhere([&](const Action& action) { return action.kind == Kind::AgentStep && action.a == work; },
               "agent");
}

void World::agentConfirms(uint32_t work) {
  performWhere(
      [&](const Action& action) {
        return action.kind == Kind::Confirm && action.actor == Actor::Agent && action.a == work;
      },
      "agent's confirming read");
}

void World::agentCommits(uint32_t work) {
  performWhere(
      [&](const Action& action) {
        return action.kind == Kind::Commit && action.actor == Actor::Agent && action.a == work;
      },
      "agent's commit");
}

void World::settle() {
  for (int bound = 0; bound < 10'000; ++bound) {
    bool changed = false;
    for (const Action& action : actions()) {
      changed = apply(action);
      if (changed) break;
    }
    if (!changed) return;
  }
  ADD_FAILURE() << "does not settle";
}

bool World::present(std::string_view reference) const {
  return state().presence(slot(reference)) != Presence::Absent;
}

bool World::terminating(std::string_view reference) const {
  return state().presence(slot(reference)) == Presence::Terminating;
}

std::vector<std::string> World::finalizers(std::string_view reference) const {
  const Slot wanted = slot(reference);
  const uint16_t bits = state().finalizers(wanted);
  std::vector<std::string> names;
  const std::vector<std::string>& vocabulary = model_.slots[wanted].finalizers;
  for (size_t i = 0; i < vocabulary.size(); ++i) {
    if ((bits >> i & 1) != 0) names.push_back(vocabulary[i]);
  }
  if ((bits & kForegroundBit) != 0) names.emplace_back(kube::kForegroundFinalizer);
  if ((bits & kOrphanBit) != 0) names.emplace_back(kube::kOrphanFinalizer);
  return names;
}

std::vector<std::string> World::left() const {
  std::vector<std::string> names;
  for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
    if (state().presence(slot) != Presence::Absent) names.push_back(model_.name(slot));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool World::unsafe() const { return (state().monitors() & kUnsafeBit) != 0; }

}  // namespace lastout::cluster
