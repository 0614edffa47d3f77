#include "kube/value_builder.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "kube/messages.h"

namespace lastout::kube {

namespace {

// Appends to a map the members of others whose keys neither it nor an earlier one of them has. Sorted as in
// checkUnique().
void merge(Value::Map& map, Value::List others) {
  size_t total = map.size();
  for (const Value& other : others) total += other.asMap()->size();
  map.reserve(total);
  for (Value& other : others) std::ranges::move(std::get<Value::Map>(other.data), std::back_inserter(map));
  std::vector<uint32_t> order(map.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&map](uint32_t a, uint32_t b) {
    const int compared = map[a].key.compare(map[b].key);
    return compared != 0 ? compared < 0 : a < b;
  });
  std::vector<bool> isHidden(map.size());
  for (size_t i = 1; i < order.size(); ++i) isHidden[order[i]] = map[order[i - 1]].key == map[order[i]].key;
  Value::Map visible;
  visible.reserve(map.size());
  for (size_t i = 0; i < map.size(); ++i) {
    if (!isHidden[i]) visible.push_back(std::move(map[i]));
  }
  map = std::move(visible);
}

}  // namespace

bool ValueBuilder::fail(size_t offset, std::string message) {
  return failAt(source_.at(offset), std::move(message));
}

bool ValueBuilder::failAt(Position place, std::string message) {
  error_ = {std::move(message), std::string(source_.file()), place};
  return false;
}

bool ValueBuilder::count(size_t offset) {
  if (++values_ <= limits_.values) return true;
  return fail(offset, "this has more than " + std::to_string(limits_.values) + " values");
}

bool ValueBuilder::countCopy(const Size& size, Position place) {
  values_ += size.values;
  copiedBytes_ += size.bytes;
  if (values_ > limits_.values) {
    return failAt(place, "with what anchors keep and aliases repeat, this has more than " +
                             std::to_string(limits_.values) + " values");
  }
  if (copiedBytes_ <= limits_.bytes) return true;
  return failAt(place, "what anchors keep and aliases repeat has more than " + std::to_string(limits_.bytes) +
                           " bytes");
}

bool ValueBuilder::begin(size_t offset, Value::Data empty, Anchor anchor) {
  if (open_.size() >= limits_.depth) {
    return fail(offset,
                "lists and maps are nested more than " + std::to_string(limits_.depth) + " deep here");
  }
  if (!count(offset)) return false;
  Open& opened = open_.emplace_back();
  opened.value = {std::move(empty), source_.at(offset)};
  opened.anchor = anchor;
  return true;
}

bool ValueBuilder::end() {
  Open closed = std::move(open_.back());
  if (auto* map = std::get_if<Value::Map>(&closed.value.data)) {
    if (!checkUnique(*map)) return false;
    if (!closed.merged.empty()) merge(*map, std::move(closed.merged));
  }
  open_.pop_back();
  return keep(closed.anchor, closed.value) && add(std::move(closed.value));
}

bool ValueBuilder::key(std::string text, size_t offset, Anchor anchor) {
  Open& map = open_.back();
  map.key = std::move(text);
  map.keyPosition = source_.at(offset);
  map.hasKey = true;
  return anchor == 0 || keep(anchor, {map.key, map.keyPosition});
}

bool ValueBuilder::mergeKey(size_t offset) {
  Open& map = open_.back();
  if (map.mergePosition) {
    return fail(offset, "the key \"<<\" is in this map twice; the first is in line " +
                            std::to_string(map.mergePosition->line) + ": name several maps as <<: [*a, *b]");
  }
  map.mergePosition = source_.at(offset);
  map.hasKey = map.isMerge = true;
  return true;
}

bool ValueBuilder::scalar(Value::Data data, size_t offset, Anchor anchor) {
  if (!count(offset)) return false;
  Value value = {std::move(data), source_.at(offset)};
  return keep(anchor, value) && add(std::move(value));
}

bool ValueBuilder::alias(Anchor anchor, size_t offset) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) {
    return fail(offset, "this alias stands inside the value of its own anchor, which would then have no end");
  }
  const auto& [value, size] = found->second;
  if (wantsKey()) {
    const std::string* text = value.asString();
    if (text == nullptr)
      return fail(offset, "a key must be a string, and this alias stands for something else");
    return countCopy(size, source_.at(offset)) && key(*text, offset);
  }
  if (open_.size() + size.depth > limits_.depth) {
    return fail(offset, "with what this alias repeats, lists and maps are nested more than " +
                            std::to_string(limits_.depth) + " deep here");
  }
  return countCopy(size, source_.at(offset)) && add({value.data, source_.at(offset)});
}

// Calls itself for each level of nesting, of which there are at most limits_.depth.
ValueBuilder::Size ValueBuilder::sizeOf(const Value& value) {
  Size size;
  const auto include = [&size](const Value& inner) {
    const Size more = sizeOf(inner);
    size.values += more.values;
    size.bytes += more.bytes;
    size.depth = std::max(size.depth, more.depth + 1);
  };
  if (const std::string* text = value.asString()) size.bytes = text->size();
  if (value.asList() != nullptr || value.asMap() != nullptr) size.depth = 1;
  if (const Value::List* list = value.asList()) std::ranges::for_each(*list, include);
  if (const Value::Map* map = value.asMap()) {
    for (const Member& member : *map) {
      size.bytes += member.key.size();
      include(member.value);
    }
  }
  return size;
}

bool ValueBuilder::keep(Anchor anchor, const Value& value) {
  if (anchor == 0) return true;
  const Size size = sizeOf(value);
  if (!countCopy(size, value.position)) return false;
  anchors_.insert_or_assign(anchor, Anchored{value, size});
  return true;
}

bool ValueBuilder::add(Value value) {
  if (open_.empty()) {
    root_ = std::move(value);
    return true;
  }
  Open& parent = open_.back();
  if (parent.isMerge) return addMerged(parent, std::move(value));
  if (auto* list = std::get_if<Value::List>(&parent.value.data)) {
    list->push_back(std::move(value));
  } else {
    auto& map = std::get<Value::Map>(parent.value.data);
    map.push_back({std::move(parent.key), parent.keyPosition, std::move(value)});
    parent.hasKey = false;
  }
  return true;
}

bool ValueBuilder::addMerged(Open& map, Value value) {
  map.hasKey = map.isMerge = false;
  Value::List maps;
  if (auto* list = std::get_if<Value::List>(&value.data))
    maps = std::move(*list);
  else
    maps.push_back(std::move(value));
  for (const Value& one : maps) {
    if (one.asMap() == nullptr) {
      return failAt(one.position,
                    "a merge key (<<) takes a map or a list of maps, as in <<: *a or <<: [*a, *b]; "
                    "this is " +
                        std::string(kindName(one)));
    }
  }
  map.merged = std::move(maps);
  return true;
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
  anchors_.clear();
  return std::exchange(root_, Value());
}

}  // namespace lastout::kube
