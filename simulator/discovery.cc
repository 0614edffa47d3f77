#include "simulator/discovery.h"

#include <algorithm>
#include <string>
#include <utility>

namespace lastout::simulator {
namespace {

std::string joinedVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

Json groupJson(const ServedGroup& group) {
  Json versions = Json::array();
  for (const std::string& version : group.versions) {
    versions.push_back({{"groupVersion", joinedVersion(group.name, version)}, {"version", version}});
  }
  Json json = {{"name", group.name}};
  json["preferredVersion"] = versions.front();
  json["versions"] = std::move(versions);
  return json;
}

Json resourceJson(const ServedType& type, kube::KubernetesVersion kubernetes) {
  const bool isNamed = !type.builtIn || kube::namesBuiltInTypesInSingular(kubernetes);
  Json json = {{"name", type.type.resource},
               {"singularName", isNamed ? type.singular : ""},
               {"namespaced", type.namespaced},
               {"kind", type.kind},
               {"verbs", type.verbs}};
  if (!type.shortNames.empty()) json["shortNames"] = type.shortNames;
  if (!type.categories.empty()) json["categories"] = type.categories;
  if (!type.storageVersionHash.empty()) json["storageVersionHash"] = type.storageVersionHash;
  return json;
}

Json subresourceJson(const ServedType& type, const Subresource& subresource) {
  Json json = {{"name", type.type.resource + "/" + subresource.name},
               {"singularName", ""},
               {"namespaced", type.namespaced},
               {"kind", subresource.kind},
               {"verbs", subresource.verbs}};
  if (subresource.name == "scale") {
    json["group"] = "autoscaling";
    json["version"] = "v1";
  }
  return json;
}

}  // namespace

std::string gitVersion(kube::KubernetesVersion kubernetes) {
  return "v" + std::string(toString(kubernetes)) + ".0+lastout";
}

Json versionInfo(kube::KubernetesVersion kubernetes) {
  const std::string_view version = toString(kubernetes);
  const std::string minor(version.substr(version.find('.') + 1));
  Json info = {{"major", "1"},    {"minor", minor},          {"gitVersion", gitVersion(kubernetes)},
               {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
               {"goVersion", ""}, {"compiler", ""},          {"platform", "linux/amd64"}};
  if (!kube::tellsEmulatedVersion(kubernetes)) return info;
  info["emulationMajor"] = "1";
  info["emulationMinor"] = minor;
  info["minCompatibilityMajor"] = "1";
  info["minCompatibilityMinor"] = std::to_string(std::stoi(minor) - 1);
  return info;
}

Json coreVersions(std::string_view serverAddress) {
  return {{"kind", "APIVersions"},
          {"versions", {"v1"}},
          {"serverAddressByClientCIDRs", {{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", serverAddress}}}}};
}

Json groupList(const TypeRegistry& types) {
  Json groups = Json::array();
  for (const ServedGroup& group : types.groups()) {
    if (!group.name.empty()) groups.push_back(groupJson(group));
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<Json> groupOf(const TypeRegistry& types, std::string_view group) {
  const std::vector<ServedGroup> groups = types.groups();
  const auto found = std::ranges::find(groups, group, &ServedGroup::name);
  if (group.empty() || found == groups.end()) return std::nullopt;
  Json json = groupJson(*found);
  json["kind"] = "APIGroup";
  json["apiVersion"] = "v1";
  return json;
}

std::optional<Json> resourceList(const TypeRegistry& types, std::string_view group,
                                 std::string_view version) {
  Json resources = Json::array();
  for (const ServedTypePointer& type : types.typesOf(group, version)) {
    resources.push_back(resourceJson(*type, types.kubernetes()));
    for (const Subresource& subresource : type->subresources)
      resources.push_back(subresourceJson(*type, subresource));
  }
  if (resources.empty()) return std::nullopt;
  Json list = {{"kind", "APIResourceList"}, {"groupVersion", joinedVersion(group, version)}};
  if (!group.empty()) list["apiVersion"] = "v1";  // the core group's has none (rest/004)
  list["resources"] = std::move(resources);
  return list;
}

}  // namespace lastout::simulator
