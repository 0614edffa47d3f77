#include "tests/cluster/live_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace lastout::cluster {

namespace {

constexpr std::string_view kLiveEvents[] = {"requested", "denied", "accepted", "gone", "created", "changed"};
constexpr std::string_view kLiveActors[] = {"client",    "agent",   "collector", "lifecycle", "crd",
                                            "workloads", "kubelet", "claims",    "finalizers"};

}  // namespace

LiveWorld::LiveWorld(kube::KubernetesVersion kubernetes)
    : cluster(Timing{}, kube::ResourceMap::builtIn(), kubernetes), types_(kube::ResourceMap::builtIn()) {
  types_.add({.type = {"example.com", "widgets"},
              .kind = "Widget",
              .version = "v1",
              .singular = "widget",
              .shortNames = {},
              .namespaced = false});
}

kube::ObjectKey LiveWorld::key(std::string_view reference) const {
  const auto parsed = kube::parseReference(reference, types_);
  if (!parsed) throw std::runtime_error(kube::toString(parsed.error()));
  return *parsed;
}

Slot LiveWorld::slot(std::string_view reference) const {
  const auto found = cluster.find(key(reference));
  if (!found) throw std::runtime_error("no slot " + std::string(reference));
  return *found;
}

std::string LiveWorld::nameOf(Slot slot) const { return cluster.model().name(slot); }

LiveObject LiveWorld::object(std::string_view reference, std::vector<std::string> finalizers,
                             const std::vector<std::string>& owners) {
  LiveObject object;
  object.key = key(reference);
  object.uid = "uid-" + std::to_string(++uids_);
  object.finalizers = std::move(finalizers);
  for (const std::string& owner : owners)
    object.owners.push_back(
        {.uid = cluster.uid(slot(owner)), .controller = false, .blockOwnerDeletion = true});
  return object;
}

Slot LiveWorld::create(const LiveObject& object) {
  Events events;
  const auto slot = cluster.create(object, events);
  if (!slot) throw std::runtime_error(slot.error().message);
  note(events);
  return *slot;
}

Slot LiveWorld::create(std::string_view reference, std::vector<std::string> finalizers,
                       const std::vector<std::string>& owners) {
  return create(object(reference, std::move(finalizers), owners));
}

LiveObject LiveWorld::asIs(Slot slot) const {
  LiveObject object;
  object.key = cluster.model().slots[slot].key;
  object.uid = cluster.uid(slot);
  object.finalizers = cluster.finalizers(slot);
  object.owners = cluster.owners(slot);
  object.replicas = cluster.object(slot).value;
  return object;
}

void LiveWorld::setFinalizers(std::string_view reference, std::vector<std::string> finalizers) {
  const Slot slot = this->slot(reference);
  LiveObject object = asIs(slot);
  object.finalizers = std::move(finalizers);
  Events events;
  ASSERT_TRUE(cluster.update(slot, object, events));
  note(events);
}

void LiveWorld::setReplicas(std::string_view reference, uint32_t replicas) {
  const Slot slot = this->slot(reference);
  LiveObject object = asIs(slot);
  object.replicas = replicas;
  Events events;
  ASSERT_TRUE(cluster.update(slot, object, events));
  note(events);
}

void LiveWorld::remove(std::string_view reference, std::optional<PropagationPolicy> policy) {
  Events events;
  cluster.remove(slot(reference), policy, events);
  note(events);
}

void LiveWorld::note(const Events& events) {
  for (const ClusterEvent& event : events) {
    log.push_back(std::string(kLiveActors[static_cast<size_t>(event.actor)]) + " " +
                  std::string(kLiveEvents[static_cast<size_t>(event.kind)]) + " " + nameOf(event.slot));
  }
  for (const ClusterEvent& event : events) {
    if (event.kind != EventKind::Created || !cluster.uid(event.slot).empty()) continue;
    if (!cluster.object(event.slot).present()) continue;
    LiveObject object = asIs(event.slot);
    object.uid = "uid-" + std::to_string(++uids_);
    Events more;
    ASSERT_TRUE(cluster.update(event.slot, object, more));
  }
}

PlannedAction LiveWorld::next(AdmissionOutcome verdict) {
  const auto due = cluster.nextAt();
  if (!due) throw std::runtime_error("nothing is due");
  now = std::max(now, *due);
  const auto plan = cluster.plan(now);
  if (!plan) throw std::runtime_error("nothing is planned");
  Events events;
  EXPECT_TRUE(cluster.execute(*plan, verdict, now, events));
  note(events);
  return *plan;
}

void LiveWorld::run(std::chrono::milliseconds until) {
  for (int bound = 0; bound < 1'000'000; ++bound) {
    const auto due = cluster.nextAt();
    if (!due || *due > until) break;
    next();
  }
  if (cluster.nextAt()) now = std::max(now, until);
}

bool LiveWorld::present(std::string_view reference) const {
  const auto slot = cluster.find(key(reference));
  return slot && cluster.object(*slot).present();
}

bool LiveWorld::terminating(std::string_view reference) const {
  const auto slot = cluster.find(key(reference));
  return slot && cluster.object(*slot).terminating();
}

std::vector<std::string> LiveWorld::left() const {
  std::vector<std::string> names;
  for (Slot slot = 0; slot < cluster.model().slots.size(); ++slot) {
    if (cluster.object(slot).present()) names.push_back(nameOf(slot));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lastout::cluster
