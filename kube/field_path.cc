#include "kube/field_path.h"

namespace lastout::kube {

const Value* FieldPath::in(const Value& object) const {
  const Value* at = &object;
  for (const std::string& key : keys) {
    at = at->find(key);
    if (at == nullptr) return nullptr;
  }
  return at->isNull() ? nullptr : at;
}

std::string_view FieldPath::textIn(const Value& object) const {
  const Value* value = in(object);
  const std::string* found = value == nullptr ? nullptr : value->asString();
  return found == nullptr ? std::string_view() : *found;
}

std::string toString(const FieldPath& path) {
  std::string joined;
  for (const std::string& key : path.keys) joined += (joined.empty() ? "" : ".") + key;
  return joined;
}

std::optional<FieldPath> parseFieldPath(std::string_view text) {
  FieldPath path{.keys = {""}, .text = std::string(text)};
  for (size_t i = 0; i < text.size(); ++i) {
    const bool isEscaped = text[i] == '\\' && i + 1 < text.size();
    if (isEscaped) ++i;
    if (!isEscaped && text[i] == '.')
      path.keys.emplace_back();
    else
      path.keys.back() += text[i];
  }
  for (const std::string& key : path.keys) {
    if (key.empty()) return std::nullopt;
  }
  return path;
}

void addTexts(const Value& value, std::span<const std::string> keys, std::vector<std::string>& texts) {
  if (const Value::List* list = value.asList()) {
    for (const Value& item : *list) addTexts(item, keys, texts);
  } else if (!keys.empty()) {
    if (const Value* next = value.find(keys.front())) addTexts(*next, keys.subspan(1), texts);
  } else if (const std::string* text = value.asString(); text != nullptr && !text->empty()) {
    texts.push_back(*text);
  }
}

}  // namespace lastout::kube
