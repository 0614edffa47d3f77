// Finalizers and owner references of objects that change: names and uids into bits.
#include <algorithm>
#include <bit>

#include "cluster/builder.h"
#include "cluster/live_model.h"

namespace lastout::cluster {

namespace {

bool isLinkedTo(const std::vector<OwnerLink>& links, Slot owner) {
  return std::any_of(links.begin(), links.end(), [&](const OwnerLink& link) { return link.owner == owner; });
}

}  // namespace

kube::Result<void> LiveModel::check(Slot slot, const LiveObject& object) const {
  const auto fail = [&](const std::string& what) {
    return tl::unexpected(kube::Error{kube::toString(object.key) + " has " + what, {}, {}});
  };
  SlotInfo trial;
  trial.kind = model.slots[slot].kind;
  trial.work = model.slots[slot].work;
  if (trial.kind == SlotKind::ManifestWork && !object.appliedName.empty()) trial.work = 0;
  if (const std::string_view cleanup = cleanupFinalizer(trial); !cleanup.empty())
    trial.cleanupBit = finalizerBit(trial, cleanup).value_or(0);
  for (const std::string& name : object.finalizers) {
    if (!finalizerBit(trial, name)) return fail(tooManyFinalizers(trial));
  }
  // Of very many no plan is made.
  if (object.owners.size() > kMaxOwners || planOwners(slot, object.owners).links.size() > kMaxOwners)
    return fail("more than " + std::to_string(kMaxOwners) + " owners");
  if (isWorkload(trial.kind) && object.replicas > kMaxReplicas)
    return fail("more than " + std::to_string(kMaxReplicas) + " replicas");
  return {};
}

void LiveModel::nameFinalizers(Slot slot, const std::vector<std::string>& names) {
  SlotInfo& info = model.slots[slot];
  ObjectState former = before().object(slot);
  const bool cleans = (former.finalizers & info.cleanupBit) != 0;
  info.finalizers.clear();
  info.cleanupBit = 0;
  for (const std::string& name : names) finalizerBit(info, name);
  if (const std::string_view cleanup = cleanupFinalizer(info); !cleanup.empty())
    info.cleanupBit = finalizerBit(info, cleanup).value_or(0);
  // A CRD gets its finalizer with the DELETE (as recorded).
  info.finalizersAtCreation = info.kind == SlotKind::Crd ? uint16_t{0} : info.cleanupBit;
  // What was is read for that bit alone, which may have another place now.
  former.finalizers &= kForegroundBit | kOrphanBit;
  if (cleans) former.finalizers |= info.cleanupBit;
  before().setObject(slot, former);
  findRemovals(model, slot);
}

std::vector<std::string> LiveModel::finalizersOf(Slot slot, const ObjectState& object) const {
  return finalizerNames(model.slots[slot], object.finalizers);
}

uint16_t LiveModel::finalizerMaskOf(Slot slot, const std::vector<std::string>& names) const {
  uint16_t mask = 0;
  for (const std::string& name : names) mask |= knownFinalizerBit(model.slots[slot], name);
  return mask;
}

// The object that a link means, if it means one.
const std::string& LiveModel::uidOfLink(Slot slot, size_t index) const {
  const Slot owner = model.slots[slot].owners[index].owner;
  const bool current = state().object(slot).owner(index) == OwnerState::Current && isPresent(owner);
  return current ? extra[owner].uid : extra[slot].ownerUids[index];
}

// A work's link and a workload's child count on the owner link to be there.
bool LiveModel::isFixed(Slot slot, size_t index) const {
  const SlotInfo& info = model.slots[slot];
  const Slot parent = extra[slot].parent;
  if (parent != kNone && info.owners[index].owner == parent) return true;
  return std::any_of(info.links.begin(), info.links.end(),
                     [&](uint32_t link) { return model.links[link].ownerIndex == index; });
}

OwnerPlan LiveModel::planOwners(Slot slot, const std::vector<LiveOwner>& owners) const {
  const std::vector<OwnerLink>& former = model.slots[slot].owners;
  const ObjectState object = state().object(slot);
  std::vector<bool> placed(owners.size(), false);
  OwnerPlan plan;
  const auto add = [&](OwnerLink link, const std::string& uid, OwnerState standing) {
    plan.links.push_back(link);
    plan.uids.push_back(uid);
    plan.states.push_back(standing);
  };
  const auto slotWith = [&](const std::string& uid) {
    const auto found = uid.empty() ? byUid.end() : byUid.find(uid);
    return found == byUid.end() ? kNone : found->second;
  };
  for (size_t i = 0; i < former.size(); ++i) {
    OwnerLink link = former[i];
    size_t given = owners.size();
    for (size_t j = owners.size(); j-- > 0;) {
      const bool same = object.owner(i) != OwnerState::None && owners[j].uid == uidOfLink(slot, i);
      const bool back = link.owner != kNone && slotWith(owners[j].uid) == link.owner;
      if (!placed[j] && (same || back)) given = j;
    }
    const bool isGiven = given < owners.size();
    plan.movedTo.push_back(isGiven || isFixed(slot, i) ? plan.links.size() : kDropped);
    if (plan.movedTo.back() == kDropped) continue;
    if (!isGiven) {
      add(link, extra[slot].ownerUids[i], OwnerState::None);
      continue;
    }
    placed[given] = true;
    link.controller = owners[given].controller;
    link.blockOwnerDeletion = owners[given].blockOwnerDeletion;
    const bool there = isPresent(link.owner) &&
                       (object.owner(i) == OwnerState::Current || slotWith(owners[given].uid) == link.owner);
    add(link, owners[given].uid, there ? OwnerState::Current : OwnerState::Dangling);
  }
  for (size_t j = 0; j < owners.size(); ++j) {
    if (placed[j]) continue;
    bool repeated = false;
    for (size_t i = 0; i < plan.uids.size(); ++i)
      repeated = repeated || (plan.states[i] != OwnerState::None && plan.uids[i] == owners[j].uid);
    if (repeated) continue;
    const Slot owner = slotWith(owners[j].uid);
    add({.owner = owner,
         .controller = owners[j].controller,
         .blockOwnerDeletion = owners[j].blockOwnerDeletion},
        owners[j].uid, owner == kNone ? OwnerState::Dangling : OwnerState::Current);
  }
  return plan;
}

uint16_t LiveModel::setOwners(Slot slot, OwnerPlan plan) {
  SlotInfo& info = model.slots[slot];
  for (const OwnerLink& link : info.owners) {
    look(link.owner);
    if (link.owner == kNone || isLinkedTo(plan.links, link.owner)) continue;
    std::vector<Slot>& dependents = model.slots[link.owner].dependents;
    const auto found = std::find(dependents.begin(), dependents.end(), slot);
    if (found == dependents.end()) continue;
    *found = dependents.back();
    dependents.pop_back();
  }
  for (size_t i = 0; i < plan.links.size(); ++i) {
    const Slot owner = plan.links[i].owner;
    look(owner);
    const bool first = std::none_of(plan.links.begin(), plan.links.begin() + static_cast<ptrdiff_t>(i),
                                    [&](const OwnerLink& link) { return link.owner == owner; });
    if (owner != kNone && first && !isLinkedTo(info.owners, owner))
      model.slots[owner].dependents.push_back(slot);
  }
  for (const uint32_t link : info.links)
    model.links[link].ownerIndex = static_cast<uint8_t>(plan.movedTo[model.links[link].ownerIndex]);
  info.owners = std::move(plan.links);
  extra[slot].ownerUids = std::move(plan.uids);
  ObjectState states;
  info.ownersAtCreation = 0;
  for (size_t i = 0; i < info.owners.size(); ++i) {
    states.setOwner(i, plan.states[i]);
    if (extra[slot].parent != kNone && info.owners[i].owner == extra[slot].parent)
      info.ownersAtCreation |= static_cast<uint8_t>(1u << i);
  }
  return states.owners;
}

void LiveModel::tidyOwners(Slot slot) {
  ObjectState object = state().object(slot);
  object.owners =
      setOwners(slot, planOwners(slot, object.present() ? ownersOf(slot, object) : std::vector<LiveOwner>{}));
  if (object.present()) writeBoth(slot, object);
}

bool LiveModel::linkOwner(Slot slot, const OwnerLink& link, size_t& index) {
  std::vector<OwnerLink>& links = model.slots[slot].owners;
  const auto known =
      std::find_if(links.begin(), links.end(), [&](const OwnerLink& one) { return one.owner == link.owner; });
  index = static_cast<size_t>(known - links.begin());
  if (known != links.end()) return true;
  if (links.size() == kMaxOwners) tidyOwners(slot);
  index = links.size();
  if (index == kMaxOwners) return false;
  links.push_back(link);
  extra[slot].ownerUids.emplace_back();
  model.slots[link.owner].dependents.push_back(slot);
  return true;
}

std::vector<LiveOwner> LiveModel::ownersOf(Slot slot, const ObjectState& object) const {
  std::vector<LiveOwner> owners;
  const std::vector<OwnerLink>& links = model.slots[slot].owners;
  for (size_t i = 0; i < links.size(); ++i) {
    if (object.owner(i) == OwnerState::None) continue;
    owners.push_back({.uid = uidOfLink(slot, i),
                      .controller = links[i].controller,
                      .blockOwnerDeletion = links[i].blockOwnerDeletion && !object.isUnblocked(i)});
  }
  return owners;
}

}  // namespace lastout::cluster
