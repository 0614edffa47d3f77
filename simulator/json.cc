#include "simulator/json.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lastout::simulator {
const Json* at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = &json;
  for (const std::string_view key : path) {
    if (!found->is_object()) return nullptr;
    const auto member = found->find(key);
    if (member == found->end()) return nullptr;
    found = &*member;
  }
  return found;
}

std::string_view stringAt(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = at(json, path);
  if (found == nullptr || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

bool trueAt(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = at(json, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> wordsAt(const Json& json, std::initializer_list<std::string_view> path) {
  std::vector<std::string> words;
  const Json* list = at(json, path);
  if (list == nullptr || !list->is_array()) return words;
  for (const Json& item : *list) {
    if (item.is_string()) words.push_back(item.get<std::string>());
  }
  return words;
}

std::string toText(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json* objectIn(Json& parent, const std::string& key) {
  if (!parent.is_object()) return nullptr;
  Json& child = parent[key];
  if (child.is_null()) child = Json::object();
  return child.is_object() ? &child : nullptr;
}

Json* listIn(Json& parent, const std::string& key) {
  if (!parent.is_object()) return nullptr;
  const auto found = parent.find(key);
  return found != parent.end() && found->is_array() ? &*found : nullptr;
}

void setDefault(Json& object, const std::string& key, Json value) {
  if (!object.is_object()) return;
  Json& member = object[key];
  if (member.is_null()) member = std::move(value);
}

void dropEmpty(Json& object, std::initializer_list<const char*> keys) {
  if (!object.is_object()) return;
  for (const char* key : keys) {
    const auto found = object.find(key);
    if (found == object.end()) continue;
    const bool emptyText = found->is_string() && found->get_ref<const std::string&>().empty();
    if (emptyText || found->empty()) object.erase(found);
  }
}

void drop(Json& object, const std::string& key) {
  if (object.is_object()) object.erase(key);
}

void copyKey(const Json& from, Json& to, const std::string& key) {
  if (!to.is_object()) return;
  const Json* value = at(from, {key});
  if (value == nullptr) {
    to.erase(key);
  } else {
    to[key] = *value;
  }
}

int64_t integerAt(const Json& json, std::initializer_list<std::string_view> path, int64_t otherwise) {
  const Json* found = at(json, path);
  if (found == nullptr || !found->is_number_integer()) return otherwise;
  if (found->is_number_unsigned() &&
      found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return otherwise;
  return found->get<int64_t>();
}

void setUnlessZero(Json& object, const std::string& key, int64_t value) {
  if (!object.is_object()) return;
  if (value == 0) {
    object.erase(key);
  } else {
    object[key] = value;
  }
}

Json conditionJson(const StatusCondition& condition, std::string_view now) {
  return {{"type", condition.type},
          {"status", condition.isTrue ? "True" : "False"},
          {"lastTransitionTime", now},
          {"reason", condition.reason},
          {"message", condition.message}};
}

const Json* findCondition(const Json& status, std::string_view type) {
  const Json* conditions = at(status, {"conditions"});
  if (conditions == nullptr || !conditions->is_array()) return nullptr;
  const auto found = std::ranges::find_if(
      *conditions, [type](const Json& condition) { return stringAt(condition, {"type"}) == type; });
  return found == conditions->end() ? nullptr : &*found;
}

Json& setCondition(Json& conditions, const StatusCondition& condition, std::string_view now) {
  if (!conditions.is_array()) conditions = Json::array();
  Json wanted = conditionJson(condition, now);
  for (Json& present : conditions) {
    if (stringAt(present, {"type"}) != condition.type) continue;
    const std::string_view since = stringAt(present, {"lastTransitionTime"});
    if (stringAt(present, {"status"}) == stringAt(wanted, {"status"}) && !since.empty())
      wanted["lastTransitionTime"] = std::string(since);
    present = std::move(wanted);
    return present;
  }
  conditions.push_back(std::move(wanted));
  return conditions.back();
}

}  // namespace lastout::simulator
