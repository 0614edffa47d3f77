#include "simulator/schema.h"

#include <algorithm>

#include "simulator/field_error.h"

namespace lastout::simulator {
namespace {

constexpr size_t kMostFieldWarnings = 50;

// Fields that every object has, whatever its schema says.
bool belongsToEveryObject(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
}

class Pruning {
 public:
  std::vector<std::string> dropped;

  void visit(const Json& schema, Json& value, const std::string& path, bool isRoot) {
    if (value.is_array()) visitItems(schema, value, path);
    if (value.is_object()) visitMembers(schema, value, path, isRoot);
  }

 private:
  void visitItems(const Json& schema, Json& list, const std::string& path) {
    const Json* items = at(schema, {"items"});
    if (items == nullptr) return;
    for (size_t i = 0; i < list.size(); ++i) {
      visit(*items, list[i], path + "[" + std::to_string(i) + "]", false);
    }
  }

  void visitMembers(const Json& schema, Json& map, const std::string& path, bool isRoot) {
    const bool isObject = isRoot || trueAt(schema, {"x-kubernetes-embedded-resource"});
    const bool keeps = trueAt(schema, {"x-kubernetes-preserve-unknown-fields"});
    for (auto member = map.begin(); member != map.end();) {
      if (isObject && belongsToEveryObject(member.key())) {
        ++member;
        continue;
      }
      const std::string field = path.empty() ? member.key() : path + "." + member.key();
      const Json* known = memberSchema(schema, member.key());
      if (known == nullptr && !keeps) {
        dropped.push_back(field);
        member = map.erase(member);
        continue;
      }
      if (known != nullptr && known->is_object()) visit(*known, *member, field, false);
      ++member;
    }
  }
};

void fillIn(const Json& schema, Json& value);

void fillInMembers(const Json& schema, Json& map) {
  const Json* properties = at(schema, {"properties"});
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [key, property] : properties->items()) {
      const Json* standard = at(property, {"default"});
      const auto member = map.find(key);
      const bool isUnset = member == map.end() || (member->is_null() && !trueAt(property, {"nullable"}));
      if (standard != nullptr && isUnset) map[key] = *standard;
    }
  }
  for (auto& [key, member] : map.items()) {
    const Json* known = memberSchema(schema, key);
    if (known != nullptr) fillIn(*known, member);
  }
}

void fillIn(const Json& schema, Json& value) {
  if (value.is_object()) fillInMembers(schema, value);
  const Json* items = at(schema, {"items"});
  if (value.is_array() && items != nullptr) {
    for (Json& item : value) fillIn(*items, item);
  }
}

}  // namespace

const Json* memberSchema(const Json& schema, std::string_view key) {
  if (const Json* property = at(schema, {"properties", key})) return property;
  return at(schema, {"additionalProperties"});
}

std::optional<FieldValidation> parseFieldValidation(std::string_view parameter) {
  if (parameter == "Ignore") return FieldValidation::Ignore;
  if (parameter == "Warn" || parameter.empty()) return FieldValidation::Warn;
  if (parameter == "Strict") return FieldValidation::Strict;
  return std::nullopt;
}

std::vector<std::string> prune(const Json& schema, Json& object) {
  if (schema.is_null()) return {};
  Pruning pruning;
  pruning.visit(schema, object, "", true);
  std::ranges::sort(pruning.dropped);
  return std::move(pruning.dropped);
}

namespace {

std::optional<std::string> unmergeableSetAt(const Json& schema, const Json& value, const std::string& path) {
  const bool isSet = stringAt(schema, {"x-kubernetes-list-type"}) == "set";
  if (value.is_array() && isSet &&
      std::ranges::any_of(value, [](const Json& item) { return item.is_structured(); }))
    return path;
  const Json* items = at(schema, {"items"});
  for (size_t i = 0; items != nullptr && value.is_array() && i < value.size(); ++i)
    if (auto found = unmergeableSetAt(*items, value[i], path + "[" + std::to_string(i) + "]")) return found;
  if (!value.is_object()) return std::nullopt;
  for (const auto& [key, member] : value.items()) {
    const Json* known = memberSchema(schema, key);
    if (known == nullptr) continue;
    if (auto found = unmergeableSetAt(*known, member, path + "." + key)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unmergeableSet(const Json& schema, const Json& object) {
  return unmergeableSetAt(schema, object, "");
}

void applyDefaults(const Json& schema, Json& object) {
  if (!schema.is_null()) fillIn(schema, object);
}

ApiResult<std::vector<std::string>> decodeBySchema(const ServedType& type, FieldValidation mode,
                                                   Json& object) {
  std::vector<std::string> problems = prune(type.schema, object);
  if (problems.size() > kMostFieldWarnings) problems.resize(kMostFieldWarnings);
  for (std::string& problem : problems) problem = "unknown field " + goQuoted(problem);
  if (mode == FieldValidation::Strict && !problems.empty()) {
    std::string message = type.kind + " in version \"" + type.version + "\" cannot be handled as a " +
                          type.kind + ": strict decoding error: ";
    for (size_t i = 0; i < problems.size(); ++i) message += (i > 0 ? ", " : "") + problems[i];
    return tl::unexpected(badRequest(std::move(message)));
  }
  applyDefaults(type.schema, object);
  if (mode == FieldValidation::Ignore) problems.clear();
  return problems;
}

}  // namespace lastout::simulator
