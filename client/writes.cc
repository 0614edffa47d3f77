#include "client/writes.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "client/api_server.h"
#include "kube/encoding.h"
#include "kube/value.h"

namespace lastout::client {
namespace {

using kube::Json;

ApiRequest writing(const char* method, std::string target, const char* contentType, const Json& body) {
  ApiRequest request;
  request.method = method;
  request.target = std::move(target);
  request.contentType = contentType;
  request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  const Json* meant = nullptr;  // what says which version of the object
  for (const char* name : {"metadata", "preconditions"}) {
    if (body.contains(name)) meant = &body.at(name);
  }
  request.isRepeatable = meant != nullptr && !meant->value("resourceVersion", "").empty();
  return request;
}

}  // namespace

ApiRequest creation(std::string collection, const Json& object) {
  return writing("POST", std::move(collection), "application/json", object);
}

ApiRequest replacement(std::string path, const Json& object) {
  return writing("PUT", std::move(path), "application/json", object);
}

ApiRequest mergePatch(std::string object, const Json& patch) {
  return writing("PATCH", std::move(object), "application/merge-patch+json", patch);
}

ApiRequest serverSideApply(const std::string& path, const Json& object, const std::string& manager) {
  ApiRequest request =
      writing("PATCH", path + "?fieldManager=" + kube::percentEncoded(manager) + "&force=true",
              "application/apply-patch+yaml", object);
  request.isRepeatable = true;
  return request;
}

ApiRequest finalizersPatch(std::string object, const kube::ObjectMeta& meta,
                           const std::vector<std::string>& finalizers) {
  return mergePatch(
      std::move(object),
      {{"metadata",
        {{"uid", meta.uid}, {"resourceVersion", meta.resourceVersion}, {"finalizers", finalizers}}}});
}

ApiRequest deletion(std::string object, const std::string& uid, const std::string& resourceVersion,
                    const std::string& policy) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", uid}}}};
  if (!resourceVersion.empty()) options["preconditions"]["resourceVersion"] = resourceVersion;
  if (!policy.empty()) options["propagationPolicy"] = policy;
  return writing("DELETE", std::move(object), "application/json", options);
}

ApiRequest creationOrPatch(std::string collection, const Json& object) {
  const Json& metadata = object.at("metadata");
  if (!metadata.contains("resourceVersion")) return creation(std::move(collection), object);
  return mergePatch(collection + "/" + kube::percentEncoded(metadata.at("name").get<std::string>()), object);
}

}  // namespace lastout::client
