// The life of an object's metadata: what the API server writes there when the object is created, updated and
// deleted, and what of a client's it keeps. Times are texts as in kube/timestamp.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object_key.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// What of a type the rules below depend on.
struct TypeRules {
  kube::GroupResource type;
  std::string kind;                  // as messages call it
  bool custom = false;               // defined by a CRD
  bool hasStatus = true;             // its status is written through the subresource `status` alone
  bool tracksGeneration = false;     // metadata.generation counts the changes of such objects
  bool writesNullTimestamps = true;  // what is within them and has no creationTimestamp says null for it
};

// A number below `bound`, which is more than 0.
using RandomBelow = std::function<uint32_t(uint32_t bound)>;

// A name out of metadata.generateName: cut so that it stays a label, and 5 characters of Kubernetes'
// alphabet, which spells no words. Recorded in rest/023.
std::string generatedName(std::string_view base, const RandomBelow& random);

// What a new object is given.
struct Birth {
  std::string uid;
  std::string now;
  RandomBelow random;
};
// Names it when it has only a generateName; sets uid, creationTimestamp and generation; removes what a client
// may not set, and a custom resource's status.
Json prepareForCreate(const TypeRules& rules, Json object, const Birth& birth);

struct PreparedUpdate {
  Json object;
  bool changed = false;  // false: it is the old one, and nothing is to be written (recorded in rest/052)
};
// What is stored when `object` is written over `old`, through a `subresource` ("": none; "status",
// "finalize"): with the defaults of built-in types (completeOnUpdate). uid, times and resourceVersion are the
// old ones: preconditions are checked elsewhere. 422 for a new name or namespace, for new finalizers of a
// terminating object (rest/065) and for a workload's selector.
ApiResult<PreparedUpdate> prepareForUpdate(const TypeRules& rules, const Json& old, Json object,
                                           std::string_view subresource);

// The object once its DELETE is admitted and something still holds it, or a grace period does. One that
// terminates already stays as it is, but for a Pod whose grace period becomes shorter. `gracePeriodSeconds`
// counts for Pods alone; none: the Pod's own, or 0 when no node runs it. Recorded in rest/056, 057, 079, 083,
// 092, 095 and story-guarded.jsonl.
Json markDeleted(const TypeRules& rules, Json object, std::string_view now,
                 std::optional<int64_t> gracePeriodSeconds = std::nullopt);
bool isTerminating(const Json& object);
// Returns the grace period that the review of a DELETE shows: a Pod's is worked out before (admission/12,
// 16), but for the DELETE of a collection, whose reviews show what was asked (1.36's admission/77). nullopt:
// none.
std::optional<int64_t> reviewedGracePeriod(const TypeRules& rules, const Json& object,
                                           std::optional<int64_t> asked, bool isNamed);

// --- edits
std::vector<std::string> finalizersOf(const Json& object);
// Finalizers that stay keep their order, new ones come last, and no empty list is left.
Json setFinalizers(Json object, const std::vector<std::string>& finalizers);
// Adds the reference, or puts it in the place of the one with the same uid.
Json addOwner(Json object, Json reference);
Json removeOwner(Json object, std::string_view uid);
// An owner reference to `owner`, as a controller sets it: {controller, blockOwnerDeletion}.
Json controllerReference(const Json& owner);
// One that only names the owner.
Json plainReference(const Json& owner);

}  // namespace lastout::simulator
