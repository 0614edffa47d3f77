#include "server/controllers/labelled_objects.h"

#include <algorithm>
#include <utility>

#include "protection/evaluate.h"

namespace lastout::server {
namespace {

using protection::DeletionPolicy;
using protection::LabelUpkeep;

std::set<kube::GroupResource> typesOf(const DeletionPolicy& policy) {
  std::set<kube::GroupResource> types;
  for (const protection::Selection& selection : policy.objects)
    for (const protection::ResourcePattern& pattern : selection.resources)
      types.insert({pattern.group, pattern.resource});
  return types;
}

// What is to become of labels that nobody wants any more.
LabelUpkeep withoutLabels(LabelUpkeep upkeep) {
  upkeep.isProtected = false;
  upkeep.isExempt = false;
  return upkeep;
}

bool hasAny(const LabelUpkeep& upkeep, const kube::Labels& labels) {
  return labels.contains(upkeep.protection.key) || labels.contains(upkeep.exemption.key);
}

bool sharesAKey(const LabelUpkeep& one, const LabelUpkeep& other) {
  const auto has = [&other](const std::string& key) {
    return key == other.protection.key || key == other.exemption.key;
  };
  return has(one.protection.key) || has(one.exemption.key);
}

}  // namespace

LabelledObjects::Changed LabelledObjects::setPolicies(const std::vector<DeletionPolicy>& policies) {
  const kube::WriterLock lock(mutex_);
  const Policies before = std::move(policies_);
  policies_.clear();
  for (const DeletionPolicy& policy : policies)
    if (policy.labels) policies_.push_back(std::make_shared<const DeletionPolicy>(policy));
  std::ranges::sort(policies_, {}, [](const auto& policy) { return policy->meta.name; });
  leave(before);
  std::set<kube::GroupResource> types;
  for (const auto& policy : policies_) types.merge(typesOf(*policy));
  for (auto& [type, objects] : types_)
    if (!types.contains(type))
      std::erase_if(objects, [](const auto& one) { return one.second.leaving.empty(); });
  return lookAtAll();
}

// A policy that stands keeps one of the labels on the object.
bool LabelledObjects::isKept(const LabelUpkeep& upkeep, const kube::ObjectKey& key,
                             const kube::Labels& labels) const {
  for (const auto& policy : policies_)
    if (sharesAKey(*policy->labels, upkeep) && concerns(*policy, key, labels)) return true;
  return false;
}

// Where a policy that stands keeps the same label, that one counts, now and when it goes.
void LabelledObjects::leave(const Policies& before) {
  for (const auto& former : before) {
    if (!former->cleansUpOnShutdown) continue;
    for (const kube::GroupResource& type : typesOf(*former)) {
      for (auto& [key, known] : types_[type])
        if (concerns(*former, key, known.meta.labels) && hasAny(*former->labels, known.meta.labels))
          known.leaving.insert_or_assign(former->meta.name, withoutLabels(*former->labels));
    }
  }
  for (auto& [type, objects] : types_) {
    for (auto& [key, known] : objects) {
      for (auto one = known.leaving.begin(); one != known.leaving.end();)
        one = isKept(one->second, key, known.meta.labels) ? known.leaving.erase(one) : std::next(one);
    }
  }
}

LabelledObjects::Changed LabelledObjects::cleanUp() {
  const kube::WriterLock lock(mutex_);
  const Policies before = std::exchange(policies_, {});
  leave(before);
  return lookAtAll();
}

void LabelledObjects::leaveCleanUp() {
  const kube::WriterLock lock(mutex_);
  for (auto& [type, objects] : types_)
    for (auto& [key, known] : objects) known.leaving.clear();
}

LabelledObjects::Changed LabelledObjects::lookAtAll() {
  Changed changed;
  for (auto& [type, objects] : types_) {
    for (auto& [key, known] : objects) {
      known.wasRight = !find(key, known);
      known.changedAt.reset();
      if (!known.wasRight) changed.push_back(key);
    }
  }
  return changed;
}

std::set<kube::GroupResource> LabelledObjects::wanted() const {
  const kube::ReaderLock lock(mutex_);
  std::set<kube::GroupResource> types;
  for (const auto& policy : policies_) types.merge(typesOf(*policy));
  for (const auto& [type, objects] : types_) {
    if (std::ranges::any_of(objects, [](const auto& one) { return !one.second.leaving.empty(); }))
      types.insert(type);
  }
  return types;
}

LabelledObjects::Changed LabelledObjects::upsert(const kube::Object& object, TimePoint now) {
  const kube::WriterLock lock(mutex_);
  Known& known = types_[object.key.type][object.key];
  if (known.meta.uid != object.meta.uid) known = {};
  known.apiVersion = object.apiVersion;
  known.kind = object.kind;
  known.meta = {};
  known.meta.namespaceName = object.meta.namespaceName;
  known.meta.name = object.meta.name;
  known.meta.uid = object.meta.uid;
  known.meta.resourceVersion = object.meta.resourceVersion;
  known.meta.deletionTimestamp = object.meta.deletionTimestamp;
  known.meta.labels = object.meta.labels;
  std::erase_if(known.leaving, [&](const auto& one) { return !hasAny(one.second, known.meta.labels); });
  if (!find(object.key, known)) {
    known.wasRight = true;
    known.changedAt.reset();
    return {};
  }
  if (known.wasRight && !known.changedAt) known.changedAt = now;
  return {object.key};
}

void LabelledObjects::remove(const kube::ObjectKey& key, std::string_view uid) {
  const kube::WriterLock lock(mutex_);
  Objects& objects = types_[key.type];
  const auto found = objects.find(key);
  if (found != objects.end() && found->second.meta.uid == uid) objects.erase(found);
}

void LabelledObjects::forget(const kube::GroupResource& type) {
  const kube::WriterLock lock(mutex_);
  types_.erase(type);
}

std::vector<kube::ObjectKey> LabelledObjects::all() const {
  const kube::ReaderLock lock(mutex_);
  std::vector<kube::ObjectKey> keys;
  for (const auto& [type, objects] : types_) {
    for (const auto& [key, known] : objects)
      if (find(key, known)) keys.push_back(key);
  }
  return keys;
}

std::optional<LabelledObject> LabelledObjects::find(const kube::ObjectKey& key) const {
  const kube::ReaderLock lock(mutex_);
  const auto type = types_.find(key.type);
  if (type == types_.end()) return std::nullopt;
  const auto found = type->second.find(key);
  if (found == type->second.end()) return std::nullopt;
  return find(key, found->second);
}

std::optional<LabelledObject> LabelledObjects::find(const kube::ObjectKey& key, const Known& known) const {
  if (known.meta.deletionTimestamp) return std::nullopt;
  std::vector<protection::UpkeepOfObject> upkeeps;
  for (const auto& policy : policies_)
    if (concerns(*policy, key, known.meta.labels)) upkeeps.push_back({policy->meta.name, *policy->labels});
  for (const auto& [policy, upkeep] : known.leaving) upkeeps.push_back({policy, upkeep});
  protection::LabelsPlan plan = planLabels(upkeeps, known.meta.labels);
  if (plan.patch.empty()) return std::nullopt;
  LabelledObject object;
  object.patch = std::move(plan.patch);
  object.policies = std::move(plan.policies);
  object.setsProtection = plan.setsProtection;
  object.takesProtection = plan.takesProtection;
  object.repairAfter = plan.repairAfter;
  object.apiVersion = known.apiVersion;
  object.kind = known.kind;
  object.key = key;
  object.meta = known.meta;
  object.changedAt = known.changedAt;
  return object;
}

std::vector<std::string> LabelledObjects::conflicts() const {
  const kube::ReaderLock lock(mutex_);
  std::vector<std::string> conflicts;
  for (auto first = policies_.begin(); first != policies_.end(); ++first) {
    for (auto second = first + 1; second != policies_.end(); ++second) {
      const LabelUpkeep& one = *(*first)->labels;
      const LabelUpkeep& other = *(*second)->labels;
      if (one == other || !sharesAKey(one, other)) continue;
      const std::set<kube::GroupResource> types = typesOf(**second);
      for (const kube::GroupResource& type : typesOf(**first))
        if (types.contains(type))
          conflicts.push_back("deletion policies " + (*first)->meta.name + " and " + (*second)->meta.name +
                              " keep the same label on " + toString(type) +
                              ": where both select an object, the first counts");
    }
  }
  return conflicts;
}

}  // namespace lastout::server
