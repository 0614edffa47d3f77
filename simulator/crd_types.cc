// What a CustomResourceDefinition defines: servedTypesOf.
#include <algorithm>
#include <utility>

#include "kube/names.h"
#include "kube/version.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"
#include "simulator/name_words.h"
#include "simulator/served_type.h"

namespace lastout::simulator {
namespace {

PrinterColumn columnOf(const Json& json) {
  PrinterColumn column;
  column.name = stringAt(json, {"name"});
  column.type = stringAt(json, {"type"});
  column.format = stringAt(json, {"format"});
  column.description = stringAt(json, {"description"});
  column.jsonPath = stringAt(json, {"jsonPath"});
  const Json* priority = at(json, {"priority"});
  if (priority != nullptr && priority->is_number_integer()) column.priority = priority->get<int>();
  return column;
}

// What all versions have in common.
ServedType commonPartOf(const Json& crd) {
  ServedType type;
  type.type = {std::string(stringAt(crd, {"spec", "group"})),
               std::string(stringAt(crd, {"spec", "names", "plural"}))};
  type.kind = stringAt(crd, {"spec", "names", "kind"});
  type.listKind = stringAt(crd, {"spec", "names", "listKind"});
  if (type.listKind.empty()) type.listKind = type.kind + "List";
  type.singular = stringAt(crd, {"spec", "names", "singular"});
  if (type.singular.empty()) type.singular = kube::lowerCase(type.kind);
  type.shortNames = wordsAt(crd, {"spec", "names", "shortNames"});
  type.categories = wordsAt(crd, {"spec", "names", "categories"});
  type.namespaced = stringAt(crd, {"spec", "scope"}) == "Namespaced";
  type.tracksGeneration = true;
  type.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  return type;
}

ServedType versionOf(ServedType type, const Json& version) {
  type.version = stringAt(version, {"name"});
  if (const Json* schema = at(version, {"schema", "openAPIV3Schema"})) type.schema = *schema;
  if (const Json* columns = at(version, {"additionalPrinterColumns"}); columns && columns->is_array()) {
    for (const Json& column : *columns) type.columns.push_back(columnOf(column));
  }
  const Json* status = at(version, {"subresources", "status"});
  if (status != nullptr && status->is_object()) {
    type.subresources.push_back({"status", type.kind, {"get", "patch", "update"}});
  }
  const Json* scale = at(version, {"subresources", "scale"});
  if (scale != nullptr && scale->is_object()) {
    type.subresources.push_back({"scale", "Scale", {"get", "patch", "update"}});
    type.scale = {std::string(stringAt(*scale, {"specReplicasPath"})),
                  std::string(stringAt(*scale, {"statusReplicasPath"})),
                  std::string(stringAt(*scale, {"labelSelectorPath"}))};
  }
  return type;
}

void checkCrdWord(const Json& crd, std::string_view key, bool required, std::vector<Cause>& causes) {
  const std::string_view word = stringAt(crd, {"spec", "names", key});
  const std::string field = "spec.names." + std::string(key);
  if (word.empty()) {
    if (required) causes.push_back(requiredField(field));
    return;
  }
  for (const std::string& problem : serviceNameProblems(kube::lowerCase(word))) {
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

void checkCrdGroup(const Json& crd, std::vector<Cause>& causes) {
  const std::string_view group = stringAt(crd, {"spec", "group"});
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
  constexpr std::string_view kApproval = "api-approved.kubernetes.io";
  if (isProtected(group) && stringAt(crd, {"metadata", "annotations", kApproval}).empty()) {
    causes.push_back(requiredField("metadata.annotations[" + std::string(kApproval) + "]",
                                   "protected groups must have approval annotation \"" +
                                       std::string(kApproval) +
                                       "\", see https://github.com/kubernetes/enhancements/pull/1111"));
  }
}

void checkCrdScope(const Json& crd, std::vector<Cause>& causes) {
  const std::string_view scope = stringAt(crd, {"spec", "scope"});
  if (scope.empty()) {
    causes.push_back(requiredField("spec.scope"));
  } else if (scope != "Namespaced" && scope != "Cluster") {
    causes.push_back(notSupported("spec.scope", scope, {"Cluster", "Namespaced"}));
  }
}

// Returns how many versions are the stored one.
size_t checkCrdVersion(const Json& version, const std::string& field, std::vector<Cause>& causes) {
  const std::string_view name = stringAt(version, {"name"});
  if (name.empty()) causes.push_back(requiredField(field + ".name"));
  if (!name.empty() && !kube::isServiceName(name)) {
    for (const std::string& problem : serviceNameProblems(name))
      causes.push_back(invalidField(field + ".name", name, problem));
  }
  const Json* schema = at(version, {"schema", "openAPIV3Schema"});
  if (schema == nullptr || !schema->is_object()) {
    causes.push_back(requiredField(field + ".schema.openAPIV3Schema", "schemas are required"));
  } else if (stringAt(*schema, {"type"}) != "object") {
    causes.push_back(invalidField(field + ".schema.openAPIV3Schema.type", stringAt(*schema, {"type"}),
                                  "must be object at the root"));
  }
  return trueAt(version, {"storage"}) ? 1 : 0;
}

void checkCrdVersions(const Json& crd, std::vector<Cause>& causes) {
  const Json* versions = at(crd, {"spec", "versions"});
  size_t stored = 0;
  Json names = Json::array();
  if (versions != nullptr && versions->is_array()) {
    for (size_t i = 0; i < versions->size(); ++i) {
      const std::string field = "spec.versions[" + std::to_string(i) + "]";
      stored += checkCrdVersion((*versions)[i], field, causes);
      const Json name = stringAt((*versions)[i], {"name"});
      if (std::ranges::find(names, name) != names.end())
        causes.push_back(invalidField("spec.versions", name, "must contain unique version names"));
      names.push_back(name);
    }
  }
  if (stored != 1) {
    causes.push_back(
        invalidField("spec.versions", names, "must have exactly one version marked as storage version"));
  }
}

void checkCrdName(const Json& crd, std::vector<Cause>& causes) {
  const std::string_view name = stringAt(crd, {"metadata", "name"});
  const std::string wanted = std::string(stringAt(crd, {"spec", "names", "plural"})) + "." +
                             std::string(stringAt(crd, {"spec", "group"}));
  if (name != wanted)
    causes.push_back(invalidField("metadata.name", name, "must be spec.names.plural+\".\"+spec.group"));
}

}  // namespace

ApiResult<std::vector<ServedType>> servedTypesOf(const Json& crd) {
  std::vector<Cause> causes;
  checkCrdName(crd, causes);
  checkCrdGroup(crd, causes);
  checkCrdScope(crd, causes);
  checkCrdVersions(crd, causes);
  checkCrdWord(crd, "plural", true, causes);
  checkCrdWord(crd, "singular", false, causes);
  checkCrdWord(crd, "kind", true, causes);
  checkCrdWord(crd, "listKind", false, causes);
  if (!causes.empty()) {
    return tl::unexpected(invalid("CustomResourceDefinition", kube::kApiExtensionsGroup,
                                  stringAt(crd, {"metadata", "name"}), causes));
  }
  const ServedType common = commonPartOf(crd);
  std::vector<ServedType> served;
  std::string stored;
  for (const Json& version : crd["spec"]["versions"]) {
    if (trueAt(version, {"storage"})) stored = stringAt(version, {"name"});
    if (trueAt(version, {"served"})) served.push_back(versionOf(common, version));
  }
  for (ServedType& version : served) {
    version.storageVersionHash = storageVersionHash(version.type.group, stored, version.kind);
  }
  std::ranges::sort(served, kube::isPreferredVersion, &ServedType::version);
  return served;
}

}  // namespace lastout::simulator
