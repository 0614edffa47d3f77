#include "server/controllers/held_objects.h"

#include <algorithm>

#include "kube/messages.h"
#include "protection/evaluate.h"

namespace lastout::server {
namespace {

using protection::ChildrenTest;
using protection::DeletionPolicy;
using protection::HeldChild;
using protection::ParentReference;

constexpr size_t kLongestObstacle = 200;  // bytes of what a child's status says

// What nobody looks at here, and is half of many an object.
void dropManagedFields(kube::Value& content) {
  auto* object = std::get_if<kube::Value::Map>(&content.data);
  if (object == nullptr) return;
  for (kube::Member& member : *object) {
    auto* metadata = std::get_if<kube::Value::Map>(&member.value.data);
    if (member.key == "metadata" && metadata != nullptr)
      std::erase_if(*metadata, [](const kube::Member& one) { return one.key == "managedFields"; });
  }
}

// True if the object is a child of these groups.
bool isIn(const std::vector<std::string>& groups, const ChildrenTest& test, const kube::Object& object) {
  for (const ParentReference& parent : parentsOf(test, object))
    for (const std::string& group : groupsOf(test, parent))
      if (std::ranges::find(groups, group) != groups.end()) return true;
  return false;
}

bool isBefore(const HeldChild& one, const HeldChild& other) { return one.key < other.key; }

}  // namespace

std::string obstacleOf(const DeletionPolicy& policy, const kube::Object& child) {
  const protection::HoldStatus& status = policy.hold->status;
  if (status.phase.textIn(child.content) != status.blocked) return "";
  return kube::atMost(std::string(status.message.textIn(child.content)), kLongestObstacle);
}

HeldObjects::Changed HeldObjects::setPolicies(const std::vector<DeletionPolicy>& policies,
                                              protection::HoldFinalizers unclear) {
  const kube::WriterLock lock(mutex_);
  Changed changed = allLocked();
  policies_.clear();
  finalizers_.unclear = std::move(unclear);
  for (const DeletionPolicy& policy : policies)
    if (policy.hold) policies_.push_back(std::make_shared<const DeletionPolicy>(policy));
  std::ranges::sort(policies_, {}, [](const auto& policy) { return policy->meta.name; });
  for (const auto& policy : policies_) addOfPolicy(*policy, finalizers_.all);
  relations_.clear();
  for (const auto& policy : policies_)
    for (const protection::Case& one : policy->when)
      for (const ChildrenTest& test : one.children)
        if (std::ranges::find(relations_, test, &Relation::test) == relations_.end())
          relations_.push_back({test, {}});
  Changed parents;
  for (const auto& [type, state] : types_)
    for (const auto& [key, object] : state.objects) index(*object, true, parents);
  const Changed now = allLocked();
  changed.insert(changed.end(), now.begin(), now.end());
  return changed;
}

HeldObjects::Changed HeldObjects::knowFormer(const protection::HoldFinalizers& former) {
  const kube::WriterLock lock(mutex_);
  bool isNews = false;
  for (const auto& [type, finalizers] : former)
    for (const std::string& finalizer : finalizers)
      isNews = finalizers_.all[type].insert(finalizer).second || isNews;
  return isNews ? allLocked() : Changed();
}

std::set<kube::GroupResource> HeldObjects::wanted() const {
  const kube::ReaderLock lock(mutex_);
  std::set<kube::GroupResource> types;
  for (const auto& [type, finalizers] : finalizers_.all) types.insert(type);
  for (const Relation& relation : relations_) types.insert(relation.test.type);
  return types;
}

HeldObjects::Changed HeldObjects::upsert(kube::Object object) {
  dropManagedFields(object.content);
  const kube::WriterLock lock(mutex_);
  Changed changed;
  put(std::move(object), changed);
  return changed;
}

void HeldObjects::put(kube::Object object, Changed& changed) {
  take(object.key, changed);
  index(object, true, changed);
  byUid_[object.meta.uid] = object.key;
  if (isHeld(object)) changed.push_back(object.key);
  const kube::ObjectKey key = object.key;
  types_[key.type].objects[key] = std::make_shared<const kube::Object>(std::move(object));
}

void HeldObjects::take(const kube::ObjectKey& key, Changed& changed) {
  Objects& objects = types_[key.type].objects;
  const auto found = objects.find(key);
  if (found == objects.end()) return;
  index(*found->second, false, changed);
  byUid_.erase(found->second->meta.uid);
  objects.erase(found);
}

HeldObjects::Changed HeldObjects::remove(const kube::ObjectKey& key, std::string_view uid) {
  const kube::WriterLock lock(mutex_);
  Changed changed;
  const Objects& objects = types_[key.type].objects;
  const auto found = objects.find(key);
  if (found != objects.end() && found->second->meta.uid == uid) take(key, changed);
  return changed;
}

HeldObjects::Changed HeldObjects::know(const kube::GroupResource& type, std::string whyNot) {
  const kube::WriterLock lock(mutex_);
  TypeState& state = types_[type];
  if (state.whyNot == whyNot) return {};
  state.whyNot = std::move(whyNot);
  return allLocked();
}

HeldObjects::Changed HeldObjects::forget(const kube::GroupResource& type) {
  const kube::WriterLock lock(mutex_);
  Changed changed;
  TypeState& state = types_[type];
  while (!state.objects.empty()) take(kube::ObjectKey(state.objects.begin()->first), changed);
  if (!std::exchange(state.whyNot, "").empty()) changed = allLocked();
  return changed;
}

void HeldObjects::index(const kube::Object& child, bool isThere, Changed& changed) {
  for (Relation& relation : relations_) {
    if (relation.test.type != child.key.type) continue;
    for (const ParentReference& parent : parentsOf(relation.test, child)) {
      for (const std::string& group : groupsOf(relation.test, parent)) {
        std::set<kube::ObjectKey>& children = relation.children[group];
        if (isThere)
          children.insert(child.key);
        else
          children.erase(child.key);
        if (children.empty()) relation.children.erase(group);
      }
      noteParents(relation.test, parent, changed);
    }
  }
}

// Those that policies ask about by this test.
void HeldObjects::noteParents(const ChildrenTest& test, const ParentReference& parent,
                              Changed& changed) const {
  if (!parent.uid.empty()) {
    const auto owner = byUid_.find(parent.uid);
    if (owner != byUid_.end()) changed.push_back(owner->second);
    return;
  }
  const auto asks = [&](const protection::Case& one) {
    return std::ranges::find(one.children, test) != one.children.end();
  };
  for (const auto& policy : policies_) {
    if (std::ranges::none_of(policy->when, asks)) continue;
    for (const protection::Selection& selection : policy->objects) {
      for (const protection::ResourcePattern& pattern : selection.resources) {
        const kube::GroupResource type{pattern.group, pattern.resource};
        changed.push_back({type, parent.namespaceName, parent.name});
        if (parent.orClusterScoped) changed.push_back({type, "", parent.name});
      }
    }
  }
}

std::shared_ptr<const DeletionPolicy> HeldObjects::policyOf(const kube::Object& object) const {
  for (const auto& policy : policies_)
    if (protection::concerns(*policy, object.key, object.meta.labels)) return policy;
  return nullptr;
}

bool HeldObjects::isHeld(const kube::Object& object) const {
  const auto policy = policyOf(object);
  return policy || !releasableFinalizers(finalizers_, nullptr, object.key.type, object.meta).empty();
}

HeldObjects::Changed HeldObjects::allLocked() const {
  Changed keys;
  for (const auto& [type, state] : types_)
    for (const auto& [key, object] : state.objects)
      if (isHeld(*object)) keys.push_back(key);
  return keys;
}

std::string HeldObjects::whyNotKnown(const kube::GroupResource& type) const {
  const kube::ReaderLock lock(mutex_);
  const auto found = types_.find(type);
  return found == types_.end() ? TypeState().whyNot : found->second.whyNot;
}

std::vector<kube::ObjectKey> HeldObjects::all() const {
  const kube::ReaderLock lock(mutex_);
  return allLocked();
}

std::optional<HeldObject> HeldObjects::find(const kube::ObjectKey& key) const {
  std::shared_ptr<const kube::Object> object;
  {
    const kube::ReaderLock lock(mutex_);
    const auto type = types_.find(key.type);
    if (type == types_.end()) return std::nullopt;
    const auto found = type->second.objects.find(key);
    if (found == type->second.objects.end()) return std::nullopt;
    object = found->second;
  }
  return find(kube::Object(*object));
}

std::optional<HeldObject> HeldObjects::find(kube::Object read,
                                            const std::vector<kube::Object>& listed) const {
  const kube::ReaderLock lock(mutex_);
  HeldObject held;
  held.policy = policyOf(read);
  held.releasable = releasableFinalizers(finalizers_, held.policy.get(), read.key.type, read.meta);
  if (!held.policy && held.releasable.empty()) return std::nullopt;
  held.object = std::move(read);
  if (held.policy) findChildren(held, listed);
  return held;
}

HeldChild HeldObjects::childOf(const kube::Object& object) const {
  HeldChild child{object.key, object.kind, object.meta.uid, object.meta.deletionTimestamp.has_value(), {}};
  if (!child.terminates) return child;
  if (const auto policy = policyOf(object)) child.obstacle = obstacleOf(*policy, object);
  return child;
}

// In the order of the policy's tests, and by name: users see the list in it.
void HeldObjects::findChildren(HeldObject& held, const std::vector<kube::Object>& listed) const {
  std::set<kube::ObjectKey> seen{held.object.key};
  for (const protection::Case& one : held.policy->when) {
    for (const ChildrenTest& test : one.children) {
      const auto type = types_.find(test.type);
      const std::string whyNot = type == types_.end() ? TypeState().whyNot : type->second.whyNot;
      if (!whyNot.empty()) held.childrenUnknown = toString(test.type) + ": " + whyNot;
      std::vector<HeldChild> children;
      const auto groups = childrenGroups(test, held.object.key, held.object.meta.uid);
      for (const kube::ObjectKey& key : inGroups(test, groups))
        if (seen.insert(key).second) children.push_back(childOf(*type->second.objects.at(key)));
      for (const kube::Object& object : listed)
        if (object.key.type == test.type && isIn(groups, test, object) && seen.insert(object.key).second)
          children.push_back(childOf(object));
      std::ranges::sort(children, isBefore);
      held.children.insert(held.children.end(), children.begin(), children.end());
    }
  }
}

std::set<kube::ObjectKey> HeldObjects::inGroups(const ChildrenTest& test,
                                                const std::vector<std::string>& groups) const {
  std::set<kube::ObjectKey> keys;
  const auto relation = std::ranges::find(relations_, test, &Relation::test);
  if (relation == relations_.end()) return keys;
  for (const std::string& group : groups)
    if (const auto found = relation->children.find(group); found != relation->children.end())
      keys.insert(found->second.begin(), found->second.end());
  return keys;
}

}  // namespace lastout::server
