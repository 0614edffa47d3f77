#include "simulator/discovery.h"

#include <algorithm>
#include <utility>

namespace lastout::simulator {
namespace {

constexpr std::string_view kGitVersion = "v1.26.0+lastout";

std::string joinedVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

// "api/v1", "apis/apps/v1"
std::string pathOf(std::string_view group, std::string_view version) {
  return (group.empty() ? "api/" : "apis/") + joinedVersion(group, version);
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

Json resourceJson(const ServedType& type) {
  Json json = {{"name", type.type.resource},
               {"singularName", type.builtIn ? "" : type.singular},  // 1.26 leaves built-in types without one
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

// The PATCH of one type, with what kubectl looks for in it. It names no kinds of patches: where it names the
// strategic merge, kubectl wants schemas here and warns that there are none; without, it merges by the types
// that it knows.
Json patchOf(const ServedType& type) {
  Json parameters = Json::array();
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
    parameters.push_back(
        {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}, {"uniqueItems", true}}}});
  }
  parameters.push_back(
      {{"name", "force"}, {"in", "query"}, {"schema", {{"type", "boolean"}, {"uniqueItems", true}}}});
  return {{"parameters", std::move(parameters)},
          {"responses", {{"200", {{"description", "OK"}}}}},
          {"x-kubernetes-action", "patch"},
          {"x-kubernetes-group-version-kind",
           {{"group", type.type.group}, {"version", type.version}, {"kind", type.kind}}}};
}

std::string objectPathOf(const ServedType& type) {
  return "/" + pathOf(type.type.group, type.version) + (type.namespaced ? "/namespaces/{namespace}/" : "/") +
         type.type.resource + "/{name}";
}

Json openApiInfo() { return {{"title", "Kubernetes"}, {"version", kGitVersion}}; }

// A protobuf field with a length: strings and messages.
std::string protobufField(int number, std::string_view content) {
  std::string bytes;
  bytes += static_cast<char>(number << 3 | 2);
  bytes += static_cast<char>(content.size());  // below 128: one byte
  return bytes.append(content);
}

}  // namespace

Json versionInfo() {
  return {{"major", "1"},    {"minor", "26"},           {"gitVersion", kGitVersion},
          {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""}, {"compiler", ""},          {"platform", "linux/amd64"}};
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
    resources.push_back(resourceJson(*type));
    for (const Subresource& subresource : type->subresources)
      resources.push_back(subresourceJson(*type, subresource));
  }
  if (resources.empty()) return std::nullopt;
  Json list = {{"kind", "APIResourceList"}, {"groupVersion", joinedVersion(group, version)}};
  if (!group.empty()) list["apiVersion"] = "v1";  // the core group's has none (rest/004)
  list["resources"] = std::move(resources);
  return list;
}

Json openApiIndex(const TypeRegistry& types) {
  Json paths = Json::object();
  for (const ServedGroup& group : types.groups()) {
    for (const std::string& version : group.versions) {
      const std::string path = pathOf(group.name, version);
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path}};
    }
  }
  return {{"paths", std::move(paths)}};
}

std::optional<Json> openApiOf(const TypeRegistry& types, std::string_view group, std::string_view version) {
  Json paths = Json::object();
  for (const ServedTypePointer& type : types.typesOf(group, version)) {
    if (type->allows("patch")) paths[objectPathOf(*type)] = {{"patch", patchOf(*type)}};
  }
  if (paths.empty() && types.typesOf(group, version).empty()) return std::nullopt;
  return Json{{"openapi", "3.0.0"}, {"info", openApiInfo()}, {"paths", std::move(paths)}};
}

Json openApiV2() { return {{"swagger", "2.0"}, {"info", openApiInfo()}, {"paths", Json::object()}}; }

std::string openApiV2Protobuf() {
  // Document: swagger = 1, info = 2, paths = 8; Info: title = 1, version = 2.
  const std::string info = protobufField(1, "Kubernetes") + protobufField(2, kGitVersion);
  return protobufField(1, "2.0") + protobufField(2, info) + protobufField(8, "");
}

}  // namespace lastout::simulator
