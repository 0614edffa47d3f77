#include "tests/server/scripted_api.h"

#include <algorithm>
#include <utility>

namespace lastout::testing {
namespace {

constexpr const char* kDeletedAt = "2026-11-01T10:00:00Z";

std::string withoutStatus(std::string path) {
  if (path.ends_with("/status")) path.resize(path.size() - std::string("/status").size());
  return path;
}

}  // namespace

void ScriptedApi::put(const std::string& path, const Json& object) {
  objects_[path] = object;
  changed(path);
}

const ScriptedApi::Json* ScriptedApi::find(const std::string& path) const {
  const auto found = objects_.find(path);
  return found == objects_.end() ? nullptr : &found->second;
}

void ScriptedApi::refuse(const std::string& method, const std::string& ending, int status,
                         std::string message) {
  if (message.empty()) message = "refused by the script";
  refusals_.push_back({method, ending, status, std::move(message)});
}

std::string ScriptedApi::takeWrites() { return std::exchange(writes_, {}); }

std::map<std::string, ScriptedApi::Json> ScriptedApi::takeChanged() { return std::exchange(changed_, {}); }

kube::Result<client::ApiAnswer> ScriptedApi::exchange(const client::ApiRequest& request, const Take& take) {
  const Said said = answer(request);
  if (said.status == 0) return tl::unexpected(kube::Error{"the server does not answer", {}, {}});
  take(said.status, "");
  take(said.status, said.body.dump());
  return client::ApiAnswer{said.status, {}};
}

ScriptedApi::Said ScriptedApi::answer(const client::ApiRequest& request) {
  const std::string target = request.target.substr(0, request.target.find('?'));
  const std::string path = withoutStatus(target);
  if (request.method != "GET") note(request, target);
  const auto refusal = std::ranges::find_if(refusals_, [&](const Refusal& one) {
    return one.method == request.method && target.ends_with(one.ending);
  });
  if (refusal != refusals_.end()) {
    const Refusal refused = *refusal;
    refusals_.erase(refusal);
    return failure(refused.status, refused.message);
  }
  if (request.method == "GET" && request.target.find('?') != std::string::npos) return list(path);
  if (!objects_.contains(path)) return failure(404, "not found");
  if (request.method == "GET") return {200, objects_.at(path)};
  if (request.method == "PATCH") return patch(path, Json::parse(request.body));
  if (request.method == "DELETE") return remove(path, Json::parse(request.body));
  return failure(405, "not allowed");
}

// Of all namespaces: a collection's path has none.
ScriptedApi::Said ScriptedApi::list(const std::string& collection) const {
  const size_t slash = collection.rfind('/');
  const std::string resource = collection.substr(slash) + "/";
  Json items = Json::array();
  for (const auto& [path, object] : objects_)
    if (path.starts_with(collection.substr(0, slash)) && path.find(resource) != std::string::npos)
      items.push_back(object);
  return {200,
          {{"apiVersion", "v1"},
           {"kind", "List"},
           {"metadata", {{"resourceVersion", std::to_string(version_)}}},
           {"items", std::move(items)}}};
}

ScriptedApi::Said ScriptedApi::patch(const std::string& path, const Json& change) {
  Json& object = objects_.at(path);
  const Json& meant = change.at("metadata");
  for (const char* key : {"uid", "resourceVersion"})
    if (meant.contains(key) && meant.at(key) != object["metadata"][key])
      return failure(409, "the object has been modified");
  object.merge_patch(change);
  const Json answer = object;
  changed(path);
  return {200, changed_.at(path).is_null() ? answer : changed_.at(path)};
}

ScriptedApi::Said ScriptedApi::remove(const std::string& path, const Json& options) {
  Json& object = objects_.at(path);
  if (options.at("preconditions").at("uid") != object["metadata"]["uid"])
    return failure(409, "another object has that name");
  object["metadata"]["deletionTimestamp"] = kDeletedAt;
  const Json answer = object;
  changed(path);
  return {200, answer};
}

// What terminates and has no finalizer left is gone.
void ScriptedApi::changed(const std::string& path) {
  Json& object = objects_.at(path);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  const Json& metadata = object["metadata"];
  changed_[path] = object;
  const bool isFinalized = metadata.value("finalizers", Json::array()).empty();
  if (!metadata.contains("deletionTimestamp") || !isFinalized) return;
  changed_[path] = nullptr;
  objects_.erase(path);
}

void ScriptedApi::note(const client::ApiRequest& request, const std::string& path) {
  Json body = Json::parse(request.body);
  writes_ += request.method + " " + path + "\n";
  if (body.contains("metadata")) {
    body["metadata"].erase("uid");
    body["metadata"].erase("resourceVersion");
    if (body["metadata"].empty()) body.erase("metadata");
  }
  if (request.method == "PATCH") writes_ += "  " + body.dump() + "\n";
}

ScriptedApi::Said ScriptedApi::failure(int status, const std::string& message) {
  return {status,
          {{"apiVersion", "v1"},
           {"kind", "Status"},
           {"status", "Failure"},
           {"message", message},
           {"code", status}}};
}

}  // namespace lastout::testing
