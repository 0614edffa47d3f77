#include "kube/object.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "kube/messages.h"
#include "kube/names.h"
#include "kube/object_references.h"
#include "kube/patterns.h"
#include "kube/read_meta.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

// The groups whose documents may come without apiVersion, since the design that lastout implements writes
// them so.
bool mayOmitApiVersion(const ResourceType& type) {
  return type.type.group == kLastoutGroup || type.type.group == kWorkGroup;
}

// An apiVersion for a document that has none.
std::string impliedApiVersion(std::string_view kind, const ResourceMap& types) {
  for (const ResourceType& type : types.types()) {
    if (type.kind == kind && mayOmitApiVersion(type)) return type.type.group + "/" + type.version;
  }
  return "";
}

std::string unknownKind(const std::string& apiVersion, const std::string& kind, const ResourceMap& types) {
  std::vector<std::string_view> kinds;
  for (const ResourceType& type : types.types()) {
    if (type.kind == kind) {
      const std::string group = type.type.group.empty() ? "" : type.type.group + "/";
      return "there is no kind " + kind + " in " + inQuotes(apiVersion) +
             "; did you mean apiVersion: " + group + type.version + "?";
    }
    kinds.push_back(type.kind);
  }
  const std::string near = didYouMean(kind, kinds);
  return "no kind " + inQuotes(kind) + " is known in " + inQuotes(apiVersion) +
         (near.empty() ? "; a type of your own is known once its CustomResourceDefinition is in the "
                         "input; leave out objects of other types"
                       : near);
}

const ResourceType* readType(Fields& document, const ResourceMap& types, std::string& apiVersion,
                             std::string& kind) {
  kind = document.requiredString("kind");
  apiVersion = document.has("apiVersion") ? "" : impliedApiVersion(kind, types);
  if (apiVersion.empty()) apiVersion = document.requiredString("apiVersion");
  if (kind.empty() || apiVersion.empty()) return nullptr;
  const size_t slash = apiVersion.find('/');
  if (slash == 0 || slash + 1 == apiVersion.size() || apiVersion.find('/', slash + 1) != std::string::npos) {
    if (slash != std::string::npos) {
      document.fail("apiVersion", "apiVersion must be <group>/<version>, or v1, not " + inQuotes(apiVersion));
      return nullptr;
    }
  }
  const ResourceType* type = types.findKind(groupOf(apiVersion), kind);
  if (type == nullptr) document.fail("kind", unknownKind(apiVersion, kind, types));
  return type;
}

void placeObject(const ResourceType& type, Fields& metadata, ObjectMeta& meta) {
  if (meta.name.empty()) {
    const bool generated = metadata.has("generateName");
    metadata.fail("name",
                  std::string("metadata.name is missing") +
                      (generated ? "; generateName gives one only when a server creates the object" : ""));
  } else if (const auto problem = nameProblem(type.type, meta.name)) {
    metadata.fail("name", "metadata.name " + inQuotes(meta.name) + " " + *problem);
  }
  if (type.namespaced) {
    if (meta.namespaceName.empty()) meta.namespaceName = "default";
  } else if (!meta.namespaceName.empty()) {
    metadata.fail("namespace", toString(type.type) + " are in no namespace; leave metadata.namespace out");
  }
}

bool isCrd(const Value& document) {
  const Value* kind = document.find("kind");
  const Value* apiVersion = document.find("apiVersion");
  return kind != nullptr && kind->asString() != nullptr && *kind->asString() == "CustomResourceDefinition" &&
         apiVersion != nullptr && apiVersion->asString() != nullptr &&
         groupOf(*apiVersion->asString()) == kApiExtensionsGroup;
}

bool isList(const Value& document) {
  const Value* kind = document.find("kind");
  return kind != nullptr && kind->asString() != nullptr && *kind->asString() == "List";
}

// Moves the members of every `kind: List` to its place among the documents.
Result<std::vector<Value>> flatten(std::vector<Value> documents, std::string_view file) {
  std::vector<Value> flat;
  for (Value& document : documents) {
    if (!isList(document)) {
      flat.push_back(std::move(document));
      continue;
    }
    Errors errors;
    Fields fields(document, file, "", errors);
    fields.requiredList("items");
    if (!errors.empty()) return tl::unexpected(std::move(errors.front()));
    for (Member& member : std::get<Value::Map>(document.data)) {
      if (member.key != "items") continue;
      auto members = flatten(std::move(std::get<Value::List>(member.value.data)), file);
      if (!members) return members;
      std::ranges::move(*members, std::back_inserter(flat));
    }
  }
  return flat;
}

}  // namespace

bool hasFinalizer(const ObjectMeta& meta, std::string_view named) {
  const std::vector<std::string>& carried = isWantedReference(named) ? meta.references : meta.finalizers;
  return std::ranges::any_of(carried, [&](const std::string& one) { return meansFinalizer(named, one); });
}

std::string groupOf(std::string_view apiVersion) {
  const size_t slash = apiVersion.find('/');
  return slash == std::string_view::npos ? "" : std::string(apiVersion.substr(0, slash));
}

std::string_view versionOf(std::string_view apiVersion) {
  const size_t slash = apiVersion.find('/');
  return slash == std::string_view::npos ? apiVersion : apiVersion.substr(slash + 1);
}

Result<Object> parseObject(Value document, std::string_view file, const ResourceMap& types) {
  Errors errors;
  Object object;
  object.file = file;
  Fields fields(document, file, "", errors);
  const ResourceType* type = nullptr;
  if (errors.empty()) type = readType(fields, types, object.apiVersion, object.kind);
  if (type != nullptr) {
    if (auto metadata = fields.requiredFields("metadata")) {
      object.meta = readMeta(*metadata, MetaSource::Manifest);
      metadata->allow({"generateName", "creationTimestamp", "selfLink", "managedFields", "clusterName"});
      metadata->finish();
      if (errors.empty()) placeObject(*type, *metadata, object.meta);
    }
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors.front()));

  object.key = {type->type, object.meta.namespaceName, object.meta.name};
  if (!fields.has("apiVersion")) {
    auto& map = std::get<Value::Map>(document.data);
    std::erase_if(map, [](const Member& member) { return member.key == "apiVersion"; });
    map.insert(map.begin(), {"apiVersion", document.position, {object.apiVersion, document.position}});
  }
  object.content = std::move(document);
  return object;
}

Result<std::vector<Object>> parseObjects(std::vector<Value> documents, std::string_view file,
                                         ResourceMap& types) {
  auto flat = flatten(std::move(documents), file);
  if (!flat) return tl::unexpected(std::move(flat.error()));
  for (const Value& document : *flat) {
    if (!isCrd(document)) continue;
    if (auto added = types.addCrd(document, file); !added) return tl::unexpected(std::move(added.error()));
  }
  std::vector<Object> objects;
  std::unordered_map<ObjectKey, Position> places;
  for (Value& document : *flat) {
    const Position place = document.position;
    auto object = parseObject(std::move(document), file, types);
    if (!object) return tl::unexpected(std::move(object.error()));
    const auto [known, isNew] = places.emplace(object->key, place);
    if (!isNew) {
      const std::string message = toString(object->key) + " is there twice; the first is at " +
                                  toString(Error{"", std::string(file), known->second});
      return tl::unexpected(Error{message, std::string(file), place});
    }
    objects.push_back(std::move(*object));
  }
  return objects;
}

}  // namespace lastout::kube
