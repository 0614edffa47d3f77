// ManifestWorks that come and go, and their links to what they apply.
#include <algorithm>

#include "cluster/builder.h"
#include "cluster/live_model.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::cluster {

namespace {

kube::Error refusal(const kube::ObjectKey& key, const std::string& why) {
  return {kube::toString(key) + " " + why, {}, {}};
}

}  // namespace

// Ranges are used again by works of the same size: there are at most kMaxLinks sizes.
uint32_t LiveModel::allocateLinks(uint32_t count) {
  std::vector<uint32_t>& free = freeLinks_[count];
  if (!free.empty()) {
    const uint32_t first = free.back();
    free.pop_back();
    return first;
  }
  const auto first = static_cast<uint32_t>(model.links.size());
  model.links.resize(first + count);
  reserve(0, 0, model.links.size());
  return first;
}

void LiveModel::dropLinks(uint32_t number) {
  Work& work = model.works[number];
  for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
    const Slot object = model.links[link].object;
    state().setLink(link, {});
    before().setLink(link, {});
    model.links[link] = {};
    if (object == kNone) continue;
    std::erase(model.slots[object].links, link);
    tidyOwners(object);
    mayFree(object);
  }
  freeLinks_[work.linkCount].push_back(work.firstLink);
  work.linkCount = 0;
}

void LiveModel::dropWork(uint32_t number) {
  dropLinks(number);
  for (const Slot slot : {model.works[number].manifestWork, model.works[number].applied}) {
    model.slots[slot].work = kNone;
    nameFinalizers(slot, {});
    mayFree(slot);
  }
  model.works[number] = {};
  state().setWork(number, {});
  before().setWork(number, {});
  freeWorks_.push_back(number);
  lookAtWork(number);  // a pass may have been under way
}

// Whether one more owner finds room on the object beside those that it has now.
bool LiveModel::hasRoomFor(Slot slot, Slot owner) const {
  const OwnerPlan plan =
      planOwners(slot, isPresent(slot) ? ownersOf(slot, state().object(slot)) : std::vector<LiveOwner>{});
  const bool known = std::any_of(plan.links.begin(), plan.links.end(),
                                 [&](const OwnerLink& link) { return link.owner == owner; });
  return known || plan.links.size() < kMaxOwners;
}

void LiveModel::linkObjects(uint32_t number, const std::vector<Slot>& objects,
                            const manifestwork::DeleteOption& deleteOption) {
  std::vector<Slot> recorded;
  const Work former = model.works[number];
  for (uint32_t link = former.firstLink; link < former.firstLink + former.linkCount; ++link) {
    if (state().link(link).recorded && !state().link(link).stale)
      recorded.push_back(model.links[link].object);
  }
  if (former.linkCount != 0) dropLinks(number);
  const auto count = static_cast<uint32_t>(objects.size());
  const uint32_t first = allocateLinks(count);
  model.works[number].firstLink = first;
  model.works[number].linkCount = count;
  for (uint32_t i = 0; i < count; ++i) {
    const Slot slot = objects[i];
    size_t index = 0;
    linkOwner(slot, {.owner = former.applied}, index);
    model.links[first + i] = {.work = number,
                              .object = slot,
                              .ownerIndex = static_cast<uint8_t>(index),
                              .orphans = deleteOption.orphans(model.slots[slot].key),
                              .onlyReads = deleteOption.onlyReads(model.slots[slot].key)};
    model.slots[slot].links.push_back(first + i);
    // What is the work's already needs no applying, and is its to delete.
    const ObjectState object = state().object(slot);
    const bool owned =
        object.present() && isPresent(former.applied) && object.owner(index) == OwnerState::Current;
    const bool was = std::find(recorded.begin(), recorded.end(), slot) != recorded.end();
    for (StateRef ref : {state(), before()})
      ref.setLink(first + i, {.recorded = was || owned, .stale = false});
  }
  lookAtWork(number);
}

uint32_t LiveModel::addWork(Slot manifestWork, Slot applied) {
  if (freeWorks_.empty()) {
    freeWorks_.push_back(static_cast<uint32_t>(model.works.size()));
    model.works.emplace_back();
    reserve(0, model.works.size(), 0);
  }
  const uint32_t number = freeWorks_.back();
  freeWorks_.pop_back();
  model.works[number] = {.manifestWork = manifestWork, .applied = applied, .firstLink = 0, .linkCount = 0};
  for (const Slot slot : {manifestWork, applied}) {
    const std::vector<std::string> names = finalizersOf(slot, state().object(slot));
    model.slots[slot].work = number;
    ObjectState object = state().object(slot);
    nameFinalizers(slot, names);
    object.finalizers = finalizerMaskOf(slot, names);
    if (object.present()) writeBoth(slot, object);
  }
  return number;
}

kube::Result<void> LiveModel::setWork(Slot manifestWork, const LiveObject& object) {
  if (object.appliedName.empty() || reading().isTerminating(manifestWork)) return {};
  if (object.applies.size() > kMaxLinks)
    return tl::unexpected(refusal(object.key, "applies more than " + std::to_string(kMaxLinks) + " objects"));
  const Slot applied = slotOf({manifestwork::appliedManifestWorkType(), "", object.appliedName});
  mayFree(applied);
  const uint32_t known = model.slots[manifestWork].work;
  if (model.slots[applied].work != known)
    return tl::unexpected(refusal(model.slots[applied].key, "is the record of another ManifestWork"));
  if (reading().isTerminating(applied)) return {};
  std::vector<Slot> objects;
  for (const kube::ObjectKey& key : object.applies) {
    if (key != object.key) objects.push_back(slotOf(key));
  }
  sortLikeStatus(objects, model);
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  for (const Slot slot : objects) mayFree(slot);
  for (const Slot slot : objects) {
    if (!hasRoomFor(slot, applied))
      return tl::unexpected(
          refusal(model.slots[slot].key, "has more than " + std::to_string(kMaxOwners) + " owners"));
  }
  if (known != kNone && isSameList(known, objects)) {
    setOrphans(known, object.deleteOption);
    return {};
  }
  linkObjects(known != kNone ? known : addWork(manifestWork, applied), objects, object.deleteOption);
  return {};
}

void LiveModel::setOrphans(uint32_t number, const manifestwork::DeleteOption& deleteOption) {
  const Work& work = model.works[number];
  for (uint32_t link = work.firstLink; link < work.firstLink + work.linkCount; ++link) {
    const kube::ObjectKey& key = model.slots[model.links[link].object].key;
    model.links[link].orphans = deleteOption.orphans(key);
    model.links[link].onlyReads = deleteOption.onlyReads(key);
  }
  lookAtWork(number);
}

bool LiveModel::isSameList(uint32_t number, const std::vector<Slot>& objects) const {
  const Work& work = model.works[number];
  const auto first = model.links.begin() + work.firstLink;
  return std::equal(first, first + work.linkCount, objects.begin(), objects.end(),
                    [](const WorkLink& link, Slot slot) { return link.object == slot; });
}

}  // namespace lastout::cluster
