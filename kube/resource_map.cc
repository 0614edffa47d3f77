#include "kube/resource_map.h"

#include <algorithm>
#include <tuple>

#include "kube/builtin_types.h"
#include "kube/messages.h"
#include "kube/names.h"

namespace lastout::kube {
namespace {

ResourceType toResourceType(const KnownType& known, bool builtIn) {
  ResourceType type;
  type.type = {std::string(known.group), std::string(known.resource)};
  type.kind = known.kind;
  type.version = known.version;
  type.singular = lowerCase(known.kind);
  for (const std::string_view name : known.shortNames) {
    if (!name.empty()) type.shortNames.emplace_back(name);
  }
  type.namespaced = known.namespaced;
  type.builtIn = builtIn;
  return type;
}

struct RankedWord {
  std::string word;  // in lower case
  WordRank rank;
};

// Every word that names a type, without its group.
std::vector<RankedWord> wordsOf(const ResourceType& type) {
  std::vector<RankedWord> words;
  const auto add = [&words](std::string_view word, WordRank rank) {
    std::string lower = lowerCase(word);
    const bool there =
        std::ranges::any_of(words, [&](const RankedWord& known) { return known.word == lower; });
    if (!lower.empty() && !there) words.push_back({std::move(lower), rank});
  };
  add(type.type.resource, WordRank::Plural);
  add(type.singular, WordRank::SingularOrKind);
  add(type.kind, WordRank::SingularOrKind);
  for (const std::string& name : type.shortNames) add(name, WordRank::ShortName);
  return words;
}

}  // namespace

size_t ResourceMap::NameHash::operator()(NameView name) const noexcept {
  const size_t group = std::hash<std::string_view>{}(name.group);
  return std::hash<std::string_view>{}(name.name) ^ (group * 0x9e3779b97f4a7c15ULL);
}

const ResourceMap& ResourceMap::builtIn() {
  static const ResourceMap kMap = [] {
    ResourceMap map;
    for (const KnownType& known : builtInTypes()) map.add(toResourceType(known, true));
    for (const KnownType& known : wellKnownCustomTypes()) map.add(toResourceType(known, false));
    return map;
  }();
  return kMap;
}

void ResourceMap::add(ResourceType type) {
  const auto known = byResource_.find(NameView{type.type.group, type.type.resource});
  if (known != byResource_.end()) {
    const uint32_t position = known->second;
    unindex(position);
    types_[position] = std::move(type);
    index(position);
    return;
  }
  types_.push_back(std::move(type));
  index(static_cast<uint32_t>(types_.size() - 1));
}

// The types behind it move up, so the whole index is rebuilt.
void ResourceMap::remove(const GroupResource& type) {
  const auto known = byResource_.find(NameView{type.group, type.resource});
  if (known == byResource_.end()) return;
  types_.erase(types_.begin() + known->second);
  byResource_.clear();
  byKind_.clear();
  byWord_.clear();
  for (uint32_t position = 0; position < types_.size(); ++position) index(position);
}

void ResourceMap::index(uint32_t position) {
  const ResourceType& type = types_[position];
  byResource_.insert_or_assign({type.type.group, type.type.resource}, position);
  byKind_.insert_or_assign({type.type.group, type.kind}, position);
  for (RankedWord& word : wordsOf(type)) byWord_[std::move(word.word)].push_back({position, word.rank});
}

void ResourceMap::unindex(uint32_t position) {
  const ResourceType& type = types_[position];
  const auto kind = byKind_.find(NameView{type.type.group, type.kind});
  if (kind != byKind_.end() && kind->second == position) byKind_.erase(kind);
  for (const RankedWord& word : wordsOf(type)) {
    const auto entry = byWord_.find(word.word);
    std::erase_if(entry->second, [position](const Meaning& meaning) { return meaning.type == position; });
    if (entry->second.empty()) byWord_.erase(entry);
  }
}

const ResourceType* ResourceMap::find(const GroupResource& type) const {
  const auto entry = byResource_.find(NameView{type.group, type.resource});
  return entry == byResource_.end() ? nullptr : &types_[entry->second];
}

const ResourceType* ResourceMap::findKind(std::string_view group, std::string_view kind) const {
  const auto entry = byKind_.find(NameView{group, kind});
  return entry == byKind_.end() ? nullptr : &types_[entry->second];
}

// The best meanings of a word: one, or several that are equally good.
std::vector<ResourceMap::Meaning> ResourceMap::meanings(std::string_view word) const {
  const size_t dot = word.find('.');
  const auto entry = byWord_.find(word.substr(0, dot));
  if (entry == byWord_.end()) return {};
  std::vector<Meaning> found = entry->second;
  if (dot != std::string_view::npos) {
    const std::string_view group = word.substr(dot + 1);
    std::erase_if(found, [&](const Meaning& meaning) { return types_[meaning.type].type.group != group; });
  }
  if (found.empty()) return found;

  // Built-in types are never ambiguous: the one that comes first in the API server's order is meant.
  const auto order = [this](const Meaning& meaning) {
    const bool builtIn = types_[meaning.type].builtIn;
    return std::tuple(!builtIn, meaning.rank, builtIn ? meaning.type : 0);
  };
  const auto best = order(*std::ranges::min_element(found, {}, order));
  std::erase_if(found, [&](const Meaning& meaning) { return order(meaning) != best; });
  return found;
}

Result<const ResourceType*> ResourceMap::resolve(std::string_view word) const {
  const std::vector<Meaning> found = meanings(lowerCase(word));
  if (found.size() == 1) return &types_[found.front().type];
  if (found.empty()) return tl::unexpected(unknownWord(word));

  std::string message = inQuotes(word) + " means more than one type: write ";
  for (size_t i = 0; i < found.size(); ++i) {
    if (i != 0) message += i + 1 == found.size() ? " or " : ", ";
    message += toString(types_[found[i].type].type);
  }
  return tl::unexpected(Error{message, "", {}});
}

Error ResourceMap::unknownWord(std::string_view word) const {
  std::vector<std::string> words;
  const bool qualified = word.find('.') != std::string_view::npos;
  for (const ResourceType& type : types_) {
    for (const RankedWord& ranked : wordsOf(type)) {
      words.push_back(qualified ? toString(GroupResource{type.type.group, ranked.word}) : ranked.word);
    }
  }
  const std::string_view near = nearest(word, {words.begin(), words.end()});
  std::string message = "no resource type " + inQuotes(word) + " is known";
  if (near.empty()) {
    message += "; a type of your own is known once its CustomResourceDefinition is there";
  } else {
    message += "; did you mean \"" + std::string(near) + "\"?";
  }
  return {message, "", {}};
}

}  // namespace lastout::kube
