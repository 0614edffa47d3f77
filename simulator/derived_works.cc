#include "simulator/derived_works.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "simulator/json.h"
#include "simulator/metadata.h"

namespace lastout::simulator {
namespace {

Json resourceMetaOf(const AppliedObject& object, size_t ordinal) {
  return {{"group", object.group},       {"version", object.version}, {"kind", object.kind},
          {"resource", object.resource}, {"name", object.name},       {"namespace", object.namespaceName},
          {"ordinal", ordinal}};
}

// The conditions that resourceStatus had of the manifest in that place; what they say of another one is lost.
Json conditionsBefore(const Json& work, size_t ordinal, const Json& resourceMeta) {
  const Json* manifests = at(work, {"status", "resourceStatus", "manifests"});
  if (manifests == nullptr || !manifests->is_array() || ordinal >= manifests->size()) return Json::array();
  const Json& before = (*manifests)[ordinal];
  const Json* meta = at(before, {"resourceMeta"});
  const Json* conditions = at(before, {"conditions"});
  if (meta == nullptr || conditions == nullptr || *meta != resourceMeta) return Json::array();
  return *conditions;
}

// A condition of the work itself says which generation it means.
void setWorkCondition(Json& work, const StatusCondition& condition, std::string_view now) {
  Json* status = objectIn(work, "status");
  if (status == nullptr) return;
  const int64_t generation = integerAt(work, {"metadata", "generation"});
  setUnlessZero(setCondition((*status)["conditions"], condition, now), "observedGeneration", generation);
}

StatusCondition appliedCondition(const AppliedObject& object) {
  if (object.failure.empty()) return {"Applied", true, "AppliedManifestComplete", "Apply manifest complete"};
  return {"Applied", false, "AppliedManifestFailed", "Failed to apply manifest: " + object.failure};
}

StatusCondition availableCondition(bool available) {
  return available ? StatusCondition{"Available", true, "ResourceAvailable", "Resource is available"}
                   : StatusCondition{"Available", false, "ResourceNotAvailable", "Resource is not available"};
}

StatusCondition workAvailableCondition(const std::vector<bool>& available) {
  const auto missing = std::ranges::count(available, false);
  if (missing == 0) return {"Available", true, "ResourcesAvailable", "All resources are available"};
  return {
      "Available", false, "ResourcesNotAvailable",
      std::to_string(missing) + " of " + std::to_string(available.size()) + " resources are not available"};
}

}  // namespace

Json appliedWorkOf(const Json& work, std::string_view hubHash, std::string_view agentId) {
  const std::string name(stringAt(work, {"metadata", "name"}));
  return {{"apiVersion", kube::kWorkApiVersion},
          {"kind", manifestwork::kAppliedKind},
          {"metadata",
           {{"name", std::string(hubHash) + "-" + name},
            {"finalizers", Json::array({manifestwork::kAppliedFinalizer})}}},
          {"spec", {{"hubHash", hubHash}, {"agentID", agentId}, {"manifestWorkName", name}}}};
}

Json appliedManifest(Json manifest, const Json& appliedWork) {
  return addOwner(std::move(manifest), plainReference(appliedWork));
}

Json withAppliedResources(Json appliedWork, std::vector<AppliedObject> objects) {
  std::ranges::sort(objects, {}, [](const AppliedObject& object) {
    return std::tie(object.group, object.version, object.resource, object.namespaceName, object.name);
  });
  Json resources = Json::array();
  for (const AppliedObject& object : objects) {
    if (object.uid.empty()) continue;
    resources.push_back({{"group", object.group},
                         {"version", object.version},
                         {"resource", object.resource},
                         {"namespace", object.namespaceName},
                         {"name", object.name},
                         {"uid", object.uid}});
  }
  if (Json* status = objectIn(appliedWork, "status")) {
    (*status)["appliedResources"] = std::move(resources);
    dropEmpty(*status, {"appliedResources"});
  }
  return appliedWork;
}

Json withApplied(Json work, const std::vector<AppliedObject>& objects, std::string_view now) {
  Json manifests = Json::array();
  for (size_t i = 0; i < objects.size(); ++i) {
    Json meta = resourceMetaOf(objects[i], i);
    Json conditions = conditionsBefore(work, i, meta);
    setCondition(conditions, appliedCondition(objects[i]), now);
    manifests.push_back({{"resourceMeta", std::move(meta)},
                         {"conditions", std::move(conditions)},
                         {"statusFeedback", Json::object()}});
  }
  const bool complete =
      std::ranges::all_of(objects, [](const AppliedObject& object) { return object.failure.empty(); });
  setWorkCondition(
      work,
      complete
          ? StatusCondition{"Applied", true, "AppliedManifestWorkComplete", "Apply manifest work complete"}
          : StatusCondition{"Applied", false, "AppliedManifestWorkFailed", "Failed to apply manifest work"},
      now);
  if (Json* status = objectIn(work, "status"))
    (*status)["resourceStatus"] = {{"manifests", std::move(manifests)}};
  return work;
}

Json withAvailability(Json work, const std::vector<bool>& available, std::string_view now) {
  setWorkCondition(work, workAvailableCondition(available), now);
  Json* status = objectIn(work, "status");
  Json* resources = status == nullptr ? nullptr : objectIn(*status, "resourceStatus");
  Json* manifests = resources == nullptr ? nullptr : listIn(*resources, "manifests");
  if (manifests == nullptr) return work;
  for (size_t i = 0; i < manifests->size() && i < available.size(); ++i) {
    Json& manifest = (*manifests)[i];
    if (!manifest.is_object()) continue;
    setCondition(manifest["conditions"], availableCondition(available[i]), now);
    setCondition(manifest["conditions"], {"StatusFeedbackSynced", true, "NoStatusFeedbackSynced", ""}, now);
  }
  return work;
}

}  // namespace lastout::simulator
