#include "simulator/patch.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "kube/messages.h"
#include "kube/well_known.h"
#include "simulator/decode.h"

namespace lastout::simulator {
namespace {

constexpr size_t kLongestNumber = 24;  // bytes: of a double such as -2.2250738585072014e-308

// Besides the character itself.
size_t escapeBytes(char character) {
  if (character == '"' || character == '\\') return 1;
  if (static_cast<unsigned char>(character) >= ' ') return 0;
  const bool hasLetter = std::string_view("\b\f\n\r\t").find(character) != std::string_view::npos;
  return hasLetter ? 1 : std::string_view("u001f").size();
}

size_t writtenBytes(std::string_view text) {
  size_t bytes = text.size() + 2;
  for (const char character : text) bytes += escapeBytes(character);
  return bytes;
}

size_t digitsOf(const Json& whole) {
  char digits[kLongestNumber];
  const auto end = whole.is_number_unsigned()
                       ? std::to_chars(std::begin(digits), std::end(digits), whole.get<uint64_t>())
                       : std::to_chars(std::begin(digits), std::end(digits), whole.get<int64_t>());
  return static_cast<size_t>(end.ptr - std::begin(digits));
}

size_t bytesOfScalar(const Json& json) {
  if (json.is_string()) return writtenBytes(json.get_ref<const std::string&>());
  if (json.is_number_integer()) return digitsOf(json);
  return json.is_number() ? kLongestNumber : std::string_view("false").size();
}

void addExtent(const Json& json, size_t depth, Extent& extent) {
  extent.depth = std::max(extent.depth, depth);
  extent.bytes += json.is_structured() ? 2 + json.size() : bytesOfScalar(json);  // commas
  if (!json.is_structured() || extent.depth > kDeepestJson || extent.bytes > kMostBodyBytes) return;
  extent.depth = std::max(extent.depth, depth + 1);
  if (json.is_array()) {
    for (const Json& item : json) addExtent(item, depth + 1, extent);
    return;
  }
  for (const auto& [key, member] : json.get_ref<const Json::object_t&>()) {
    extent.bytes += writtenBytes(key) + 1;
    addExtent(member, depth + 1, extent);
  }
}

const Json& valueOrNull(const Json* found) {
  static const Json kNothing;
  return found != nullptr ? *found : kNothing;
}

// The first list with what only the second has behind it; values that are no lists count as empty ones.
Json unionOf(const Json& first, const Json& second) {
  Json result = Json::array();
  std::set<Json> known;
  for (const Json* list : {&first, &second}) {
    if (!list->is_array()) continue;
    for (const Json& item : *list) {
      if (known.insert(item).second) result.push_back(item);
    }
  }
  return result;
}

// Owners are the same when their uids are; what the patch says of one is merged into it.
Json mergeOwners(const Json& owners, const Json& patch) {
  Json result = owners.is_array() ? owners : Json::array();
  std::unordered_map<std::string_view, size_t> places;  // views into `owners`, which stays as it is
  for (size_t i = 0; i < result.size(); ++i) places.emplace(stringAt(owners[i], {"uid"}), i);
  std::unordered_map<std::string_view, size_t> added;
  for (const Json& owner : patch) {
    const std::string_view uid = stringAt(owner, {"uid"});
    const auto place = places.find(uid);
    if (place != places.end() && !uid.empty()) {
      result[place->second].merge_patch(owner);
    } else if (uid.empty() || added.emplace(uid, result.size()).second) {
      result.push_back(owner);
    }
  }
  return result;
}

// What an apply request lacks.
std::optional<ApiError> applyProblem(const Json& patch, const ApplyRequest& request) {
  if (request.fieldManager.empty()) {
    return invalid("PatchOptions", kube::kMetaGroup, "",
                   {{"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"}});
  }
  if (stringAt(patch, {"apiVersion"}).empty())
    return badRequest("Object 'apiVersion' is missing in the patch");
  if (stringAt(patch, {"kind"}).empty()) return badRequest("Object 'Kind' is missing in the patch");
  const std::string_view name = stringAt(patch, {"metadata", "name"});
  if (name.empty()) return badRequest("name must be provided");
  if (name != request.name) {
    return badRequest("the name of the object (" + kube::printable(name) +
                      ") does not match the name on the URL (" + kube::printable(request.name) + ")");
  }
  if (!valueOrNull(at(patch, {"metadata", "managedFields"})).is_null())
    return badRequest("metadata.managedFields must be nil");
  return std::nullopt;
}

}  // namespace

ApiResult<Json> mergePatch(const Json& object, const Json& patch) {
  if (!patch.is_object()) return tl::unexpected(badRequest("a merge patch is an object"));
  Json result = object;
  result.merge_patch(patch);
  return withinLimits(std::move(result));
}

ApiResult<Json> applyPatch(const Json& object, const Json& patch, const ApplyRequest& request) {
  if (auto problem = applyProblem(patch, request)) return tl::unexpected(std::move(*problem));
  Json result = object;
  result.merge_patch(patch);
  for (const char* field : {"finalizers", "ownerReferences"}) {
    const Json& wanted = valueOrNull(at(patch, {"metadata", field}));
    if (!wanted.is_array()) continue;
    const Json& had = valueOrNull(at(object, {"metadata", field}));
    result["metadata"][field] =
        field == std::string_view("finalizers") ? unionOf(had, wanted) : mergeOwners(had, wanted);
  }
  return withinLimits(std::move(result));
}

Extent extentOf(const Json& json) {
  Extent extent;
  addExtent(json, 0, extent);
  return extent;
}

ApiResult<Json> withinLimits(Json object) {
  const Extent extent = extentOf(object);
  if (extent.bytes > kMostBodyBytes) return tl::unexpected(tooLarge(kMostBodyBytes));
  if (extent.depth > kDeepestJson) {
    return tl::unexpected(
        unprocessable("the result is nested more than " + std::to_string(kDeepestJson) + " deep"));
  }
  if (!object.is_object()) return tl::unexpected(unprocessable("the result is no object"));
  return object;
}

ApiError unprocessable(std::string_view why) {
  return {422, "Invalid",
          "the server rejected our request due to an error in our request: " + std::string(why),
          Json::object()};
}

}  // namespace lastout::simulator
