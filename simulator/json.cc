#include "simulator/json.h"

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

}  // namespace lastout::simulator
