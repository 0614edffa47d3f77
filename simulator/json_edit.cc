#include "simulator/json_edit.h"

#include <limits>
#include <utility>

namespace lastout::simulator {

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

}  // namespace lastout::simulator
