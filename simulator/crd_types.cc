// What a CustomResourceDefinition defines: servedTypesOf.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kube/crd.h"
#include "kube/names.h"
#include "kube/value.h"
#include "kube/version.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"
#include "simulator/schema_rules.h"
#include "simulator/served_type.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kApproval = "api-approved.kubernetes.io";

// What all versions have in common.
ServedType commonPartOf(const kube::Crd& crd) {
  kube::ResourceType names = crd.resourceType();
  ServedType type;
  type.type = std::move(names.type);
  type.kind = std::move(names.kind);
  type.listKind = crd.listKind.empty() ? type.kind + "List" : crd.listKind;
  type.singular = std::move(names.singular);
  type.shortNames = std::move(names.shortNames);
  type.categories = crd.categories;
  type.namespaced = names.namespaced;
  type.tracksGeneration = true;
  type.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  return type;
}

ServedType versionOf(ServedType type, const kube::CrdVersion& version) {
  type.version = version.name;
  if (version.schema != nullptr) type.schema = kube::toSortedJson(*version.schema);
  type.columns = version.columns;
  if (version.hasStatus) type.subresources.push_back({"status", type.kind, {"get", "patch", "update"}});
  if (version.scale) type.subresources.push_back({"scale", "Scale", {"get", "patch", "update"}});
  type.scale = version.scale;
  return type;
}

void checkCrdWord(std::string_view key, std::string_view word, bool required,
                  std::vector<StatusCause>& causes) {
  const std::string field = "spec.names." + std::string(key);
  if (word.empty()) {
    if (required) causes.push_back(requiredField(field));
    return;
  }
  for (const std::string& problem : dns1035LabelProblems(kube::lowerCase(word))) {
    causes.push_back(invalidField(field, word, problem));
  }
}

// Groups under these names are Kubernetes' own; a CRD in one must name its approval.
bool isProtected(std::string_view group) {
  const auto within = [group](std::string_view domain) {
    return group == domain || group.ends_with("." + std::string(domain));
  };
  return within("k8s.io") || within("kubernetes.io");
}

// `approval`: the annotation that a protected group needs.
void checkCrdGroup(std::string_view group, std::string_view approval, std::vector<StatusCause>& causes) {
  if (group.empty()) {
    causes.push_back(requiredField("spec.group"));
    return;
  }
  for (const std::string& problem : subdomainProblems(group)) {
    causes.push_back(invalidField("spec.group", group, problem));
  }
  if (group.find('.') == std::string_view::npos) {
    causes.push_back(invalidField("spec.group", group, "should be a domain with at least one dot"));
  }
  if (isProtected(group) && approval.empty()) {
    causes.push_back(requiredField("metadata.annotations[" + std::string(kApproval) + "]",
                                   "protected groups must have approval annotation \"" +
                                       std::string(kApproval) +
                                       "\", see https://github.com/kubernetes/enhancements/pull/1111"));
  }
}

void checkCrdScope(std::string_view scope, std::vector<StatusCause>& causes) {
  if (scope.empty()) {
    causes.push_back(requiredField("spec.scope"));
  } else if (scope != "Namespaced" && scope != "Cluster") {
    causes.push_back(notSupported("spec.scope", scope, {"Cluster", "Namespaced"}));
  }
}

void checkCrdVersion(const kube::CrdVersion& version, const std::string& field,
                     std::vector<StatusCause>& causes) {
  if (version.name.empty()) causes.push_back(requiredField(field + ".name"));
  if (!version.name.empty() && !kube::isDns1035Label(version.name)) {
    for (const std::string& problem : dns1035LabelProblems(version.name))
      causes.push_back(invalidField(field + ".name", version.name, problem));
  }
  if (version.schema == nullptr || version.schema->asMap() == nullptr) {
    causes.push_back(requiredField(field + ".schema.openAPIV3Schema", "schemas are required"));
  } else if (const std::string& type = kube::textAt(*version.schema, {"type"});
             !type.empty() && type != "object") {
    causes.push_back(
        invalidField(field + ".schema.openAPIV3Schema.type", type, "must be object at the root"));
  }
}

void checkCrdVersions(const std::vector<kube::CrdVersion>& versions, std::vector<StatusCause>& causes) {
  Json names = Json::array();
  for (size_t i = 0; i < versions.size(); ++i) {
    checkCrdVersion(versions[i], "spec.versions[" + std::to_string(i) + "]", causes);
    const Json name = versions[i].name;
    if (std::ranges::find(names, name) != names.end())
      causes.push_back(invalidField("spec.versions", name, "must contain unique version names"));
    names.push_back(name);
  }
  if (std::ranges::count(versions, true, &kube::CrdVersion::isStored) != 1) {
    causes.push_back(
        invalidField("spec.versions", names, "must have exactly one version marked as storage version"));
  }
}

void checkCrdColumns(const std::vector<kube::PrinterColumn>& columns, const std::string& path,
                     std::vector<StatusCause>& causes) {
  static const std::vector<std::string> kTypes = {"boolean", "date", "integer", "number", "string"};
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    const std::string& jsonPath = columns[i].jsonPath;
    if (columns[i].name.empty()) causes.push_back(requiredField(place + ".name"));
    if (columns[i].type.empty()) causes.push_back(requiredField(place + ".type"));
    if (!columns[i].type.empty() && std::ranges::find(kTypes, columns[i].type) == kTypes.end())
      causes.push_back(invalidField(place + ".type", columns[i].type,
                                    "must be one of boolean,date,integer,number,string"));
    if (jsonPath.empty())
      causes.push_back(requiredField(place + ".JSONPath"));
    else if (jsonPath.front() != '.')
      causes.push_back(
          invalidField(place + ".JSONPath", jsonPath, "must be a simple json path starting with ."));
  }
}

void checkCrdName(const kube::Crd& crd, std::vector<StatusCause>& causes) {
  if (crd.name != crd.type.resource + "." + crd.type.group)
    causes.push_back(invalidField("metadata.name", crd.name, "must be spec.names.plural+\".\"+spec.group"));
}

}  // namespace

std::vector<StatusCause> definitionProblems(const Json& document) {
  const kube::Value value = kube::fromJson(document);
  kube::Errors ignored;
  const kube::Crd crd = kube::readCrd(value, "", ignored);
  std::vector<StatusCause> causes;
  const Json* given = at(document, {"spec", "versions"});
  const auto isShared = [given](std::string_view key) {
    return given != nullptr && given->is_array() && std::ranges::all_of(*given, [&](const Json& version) {
             const Json* own = at(version, {key});
             const Json* first = at(given->front(), {key});
             return own == first || (own != nullptr && first != nullptr && *own == *first);
           });
  };
  const bool sharesSchema = isShared("schema");
  const bool sharesColumns = isShared("additionalPrinterColumns");
  for (size_t i = 0; i < crd.versions.size(); ++i) {
    const std::string version = "spec.versions[" + std::to_string(i) + "].";
    if (crd.versions[i].schema != nullptr && (i == 0 || !sharesSchema))
      std::ranges::move(structureProblems(kube::toSortedJson(*crd.versions[i].schema),
                                          sharesSchema ? "spec.validation.openAPIV3Schema"
                                                       : version + "schema.openAPIV3Schema"),
                        std::back_inserter(causes));
    if (i == 0 || !sharesColumns)
      checkCrdColumns(crd.versions[i].columns,
                      (sharesColumns ? "spec." : version) + "additionalPrinterColumns", causes);
  }
  if (trueAt(document, {"spec", "preserveUnknownFields"}))
    causes.push_back(invalidField("spec.preserveUnknownFields", true,
                                  "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                  "spec.versions[*].schema instead"));
  return causes;
}

ApiResult<std::vector<ServedType>> servedTypesOf(const Json& document) {
  const kube::Value value = kube::fromJson(document);
  kube::Errors ignored;  // what has a wrong type counts as absent, and the checks below say what is required
  const kube::Crd crd = kube::readCrd(value, "", ignored);
  std::vector<StatusCause> causes;
  checkCrdName(crd, causes);
  checkCrdGroup(crd.type.group, kube::textAt(value, {"metadata", "annotations", kApproval}), causes);
  checkCrdScope(crd.scope, causes);
  checkCrdVersions(crd.versions, causes);
  checkCrdWord("plural", crd.type.resource, true, causes);
  checkCrdWord("singular", crd.singular, false, causes);
  checkCrdWord("kind", crd.kind, true, causes);
  checkCrdWord("listKind", crd.listKind, false, causes);
  if (!causes.empty())
    return tl::unexpected(invalid("CustomResourceDefinition", kube::kApiExtensionsGroup, crd.name, causes));
  const ServedType common = commonPartOf(crd);
  const auto stored = std::ranges::find(crd.versions, true, &kube::CrdVersion::isStored);
  std::vector<ServedType> served;
  for (const kube::CrdVersion& version : crd.versions) {
    if (!version.served.value_or(false)) continue;
    served.push_back(versionOf(common, version));
    served.back().storageVersionHash = storageVersionHash(common.type.group, stored->name, common.kind);
  }
  std::ranges::sort(served, kube::isPreferredVersion, &ServedType::version);
  return served;
}

}  // namespace lastout::simulator
