// Ways to change Json that cannot throw, whatever stands there already: a value of the wrong type is left
// alone, for validation to complain about.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "simulator/json.h"

namespace lastout::simulator {

// The object under `key`, made when nothing or null stands there. nullptr when something else does, or when
// `parent` is no object.
Json* objectIn(Json& parent, const std::string& key);
// The list under `key`; nullptr when there is none.
Json* listIn(Json& parent, const std::string& key);
// Gives `key` a value when it has none, or null.
void setDefault(Json& object, const std::string& key, Json value);
// Removes those of `keys` that hold what Kubernetes leaves out: null, "", an empty list or object.
void dropEmpty(Json& object, std::initializer_list<const char*> keys);
// Removes one key; nothing when `object` is none.
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

}  // namespace lastout::simulator
