#include "kube/value.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace lastout::kube {

namespace {

template <class AnyJson>
Value fromAnyJson(const AnyJson& json) {
  using Type = Json::value_t;
  Value value;
  switch (json.type()) {
    case Type::boolean:
      value.data = json.template get<bool>();
      break;
    case Type::number_integer:
      value.data = json.template get<int64_t>();
      break;
    case Type::number_unsigned: {
      const auto number = json.template get<uint64_t>();
      if (number <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        value.data = static_cast<int64_t>(number);
      } else {
        value.data = static_cast<double>(number);
      }
      break;
    }
    case Type::number_float:
      value.data = json.template get<double>();
      break;
    case Type::string:
      value.data = json.template get<std::string>();
      break;
    case Type::array: {
      Value::List list;
      list.reserve(json.size());
      for (const auto& item : json) list.push_back(fromAnyJson(item));
      value.data = std::move(list);
      break;
    }
    case Type::object: {
      Value::Map map;
      map.reserve(json.size());
      for (const auto& [key, member] : json.items()) map.push_back({key, {}, fromAnyJson(member)});
      value.data = std::move(map);
      break;
    }
    case Type::null:
    case Type::binary:
    case Type::discarded:
      break;
  }
  return value;
}

template <class AnyJson>
AnyJson toAnyJson(const Value& value) {
  return std::visit(
      [](const auto& data) -> AnyJson {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, int64_t>) {
          if (data >= 0) return static_cast<uint64_t>(data);  // as nlohmann reads it from a text
          return data;
        } else if constexpr (std::is_same_v<T, Value::List>) {
          AnyJson list = AnyJson::array();
          for (const Value& item : data) list.push_back(toAnyJson<AnyJson>(item));
          return list;
        } else if constexpr (std::is_same_v<T, Value::Map>) {
          typename AnyJson::object_t map;
          if constexpr (std::is_same_v<AnyJson, OrderedJson>) {
            // Keys are unique, so they go straight to the underlying list of pairs: ordered_json's own
            // insertion searches it for each key.
            map.reserve(data.size());
            for (const Member& member : data)
              map.AnyJson::object_t::Container::emplace_back(member.key, toAnyJson<AnyJson>(member.value));
          } else {
            for (const Member& member : data) map.emplace(member.key, toAnyJson<AnyJson>(member.value));
          }
          return map;
        } else {
          return data;
        }
      },
      value.data);
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  const Map* map = asMap();
  if (map == nullptr) return nullptr;
  for (const Member& member : *map) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const Value* Value::at(std::initializer_list<std::string_view> path) const {
  const Value* value = this;
  for (const std::string_view key : path) {
    if (value == nullptr) return nullptr;
    value = value->find(key);
  }
  return value;
}

std::string_view kindName(const Value& value) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "null", "a boolean", "an integer", "a number", "a string", "a list", "a map"};
  return kNames.at(value.data.index());
}

OrderedJson toJson(const Value& value) { return toAnyJson<OrderedJson>(value); }

Json toSortedJson(const Value& value) { return toAnyJson<Json>(value); }

Value fromJson(const Json& json) { return fromAnyJson(json); }

Value fromJson(const OrderedJson& json) { return fromAnyJson(json); }

const std::string& textAt(const Value& value, std::initializer_list<std::string_view> path) {
  static const std::string kNone;
  const Value* found = value.at(path);
  return found == nullptr || found->asString() == nullptr ? kNone : *found->asString();
}

const Value::List& listAt(const Value& value, std::initializer_list<std::string_view> path) {
  static const Value::List kNone;
  const Value* found = value.at(path);
  return found == nullptr || found->asList() == nullptr ? kNone : *found->asList();
}

const Value* statusCondition(const Value& object, std::string_view type) {
  const Value::List& conditions = listAt(object, {"status", "conditions"});
  const auto found = std::ranges::find_if(
      conditions, [&](const Value& condition) { return textAt(condition, {"type"}) == type; });
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace lastout::kube
