// Held objects for tests: the profile dbops, and a database with what depends on it, without any cluster.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "protection/hold_plan.h"
#include "protection/policy.h"

namespace lastout::protection {

// The policies of protection/profiles/dbops.yaml.
const std::vector<DeletionPolicy>& dbopsPolicies();
const DeletionPolicy& dbopsPolicy(std::string_view name);  // "dbops-databases"

// The policy of a kind with an external step: reports stand in the annotation kReport.
DeletionPolicy withReports(std::string_view kind);
inline constexpr const char* kReport = "example.com/report";

kube::GroupResource dbopsType(std::string_view resource);  // "databases"

// An object as it is stored, which is patched, deleted and planned for.
struct StoredObject {
  kube::ObjectKey key;
  std::string kind;
  nlohmann::json content;

  kube::ObjectMeta meta() const;
  bool terminates() const { return content["metadata"].contains("deletionTimestamp"); }
  bool carries(const std::string& finalizer) const;
  void annotate(const std::string& annotation,
                const std::string& value);  // with an empty value: not any more
  nlohmann::json confirmation() const;      // status.deletionConfirmation; null: none
};

StoredObject stored(std::string_view kind, std::string_view name,
                    nlohmann::json spec = nlohmann::json::object(), std::string_view namespaceName = "shop");

// The plan for the object with these facts beside its own: `facts` has what others are.
HoldPlan planFor(const StoredObject& object, HoldFacts facts = {});
HoldPlan planFor(const DeletionPolicy& policy, const StoredObject& object, HoldFacts facts);

// A child of that kind and name.
HeldChild childOf(std::string_view kind, std::string_view name, std::string_view namespaceName = "shop");

inline constexpr const char* kForceDelete = "dbops.dbprovision.io/force-delete";
inline constexpr const char* kConfirm = "dbops.dbprovision.io/confirm-force-delete";

}  // namespace lastout::protection
