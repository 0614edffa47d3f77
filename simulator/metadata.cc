#include "simulator/metadata.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kube/timestamp.h"
#include "kube/well_known.h"
#include "simulator/builtin_checks.h"
#include "simulator/defaults.h"
#include "simulator/json.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kSuffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kSuffixLength = 5;
constexpr size_t kLongestGeneratedName = 63;

// Kubernetes leaves empty fields of metadata out; managedFields are kept by nobody here.
void tidyMetadata(Json& metadata) {
  dropEmpty(metadata, {"annotations", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers",
                       "generateName", "labels", "ownerReferences", "namespace", "name", "selfLink"});
  drop(metadata, "managedFields");
}

// Everything but metadata, and but status where that has its own way in.
Json desired(const TypeRules& rules, Json object) {
  drop(object, "metadata");
  if (rules.hasStatus) drop(object, "status");
  return object;
}

bool sameAt(const Json& a, const Json& b, std::initializer_list<std::string_view> path) {
  const Json* left = at(a, path);
  const Json* right = at(b, path);
  return left != nullptr && right != nullptr ? *left == *right : left == right;
}

// An approval is a condition of the status.
bool writesStatus(std::string_view subresource) {
  return subresource == "status" || subresource == "approval";
}

// Keeps of the old object what the subresource does not write. What else of the metadata a write to a
// built-in type's status may change differs from type to type: annotations can (recorded in admission/05).
void keepUnwritten(const TypeRules& rules, const Json& old, Json& object, std::string_view subresource) {
  if (writesStatus(subresource)) {
    Json kept = old;
    copyKey(object, kept, "status");
    if (!rules.custom) copyKey(object, kept, "metadata");
    if (rules.type == kube::kDeployments) {
      if (Json* metadata = objectIn(kept, "metadata"))
        copyKey(old.value("metadata", Json::object()), *metadata, "labels");
    }
    object = std::move(kept);
    return;
  }
  if (rules.hasStatus) copyKey(old, object, "status");
  if (rules.type == kube::kNamespaces && subresource != "finalize") {
    const Json* oldSpec = at(old, {"spec"});
    Json* spec = objectIn(object, "spec");
    if (oldSpec != nullptr && spec != nullptr) copyKey(*oldSpec, *spec, "finalizers");
  }
}

void keepSystemMetadata(const Json& oldMetadata, Json& metadata) {
  for (const char* key : {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                          "generation", "resourceVersion", "selfLink"})
    copyKey(oldMetadata, metadata, key);
  for (const char* key : {"name", "namespace"}) {
    if (stringAt(metadata, {key}).empty()) copyKey(oldMetadata, metadata, key);
  }
}

// Whether the change is one that generation counts.
bool isNewGeneration(const TypeRules& rules, const Json& old, const Json& object,
                     std::string_view subresource) {
  if (!rules.tracksGeneration || writesStatus(subresource)) return false;
  if (desired(rules, old) != desired(rules, object)) return true;
  return rules.type == kube::kDeployments && !sameAt(old, object, {"metadata", "annotations"});
}

// The grace period of a Pod for which none was asked.
int64_t defaultGracePeriod(const Json& pod) {
  const std::string_view phase = stringAt(pod, {"status", "phase"});
  const bool runs = !stringAt(pod, {"spec", "nodeName"}).empty() && !kube::isFinalPhase(phase);
  return runs ? integerAt(pod, {"spec", "terminationGracePeriodSeconds"}, 30) : 0;
}

// What a Pod is given, whatever was asked: nothing runs that could need the time, or a second at least. The
// end has to be a time that can be written.
int64_t gracePeriodOf(const Json& pod, std::optional<int64_t> asked) {
  constexpr int64_t kLongest = 1'000'000'000;  // seconds: 31 years
  const int64_t own = defaultGracePeriod(pod);
  if (!asked || own == 0) return std::clamp<int64_t>(own, 0, kLongest);
  return *asked < 0 ? 1 : std::min(*asked, kLongest);
}

// A grace period may become shorter, never longer, counted from the first DELETE.
void shortenGracePeriod(Json& metadata, int64_t seconds) {
  const int64_t before = integerAt(metadata, {"deletionGracePeriodSeconds"});
  if (seconds < 0 || seconds >= before) return;
  metadata["deletionTimestamp"] =
      kube::timestampAfter(stringAt(metadata, {"deletionTimestamp"}), std::chrono::seconds(seconds - before));
  metadata["deletionGracePeriodSeconds"] = seconds;
}

}  // namespace

std::string generatedName(std::string_view base, const RandomBelow& random) {
  std::string name(base.substr(0, kLongestGeneratedName - kSuffixLength));
  for (size_t i = 0; i < kSuffixLength; ++i)
    name += kSuffixAlphabet[random(kSuffixAlphabet.size()) % kSuffixAlphabet.size()];
  return name;
}

Json prepareForCreate(const TypeRules& rules, Json object, const Birth& birth) {
  Json* metadata = objectIn(object, "metadata");
  if (metadata == nullptr) return object;
  for (const char* key :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion", "generation"})
    drop(*metadata, key);
  tidyMetadata(*metadata);
  const std::string base(stringAt(*metadata, {"generateName"}));
  if (stringAt(*metadata, {"name"}).empty() && !base.empty())
    (*metadata)["name"] = generatedName(base, birth.random);
  (*metadata)["uid"] = birth.uid;
  (*metadata)["creationTimestamp"] = birth.now;
  if (rules.tracksGeneration) (*metadata)["generation"] = 1;
  if (rules.custom && rules.hasStatus) drop(object, "status");
  return object;
}

ApiResult<PreparedUpdate> prepareForUpdate(const TypeRules& rules, const Json& old, Json object,
                                           std::string_view subresource) {
  const Json* oldMetadata = at(old, {"metadata"});
  Json* metadata = objectIn(object, "metadata");
  if (oldMetadata == nullptr || metadata == nullptr)
    return tl::unexpected(badRequest("metadata is no object"));
  keepSystemMetadata(*oldMetadata, *metadata);
  if (!rules.custom && !writesStatus(subresource)) object = completeOnUpdate(rules, old, std::move(object));
  keepUnwritten(rules, old, object, subresource);
  metadata = objectIn(object, "metadata");
  if (metadata == nullptr) return tl::unexpected(badRequest("metadata is no object"));
  tidyMetadata(*metadata);
  if (std::vector<StatusCause> causes = forbiddenChanges(rules, old, object, subresource); !causes.empty())
    return tl::unexpected(invalid(rules.kind, rules.type.group, stringAt(old, {"metadata", "name"}), causes));
  if (isNewGeneration(rules, old, object, subresource))
    (*metadata)["generation"] = integerAt(old, {"metadata", "generation"}) + 1;
  const bool changed = object != old;
  return PreparedUpdate{std::move(object), changed};
}

Json markDeleted(const TypeRules& rules, Json object, std::string_view now,
                 std::optional<int64_t> gracePeriodSeconds) {
  Json* metadata = objectIn(object, "metadata");
  if (metadata == nullptr) return object;
  if (isTerminating(object)) {
    if (rules.type == kube::kPods && gracePeriodSeconds) shortenGracePeriod(*metadata, *gracePeriodSeconds);
    return object;
  }
  if (rules.type == kube::kNamespaces) {
    (*metadata)["deletionTimestamp"] = now;
    if (Json* status = objectIn(object, "status")) (*status)["phase"] = "Terminating";
    return object;
  }
  if (rules.type == kube::kCustomResourceDefinitions) {
    (*metadata)["deletionTimestamp"] = now;
    std::vector<std::string> finalizers = finalizersOf(object);
    finalizers.emplace_back(kube::kCrdCleanupFinalizer);
    object = setFinalizers(std::move(object), finalizers);
    if (Json* status = objectIn(object, "status"))
      setCondition((*status)["conditions"],
                   {"Terminating", true, "InstanceDeletionPending",
                    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"},
                   now);
    return object;
  }
  const int64_t grace = rules.type == kube::kPods ? gracePeriodOf(object, gracePeriodSeconds) : 0;
  (*metadata)["deletionTimestamp"] = kube::timestampAfter(now, std::chrono::seconds(grace));
  (*metadata)["deletionGracePeriodSeconds"] = grace;
  if (const int64_t generation = integerAt(*metadata, {"generation"}); generation > 0)
    (*metadata)["generation"] = generation + 1;
  return object;
}

std::optional<int64_t> reviewedGracePeriod(const TypeRules& rules, const Json& object,
                                           std::optional<int64_t> asked, bool isNamed) {
  if (!isNamed) return asked;
  if (rules.type != kube::kPods) return asked;
  if (!isTerminating(object)) return gracePeriodOf(object, asked);
  const int64_t present = integerAt(object, {"metadata", "deletionGracePeriodSeconds"});
  return asked && *asked >= 0 ? std::min(*asked, present) : present;
}

bool isTerminating(const Json& object) {
  return !stringAt(object, {"metadata", "deletionTimestamp"}).empty();
}

std::vector<std::string> finalizersOf(const Json& object) {
  std::vector<std::string> finalizers;
  const Json* list = at(object, {"metadata", "finalizers"});
  if (list == nullptr || !list->is_array()) return finalizers;
  for (const Json& finalizer : *list) {
    if (finalizer.is_string()) finalizers.push_back(finalizer.get<std::string>());
  }
  return finalizers;
}

Json setFinalizers(Json object, const std::vector<std::string>& finalizers) {
  Json* metadata = objectIn(object, "metadata");
  if (metadata == nullptr) return object;
  std::vector<std::string> kept = finalizersOf(object);
  const std::set<std::string_view> wanted(finalizers.begin(), finalizers.end());
  std::erase_if(kept, [&wanted](const std::string& finalizer) { return !wanted.contains(finalizer); });
  std::set<std::string> known(kept.begin(), kept.end());
  for (const std::string& finalizer : finalizers) {
    if (known.insert(finalizer).second) kept.push_back(finalizer);
  }
  (*metadata)["finalizers"] = kept;
  dropEmpty(*metadata, {"finalizers"});
  return object;
}

Json addOwner(Json object, Json reference) {
  Json* metadata = objectIn(object, "metadata");
  if (metadata == nullptr) return object;
  setDefault(*metadata, "ownerReferences", Json::array());
  Json* owners = listIn(*metadata, "ownerReferences");
  if (owners == nullptr) return object;
  const std::string uid(stringAt(reference, {"uid"}));
  const auto present =
      std::ranges::find_if(*owners, [&uid](const Json& owner) { return stringAt(owner, {"uid"}) == uid; });
  if (present == owners->end()) {
    owners->push_back(std::move(reference));
  } else {
    *present = std::move(reference);
  }
  return object;
}

Json removeOwner(Json object, std::string_view uid) {
  Json* metadata = objectIn(object, "metadata");
  Json* owners = metadata == nullptr ? nullptr : listIn(*metadata, "ownerReferences");
  if (owners == nullptr) return object;
  Json kept = Json::array();
  for (Json& owner : *owners) {
    if (stringAt(owner, {"uid"}) != uid) kept.push_back(std::move(owner));
  }
  *owners = std::move(kept);
  dropEmpty(*metadata, {"ownerReferences"});
  return object;
}

Json plainReference(const Json& owner) {
  return {{"apiVersion", stringAt(owner, {"apiVersion"})},
          {"kind", stringAt(owner, {"kind"})},
          {"name", stringAt(owner, {"metadata", "name"})},
          {"uid", stringAt(owner, {"metadata", "uid"})}};
}

Json controllerReference(const Json& owner) {
  Json reference = plainReference(owner);
  reference["controller"] = true;
  reference["blockOwnerDeletion"] = true;
  return reference;
}

}  // namespace lastout::simulator
