#include "kube/crd.h"

#include <algorithm>

#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/value.h"
#include "kube/version.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

std::vector<PrinterColumn> columnsOf(const Value& version) {
  const Value::List& list = listAt(version, {"additionalPrinterColumns"});
  std::vector<PrinterColumn> columns;
  columns.reserve(list.size());
  for (const Value& item : list) {
    PrinterColumn column{.name = textAt(item, {"name"}),
                         .type = textAt(item, {"type"}),
                         .format = textAt(item, {"format"}),
                         .description = textAt(item, {"description"}),
                         .jsonPath = textAt(item, {"jsonPath"})};
    const Value* priority = item.find("priority");
    if (priority != nullptr && priority->asInteger() != nullptr)
      column.priority = static_cast<int>(*priority->asInteger());
    columns.push_back(std::move(column));
  }
  return columns;
}

CrdVersion readVersion(Fields& fields) {
  const Value& version = fields.value();
  const auto isMap = [](const Value* value) { return value != nullptr && value->asMap() != nullptr; };
  const auto isTrue = [](const Value* value) {
    return value != nullptr && value->asBool() != nullptr && *value->asBool();
  };
  CrdVersion read;
  read.name = fields.requiredString("name");
  read.served = fields.boolean("served");
  read.isStored = isTrue(version.find("storage"));
  read.schema = version.at({"schema", "openAPIV3Schema"});
  read.columns = columnsOf(version);
  read.hasStatus = isMap(version.at({"subresources", "status"}));
  if (const Value* scale = version.at({"subresources", "scale"}); isMap(scale)) {
    read.scale = {.replicas = textAt(*scale, {"specReplicasPath"}),
                  .statusReplicas = textAt(*scale, {"statusReplicasPath"}),
                  .selector = textAt(*scale, {"labelSelectorPath"})};
  }
  return read;
}

std::vector<std::string> textsOf(const Value::List& list) {
  std::vector<std::string> texts;
  for (const Value& item : list) {
    if (item.asString() != nullptr) texts.push_back(*item.asString());
  }
  return texts;
}

// Adds what keeps a ResourceMap from taking the type: the API server's own rules, so that a type's words
// never look like anything else in a reference.
void checkCrd(const Crd& crd, const ResourceType& type, Fields& spec, Fields& names) {
  if (crd.scope != "Namespaced" && crd.scope != "Cluster")
    spec.fail("scope", "spec.scope must be Namespaced or Cluster, not " + inQuotes(crd.scope));
  if (type.version.empty()) spec.fail("versions", "spec.versions has no version that is served");
  if (!isDnsSubdomain(type.type.group) || type.type.group.find('.') == std::string::npos) {
    spec.fail("group", "spec.group " + inQuotes(type.type.group) + " must be a domain with at least one dot");
  }
  const auto check = [&names](std::string_view key, const std::string& name) {
    if (!isDns1035Label(name))
      names.fail(key,
                 names.pathOf(key) + " " + inQuotes(name) + " must be lower case letters, digits and \"-\"");
  };
  if (!isDns1035Label(lowerCase(type.kind))) {
    names.fail("kind", "spec.names.kind " + inQuotes(type.kind) + " must be letters, digits and \"-\"");
  }
  check("plural", type.type.resource);
  check("singular", type.singular);
  for (const std::string& name : type.shortNames) check("shortNames", name);
}

}  // namespace

ResourceType Crd::resourceType() const {
  ResourceType result{.type = type,
                      .kind = kind,
                      .version = {},
                      .singular = singular.empty() ? lowerCase(kind) : singular,
                      .shortNames = shortNames,
                      .namespaced = scope == "Namespaced"};
  for (const CrdVersion& version : versions) {
    if (!version.served.value_or(true)) continue;
    if (result.version.empty() || isPreferredVersion(version.name, result.version))
      result.version = version.name;
  }
  return result;
}

Crd readCrd(const Value& document, std::string_view file, Errors& errors) {
  Crd crd;
  Fields fields(document, file, "", errors);
  fields.fields("metadata");
  crd.name = textAt(document, {"metadata", "name"});
  auto spec = fields.requiredFields("spec");
  if (!spec) return crd;
  crd.type.group = spec->requiredString("group");
  crd.scope = spec->requiredString("scope");
  if (const Value* versions = spec->list("versions")) {
    const Value::List& list = *versions->asList();
    crd.versions.reserve(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      Fields version(list[i], file, spec->pathOf("versions") + "[" + std::to_string(i) + "]", errors);
      crd.versions.push_back(readVersion(version));
    }
  }
  auto names = spec->requiredFields("names");
  if (!names) return crd;
  crd.type.resource = names->requiredString("plural");
  crd.kind = names->requiredString("kind");
  crd.listKind = textAt(names->value(), {"listKind"});
  crd.singular = names->string("singular").value_or("");
  crd.shortNames = names->strings("shortNames");
  crd.categories = textsOf(listAt(names->value(), {"categories"}));
  return crd;
}

// Another type of the same group that has the plural, singular or kind of `type`; nullptr when there is none.
const ResourceType* ResourceMap::sameName(const ResourceType& type) const {
  for (const std::string& word : {type.type.resource, type.singular, lowerCase(type.kind)}) {
    for (const Meaning& meaning : meanings(word + "." + type.type.group)) {
      if (meaning.rank != WordRank::ShortName && types_[meaning.type].type != type.type)
        return &types_[meaning.type];
    }
  }
  return nullptr;
}

Result<ResourceType> ResourceMap::addCrd(const Value& crd, std::string_view file) {
  Errors errors;
  if (const std::string& apiVersion = textAt(crd, {"apiVersion"});
      !apiVersion.empty() && apiVersion != kApiExtensionsApiVersion) {
    Fields document(crd, file, "", errors);
    document.fail("apiVersion", "apiVersion " + inQuotes(apiVersion) +
                                    " of a CustomResourceDefinition is not served: write " +
                                    inQuotes(kApiExtensionsApiVersion) + ", and its spec accordingly");
    return tl::unexpected(errors.front());
  }
  const Crd read = readCrd(crd, file, errors);
  ResourceType type = read.resourceType();
  if (errors.empty()) {
    Fields spec(*crd.find("spec"), file, "spec", errors);
    Fields names(*crd.at({"spec", "names"}), file, "spec.names", errors);
    checkCrd(read, type, spec, names);
  }
  if (!errors.empty()) return tl::unexpected(errors.front());

  const Value* name = crd.at({"metadata", "name"});
  const auto fail = [&](const Value* where, std::string message) {
    return tl::unexpected(
        Error{std::move(message), std::string(file), (where == nullptr ? crd : *where).position});
  };
  if (read.name != crdName(type.type)) {
    return fail(name, "metadata.name must be \"" + crdName(type.type) +
                          "\": spec.names.plural, a dot, and spec.group");
  }
  const ResourceType* known = find(type.type);
  if (known != nullptr && known->builtIn) {
    return fail(name,
                toString(type.type) + " is built into Kubernetes; no CustomResourceDefinition can define it");
  }
  if (const ResourceType* other = sameName(type)) {
    const std::string message =
        "the names of " + toString(type.type) + " are taken by " + toString(other->type);
    return fail(crd.at({"spec", "names"}), message);
  }
  add(type);
  return type;
}

}  // namespace lastout::kube
