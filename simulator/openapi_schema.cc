#include "simulator/openapi_schema.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "simulator/builtin_schemas.h"

namespace lastout::simulator {
namespace {

constexpr const char* kKinds = "x-kubernetes-group-version-kind";

constexpr auto kStrings = std::to_array<const char*>(
    {"type", "format", "description", "title", "pattern", "x-kubernetes-list-type", "x-kubernetes-map-type"});
constexpr auto kFlags = std::to_array<const char*>(
    {"nullable", "uniqueItems", "exclusiveMaximum", "exclusiveMinimum", "x-kubernetes-embedded-resource",
     "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"});
constexpr auto kNumbers = std::to_array<const char*>({"maximum", "minimum", "multipleOf"});
constexpr auto kCounts = std::to_array<const char*>(
    {"maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"});
constexpr auto kWords = std::to_array<const char*>({"required", "x-kubernetes-list-map-keys"});
constexpr auto kLists = std::to_array<const char*>({"enum", "x-kubernetes-validations"});
constexpr auto kInner = std::to_array<const char*>({"items", "not", "additionalProperties"});
constexpr auto kAlternatives = std::to_array<const char*>({"allOf", "anyOf", "oneOf"});

bool isListOfWords(const Json& value) {
  return value.is_array() && std::ranges::all_of(value, [](const Json& word) { return word.is_string(); });
}

// Copies those of the keys whose values are as they should be.
template <class Keys, class IsFormed>
void copy(const Json& from, Json& to, const Keys& keys, IsFormed isFormed) {
  for (const char* key : keys) {
    const auto value = from.find(key);
    if (value != from.end() && isFormed(*value)) to[key] = *value;
  }
}

void addTypeFields(Json& schema) {
  Json& properties = schema["properties"];
  properties["apiVersion"] = {
      {"type", "string"},
      {"description", "The group and version by which the rest of the object is to be read."}};
  properties["kind"] = {{"type", "string"}, {"description", "The kind of object that it is."}};
  properties["metadata"] = {{"allOf", Json::array({referenceTo("ObjectMeta")})},
                            {"default", Json::object()},
                            {"description", "What every object has: its name, labels, owners and the like."}};
}

Json published(const Json& schema);

void copySchemas(const Json& from, Json& to) {
  const auto properties = from.find("properties");
  if (properties != from.end() && properties->is_object()) {
    for (const auto& [name, property] : properties->items()) {
      if (property.is_object()) to["properties"][name] = published(property);
    }
  }
  for (const char* key : kInner) {
    const auto inner = from.find(key);
    if (inner == from.end()) continue;
    if (inner->is_object()) to[key] = published(*inner);
    // Clients that print types want a schema, not a word.
    if (key == std::string_view("additionalProperties") && *inner == true)
      to[key] = {{"x-kubernetes-preserve-unknown-fields", true}};
  }
  for (const char* key : kAlternatives) {
    const auto list = from.find(key);
    if (list == from.end() || !list->is_array()) continue;
    for (const Json& one : *list) {
      if (one.is_object()) to[key].push_back(published(one));
    }
  }
}

// A part of a CRD's schema, as far as it is formed as a schema is.
Json published(const Json& schema) {
  Json result = Json::object();
  copy(schema, result, kStrings, [](const Json& value) { return value.is_string(); });
  copy(schema, result, kFlags, [](const Json& value) { return value.is_boolean(); });
  copy(schema, result, kNumbers, [](const Json& value) { return value.is_number(); });
  copy(schema, result, kCounts, [](const Json& value) { return value.is_number_integer(); });
  copy(schema, result, kWords, isListOfWords);
  copy(schema, result, kLists, [](const Json& value) { return value.is_array(); });
  if (const auto value = schema.find("default"); value != schema.end()) result["default"] = *value;
  copySchemas(schema, result);
  if (trueAt(result, {"x-kubernetes-embedded-resource"})) addTypeFields(result);
  return result;
}

Json objectSchema(const ServedType& type) {
  Json schema = type.builtIn ? builtInSchema(type.type) : Json();
  if (!type.builtIn && type.schema.is_object()) schema = published(type.schema);
  if (!schema.is_object()) schema = {{"x-kubernetes-preserve-unknown-fields", true}};
  schema["type"] = "object";
  addTypeFields(schema);
  schema[kKinds] = Json::array({groupVersionKind(type, type.kind)});
  return schema;
}

Json listSchema(const ServedType& type) {
  Json schema = {{"type", "object"},
                 {"description", type.listKind + " is a list of objects of kind " + type.kind + "."},
                 {"required", Json::array({"items"})},
                 {kKinds, Json::array({groupVersionKind(type, type.listKind)})}};
  addTypeFields(schema);
  schema["properties"]["metadata"] = {{"allOf", Json::array({referenceTo("ListMeta")})},
                                      {"description", "What every list has."}};
  schema["properties"]["items"] = {
      {"type", "array"}, {"items", componentReference(componentName(type))}, {"description", "The objects."}};
  return schema;
}

// The schemas right inside a schema; defaults, enums and the like are data, whatever they look like.
std::vector<const Json*> innerSchemas(const Json& schema) {
  std::vector<const Json*> inner;
  const auto addAll = [&](const char* key) {
    const auto found = schema.find(key);
    if (found == schema.end()) return;
    for (const Json& one : *found) inner.push_back(&one);
  };
  addAll("properties");
  for (const char* key : kAlternatives) addAll(key);
  for (const char* key : kInner) {
    if (const auto found = schema.find(key); found != schema.end()) inner.push_back(&*found);
  }
  return inner;
}

// Adds the parts that a schema refers to, and those that they do.
void addReferred(const Json& schema, Components& components) {
  if (!schema.is_object()) return;
  const std::string_view reference = stringAt(schema, {"$ref"});
  if (reference.starts_with(kReferencePrefix)) {
    const std::string name(reference.substr(kReferencePrefix.size()));
    if (components.contains(name)) return;
    Json part = sharedSchema(name);
    if (part.is_null()) return;  // a type's own, which is there
    components.emplace(name, part);
    addReferred(part, components);
    return;
  }
  for (const Json* one : innerSchemas(schema)) addReferred(*one, components);
}

// "stable.example.com" is "com.example.stable" here.
std::string reversed(std::string_view group) {
  std::string result;
  while (!group.empty()) {
    const size_t dot = group.rfind('.');
    const size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    result.append(group.substr(begin)).append(".");
    group = group.substr(0, begin == 0 ? 0 : dot);
  }
  return result;
}

}  // namespace

std::string componentName(const ServedType& type) {
  const std::string& group = type.type.group;
  if (!type.builtIn) return reversed(group) + type.version + "." + type.kind;
  const std::string name = group.empty() ? "core" : group.substr(0, group.find('.'));
  return "io.k8s.api." + name + "." + type.version + "." + type.kind;
}

Json componentReference(const std::string& name) { return {{"$ref", std::string(kReferencePrefix) + name}}; }

Json groupVersionKind(const ServedType& type, const std::string& kind) {
  return {{"group", type.type.group}, {"version", type.version}, {"kind", kind}};
}

void addComponents(const ServedType& type, Components& components) {
  const Json object = objectSchema(type);
  addReferred(object, components);
  components.emplace(componentName(type), object);
  if (!type.allows("list")) return;
  const Json list = listSchema(type);
  addReferred(list, components);
  components.emplace(componentName(type) + "List", list);
}

}  // namespace lastout::simulator
