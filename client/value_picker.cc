#include "client/value_picker.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/json_document.h"
#include "kube/messages.h"

namespace lastout::client {
namespace {

using simdjson::dom::element;

// API servers store nothing that is nested deeper (the limit of Go's encoding/json); an event is around it.
constexpr size_t kDeepest = 10'001;

enum class MapKind : uint8_t {
  Any,
  Event,
  WholeEvent,
  ReferencesEvent,
  IdentityEvent,
  Object,
  References,
  Identity,
  IdentityMetadata,
  Rules,
  Rule,
  Metadata,
  Spec,
  Conversion,
  Revision,
  Status
};

// Of a spec, what names or selects other objects.
constexpr std::array<std::string_view, 7> kOfSpecs{
    "template", "jobTemplate", "selector", "replicas", "volumeClaimTemplates", "service", "names"};

// Of a rule in a role, what it allows.
constexpr std::array<std::string_view, 4> kOfRules{"apiGroups", "resources", "verbs", "resourceNames"};

// Of statuses, what works have applied, and how many Pods there are, of which template.
constexpr std::array<std::string_view, 8> kOfStatuses{
    "appliedResources", "observedGeneration",     "replicas",           "terminatingReplicas",
    "updatedReplicas",  "currentNumberScheduled", "numberMisscheduled", "updatedNumberScheduled"};

// Of roles, bindings and ServiceAccounts, which have no spec.
constexpr std::array<std::string_view, 4> kOfRights{"subjects", "roleRef", "aggregationRule",
                                                    "imagePullSecrets"};

MapKind kindOf(Pick pick) {
  switch (pick) {
    case Pick::All:
      return MapKind::Any;
    case Pick::Object:
      return MapKind::Object;
    case Pick::Event:
      return MapKind::Event;
    case Pick::WholeEvent:
      return MapKind::WholeEvent;
    case Pick::References:
      return MapKind::References;
    case Pick::ReferencesEvent:
      return MapKind::ReferencesEvent;
    case Pick::Identity:
      return MapKind::Identity;
    case Pick::IdentityEvent:
      return MapKind::IdentityEvent;
  }
  return MapKind::Any;
}

// Of an event's `object`.
MapKind objectKind(MapKind event) {
  switch (event) {
    case MapKind::Event:
      return MapKind::Object;
    case MapKind::ReferencesEvent:
      return MapKind::References;
    case MapKind::IdentityEvent:
      return MapKind::Identity;
    default:
      return MapKind::Any;
  }
}

std::optional<MapKind> anyIf(bool isWanted) { return isWanted ? std::optional(MapKind::Any) : std::nullopt; }

// Returns the kind of a member's value; nullopt: it is not wanted.
std::optional<MapKind> memberKind(MapKind map, std::string_view key) {
  constexpr std::array<std::string_view, 6> kOfObjects{"apiVersion", "kind",    "code",
                                                       "reason",     "message", "details"};
  switch (map) {
    case MapKind::Any:
      return MapKind::Any;
    case MapKind::Event:
    case MapKind::WholeEvent:
    case MapKind::ReferencesEvent:
    case MapKind::IdentityEvent:
      if (key == "object") return objectKind(map);
      return anyIf(key == "type");
    case MapKind::References:
      if (key == "spec") return MapKind::Spec;
      if (key == "status") return MapKind::Status;
      if (key == "rules") return MapKind::Rules;
      if (key == "data") return MapKind::Revision;
      if (std::ranges::find(kOfRights, key) != kOfRights.end()) return MapKind::Any;
      [[fallthrough]];
    case MapKind::Object:
      if (key == "metadata") return MapKind::Metadata;
      return anyIf(std::ranges::find(kOfObjects, key) != kOfObjects.end());
    case MapKind::Identity:
      return key == "metadata" ? std::optional(MapKind::IdentityMetadata) : std::nullopt;
    case MapKind::IdentityMetadata:
      return anyIf(key == "namespace" || key == "name" || key == "uid" || key == "resourceVersion");
    case MapKind::Rules:
      return std::nullopt;
    case MapKind::Rule:
      return anyIf(std::ranges::find(kOfRules, key) != kOfRules.end());
    case MapKind::Metadata:
      return anyIf(key != "managedFields");
    case MapKind::Spec:
      if (key == "conversion") return MapKind::Conversion;
      return anyIf(std::ranges::find(kOfSpecs, key) != kOfSpecs.end());
    case MapKind::Conversion:  // {strategy, webhook: {clientConfig: {service}}}
      if (key == "webhook" || key == "clientConfig") return MapKind::Conversion;
      return anyIf(key == "strategy" || key == "service");
    case MapKind::Revision:  // {spec: {template}}, of a ControllerRevision
      return key == "spec" ? std::optional(MapKind::Spec) : std::nullopt;
    case MapKind::Status:
      return anyIf(std::ranges::find(kOfStatuses, key) != kOfStatuses.end());
  }
  return std::nullopt;
}

// What else stands in `data` is nobody's business, such as a Secret's.
bool isRevision(element data) {
  const auto spec = data.at_key("spec");
  return spec.error() == simdjson::SUCCESS && spec.value_unsafe().is_object();
}

// The document was checked before, so this calls itself no deeper than the limits say.
class Picker {
 public:
  explicit Picker(const StreamLimits& limits) : limits_(limits) {}

  kube::Value value(element from, MapKind kind) {
    if (++values_ > limits_.values) fail("larger than " + std::to_string(limits_.values) + " values");
    if (!problem_.empty()) return {};
    switch (from.type()) {
      case simdjson::dom::element_type::OBJECT:
      case simdjson::dom::element_type::ARRAY:
        return nested(from, kind);
      case simdjson::dom::element_type::STRING:
        return {std::string(std::string_view(from)), {}};
      case simdjson::dom::element_type::INT64:
        return {int64_t(from), {}};
      case simdjson::dom::element_type::UINT64:  // only what is no int64_t
      case simdjson::dom::element_type::DOUBLE:
        return {double(from), {}};
      case simdjson::dom::element_type::BOOL:
        return {bool(from), {}};
      case simdjson::dom::element_type::NULL_VALUE:
        break;
    }
    return {};
  }

  const std::string& problem() const { return problem_; }

 private:
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  kube::Value nested(element from, MapKind kind) {
    if (depth_ == limits_.depth) {
      fail("nested more than " + std::to_string(limits_.depth) + " deep");
      return {};
    }
    ++depth_;
    kube::Value value = from.is_object() ? map(simdjson::dom::object(from), kind)
                                         : list(simdjson::dom::array(from),
                                                kind == MapKind::Rules ? MapKind::Rule : MapKind::Any);
    --depth_;
    return value;
  }

  kube::Value list(simdjson::dom::array from, MapKind itemKind) {
    kube::Value::List items;
    for (const element item : from) {
      if (!problem_.empty()) return {};
      items.push_back(value(item, itemKind));
    }
    return {std::move(items), {}};
  }

  kube::Value map(simdjson::dom::object from, MapKind kind) {
    kube::Value::Map members;
    for (const auto [key, member] : from) {
      if (!problem_.empty()) return {};
      const auto wanted = memberKind(kind, key);
      if (wanted && (wanted != MapKind::Revision || isRevision(member)))
        members.push_back({std::string(key), {}, value(member, *wanted)});
    }
    checkKeys(members);
    return {std::move(members), {}};
  }

  void checkKeys(const kube::Value::Map& members) {
    keys_.clear();
    for (const kube::Member& member : members) keys_.push_back(member.key);
    std::ranges::sort(keys_);
    const auto twice = std::ranges::adjacent_find(keys_);
    if (twice != keys_.end()) fail("it has the key " + kube::inQuotes(*twice) + " twice in one map");
  }

  const StreamLimits limits_;
  std::string problem_;
  size_t values_ = 0;
  size_t depth_ = 0;
  std::vector<std::string_view> keys_;  // of one map, to be compared
};

}  // namespace

kube::Result<kube::Value> pickValue(std::string_view text, Pick pick, const StreamLimits& limits) {
  const auto failed = [](std::string what) { return tl::unexpected(kube::Error{std::move(what), {}, {}}); };
  const kube::JsonDocument document(text, kDeepest);
  if (!document.isWhole()) return failed("not JSON that is read here: " + document.problem());
  Picker picker(limits);
  kube::Value value = picker.value(document.root(), kindOf(pick));
  if (!picker.problem().empty()) return failed(picker.problem());
  return value;
}

}  // namespace lastout::client
