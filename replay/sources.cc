#include "replay/sources.h"

#include <algorithm>
#include <iterator>

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
    document = completeService(manifestwork::completeShorthand(std::move(document)));
  return documents;
}

void ObjectReader::addTypes(const std::vector<kube::Value>& documents, const std::string& file) {
  if (auto added = manifestwork::addEmbeddedTypes(documents, file, types_); !added)
    errors_.push_back(added.error());
  for (const kube::Value& document : documents) {
    if (isKind(document, "CustomResourceDefinition")) {
      if (auto added = types_.addCrd(document, file); !added) errors_.push_back(added.error());
    } else if (isKind(document, "List")) {
      const kube::Value* items = document.find("items");
      if (items != nullptr && items->asList() != nullptr) addTypes(*items->asList(), file);
    }
  }
}

std::vector<kube::Object> ObjectReader::read(Source& source) {
  std::vector<kube::Object> result;
  for (kube::Value& document : source.documents) {
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
  const std::string place =
      object.file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
  const auto [first, isNew] = places_.try_emplace(object.key, place);
  if (!isNew)
    errors_.push_back(
        {kube::toString(object.key) + " stands here a second time; the first is at " + first->second,
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
