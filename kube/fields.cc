#include "kube/fields.h"

#include <algorithm>

#include "kube/messages.h"

namespace lastout::kube {
namespace {

constexpr size_t kMostErrors = 1000;  // nobody reads more, and hostile input could make millions
constexpr size_t kMostUnknownFields = 10;

std::string indexed(const std::string& path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace

Fields::Fields(const Value& value, std::string_view file, std::string path, Errors& errors)
    : value_(&value), file_(file), path_(std::move(path)), errors_(&errors) {
  if (value.asMap() != nullptr) return;
  failAt(value,
         (path_.empty() ? "the document" : path_) + " must be a map, not " + std::string(kindName(value)));
}

std::string Fields::pathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

bool Fields::has(std::string_view key) const {
  const Value* found = value_->find(key);
  return found != nullptr && !found->isNull();
}

void Fields::allow(std::initializer_list<std::string_view> keys) {
  known_.insert(known_.end(), keys.begin(), keys.end());
}

const Value* Fields::known(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  const Value* found = value_->find(key);
  return found == nullptr || found->isNull() ? nullptr : found;
}

const Value* Fields::any(std::string_view key) { return known(key); }

void Fields::failAt(const Value& where, std::string message) {
  if (errors_->size() >= kMostErrors) return;
  errors_->push_back({std::move(message), std::string(file_), where.position});
}

void Fields::fail(std::string_view key, std::string message) {
  const Value* found = value_->find(key);
  failAt(found == nullptr ? *value_ : *found, std::move(message));
}

void Fields::wrongType(std::string_view key, const Value& found, std::string_view wanted) {
  std::string message =
      pathOf(key) + " must be " + std::string(wanted) + ", not " + std::string(kindName(found));
  const bool scalar = found.asList() == nullptr && found.asMap() == nullptr;
  if (wanted == "a string" && scalar) message += ": put it in quotes";
  failAt(found, std::move(message));
}

std::optional<std::string> Fields::string(std::string_view key) {
  const Value* found = known(key);
  if (found == nullptr) return std::nullopt;
  if (const std::string* text = found->asString()) return *text;
  wrongType(key, *found, "a string");
  return std::nullopt;
}

std::string Fields::requiredString(std::string_view key) {
  const size_t before = errors_->size();
  std::string text = string(key).value_or("");
  if (text.empty() && errors_->size() == before && value_->asMap() != nullptr) {
    fail(key, pathOf(key) + (has(key) ? " may not be empty" : " is missing"));
  }
  return text;
}

std::optional<bool> Fields::boolean(std::string_view key) {
  const Value* found = known(key);
  if (found == nullptr) return std::nullopt;
  if (const bool* value = found->asBool()) return *value;
  wrongType(key, *found, "true or false");
  return std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view key, int64_t least, int64_t most) {
  const Value* found = known(key);
  if (found == nullptr) return std::nullopt;
  const int64_t* value = found->asInteger();
  if (value == nullptr) {
    wrongType(key, *found, "an integer");
    return std::nullopt;
  }
  if (*value < least) {
    failAt(*found, pathOf(key) + " must be at least " + std::to_string(least));
    return std::nullopt;
  }
  if (*value > most) {
    failAt(*found, pathOf(key) + " must be at most " + std::to_string(most));
    return std::nullopt;
  }
  return *value;
}

std::optional<std::chrono::milliseconds> Fields::duration(std::string_view key) {
  const Value* found = known(key);
  if (found == nullptr) return std::nullopt;
  const std::string* text = found->asString();
  if (text == nullptr) {
    wrongType(key, *found, "a duration such as 30s or 1h30m");
    return std::nullopt;
  }
  const auto parsed = parseDuration(*text);
  if (parsed) return *parsed;
  failAt(*found, pathOf(key) + ": " + parsed.error().message);
  return std::nullopt;
}

std::optional<std::string> Fields::oneOf(std::string_view key,
                                         std::initializer_list<std::string_view> choices) {
  std::optional<std::string> word = string(key);
  if (!word || std::ranges::find(choices, *word) != choices.end()) return word;
  std::string all;
  for (const std::string_view choice : choices) all += (all.empty() ? "" : ", ") + std::string(choice);
  fail(key, pathOf(key) + " must be one of " + all + ", not " + inQuotes(*word) + didYouMean(*word, choices));
  return std::nullopt;
}

std::vector<std::string> Fields::strings(std::string_view key) {
  std::vector<std::string> texts;
  const Value* found = list(key);
  if (found == nullptr) return texts;
  const Value::List& items = *found->asList();
  for (size_t i = 0; i < items.size(); ++i) {
    if (const std::string* text = items[i].asString()) {
      texts.push_back(*text);
    } else {
      wrongType(indexed(std::string(key), i), items[i], "a string");
    }
  }
  return texts;
}

std::vector<std::string> Fields::stringOrStrings(std::string_view key) {
  const Value* found = known(key);
  if (found == nullptr) return {};
  if (const std::string* text = found->asString()) return {*text};
  if (found->asList() != nullptr) return strings(key);
  wrongType(key, *found, "a string or a list of strings");
  return {};
}

std::map<std::string, std::string, std::less<>> Fields::stringMap(std::string_view key) {
  std::map<std::string, std::string, std::less<>> texts;
  const Value* found = map(key);
  if (found == nullptr) return texts;
  for (const Member& member : *found->asMap()) {
    if (const std::string* text = member.value.asString()) {
      texts.emplace(member.key, *text);
    } else {
      wrongType(std::string(key) + "[" + inQuotes(member.key) + "]", member.value, "a string");
    }
  }
  return texts;
}

const Value* Fields::list(std::string_view key) {
  const Value* found = known(key);
  if (found == nullptr || found->asList() != nullptr) return found;
  wrongType(key, *found, "a list");
  return nullptr;
}

const Value* Fields::requiredList(std::string_view key) {
  const Value* found = list(key);
  if (!has(key) && value_->asMap() != nullptr) fail(key, pathOf(key) + " is missing");
  return found;
}

const Value* Fields::map(std::string_view key) {
  const Value* found = known(key);
  if (found == nullptr || found->asMap() != nullptr) return found;
  wrongType(key, *found, "a map");
  return nullptr;
}

std::optional<Fields> Fields::fields(std::string_view key) {
  const Value* found = map(key);
  if (found == nullptr) return std::nullopt;
  return Fields(*found, file_, pathOf(key), *errors_);
}

std::optional<Fields> Fields::requiredFields(std::string_view key) {
  if (!has(key) && value_->asMap() != nullptr) fail(key, pathOf(key) + " is missing");
  return fields(key);
}

std::vector<Fields> Fields::items(std::string_view key) {
  std::vector<Fields> result;
  const Value* found = list(key);
  if (found == nullptr) return result;
  const Value::List& items = *found->asList();
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string path = indexed(pathOf(key), i);
    Fields item(items[i], file_, path, *errors_);
    if (items[i].asMap() != nullptr) result.push_back(std::move(item));
  }
  return result;
}

void Fields::finish() {
  const Value::Map* map = value_->asMap();
  if (map == nullptr) return;
  size_t unknown = 0;
  for (const Member& member : *map) {
    if (std::ranges::find(known_, member.key) != known_.end()) continue;
    if (++unknown > kMostUnknownFields) continue;
    std::string message = pathOf(inQuotes(member.key)) + " is no known field";
    message += didYouMean(member.key, {known_.begin(), known_.end()});
    errors_->push_back({std::move(message), std::string(file_), member.keyPosition});
  }
  if (unknown > kMostUnknownFields) {
    const std::string more = std::to_string(unknown - kMostUnknownFields);
    failAt(*value_, (path_.empty() ? "the document" : path_) + " has " + more + " more unknown fields");
  }
}

}  // namespace lastout::kube
