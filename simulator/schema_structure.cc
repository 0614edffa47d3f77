// structureProblems(): the checks of a CRD's schema.
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/field_error.h"
#include "simulator/schema.h"
#include "simulator/schema_rules.h"

namespace lastout::simulator {
namespace {

// Parts of JSON schema that Kubernetes knows and does not support.
constexpr auto kUnsupported = std::to_array<const char*>(
    {"$ref", "additionalItems", "definitions", "dependencies", "id", "patternProperties"});

class StructureCheck {
 public:
  std::vector<StatusCause> causes;
  std::vector<StatusCause> unsupported;  // for which the rest is not looked at

  void check(const Json& schema, const std::string& path, std::string_view what, bool isRoot) {
    if (!schema.is_object() || causes.size() + unsupported.size() >= kMostCauses) return;
    checkUnsupported(schema, path);
    checkPattern(schema, path);
    checkType(schema, path, what);
    checkLists(schema, path);
    if (isRoot) checkMetadata(schema, path);
    checkParts(schema, path);
    checkDefault(schema, path);
    checkRules(schema, path, isRoot);
  }

 private:
  void checkType(const Json& schema, const std::string& path, std::string_view what) {
    const std::string_view type = stringAt(schema, {"type"});
    const bool mayLackIt = trueAt(schema, {"x-kubernetes-int-or-string"}) ||
                           trueAt(schema, {"x-kubernetes-preserve-unknown-fields"});
    if (type.empty()) {
      if (!mayLackIt)
        causes.push_back(requiredField(path + ".type", "must not be empty for " + std::string(what)));
      return;
    }
    static const std::vector<std::string> kTypes = {"array",  "boolean", "integer",
                                                    "number", "object",  "string"};
    if (std::ranges::find(kTypes, type) == kTypes.end())
      causes.push_back(notSupported(path + ".type", type, kTypes));
  }

  void checkUnsupported(const Json& schema, const std::string& path) {
    for (const char* key : kUnsupported)
      if (schema.contains(key))
        unsupported.push_back(forbiddenField(path + "." + key, std::string(key) + " is not supported"));
    if (trueAt(schema, {"uniqueItems"}))
      unsupported.push_back(
          forbiddenField(path + ".uniqueItems",
                         "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    const Json* others = at(schema, {"additionalProperties"});
    if (!schema.value("properties", Json::object()).empty() && others != nullptr && *others != true)
      unsupported.push_back(forbiddenField(path + ".additionalProperties",
                                           "additionalProperties and properties are mutual exclusive"));
  }

  void checkPattern(const Json& schema, const std::string& path) {
    const std::string_view pattern = stringAt(schema, {"pattern"});
    re2::RE2::Options options;
    options.set_log_errors(false);
    const re2::RE2 compiled(re2::StringPiece(pattern.data(), pattern.size()), options);
    if (!compiled.ok())
      unsupported.push_back(invalidField(
          path + ".pattern", pattern,
          "must be a valid regular expression, but isn't: error parsing regexp: " + compiled.error()));
  }

  void checkLists(const Json& schema, const std::string& path) {
    const std::string_view type = stringAt(schema, {"x-kubernetes-list-type"});
    const std::string place = path + ".x-kubernetes-list-type";
    static const std::vector<std::string> kListTypes = {"atomic", "map", "set"};
    const bool isList = stringAt(schema, {"type"}) == "array";
    if (isList && at(schema, {"items"}) == nullptr)
      causes.push_back(requiredField(path + ".items", "must be specified"));
    if (type.empty()) return;
    if (std::ranges::find(kListTypes, type) == kListTypes.end())
      causes.push_back(notSupported(place, type, kListTypes));
    if (type == "map" && wordsAt(schema, {"x-kubernetes-list-map-keys"}).empty())
      causes.push_back(requiredField(path + ".x-kubernetes-list-map-keys",
                                     "must not be empty if x-kubernetes-list-type is map"));
  }

  // The API server looks after the metadata; a schema may only restrict names.
  void checkMetadata(const Json& schema, const std::string& path) {
    const Json* metadata = at(schema, {"properties", "metadata"});
    if (metadata == nullptr || !metadata->is_object()) return;
    const Json* properties = at(*metadata, {"properties"});
    bool isPlain = std::ranges::all_of(metadata->items(), [](const auto& member) {
      return member.key() == "type" || member.key() == "properties" || member.key() == "description";
    });
    if (properties != nullptr && properties->is_object())
      for (const auto& [key, property] : properties->items())
        isPlain = isPlain && (key == "name" || key == "generateName");
    if (!isPlain)
      causes.push_back(forbiddenField(path + ".properties[metadata]",
                                      "must not specify anything other than name and generateName, but "
                                      "metadata is implicitly specified"));
  }

  void checkParts(const Json& schema, const std::string& path) {
    const Json* properties = at(schema, {"properties"});
    if (properties != nullptr && properties->is_object())
      for (const auto& [key, property] : properties->items())
        check(property, path + ".properties[" + key + "]", "specified object fields", false);
    if (const Json* items = at(schema, {"items"}))
      check(*items, path + ".items", "specified array items", false);
    if (const Json* values = at(schema, {"additionalProperties"}))
      check(*values, path + ".additionalProperties", "specified object fields", false);
  }

  // A default has to be valid itself.
  void checkDefault(const Json& schema, const std::string& path) {
    const Json* given = at(schema, {"default"});
    if (given == nullptr) return;
    for (StatusCause& cause : schemaProblems(schema, *given)) {
      cause.field = path + ".default" + (cause.field.empty() ? "" : "." + cause.field);
      causes.push_back(std::move(cause));
    }
  }

  void checkRules(const Json& schema, const std::string& path, bool isRoot) {
    const Json* rules = at(schema, {"x-kubernetes-validations"});
    if (rules == nullptr || !rules->is_array()) return;
    const RuleEnvironment environment(schema, isRoot);
    for (size_t i = 0; i < rules->size(); ++i) {
      const Json& rule = (*rules)[i];
      const std::string place = path + ".x-kubernetes-validations[" + std::to_string(i) + "]";
      checkExpression(rule, "rule", place, environment.of(CelKind::Bool));
      if (!stringAt(rule, {"messageExpression"}).empty())
        checkExpression(rule, "messageExpression", place, environment.of(CelKind::Text));
    }
  }

  void checkExpression(const Json& rule, const std::string& key, const std::string& place,
                       const CelEnvironment& environment) {
    const std::string_view text = stringAt(rule, {key});
    if (text.find_first_not_of(" \t\n\r") == std::string_view::npos) {
      causes.push_back(requiredField(place + "." + key, key + " is not specified"));
    } else if (const auto expression = CelExpression::compile(text, environment); !expression) {
      causes.push_back(invalidField(place + "." + key, rule, expression.error()));
    }
  }
};

}  // namespace

std::vector<StatusCause> structureProblems(const Json& schema, const std::string& path) {
  StructureCheck all;
  all.check(schema, path, "the root", true);
  return std::move(all.unsupported.empty() ? all.causes : all.unsupported);
}

}  // namespace lastout::simulator
