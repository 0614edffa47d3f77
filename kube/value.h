// Value: one YAML or JSON document as a tree that remembers where each node stood; and how to read a string,
// a list or a status condition of it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kube/result.h"

namespace lastout::kube {

// JSON as nlohmann keeps it: with the members of objects sorted by their keys, or in the order in which they
// were added.
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

struct Member;

// A node of the tree. Maps keep the order of the text and have unique keys (the parsers refuse duplicates).
struct Value {
  using List = std::vector<Value>;
  using Map = std::vector<Member>;

  using Data = std::variant<std::monostate, bool, int64_t, double, std::string, List, Map>;

  Data data;
  Position position;

  bool isNull() const { return std::holds_alternative<std::monostate>(data); }
  const bool* asBool() const { return std::get_if<bool>(&data); }
  const int64_t* asInteger() const { return std::get_if<int64_t>(&data); }
  const std::string* asString() const { return std::get_if<std::string>(&data); }
  const List* asList() const { return std::get_if<List>(&data); }
  const Map* asMap() const { return std::get_if<Map>(&data); }

  // The member's value; nullptr when this is no map or has no such key.
  const Value* find(std::string_view key) const;
  // find() along a path of keys: at({"spec", "provider", "name"}).
  const Value* at(std::initializer_list<std::string_view> path) const;
};

struct Member {
  std::string key;
  Position keyPosition;
  Value value;
};

// "a list", "a string", ...: what a message calls the node.
std::string_view kindName(const Value& value);

// The same tree as JSON, in the order of the text or of the keys, and back (positions of the result are
// unknown). All call themselves for each level of nesting: JSON from outside goes through parseJson, which
// bounds that. Integers are of the type that nlohmann reads from a text: unsigned unless they are negative.
OrderedJson toJson(const Value& value);
Json toSortedJson(const Value& value);
Value fromJson(const Json& json);
Value fromJson(const OrderedJson& json);

// Return the string or the list at the path: textAt(object, {"metadata", "uid"}); empty if the path is
// missing, or holds another type. The reference is into `value`, or to an empty one that lives for ever.
const std::string& textAt(const Value& value, std::initializer_list<std::string_view> path);
const Value::List& listAt(const Value& value, std::initializer_list<std::string_view> path);

// Returns the entry of status.conditions of that type; nullptr: there is none.
const Value* statusCondition(const Value& object, std::string_view type);

}  // namespace lastout::kube
