#include "client/value_picker.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/quoting.h"

namespace lastout::client {
namespace {

enum class MapRole : uint8_t { Any, Event, WholeEvent, Object, Metadata };

MapRole roleOf(Pick pick) {
  switch (pick) {
    case Pick::All:
      return MapRole::Any;
    case Pick::Object:
      return MapRole::Object;
    case Pick::Event:
      return MapRole::Event;
    case Pick::WholeEvent:
      return MapRole::WholeEvent;
  }
  return MapRole::Any;
}

// What a member's value is for; nothing: it is not wanted.
std::optional<MapRole> memberRole(MapRole map, std::string_view key) {
  constexpr std::array<std::string_view, 6> kOfObjects{"apiVersion", "kind",    "code",
                                                       "reason",     "message", "details"};
  switch (map) {
    case MapRole::Any:
      return MapRole::Any;
    case MapRole::Event:
    case MapRole::WholeEvent:
      if (key == "type") return MapRole::Any;
      if (key != "object") return std::nullopt;
      return map == MapRole::Event ? MapRole::Object : MapRole::Any;
    case MapRole::Object:
      if (key == "metadata") return MapRole::Metadata;
      if (std::ranges::find(kOfObjects, key) == kOfObjects.end()) return std::nullopt;
      return MapRole::Any;
    case MapRole::Metadata:
      if (key == "managedFields") return std::nullopt;
      return MapRole::Any;
  }
  return std::nullopt;
}

// nlohmann's events; every function answers false after an error.
class PickHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  PickHandler(Pick pick, const StreamLimits& limits) : root_(roleOf(pick)), limits_(limits) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({value, {}}); }
  bool number_integer(number_integer_t value) override { return add({value, {}}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return add({static_cast<int64_t>(value), {}});
    return add({static_cast<double>(value), {}});
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add({value, {}}); }
  bool string(string_t& value) override {
    return skips() || add({std::move(value), {}});  // not copied when it is not wanted
  }
  bool binary(binary_t& /*value*/) override { return fail("JSON has no binary values"); }
  bool start_object(size_t /*size*/) override { return begin(kube::Value::Map()); }
  bool end_object() override { return end(); }
  bool start_array(size_t /*size*/) override { return begin(kube::Value::List()); }
  bool end_array() override { return end(); }
  bool key(string_t& text) override {
    if (unwanted_ > 0) return true;
    Open& map = open_.back();
    map.member = memberRole(map.role, text);
    if (map.member) map.key = std::move(text);
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return fail("no valid JSON, by its byte " + std::to_string(position));
  }

  kube::Result<kube::Value> take() {
    if (problem_.empty()) return std::move(result_);
    return tl::unexpected(kube::Error{std::move(problem_), {}, {}});
  }

 private:
  struct Open {
    kube::Value value;
    MapRole role;
    std::string key;
    std::optional<MapRole> member;  // of the value that comes next
  };

  // True where the next value is not wanted.
  bool skips() const {
    return unwanted_ > 0 || (!open_.empty() && open_.back().value.asMap() != nullptr && !open_.back().member);
  }

  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  bool begin(kube::Value::Data empty) {
    if (++depth_ > limits_.depth) return fail("nested deeper than " + std::to_string(limits_.depth));
    if (skips()) {
      ++unwanted_;
      return true;
    }
    if (++values_ > limits_.values) return fail("larger than " + std::to_string(limits_.values) + " values");
    const MapRole role = open_.empty()                           ? root_
                         : open_.back().value.asMap() != nullptr ? *open_.back().member
                                                                 : MapRole::Any;
    open_.push_back({{std::move(empty), {}}, role, {}, {}});
    return true;
  }

  bool end() {
    --depth_;
    if (unwanted_ > 0) {
      --unwanted_;
      return true;
    }
    kube::Value value = std::move(open_.back().value);
    open_.pop_back();
    if (const auto* map = value.asMap(); map != nullptr && !checkKeys(*map)) return false;
    place(std::move(value));
    return true;
  }

  bool add(kube::Value value) {
    if (skips()) return true;
    if (++values_ > limits_.values) return fail("larger than " + std::to_string(limits_.values) + " values");
    place(std::move(value));
    return true;
  }

  void place(kube::Value value) {
    if (open_.empty()) {
      result_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (auto* list = std::get_if<kube::Value::List>(&parent.value.data)) {
      list->push_back(std::move(value));
    } else if (auto* map = std::get_if<kube::Value::Map>(&parent.value.data)) {
      map->push_back({std::move(parent.key), {}, std::move(value)});
      parent.key.clear();
    }
  }

  bool checkKeys(const kube::Value::Map& map) {
    std::vector<std::string_view> keys;
    keys.reserve(map.size());
    for (const kube::Member& member : map) keys.push_back(member.key);
    std::ranges::sort(keys);
    const auto twice = std::ranges::adjacent_find(keys);
    return twice == keys.end() || fail("it has the key " + kube::inQuotes(*twice) + " twice in one map");
  }

  const MapRole root_;
  const StreamLimits limits_;
  std::vector<Open> open_;  // from the outermost to the innermost
  kube::Value result_;
  std::string problem_;
  size_t depth_ = 0;
  size_t unwanted_ = 0;  // brackets that are open inside what is not wanted
  size_t values_ = 0;
};

}  // namespace

kube::Result<kube::Value> pickValue(std::string_view text, Pick pick, const StreamLimits& limits) {
  PickHandler handler(pick, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler.take();
}

}  // namespace lastout::client
