#include "tests/protection/held_objects.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kube/parse.h"
#include "kube/value.h"
#include "protection/evaluate.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::protection {
namespace {

using nlohmann::json;

struct Dbops {
  std::string_view kind;
  std::string_view resource;
  std::string_view policy;
  std::string_view finalizer;
};

constexpr Dbops kKinds[] = {
    {"DatabaseInstance", "databaseinstances", "dbops-instances", "instance"},
    {"Database", "databases", "dbops-databases", "database"},
    {"DatabaseUser", "databaseusers", "dbops-users", "user"},
    {"DatabaseRole", "databaseroles", "dbops-roles", "role"},
    {"DatabaseGrant", "databasegrants", "dbops-grants", "grant"},
    {"DatabaseBackupSchedule", "databasebackupschedules", "dbops-backup-schedules", "schedule"}};

const Dbops& kindOf(std::string_view kind) {
  const auto* const found = std::ranges::find(kKinds, kind, &Dbops::kind);
  if (found == std::end(kKinds)) testing::stop("no kind of dbops: " + std::string(kind));
  return *found;
}

}  // namespace

const std::vector<DeletionPolicy>& dbopsPolicies() {
  static const std::vector<DeletionPolicy> kPolicies = [] {
    const std::string path = "protection/profiles/dbops.yaml";
    const auto text = kube::readFile(path);
    if (!text) testing::stop(toString(text.error()));
    auto read = parsePolicies(*text, path);
    if (!read) testing::stop(testing::lines(read.error()));
    return std::move(*read);
  }();
  return kPolicies;
}

const DeletionPolicy& dbopsPolicy(std::string_view name) {
  for (const DeletionPolicy& policy : dbopsPolicies())
    if (policy.meta.name == name) return policy;
  testing::stop("no policy " + std::string(name));
}

DeletionPolicy withReports(std::string_view kind) {
  DeletionPolicy policy = dbopsPolicy(kindOf(kind).policy);
  if (policy.hold->external) policy.hold->external->reportedBy = ReportPlace{kReport, ""};
  return policy;
}

kube::GroupResource dbopsType(std::string_view resource) {
  return {"dbops.dbprovision.io", std::string(resource)};
}

kube::ObjectMeta StoredObject::meta() const {
  auto meta = kube::parseMeta(kube::fromJson(content["metadata"]), "");
  if (!meta) testing::stop(meta.error().message);
  return std::move(*meta);
}

bool StoredObject::carries(const std::string& finalizer) const {
  return kube::hasFinalizer(meta(), finalizer);
}

void StoredObject::annotate(const std::string& annotation, const std::string& value) {
  json& annotations = content["metadata"]["annotations"];
  if (value.empty())
    annotations.erase(annotation);
  else
    annotations[annotation] = value;
}

json StoredObject::confirmation() const {
  return content.value(json::json_pointer("/status/deletionConfirmation"), json());
}

StoredObject stored(std::string_view kind, std::string_view name, json spec, std::string_view namespaceName) {
  const Dbops& one = kindOf(kind);
  StoredObject made;
  made.kind = kind;
  made.key = {dbopsType(one.resource), std::string(namespaceName), std::string(name)};
  made.content = {{"apiVersion", "dbops.dbprovision.io/v1alpha1"},
                  {"kind", kind},
                  {"metadata",
                   {{"name", name},
                    {"namespace", namespaceName},
                    {"uid", std::string(kind) + "-" + std::string(namespaceName) + "-" + std::string(name)},
                    {"annotations", json::object()},
                    {"finalizers", {"dbops.dbprovision.io/" + std::string(one.finalizer)}}}},
                  {"spec", std::move(spec)},
                  {"status", json::object()}};
  return made;
}

HoldPlan planFor(const StoredObject& object, HoldFacts facts) {
  return planFor(dbopsPolicy(kindOf(object.kind).policy), object, std::move(facts));
}

HoldPlan planFor(const DeletionPolicy& policy, const StoredObject& object, HoldFacts facts) {
  const kube::ObjectMeta meta = object.meta();
  const kube::Value content = kube::fromJson(object.content);
  Request request;
  request.object = object.key;
  request.kind = object.kind;
  request.meta = &meta;
  request.content = &content;
  facts.key = object.key;
  facts.kind = object.kind;
  facts.meta = &meta;
  facts.content = &content;
  facts.protectedBy = protectionOf(policy, request);
  return planHold(policy, facts);
}

HeldChild childOf(std::string_view kind, std::string_view name, std::string_view namespaceName) {
  return {{dbopsType(kindOf(kind).resource), std::string(namespaceName), std::string(name)},
          std::string(kind),
          std::string(kind) + "-" + std::string(namespaceName) + "-" + std::string(name),
          false,
          {}};
}

}  // namespace lastout::protection
