// Words for the cells of built-in types' tables, and the cells that many types have.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "simulator/json.h"
#include "simulator/table.h"

namespace lastout::simulator {

inline size_t sizeAt(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = at(object, path);
  return value != nullptr && value->is_structured() ? value->size() : 0;
}

inline std::string textOr(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

// Numbers as they are, strings without quotes.
inline std::string wordOf(const Json* value, std::string_view otherwise) {
  if (value == nullptr || value->is_null()) return std::string(otherwise);
  if (value->is_string()) return textOr(value->get_ref<const std::string&>(), otherwise);
  return value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The words that `word` finds in the items of a list, joined by commas; `otherwise` when there are none.
template <class Word>
inline std::string joined(const Json* list, std::string_view otherwise, Word word) {
  std::string text;
  if (list != nullptr && list->is_array()) {
    for (const Json& item : *list) {
      const std::string one = word(item);
      if (!one.empty()) text += (text.empty() ? "" : ",") + one;
    }
  }
  return textOr(text, otherwise);
}

// "a=b,c=d"
inline std::string pairsOf(const Json* map) {
  std::string text;
  if (map == nullptr || !map->is_object()) return "<none>";
  for (const auto& [key, value] : map->items())
    text += (text.empty() ? "" : ",") + key + "=" + wordOf(&value, "");
  return textOr(text, "<none>");
}

inline std::string ratio(int64_t a, int64_t b) { return std::to_string(a) + "/" + std::to_string(b); }

inline Json nameCell(const Json& object, int64_t) { return stringAt(object, {"metadata", "name"}); }
inline Json ageCell(const Json& object, int64_t now) {
  return ageOf(stringAt(object, {"metadata", "creationTimestamp"}), now);
}
inline Json createdCell(const Json& object, int64_t) {
  return stringAt(object, {"metadata", "creationTimestamp"});
}

// "a=b", as kubectl writes a selector; of requirements only that there are some.
inline std::string selectorWords(const Json* selector, std::string_view otherwise) {
  if (selector == nullptr || !selector->is_object() || selector->empty()) return std::string(otherwise);
  const Json* labels = at(*selector, {"matchLabels"});
  std::string text = labels == nullptr || labels->empty() ? "" : pairsOf(labels);
  text += joined(at(*selector, {"matchExpressions"}), "", [](const Json& one) {
    std::string values =
        joined(at(one, {"values"}), "", [](const Json& value) { return wordOf(&value, ""); });
    const std::string key(stringAt(one, {"key"}));
    const std::string operation(stringAt(one, {"operator"}));
    if (operation == "Exists") return key;
    if (operation == "DoesNotExist") return "!" + key;
    return key + (operation == "NotIn" ? " notin (" : " in (") + values + ")";
  });
  return text;
}

// Of workloads.
inline Json containerNames(const Json& workload, int64_t) {
  return joined(at(workload, {"spec", "template", "spec", "containers"}), "<none>",
                [](const Json& container) { return std::string(stringAt(container, {"name"})); });
}
inline Json containerImages(const Json& workload, int64_t) {
  return joined(at(workload, {"spec", "template", "spec", "containers"}), "<none>",
                [](const Json& container) { return std::string(stringAt(container, {"image"})); });
}
inline Json selectorLabels(const Json& workload, int64_t) {
  return pairsOf(at(workload, {"spec", "selector", "matchLabels"}));
}

}  // namespace lastout::simulator
