#include "simulator/builtin_schemas.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kube/parse.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kMetaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kPrefix = "io.k8s.api.core.v1.";
constexpr std::string_view kTime = "Time";
constexpr const char* kOpen = "x-kubernetes-preserve-unknown-fields";

// Of the parts, those that are every type's have names of their own.
constexpr std::array<std::string_view, 6> kOfMeta = {"Condition",  "LabelSelector",  "ListMeta",
                                                     "ObjectMeta", "OwnerReference", kTime};

std::string documentName(std::string_view part) {
  const bool isMeta = std::ranges::find(kOfMeta, part) != kOfMeta.end();
  return std::string(isMeta ? kMetaPrefix : kPrefix) + std::string(part);
}

bool isPartName(std::string_view name) { return !name.empty() && name[0] >= 'A' && name[0] <= 'Z'; }

// The schema of a value whose type ends in "[]" (a list) or "{}" (a map), given that of what is in it.
Json wrapped(std::string_view ending, Json inner) {
  if (ending == "[]") return {{"type", "array"}, {"items", std::move(inner)}};
  if (ending == "{}") return {{"type", "object"}, {"additionalProperties", std::move(inner)}};
  return inner;
}

// "string", "PodSpec[]", "any{}".
Json schemaOfType(std::string_view type) {
  if (type.ends_with("[]") || type.ends_with("{}"))
    return wrapped(type.substr(type.size() - 2), schemaOfType(type.substr(0, type.size() - 2)));
  if (isPartName(type)) return referenceTo(type);
  if (type == "any") return {{kOpen, true}};
  Json schema = {{"type", type}};
  if (type == "object") schema[kOpen] = true;
  return schema;
}

// "integer How many there should be."
Json schemaOfText(std::string_view text) {
  const size_t space = std::min(text.find(' '), text.size());
  Json schema = schemaOfType(text.substr(0, space));
  // Nothing may stand beside a reference.
  if (schema.contains("$ref")) schema = {{"allOf", Json::array({std::move(schema)})}};
  schema["description"] = text.substr(std::min(space + 1, text.size()));
  return schema;
}

Json schemaOfField(const Json& field);

Json schemaOfMap(const Json& fields) {
  Json schema = {{"type", "object"}, {kOpen, true}, {"properties", Json::object()}};
  for (const auto& [name, field] : fields.items()) {
    if (name == "$") {
      schema["description"] = field;
      continue;
    }
    const bool wraps = name.ends_with("[]") || name.ends_with("{}");
    const std::string key = wraps ? name.substr(0, name.size() - 2) : name;
    Json inner = schemaOfField(field);
    const Json description = inner["description"];
    Json& property = schema["properties"][key];
    property = wrapped(wraps ? std::string_view(name).substr(name.size() - 2) : "", std::move(inner));
    property["description"] = description;
  }
  return schema;
}

Json schemaOfField(const Json& field) {
  if (field.is_string()) return schemaOfText(field.get_ref<const std::string&>());
  return schemaOfMap(field);
}

// All that is described: parts by their names in documents, types as "<resource>.<group>".
using Schemas = std::map<std::string, Json, std::less<>>;

Schemas readSchemas() {
  Schemas schemas;
  for (const kube::CompiledText& one : builtInSchemaTexts()) {
    const auto documents = kube::parseYaml(one.text, one.file);
    if (!documents || documents->empty()) continue;  // a test reads the same texts
    const Json entries = kube::toSortedJson(documents->front());
    for (const auto& [name, fields] : entries.items())
      schemas[isPartName(name) ? documentName(name) : name] = schemaOfMap(fields);
  }
  schemas[documentName(kTime)] = {
      {"type", "string"}, {"format", "date-time"}, {"description", "A moment, as RFC 3339 writes it."}};
  return schemas;
}

const Schemas& allSchemas() {
  static const Schemas kSchemas = readSchemas();
  return kSchemas;
}

Json find(std::string_view name) {
  const auto found = allSchemas().find(name);
  return found == allSchemas().end() ? Json() : found->second;
}

}  // namespace

Json builtInSchema(const kube::GroupResource& type) {
  return find(type.group.empty() ? type.resource : type.resource + "." + type.group);
}

Json sharedSchema(std::string_view name) {
  return isPartName(name.substr(name.rfind('.') + 1)) ? find(name) : Json();
}

Json referenceTo(std::string_view part) {
  return {{"$ref", std::string(kReferencePrefix) + documentName(part)}};
}

}  // namespace lastout::simulator
