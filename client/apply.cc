#include "client/apply.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/api_server.h"
#include "client/writes.h"
#include "kube/encoding.h"
#include "kube/value.h"

namespace lastout::client {
namespace {

using kube::Json;

constexpr int kMostAttempts = 5;  // while others write the same object

std::string textIn(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : std::string();
}

// What apply() is about.
Json meant(const Json& object) {
  Json part;
  for (const char* pointer : {"/spec", "/metadata/labels", "/metadata/annotations"}) {
    const Json::json_pointer at(pointer);
    if (object.contains(at)) part[pointer] = object.at(at);
  }
  return part;
}

kube::Error told(const std::string& name, const ServerStatus& status) {
  if (status.code == 404 && !isAboutObject(status, name))
    return {name + ": its type is not served there: apply deploy/crd/ first", {}, {}};
  return {name + ": " + toString(status), {}, {}};
}

// The object as it stands; nullopt: there is none.
kube::Result<std::optional<Json>> readObject(ApiServer& server, const std::string& path,
                                             const std::string& name) {
  ApiRequest request;
  request.target = path;
  const auto whole = fetch(server, request);
  if (!whole) return tl::unexpected(whole.error());
  if (whole->answer.status != 200) {
    const ServerStatus status = statusOfAnswer(*whole);
    if (isAboutObject(status, name)) return std::nullopt;
    return tl::unexpected(told(name, status));
  }
  Json object = Json::parse(whole->body, nullptr, false);
  if (!object.is_object() || textIn(object, "/metadata/uid").empty())
    return tl::unexpected(kube::Error{name + ": the server's answer is no object", {}, {}});
  return object;
}

Json merged(Json standing, const Json& wanted) {
  standing["spec"] = wanted.at("spec");
  for (const char* key : {"labels", "annotations"}) {
    if (wanted.at("metadata").contains(key)) standing["metadata"][key].update(wanted.at("metadata").at(key));
  }
  return standing;
}

std::string tried(const std::string& path, bool isTrial) { return isTrial ? path + "?dryRun=All" : path; }

}  // namespace

kube::Result<Applied> apply(ApiServer& server, const kube::ResourceType& type, const Json& object,
                            bool isTrial) {
  const std::string name = textIn(object, "/metadata/name");
  const std::string space = textIn(object, "/metadata/namespace");
  const std::string path = objectPath(type, space, name);
  ServerStatus refused;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const auto standing = readObject(server, path, name);
    if (!standing) return tl::unexpected(standing.error());
    if (*standing && !textIn(**standing, "/metadata/deletionTimestamp").empty())
      return tl::unexpected(
          kube::Error{name + ": the one that is there is being deleted: try again when it is gone", {}, {}});
    const ApiRequest request = *standing ? replacement(tried(path, isTrial), merged(**standing, object))
                                         : creation(tried(collectionPath(type, space), isTrial), object);
    const auto whole = fetch(server, request);
    if (!whole) return tl::unexpected(whole.error());
    if (whole->answer.status / 100 == 2) {
      if (!*standing) return Applied::Created;
      const Json now = Json::parse(whole->body, nullptr, false);
      return meant(now) == meant(**standing) ? Applied::Unchanged : Applied::Updated;
    }
    refused = statusOfAnswer(*whole);
    if (refused.code != 409) break;
  }
  return tl::unexpected(told(name, refused));
}

kube::Result<bool> removeObject(ApiServer& server, const kube::ResourceType& type,
                                const std::string& namespaceName, const std::string& name, bool isTrial) {
  const std::string path = objectPath(type, namespaceName, name);
  ServerStatus refused;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const auto standing = readObject(server, path, name);
    if (!standing) return tl::unexpected(standing.error());
    if (!*standing) return false;
    const auto whole = fetch(server, deletion(tried(path, isTrial), textIn(**standing, "/metadata/uid"),
                                              textIn(**standing, "/metadata/resourceVersion")));
    if (!whole) return tl::unexpected(whole.error());
    if (whole->answer.status / 100 == 2) return true;
    refused = statusOfAnswer(*whole);
    if (isAboutObject(refused, name)) return false;
    if (refused.code != 409) break;
  }
  return tl::unexpected(told(name, refused));
}

kube::Result<std::vector<std::string>> namesWithLabel(ApiServer& server, const kube::ResourceType& type,
                                                      const std::string& label, const std::string& value) {
  ApiRequest request;
  request.target = collectionPath(type) + "?labelSelector=" + kube::percentEncoded(label + "=" + value);
  const auto whole = fetch(server, request);
  if (!whole) return tl::unexpected(whole.error());
  const std::string called = toString(type.type);
  if (whole->answer.status != 200) return tl::unexpected(told(called, statusOfAnswer(*whole)));
  const Json list = Json::parse(whole->body, nullptr, false);
  if (!list.is_object() || !list.contains("items") || !list.at("items").is_array())
    return tl::unexpected(kube::Error{called + ": the server's answer is no list", {}, {}});
  std::vector<std::string> names;
  for (const Json& item : list.at("items")) names.push_back(textIn(item, "/metadata/name"));
  return names;
}

}  // namespace lastout::client
