// Json: objects as the API server stores and sends them, and safe ways to look into them.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lastout::simulator {

// Keys are sorted; arrays keep their order. Decoded objects are bounded in size and depth
// (simulator/decode.h).
using Json = nlohmann::json;

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

}  // namespace lastout::simulator
