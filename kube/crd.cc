// What a CustomResourceDefinition defines: ResourceMap::addCrd.
#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "kube/fields.h"
#include "kube/names.h"
#include "kube/quoting.h"
#include "kube/resource_map.h"

namespace lastout::kube {
namespace {

// "v2", "v1beta3": generally available before beta before alpha, then higher numbers first; anything else
// comes last, in the order of the alphabet (Kubernetes' "Version priority").
struct VersionRank {
  int stability = 3;  // 0: v1, 1: v1beta1, 2: v1alpha1, 3: other
  int64_t major = 0;
  int64_t minor = 0;
  std::string text;
  auto order() const { return std::tuple(stability, -major, -minor, std::string_view(text)); }
};

std::optional<int64_t> takeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || number <= 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  return number;
}

VersionRank rankOf(const std::string& version) {
  const VersionRank other{3, 0, 0, version};
  std::string_view rest = version;
  if (!rest.starts_with("v")) return other;
  rest.remove_prefix(1);
  const auto major = takeNumber(rest);
  if (!major) return other;
  if (rest.empty()) return {0, *major, 0, version};
  for (const auto& [word, stability] : {std::pair("beta", 1), std::pair("alpha", 2)}) {
    std::string_view number = rest;
    if (!number.starts_with(word)) continue;
    number.remove_prefix(std::string_view(word).size());
    const auto minor = takeNumber(number);
    if (minor && number.empty()) return {stability, *major, *minor, version};
  }
  return other;
}

// The version that clients are to prefer, of those that are served; empty when there is none.
std::string preferredVersion(Fields& spec) {
  std::optional<VersionRank> best;
  for (Fields& item : spec.items("versions")) {
    const std::string name = item.requiredString("name");
    if (!item.boolean("served").value_or(true)) continue;
    VersionRank rank = rankOf(name);
    if (!best || rank.order() < best->order()) best = std::move(rank);
  }
  return best ? best->text : "";
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
