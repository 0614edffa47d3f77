// What a CustomResourceDefinition defines: ResourceMap::addCrd.
#include <algorithm>

#include "kube/fields.h"
#include "kube/names.h"
#include "kube/quoting.h"
#include "kube/resource_map.h"
#include "kube/version.h"

namespace lastout::kube {
namespace {

// The version that clients are to prefer, of those that are served; empty when there is none.
std::string preferredVersion(Fields& spec) {
  std::string best;
  for (Fields& item : spec.items("versions")) {
    std::string name = item.requiredString("name");
    if (!item.boolean("served").value_or(true)) continue;
    if (best.empty() || isPreferredVersion(name, best)) best = std::move(name);
  }
  return best;
}

// The API server's own rules, so that a type's words never look like anything else in a reference.
void checkNames(const ResourceType& type, Fields& spec, Fields& names) {
  if (!isDnsSubdomain(type.type.group) || type.type.group.find('.') == std::string::npos) {
    spec.fail("group", "spec.group " + inQuotes(type.type.group) + " must be a domain with at least one dot");
  }
  const auto check = [&names](std::string_view key, const std::string& name) {
    if (!isServiceName(name))
      names.fail(key,
                 names.pathOf(key) + " " + inQuotes(name) + " must be lower case letters, digits and \"-\"");
  };
  if (!isServiceName(lowerCase(type.kind))) {
    names.fail("kind", "spec.names.kind " + inQuotes(type.kind) + " must be letters, digits and \"-\"");
  }
  check("plural", type.type.resource);
  check("singular", type.singular);
  for (const std::string& name : type.shortNames) check("shortNames", name);
}

ResourceType readType(Fields& document, Errors& errors) {
  ResourceType type;
  document.fields("metadata");
  auto spec = document.requiredFields("spec");
  if (!spec) return type;
  type.type.group = spec->requiredString("group");
  const std::string scope = spec->requiredString("scope");
  if (!scope.empty() && scope != "Namespaced" && scope != "Cluster") {
    spec->fail("scope", "spec.scope must be Namespaced or Cluster, not " + inQuotes(scope));
  }
  type.namespaced = scope == "Namespaced";
  const size_t before = errors.size();
  type.version = preferredVersion(*spec);
  if (type.version.empty() && errors.size() == before)
    spec->fail("versions", "spec.versions has no version that is served");
  auto names = spec->requiredFields("names");
  if (!names) return type;
  type.type.resource = names->requiredString("plural");
  type.kind = names->requiredString("kind");
  type.singular = names->string("singular").value_or("");
  if (type.singular.empty()) type.singular = lowerCase(type.kind);
  type.shortNames = names->strings("shortNames");
  if (errors.empty()) checkNames(type, *spec, *names);
  return type;
}

}  // namespace

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
  Fields document(crd, file, "", errors);
  ResourceType type = readType(document, errors);
  if (!errors.empty()) return tl::unexpected(errors.front());

  const Value* name = crd.at({"metadata", "name"});
  const auto fail = [&](const Value* where, std::string message) {
    return tl::unexpected(
        Error{std::move(message), std::string(file), (where == nullptr ? crd : *where).position});
  };
  if (name == nullptr || name->asString() == nullptr || *name->asString() != crdName(type.type)) {
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
