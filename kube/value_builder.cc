#include "kube/value_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kube/messages.h"

namespace lastout::kube {

bool ValueBuilder::fail(size_t offset, std::string message) {
  error_ = source_.error(offset, std::move(message));
  return false;
}

bool ValueBuilder::count(size_t offset) {
  if (++values_ <= limits_.values) return true;
  return fail(offset, "this has more than " + std::to_string(limits_.values) + " values");
}

bool ValueBuilder::begin(size_t offset, Value::Data empty) {
  if (open_.size() >= limits_.depth) {
    return fail(offset,
                "lists and maps are nested more than " + std::to_string(limits_.depth) + " deep here");
  }
  if (!count(offset)) return false;
  open_.push_back({{std::move(empty), source_.at(offset)}, false, {}, {}});
  return true;
}

bool ValueBuilder::end() {
  Value value = std::move(open_.back().value);
  if (const Value::Map* map = value.asMap(); map != nullptr && !checkUnique(*map)) return false;
  open_.pop_back();
  add(std::move(value));
  return true;
}

bool ValueBuilder::key(std::string text, size_t offset) {
  Open& map = open_.back();
  map.key = std::move(text);
  map.keyPosition = source_.at(offset);
  map.hasKey = true;
  return true;
}

bool ValueBuilder::scalar(Value::Data data, size_t offset) {
  if (!count(offset)) return false;
  add({std::move(data), source_.at(offset)});
  return true;
}

void ValueBuilder::add(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Open& parent = open_.back();
  if (auto* list = std::get_if<Value::List>(&parent.value.data)) {
    list->push_back(std::move(value));
  } else {
    auto& map = std::get<Value::Map>(parent.value.data);
    map.push_back({std::move(parent.key), parent.keyPosition, std::move(value)});
    parent.hasKey = false;
  }
}

// Sorted once at the map's end: no hash to flood, and no quadratic time whatever the input.
bool ValueBuilder::checkUnique(const Value::Map& map) {
  std::vector<uint32_t> order(map.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&map](uint32_t a, uint32_t b) {
    const int compared = map[a].key.compare(map[b].key);
    return compared != 0 ? compared < 0 : a < b;
  });
  const Member* first = nullptr;
  const Member* second = nullptr;
  for (size_t i = 1; i < order.size(); ++i) {
    if (map[order[i - 1]].key != map[order[i]].key) continue;
    if (second != nullptr && &map[order[i]] > second) continue;
    first = &map[order[i - 1]];
    second = &map[order[i]];
  }
  if (second == nullptr) return true;
  std::string message = "the key " + inQuotes(second->key) + " is in this map twice; the first is in line ";
  message += std::to_string(first->keyPosition.line);
  error_ = {std::move(message), std::string(source_.file()), second->keyPosition};
  return false;
}

Value ValueBuilder::take() {
  open_.clear();
  return std::exchange(root_, Value());
}

}  // namespace lastout::kube
