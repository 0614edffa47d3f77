#include "protection/type_facts.h"

#include <utility>

namespace lastout::protection {

void TypeFacts::upsert(const kube::Object& object) {
  const ObjectName name{object.key.namespaceName, object.key.name};
  auto found = entries_.find(name);
  if (found == entries_.end()) {
    found = entries_.emplace(name, Stored{}).first;
    found->second.entry.name = &found->first;
  } else {
    leaveGroups(found->second);
  }
  Stored& stored = found->second;
  FactEntry& entry = stored.entry;
  kind_ = object.kind;
  entry.uid = object.meta.uid;
  entry.terminating = object.meta.deletionTimestamp.has_value();
  entry.kept = keptOf(questions_, object);
  for (std::string& group : std::exchange(entry.kept.groups, {})) {
    const auto joined = groups_.try_emplace(std::move(group)).first;
    joined->second.insert(&entry);
    stored.groups.push_back(&*joined);
  }
  for (const std::string& space : entry.kept.listsTooMuchIn) listTooMuch_[space].insert(&entry);
}

bool TypeFacts::remove(const kube::ObjectKey& key, std::string_view uid) {
  const auto found = entries_.find({key.namespaceName, key.name});
  if (found == entries_.end() || found->second.entry.uid != uid) return false;
  leaveGroups(found->second);
  entries_.erase(found);
  return true;
}

void TypeFacts::leaveGroups(Stored& stored) {
  for (const std::string& space : stored.entry.kept.listsTooMuchIn) {
    const auto found = listTooMuch_.find(space);
    found->second.erase(&stored.entry);
    if (found->second.empty()) listTooMuch_.erase(found);
  }
  for (Groups::value_type* group : std::exchange(stored.groups, {})) {
    group->second.erase(&stored.entry);
    if (group->second.empty()) groups_.erase(groups_.find(group->first));
  }
}

const FactEntry* TypeFacts::find(const std::string& namespaceName, const std::string& name) const {
  const auto found = entries_.find({namespaceName, name});
  return found == entries_.end() ? nullptr : &found->second.entry;
}

const TypeFacts::Group* TypeFacts::group(const std::string& name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

const FactEntry* TypeFacts::listsTooMuch(const std::string& namespaceName) const {
  for (const std::string& space : {namespaceName, std::string()})
    if (const auto found = listTooMuch_.find(space); found != listTooMuch_.end())
      return *found->second.begin();
  return nullptr;
}

}  // namespace lastout::protection
