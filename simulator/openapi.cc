#include "simulator/openapi.h"

#include <openssl/sha.h>

#include <array>

#include "kube/encoding.h"
#include "simulator/discovery.h"
#include "simulator/openapi_schema.h"

namespace lastout::simulator {
namespace {

constexpr const char* kKind = "x-kubernetes-group-version-kind";

// "api/v1", "apis/apps/v1"
std::string pathOf(std::string_view group, std::string_view version) {
  std::string path = group.empty() ? "api/" : "apis/" + std::string(group) + "/";
  return path.append(version);
}

std::string collectionPathOf(const ServedType& type) {
  return "/" + pathOf(type.type.group, type.version) + (type.namespaced ? "/namespaces/{namespace}/" : "/") +
         type.type.resource;
}

Json parameter(const char* name, const char* in, const char* type) {
  Json json = {{"name", name}, {"in", in}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
  if (in == std::string_view("path")) json["required"] = true;
  return json;
}

Json operation(const ServedType& type, const char* action, const std::string& answer) {
  return {{"responses",
           {{"200",
             {{"description", "OK"},
              {"content", {{"application/json", {{"schema", componentReference(answer)}}}}}}}}},
          {"x-kubernetes-action", action},
          {kKind, groupVersionKind(type, type.kind)}};
}

// One of the type's writes, with what kubectl looks for in it. It names no kinds of patches: where it names
// the strategic merge, kubectl wants to merge by the schemas here; without, it merges by the types that it
// knows.
Json writeOf(const ServedType& type, const char* action) {
  Json write = operation(type, action, componentName(type));
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation"})
    write["parameters"].push_back(parameter(name, "query", "string"));
  if (action == std::string_view("patch"))
    write["parameters"].push_back(parameter("force", "query", "boolean"));
  return write;
}

Json collectionPath(const ServedType& type) {
  Json path = Json::object();
  if (type.allows("list")) path["get"] = operation(type, "list", componentName(type) + "List");
  if (type.allows("create")) path["post"] = writeOf(type, "post");
  if (type.namespaced) path["parameters"] = Json::array({parameter("namespace", "path", "string")});
  return path;
}

Json objectPath(const ServedType& type) {
  Json path = {{"parameters", Json::array({parameter("name", "path", "string")})}};
  if (type.namespaced) path["parameters"].push_back(parameter("namespace", "path", "string"));
  if (type.allows("get")) path["get"] = operation(type, "get", componentName(type));
  if (type.allows("update")) path["put"] = writeOf(type, "put");
  if (type.allows("patch")) path["patch"] = writeOf(type, "patch");
  return path;
}

Json infoOf(kube::KubernetesVersion kubernetes) {
  return {{"title", "Kubernetes"}, {"version", gitVersion(kubernetes)}};
}

std::string textOf(const std::vector<ServedTypePointer>& types, kube::KubernetesVersion kubernetes) {
  Json paths = Json::object();
  Components components;
  for (const ServedTypePointer& type : types) {
    paths[collectionPathOf(*type)] = collectionPath(*type);
    if (type->allows("get")) paths[collectionPathOf(*type) + "/{name}"] = objectPath(*type);
    addComponents(*type, components);
  }
  return toText({{"openapi", "3.0.0"},
                 {"info", infoOf(kubernetes)},
                 {"paths", std::move(paths)},
                 {"components", {{"schemas", std::move(components)}}}});
}

std::string hashOf(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hash;
  for (const unsigned char byte : digest) hash += kube::hexOf(byte);
  return hash;
}

// A protobuf field with a length: strings and messages.
std::string protobufField(int number, std::string_view content) {
  std::string bytes;
  bytes += static_cast<char>(number << 3 | 2);
  bytes += static_cast<char>(content.size());  // below 128: one byte
  return bytes.append(content);
}

}  // namespace

const OpenApi::Document& OpenApi::built(const TypeRegistry& types, const std::string& group,
                                        const std::string& version) {
  Document& document = documents_[{group, version}];
  std::vector<ServedTypePointer> wanted = types.typesOf(group, version);
  if (document.text != nullptr && document.types == wanted) return document;
  document.types = std::move(wanted);
  document.text = std::make_shared<const std::string>(textOf(document.types, types.kubernetes()));
  document.hash = hashOf(*document.text);
  return document;
}

Json OpenApi::index(const TypeRegistry& types) {
  const kube::MutexLock lock(mutex_);
  std::erase_if(documents_, [&types](const auto& document) {
    return types.typesOf(document.first.first, document.first.second).empty();
  });
  Json paths = Json::object();
  for (const ServedGroup& group : types.groups()) {
    for (const std::string& version : group.versions) {
      if (types.typesOf(group.name, version).empty()) continue;
      const std::string path = pathOf(group.name, version);
      const std::string& hash = built(types, group.name, version).hash;
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + hash}};
    }
  }
  return {{"paths", std::move(paths)}};
}

std::shared_ptr<const std::string> OpenApi::document(const TypeRegistry& types, const std::string& group,
                                                     const std::string& version) {
  if (types.typesOf(group, version).empty()) return nullptr;
  const kube::MutexLock lock(mutex_);
  return built(types, group, version).text;
}

Json openApiV2(kube::KubernetesVersion kubernetes) {
  return {{"swagger", "2.0"}, {"info", infoOf(kubernetes)}, {"paths", Json::object()}};
}

std::string openApiV2Protobuf(kube::KubernetesVersion kubernetes) {
  // Document: swagger = 1, info = 2, paths = 8; Info: title = 1, version = 2.
  const std::string info = protobufField(1, "Kubernetes") + protobufField(2, gitVersion(kubernetes));
  return protobufField(1, "2.0") + protobufField(2, info) + protobufField(8, "");
}

}  // namespace lastout::simulator
