// Json: objects as the API server stores and sends them, and safe ways to look into them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kube/value.h"

namespace lastout::simulator {

// Keys are sorted; arrays keep their order. Decoded objects are bounded in size and depth
// (simulator/decode.h).
using Json = kube::Json;

// The value at a path of keys; nullptr when something on the way is missing or no object.
const Json* at(const Json& json, std::initializer_list<std::string_view> path);
// The string there; "" when there is none.
std::string_view stringAt(const Json& json, std::initializer_list<std::string_view> path);
// Whether the boolean true stands there.
bool trueAt(const Json& json, std::initializer_list<std::string_view> path);

// The strings of the list there; what is no string is passed over.
std::vector<std::string> wordsAt(const Json& json, std::initializer_list<std::string_view> path);

// Compact text; what is no UTF-8 becomes the replacement character.
std::string toText(const Json& json);

// --- Ways to change Json that cannot throw, whatever stands there already: a value of the wrong type is left
// alone, for validation to complain about.

// The object under `key`, made when nothing or null stands there. nullptr when something else does, or when
// `parent` is no object.
Json* objectIn(Json& parent, const std::string& key);
// The list under `key`; nullptr when there is none.
Json* listIn(Json& parent, const std::string& key);
// Gives `key` a value when it has none, or null.
void setDefault(Json& object, const std::string& key, Json value);
// Removes those of `keys` that hold what Kubernetes leaves out: null, "", an empty list or object.
void dropEmpty(Json& object, std::initializer_list<const char*> keys);
// Removes one key; does nothing if `object` is no object.
void drop(Json& object, const std::string& key);
// Gives `key` of `to` the value it has in `from`; removes it when it has none there.
void copyKey(const Json& from, Json& to, const std::string& key);

// The number there; `otherwise` when there is none, or none that fits.
int64_t integerAt(const Json& json, std::initializer_list<std::string_view> path, int64_t otherwise = 0);
// Sets a number, or removes it when it is 0, as Kubernetes leaves zero counts out.
void setUnlessZero(Json& object, const std::string& key, int64_t value);

// Calls `change` with each object in the list under `key`.
template <class Change>
void forEachObject(Json& parent, const std::string& key, Change change) {
  Json* list = listIn(parent, key);
  if (list == nullptr) return;
  for (Json& item : *list) {
    if (item.is_object()) change(item);
  }
}

// --- Conditions: the entries of status.conditions that controllers write.

struct StatusCondition {
  std::string type;
  bool isTrue = false;
  std::string reason;
  std::string message;
};

// {type, status, reason, message, lastTransitionTime}.
Json conditionJson(const StatusCondition& condition, std::string_view now);
// The condition of that type among status.conditions; nullptr when there is none.
const Json* findCondition(const Json& status, std::string_view type);
// Puts a condition into `conditions` (made a list when it is none) where the one of its type stands, or at
// the end. lastTransitionTime changes only with the condition's status. Returns the entry.
Json& setCondition(Json& conditions, const StatusCondition& condition, std::string_view now);

}  // namespace lastout::simulator
