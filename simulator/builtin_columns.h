// The columns of built-in types' tables: what `kubectl get` prints of a pod, a deployment, ...
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kube/object_key.h"
#include "simulator/json.h"

namespace lastout::simulator {

struct BuiltInColumn {
  std::string_view name;  // "Ready"
  std::string_view type;  // "string", "integer"
  // The cell of an object; `now` in seconds since the epoch, for ages.
  Json (*cell)(const Json& object, int64_t now);
  bool isWide = false;  // shown with -o wide alone
  std::string_view description = {};
};

// Never empty: types with nothing of their own to show have Name and Age.
std::span<const BuiltInColumn> builtInColumns(const kube::GroupResource& type);

// The same for the types that are stored and nothing more (builtin_stored_columns.cc).
std::span<const BuiltInColumn> storedTypeColumns(const kube::GroupResource& type);

}  // namespace lastout::simulator
