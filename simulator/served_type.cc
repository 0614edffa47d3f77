#include "simulator/served_type.h"

#include <algorithm>

#include "kube/version.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"

namespace lastout::simulator {
namespace {

kube::ResourceType toResourceType(const ServedType& served) {
  kube::ResourceType type;
  type.type = served.type;
  type.kind = served.kind;
  type.version = served.version;
  type.singular = served.singular;
  type.shortNames = served.shortNames;
  type.namespaced = served.namespaced;
  type.builtIn = served.builtIn;
  return type;
}

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Whether `word` names `other` in a path or on a command line.
bool isNameOf(const ServedType& other, std::string_view word) {
  return word == other.type.resource || word == other.singular || holds(other.shortNames, word);
}

bool isKindOf(const ServedType& other, std::string_view word) {
  return word == other.kind || word == other.listKind;
}

}  // namespace

std::string ServedType::apiVersion() const {
  return type.group.empty() ? version : type.group + "/" + version;
}

bool ServedType::allows(std::string_view verb) const { return holds(verbs, verb); }

const Subresource* ServedType::subresource(std::string_view name) const {
  const auto found = std::ranges::find(subresources, name, &Subresource::name);
  return found == subresources.end() ? nullptr : &*found;
}

TypeRegistry::TypeRegistry(kube::KubernetesVersion kubernetes) : kubernetes_(kubernetes) {
  for (ServedType& type : preinstalledTypes(kubernetes)) {
    if (type.builtIn && !holds(builtInGroups_, type.type.group)) builtInGroups_.push_back(type.type.group);
    add({std::move(type)});
  }
}

ServedTypePointer TypeRegistry::find(std::string_view group, std::string_view version,
                                     std::string_view resource) const {
  const auto found = byKey_.find({group, version, resource});
  return found == byKey_.end() ? nullptr : found->second;
}

ServedTypePointer TypeRegistry::findPreferred(const kube::GroupResource& type) const {
  ServedTypePointer best;
  for (auto item = byKey_.lower_bound({type.group, "", ""});
       item != byKey_.end() && item->first.group == type.group; ++item) {
    if (item->first.resource != type.resource) continue;
    if (best == nullptr || kube::isPreferredVersion(item->first.version, best->version)) best = item->second;
  }
  return best;
}

std::vector<ServedGroup> TypeRegistry::groups() const {
  std::map<std::string, std::set<std::string>> versions = {};
  for (const auto& [key, type] : byKey_) versions[std::string(key.group)].emplace(key.version);
  for (const auto& [group, version] : unanswered_) versions[group].insert(version);
  std::vector<ServedGroup> custom;
  custom.reserve(versions.size());
  for (const auto& [group, names] : versions) custom.push_back({group, {names.begin(), names.end()}});
  for (ServedGroup& group : custom) std::ranges::sort(group.versions, kube::isPreferredVersion);
  // Built-in groups have their places; those of CRDs follow by the name of their APIService.
  const auto place = [this](const ServedGroup& group) {
    const auto builtIn = std::ranges::find(builtInGroups_, group.name);
    const bool isCustom = builtIn == builtInGroups_.end();
    return std::pair(builtIn - builtInGroups_.begin(),
                     isCustom ? group.versions.front() + "." + group.name : "");
  };
  std::ranges::sort(custom, {}, place);
  return custom;
}

std::vector<ServedTypePointer> TypeRegistry::typesOf(std::string_view group, std::string_view version) const {
  std::vector<ServedTypePointer> types;
  for (auto item = byKey_.lower_bound({group, version, ""});
       item != byKey_.end() && item->first.group == group && item->first.version == version; ++item) {
    types.push_back(item->second);
  }
  return types;
}

ApiResult<void> TypeRegistry::put(const Json& crd) {
  auto versions = servedTypesOf(crd);
  if (!versions) return tl::unexpected(std::move(versions.error()));
  const kube::GroupResource type = {std::string(stringAt(crd, {"spec", "group"})),
                                    std::string(stringAt(crd, {"spec", "names", "plural"}))};
  if (versions->empty()) {  // every version has served: false
    remove(type);
    return {};
  }
  if (const auto taken = takenName(versions->front())) {
    return tl::unexpected(conflict(kube::kCustomResourceDefinitions, kube::crdName(type),
                                   taken->reason + ": " + taken->message));
  }
  std::erase_if(byKey_, [&type](const auto& item) { return item.second->type == type; });
  add(std::move(*versions));
  return {};
}

void TypeRegistry::add(std::vector<ServedType> versions) {
  resources_.add(toResourceType(versions.front()));
  for (ServedType& version : versions) {
    const auto type = std::make_shared<const ServedType>(std::move(version));
    byKey_.emplace(Key{type->type.group, type->version, type->type.resource}, type);
  }
}

std::vector<ServedTypePointer> TypeRegistry::remove(const kube::GroupResource& type) {
  std::vector<ServedTypePointer> removed;
  std::erase_if(byKey_, [&](const auto& item) {
    const bool goes = item.second->type == type && !item.second->builtIn;
    if (goes) removed.push_back(item.second);
    return goes;
  });
  if (!removed.empty()) resources_.remove(type);
  return removed;
}

TypeRegistry TypeRegistry::with(const std::vector<ServedTypePointer>& others) const {
  TypeRegistry all = *this;
  for (const ServedTypePointer& type : others)
    all.byKey_.emplace(Key{type->type.group, type->version, type->type.resource}, type);
  return all;
}

std::optional<StatusCause> TypeRegistry::takenName(const Json& crd) const {
  const auto versions = servedTypesOf(crd);
  if (!versions || versions->empty()) return std::nullopt;
  return takenName(versions->front());
}

std::optional<StatusCause> TypeRegistry::takenName(const ServedType& wanted) const {
  const auto taken = [](std::string reason, const std::string& name) {
    return StatusCause{std::move(reason), goQuoted(name) + " is already in use", ""};
  };
  for (auto item = byKey_.lower_bound({wanted.type.group, "", ""});
       item != byKey_.end() && item->first.group == wanted.type.group; ++item) {
    const ServedType& other = *item->second;
    if (other.type == wanted.type) {
      if (other.builtIn) return taken("PluralConflict", wanted.type.resource);
      continue;
    }
    if (isNameOf(other, wanted.type.resource)) return taken("PluralConflict", wanted.type.resource);
    if (isNameOf(other, wanted.singular)) return taken("SingularConflict", wanted.singular);
    for (const std::string& name : wanted.shortNames) {
      if (isNameOf(other, name)) return taken("ShortNamesConflict", name);
    }
    if (isKindOf(other, wanted.kind)) return taken("KindConflict", wanted.kind);
    if (isKindOf(other, wanted.listKind)) return taken("ListKindConflict", wanted.listKind);
  }
  return std::nullopt;
}

}  // namespace lastout::simulator
