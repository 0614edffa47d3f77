// What the ManifestWork agent creates and writes. Recorded in admission/08, 38 and the three stories.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/json.h"

namespace lastout::simulator {

// One manifest of a work, and the object that the agent made of it.
struct AppliedObject {
  std::string group;
  std::string version;
  std::string resource;
  std::string kind;
  std::string namespaceName;
  std::string name;
  std::string uid;      // empty: it could not be applied
  std::string failure;  // why
};

// The AppliedManifestWork "<hub hash>-<work>", still without status.
Json appliedWorkOf(const Json& work, std::string_view hubHash, std::string_view agentId);
// A manifest as the agent applies it: with a reference to its AppliedManifestWork, which exists by then.
// Server-side fields are not filled in.
Json appliedManifest(Json manifest, const Json& appliedWork);
// The AppliedManifestWork with what it has applied, sorted as recorded; an empty status when that is nothing.
Json withAppliedResources(Json appliedWork, std::vector<AppliedObject> objects);

// The work after its manifests were applied, in their order: the condition Applied, and resourceStatus.
Json withApplied(Json work, const std::vector<AppliedObject>& objects, std::string_view now);
// The work after the agent looked whether the objects are there: Available, of each manifest and of the work.
// `available` has one entry for each manifest. Works that terminate are looked at as well.
Json withAvailability(Json work, const std::vector<bool>& available, std::string_view now);

}  // namespace lastout::simulator
