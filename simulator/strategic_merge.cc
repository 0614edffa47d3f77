#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/messages.h"
#include "kube/well_known.h"
#include "simulator/patch.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kPatchDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList/";

// How the lists of one field are merged.
struct MergedList {
  std::string_view parent;  // the field around it; "" at the top, "*" for any
  std::string_view field;
  std::string_view key;  // of its items; "" for a set of strings
};

// What the field tags of Kubernetes' types say (patchStrategy, patchMergeKey). Lists that are not here are
// replaced.
constexpr MergedList kMergedLists[] = {
    {"metadata", "finalizers", ""},
    {"metadata", "ownerReferences", "uid"},
    {"spec", "containers", "name"},
    {"spec", "initContainers", "name"},
    {"spec", "ephemeralContainers", "name"},
    {"spec", "volumes", "name"},
    {"spec", "imagePullSecrets", "name"},
    {"spec", "hostAliases", "ip"},
    {"spec", "topologySpreadConstraints", "topologyKey"},
    {"spec", "schedulingGates", "name"},
    {"spec", "resourceClaims", "name"},
    {"spec", "ports", "port"},  // of a Service
    {"*", "ports", "containerPort"},
    {"*", "env", "name"},
    {"*", "volumeMounts", "mountPath"},
    {"*", "volumeDevices", "devicePath"},
    {"status", "conditions", "type"},
    {"status", "podIPs", "ip"},
    {"", "secrets", "name"},   // of a ServiceAccount
    {"", "webhooks", "name"},  // of both webhook configurations
};

// The key by which a list is merged; nullopt: the list is replaced.
using ListKey = std::optional<std::string_view>;

// Applies one patch. The recursion is as deep as the patch, which decodePatch bounds.
class StrategicPatch {
 public:
  explicit StrategicPatch(const kube::GroupResource& type)
      : metadataAlone_(type.group == kube::kApiExtensionsGroup) {}

  // False after an error; problem() says which.
  bool mergeMap(Json& original, const Json& patch, std::string_view field);
  const std::string& problem() const { return problem_; }

 private:
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  // A CRD's schema may have any names in it, and its conditions are replaced.
  ListKey listKey(std::string_view parent, std::string_view field) const;
  bool retainKeys(Json& original, const Json& patch);
  bool mergeMember(Json& original, std::string_view field, std::string_view key, const Json& patch);
  bool mergeList(Json& original, const Json& patch, std::string_view field, std::string_view key);
  bool mergeSet(Json& original, const Json& patch);
  bool mergeItems(Json& original, const Json& patch, std::string_view field, std::string_view key);
  bool deleteFromList(Json& original, std::string_view key, const Json& values);
  bool order(Json& list, const Json& before, const Json& wanted, std::string_view key);

  bool metadataAlone_;
  std::string problem_;
};

ListKey StrategicPatch::listKey(std::string_view parent, std::string_view field) const {
  for (const MergedList& list : kMergedLists) {
    if (metadataAlone_ && list.parent != "metadata") continue;
    if (list.field == field && (list.parent == "*" || list.parent == parent)) return list.key;
  }
  return std::nullopt;
}

// What tells the items of a list apart; nullptr when the item has no such scalar. A set's items are their own
// key.
const Json* itemKey(const Json& item, std::string_view key) {
  const Json* found = key.empty() ? &item : at(item, {key});
  return found != nullptr && found->is_primitive() && !found->is_null() ? found : nullptr;
}

bool isDirective(std::string_view key) {
  return key == kPatchDirective || key == kRetainKeys || key.starts_with(kSetElementOrder) ||
         key.starts_with(kDeleteFromPrimitiveList);
}

bool StrategicPatch::retainKeys(Json& original, const Json& patch) {
  const Json* retained = at(patch, {kRetainKeys});
  if (retained == nullptr) return true;
  if (!retained->is_array()) return fail("invalid patch format of retainKeys");
  const std::set<Json> keys(retained->begin(), retained->end());
  for (const auto& [key, value] : patch.get_ref<const Json::object_t&>()) {
    if (!isDirective(key) && !value.is_null() && !keys.contains(key))
      return fail("invalid patch format of retainKeys: " + kube::inQuotes(key) + " is not in it");
  }
  std::erase_if(original.get_ref<Json::object_t&>(),
                [&keys](const auto& member) { return !keys.contains(member.first); });
  return true;
}

// Merges `patch` into the map `original`, which stands in `field` ("" at the top).
bool StrategicPatch::mergeMap(Json& original, const Json& patch, std::string_view field) {
  if (!original.is_object()) original = Json::object();
  if (const Json* directive = at(patch, {kPatchDirective})) {
    if (*directive != "replace" && *directive != "delete" && *directive != "merge")
      return fail("unknown patch type found: " + (directive->is_string()
                                                      ? kube::inQuotes(stringAt(patch, {kPatchDirective}))
                                                      : std::string(directive->type_name())));
    if (*directive != "merge") original = Json::object();
    if (*directive == "delete") return true;
  }
  if (!retainKeys(original, patch)) return false;
  const auto& members = patch.get_ref<const Json::object_t&>();
  for (const auto& [key, value] : members) {
    if (key.starts_with(kDeleteFromPrimitiveList)) {
      if (!deleteFromList(original, key.substr(kDeleteFromPrimitiveList.size()), value)) return false;
    }
  }
  Json before = Json::object();  // the lists that get an order, as they were
  for (const auto& [key, value] : members) {
    if (!key.starts_with(kSetElementOrder)) continue;
    const std::string list = key.substr(kSetElementOrder.size());
    if (const Json* found = at(original, {list})) before[list] = *found;
  }
  for (const auto& [key, value] : members) {
    if (!isDirective(key) && !mergeMember(original, field, key, value)) return false;
  }
  for (const auto& [key, value] : members) {
    if (!key.starts_with(kSetElementOrder)) continue;
    const std::string list = key.substr(kSetElementOrder.size());
    const ListKey by = listKey(field, list);
    const auto found = original.find(list);
    if (!by || found == original.end() || !found->is_array()) continue;
    if (!order(*found, before[list], value, *by)) return false;
  }
  return true;
}

bool StrategicPatch::mergeMember(Json& original, std::string_view field, std::string_view key,
                                 const Json& patch) {
  if (patch.is_null()) {
    original.erase(key);
    return true;
  }
  const bool isNew = !original.contains(key);
  Json& member = original[std::string(key)];
  if (patch.is_object()) {
    // A map that is to be deleted and is not there stays away.
    if (!mergeMap(member, patch, key)) return false;
    if (isNew && member.empty() && at(patch, {kPatchDirective}) != nullptr) original.erase(key);
    return true;
  }
  const ListKey by = listKey(field, key);
  if (!patch.is_array() || !by) {
    member = patch;
    return true;
  }
  return mergeList(member, patch, key, *by);
}

bool StrategicPatch::mergeList(Json& original, const Json& patch, std::string_view field,
                               std::string_view key) {
  if (!original.is_array()) original = Json::array();
  return key.empty() ? mergeSet(original, patch) : mergeItems(original, patch, field, key);
}

bool StrategicPatch::mergeSet(Json& original, const Json& patch) {
  std::set<Json> known(original.begin(), original.end());
  for (const Json& item : patch) {
    if (!item.is_primitive())
      return fail("a list of strings has " + std::string(item.type_name()) + " in the patch");
    if (known.insert(item).second) original.push_back(item);
  }
  return true;
}

// Where the item with each key stands, of several the first; what is no list has none.
std::map<Json, size_t> placesOf(const Json& list, std::string_view key) {
  std::map<Json, size_t> places;
  if (!list.is_array()) return places;
  for (size_t i = 0; i < list.size(); ++i) {
    if (const Json* value = itemKey(list[i], key)) places.emplace(*value, i);
  }
  return places;
}

bool StrategicPatch::mergeItems(Json& original, const Json& patch, std::string_view field,
                                std::string_view key) {
  // Directives count before the other items, wherever they stand.
  std::set<Json> deleted;
  std::vector<const Json*> items;
  bool replaces = false;
  for (const Json& item : patch) {
    if (!item.is_object())
      return fail("a list of maps has " + std::string(item.type_name()) + " in the patch");
    const Json* value = itemKey(item, key);
    const std::string_view directive = stringAt(item, {kPatchDirective});
    if (directive == "replace") {
      replaces = true;
    } else if (value == nullptr) {
      return fail("an item of " + kube::inQuotes(field) +
                  " does not contain declared merge key: " + std::string(key));
    } else if (directive == "delete") {
      deleted.insert(*value);
    } else {
      items.push_back(&item);
    }
  }
  if (replaces) original = Json::array();
  if (!deleted.empty()) {
    std::erase_if(original.get_ref<Json::array_t&>(), [&](const Json& item) {
      const Json* value = itemKey(item, key);
      return value != nullptr && deleted.contains(*value);
    });
  }
  auto places = placesOf(original, key);
  for (const Json* item : items) {
    const auto [place, isNew] = places.emplace(*itemKey(*item, key), original.size());
    if (isNew) original.push_back(Json::object());
    if (!mergeMap(original[place->second], *item, field)) return false;
  }
  return true;
}

bool StrategicPatch::deleteFromList(Json& original, std::string_view key, const Json& values) {
  if (!values.is_array()) return fail("invalid patch format of primitive list");
  const auto list = original.find(key);
  if (list == original.end() || !list->is_array()) return true;
  const std::set<Json> deleted(values.begin(), values.end());
  std::erase_if(list->get_ref<Json::array_t&>(), [&](const Json& item) { return deleted.contains(item); });
  return true;
}

// Sorts the items that `wanted` names as it does; the others (somebody else's) keep their place before those
// that they stood before.
bool StrategicPatch::order(Json& list, const Json& before, const Json& wanted, std::string_view key) {
  if (!wanted.is_array()) return fail("invalid patch format of setElementOrder list");
  std::map<Json, size_t> ranks;
  for (const Json& item : wanted) {
    const Json* value = itemKey(item, key);
    if (value == nullptr) return fail("invalid patch format of setElementOrder list");
    ranks.emplace(*value, ranks.size());
  }
  const auto rankOf = [&](const Json& item) {
    const Json* value = itemKey(item, key);
    const auto rank = value != nullptr ? ranks.find(*value) : ranks.end();
    return rank == ranks.end() ? std::optional<size_t>() : rank->second;
  };
  const auto oldPlaces = placesOf(before, key);
  const auto oldPlaceOf = [&](const Json& item) {
    const Json* value = itemKey(item, key);
    const auto place = value != nullptr ? oldPlaces.find(*value) : oldPlaces.end();
    return place == oldPlaces.end() ? std::optional<size_t>() : place->second;
  };
  Json::array_t named;
  Json::array_t others;
  for (Json& item : list) (rankOf(item) ? named : others).push_back(std::move(item));
  std::stable_sort(named.begin(), named.end(),
                   [&](const Json& a, const Json& b) { return rankOf(a) < rankOf(b); });
  Json::array_t sorted;
  auto other = others.begin();
  for (Json& item : named) {
    const auto place = oldPlaceOf(item);
    while (place && other != others.end() && oldPlaceOf(*other).value_or(*place) < *place)
      sorted.push_back(std::move(*other++));
    sorted.push_back(std::move(item));
  }
  std::move(other, others.end(), std::back_inserter(sorted));
  list = std::move(sorted);
  return true;
}

}  // namespace

ApiResult<Json> strategicMerge(const kube::GroupResource& type, const Json& object, const Json& patch) {
  if (!patch.is_object()) return tl::unexpected(badRequest("a strategic merge patch is an object"));
  StrategicPatch strategic(type);
  Json result = object;
  if (!strategic.mergeMap(result, patch, "")) return tl::unexpected(badRequest(strategic.problem()));
  return withinLimits(std::move(result));
}

}  // namespace lastout::simulator
