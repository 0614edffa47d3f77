#include "replay/sources.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kube/crd.h"
#include "kube/encoding.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "replay/input_file.h"

namespace lastout::replay {

namespace {

kube::Value completeService(kube::Value document) {
  if (!isKind(document, "CriticalService") || document.find("apiVersion") != nullptr) return document;
  kube::Value apiVersion;
  apiVersion.data = std::string(kube::kLastoutApiVersion);
  apiVersion.position = document.position;
  auto& map = std::get<kube::Value::Map>(document.data);
  map.insert(map.begin(), kube::Member{"apiVersion", document.position, std::move(apiVersion)});
  return document;
}

// What kubectl prints of one type, "ConfigMapList": a List whose items leave out what they all are.
kube::Value completeList(kube::Value document) {
  constexpr std::string_view kList = "List";
  const std::string kind = kube::textAt(document, {"kind"});
  const kube::Value* items = document.find("items");
  if (kind == kList || !kind.ends_with(kList) || items == nullptr || items->asList() == nullptr ||
      document.at({"metadata", "name"}) != nullptr)
    return document;
  const std::string apiVersion = kube::textAt(document, {"apiVersion"});
  const auto complete = [](kube::Value& item, const char* field, std::string text) {
    auto* map = std::get_if<kube::Value::Map>(&item.data);
    if (map == nullptr || item.find(field) != nullptr) return;
    kube::Value value;
    value.data = std::move(text);
    value.position = item.position;
    map->insert(map->begin(), kube::Member{field, item.position, std::move(value)});
  };
  for (kube::Member& member : std::get<kube::Value::Map>(document.data)) {
    if (member.key == "kind") member.value.data = std::string(kList);
    if (member.key != "items") continue;
    for (kube::Value& item : std::get<kube::Value::List>(member.value.data)) {
      complete(item, "kind", kind.substr(0, kind.size() - kList.size()));
      complete(item, "apiVersion", apiVersion);
    }
  }
  return document;
}

// What kustomize reads, which is no object: kustomization.yaml.
bool isKustomization(const kube::Value& document, const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  const bool isNamedSo =
      name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization";
  return kube::textAt(document, {"apiVersion"}).starts_with("kustomize.config.k8s.io/") ||
         (isNamedSo && document.find("kind") == nullptr);
}

// Equal for documents that differ in nothing but where they stand and the order of their fields.
size_t contentHash(const kube::Value& value) {
  size_t hash = value.data.index();
  if (const kube::Value::Map* map = value.asMap()) {
    for (const kube::Member& member : *map) {
      size_t field = contentHash(member.value);
      boost::hash_combine(field, member.key);
      hash += field;
    }
  } else if (const kube::Value::List* list = value.asList()) {
    for (const kube::Value& item : *list) boost::hash_combine(hash, contentHash(item));
  } else if (const std::string* text = value.asString()) {
    boost::hash_combine(hash, *text);
  } else {
    boost::hash_combine(hash, kube::toJson(value).dump());
  }
  return hash;
}

}  // namespace

bool isJson(const InputFile& file) {
  if (file.name.ends_with(".json")) return true;
  const size_t begin = file.text.find_first_not_of(" \t\r\n");
  return file.name == kStandardInputName && begin != std::string::npos && file.text[begin] == '{';
}

bool isKind(const kube::Value& document, std::string_view kind) {
  const kube::Value* value = document.find("kind");
  return value != nullptr && value->asString() != nullptr && *value->asString() == kind;
}

std::vector<protection::DeletionPolicy> policiesOf(const std::vector<kube::Object>& objects,
                                                   kube::Errors& errors) {
  std::vector<protection::DeletionPolicy> policies;
  for (const kube::Object& object : objects) {
    if (object.key.type != protection::deletionPolicyType()) continue;
    auto policy = protection::parsePolicy(object);
    if (policy)
      policies.push_back(std::move(*policy));
    else
      std::move(policy.error().begin(), policy.error().end(), std::back_inserter(errors));
  }
  return policies;
}

kube::Result<std::vector<kube::Value>> parseDocuments(std::string_view text, const std::string& name,
                                                      bool json, const kube::ParseLimits& limits) {
  std::vector<kube::Value> documents;
  if (json) {
    kube::Result<kube::Value> document = kube::parseJson(text, name, limits);
    if (!document) return tl::unexpected(std::move(document.error()));
    documents.push_back(std::move(*document));
  } else {
    kube::Result<std::vector<kube::Value>> parsed = kube::parseYaml(text, name, limits);
    if (!parsed) return parsed;
    documents = std::move(*parsed);
  }
  for (kube::Value& document : documents)
    document = completeList(completeService(manifestwork::completeShorthand(std::move(document))));
  return documents;
}

void ObjectReader::addTypes(const std::vector<kube::Value>& documents, const std::string& file) {
  if (auto added = manifestwork::addEmbeddedTypes(documents, file, types_); !added)
    errors_.push_back(added.error());
  for (const kube::Value& document : documents) {
    if (isKind(document, "CustomResourceDefinition")) {
      addCrd(document, file);
    } else if (isKind(document, "List")) {
      const kube::Value* items = document.find("items");
      if (items != nullptr && items->asList() != nullptr) addTypes(*items->asList(), file);
    }
  }
}

void ObjectReader::addCrd(const kube::Value& document, const std::string& file) {
  const auto added = types_.addCrd(document, file);
  if (added) return;
  errors_.push_back(added.error());
  kube::Errors ignored;  // the first of them was told
  const kube::Crd crd = kube::readCrd(document, file, ignored);
  const kube::ResourceType type = crd.resourceType();
  lacking_.emplace(type.type.group, type.kind);
  std::vector<std::string> words = type.shortNames;
  words.insert(words.end(), {type.type.resource, type.singular, type.kind});
  for (const std::string& word : words) {
    lackingWords_.insert(kube::lowerCase(word));
    lackingWords_.insert(kube::lowerCase(word + "." + type.type.group));
  }
  lackingWords_.insert(crd.name);
}

bool ObjectReader::isLacking(const kube::Value& document) const {
  const std::string group(kube::groupOf(kube::textAt(document, {"apiVersion"})));
  return lacking_.contains({group, kube::textAt(document, {"kind"})});
}

// Takes the items out of a List whose types are not known.
void ObjectReader::dropLacking(kube::Value& list) const {
  auto* map = std::get_if<kube::Value::Map>(&list.data);
  if (map == nullptr || !isKind(list, "List")) return;
  for (kube::Member& member : *map) {
    auto* items = std::get_if<kube::Value::List>(&member.value.data);
    if (member.key != "items" || items == nullptr) continue;
    std::erase_if(*items, [this](const kube::Value& item) { return isLacking(item); });
    for (kube::Value& item : *items) dropLacking(item);
  }
}

std::vector<kube::Object> ObjectReader::read(Source& source) {
  std::vector<kube::Object> result;
  for (kube::Value& document : source.documents) {
    if (isKustomization(document, source.file)) {
      errors_.push_back(
          {"this is for kustomize, and holds no objects: run \"kubectl kustomize DIR\" or "
           "\"kustomize build DIR\", and give what it prints",
           source.file, document.position});
      continue;
    }
    if (isLacking(document)) continue;
    dropLacking(document);
    std::vector<kube::Value> one;
    one.push_back(std::move(document));
    kube::Result<std::vector<kube::Object>> objects = kube::parseObjects(std::move(one), source.file, types_);
    if (!objects) {
      failOnce(objects.error());
      continue;
    }
    std::copy_if(std::make_move_iterator(objects->begin()), std::make_move_iterator(objects->end()),
                 std::back_inserter(result), [&](const kube::Object& object) { return isFirst(object); });
  }
  return result;
}

bool ObjectReader::isFirst(const kube::Object& object) {
  const kube::Position position = object.content.position;
  // A file that a scenario names, and the command line, too, is read twice.
  const std::string place = std::filesystem::path(object.file).lexically_normal().generic_string() + ":" +
                            std::to_string(position.line) + ":" + std::to_string(position.column);
  const size_t content = contentHash(object.content);
  const auto [first, isNew] = places_.try_emplace(object.key, Place{place, content});
  // A Namespace often stands in several files of a folder; kubectl takes what is alike, too.
  if (!isNew && first->second.text != place && first->second.content != content)
    errors_.push_back(
        {kube::toString(object.key) + " stands here a second time, unlike the first at " + first->second.text,
         object.file, position});
  return isNew;
}

// A CRD that cannot be read was reported when its type was to be added.
void ObjectReader::failOnce(const kube::Error& error) {
  const auto same = [&](const kube::Error& other) {
    return other.position == error.position && other.file == error.file && other.message == error.message;
  };
  if (std::none_of(errors_.begin(), errors_.end(), same)) errors_.push_back(error);
}

}  // namespace lastout::replay
