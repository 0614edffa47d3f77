#include "simulator/api.h"

#include <algorithm>
#include <utility>

#include "kube/well_known.h"
#include "simulator/contents.h"
#include "simulator/discovery.h"
#include "simulator/selection.h"

namespace lastout::simulator {
namespace {

constexpr int kMostAttempts = 10;  // at one write that others keep getting ahead of

ExchangeResponse plainText(int status, std::string text) {
  ExchangeResponse response;
  response.status = status;
  response.contentType = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

constexpr std::string_view kOpenApiProtobuf = "application/com.github.proto-openapi.spec.v2";

ExchangeResponse openApiAnswer(std::string_view accept, kube::KubernetesVersion kubernetes) {
  if (accept.find(kOpenApiProtobuf) == std::string_view::npos) return answerWith(200, openApiV2(kubernetes));
  ExchangeResponse response;
  // Not as it is asked for: "@" is allowed in no media type, and kubectl 1.20 refuses it.
  response.contentType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  response.body = openApiV2Protobuf(kubernetes);
  return response;
}

// A group and version at the end of a path: "api/v1", "apis/apps/v1".
std::optional<std::pair<std::string, std::string>> groupVersionIn(std::string_view path) {
  if (path.starts_with("api/") && path.find('/', 4) == std::string_view::npos)
    return std::pair(std::string(), std::string(path.substr(4)));
  if (!path.starts_with("apis/")) return std::nullopt;
  path.remove_prefix(5);
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos || path.find('/', slash + 1) != std::string_view::npos)
    return std::nullopt;
  return std::pair(std::string(path.substr(0, slash)), std::string(path.substr(slash + 1)));
}

// "/apis/<group>/<version>", or shorter; or OpenAPI.
bool mayAskForTypes(std::string_view path) {
  return path.starts_with("/openapi/") || std::ranges::count(path, '/') <= 3;
}

// What a request does, as rules of access call it; "" for a method that there is not.
std::string_view verbOf(const ExchangeRequest& request, const Target& target) {
  const bool one = !target.name.empty();
  if (request.method == "POST") return "create";
  if (request.method == "PUT" && one) return "update";
  if (request.method == "PATCH" && one) return "patch";
  if (request.method == "DELETE") return one ? "delete" : "deletecollection";
  if (request.method != "GET") return {};
  if (asksToWatch(request.query)) return "watch";
  return one ? "get" : "list";
}

std::optional<std::string> selectedName(const ApiResult<ListOptions>& options,
                                        const kube::GroupResource& type) {
  if (!options) return std::nullopt;
  const auto fields = parseFieldSelector(options->fieldSelector, type);
  if (!fields) return std::nullopt;
  const auto found = std::ranges::find_if(fields->requirements, [](const FieldRequirement& requirement) {
    return requirement.field == "metadata.name" && requirement.equal;
  });
  if (found == fields->requirements.end()) return std::nullopt;
  return found->value;
}

// Whether there is such a path at all: an object has none without its namespace, nor with one where its type
// has none (as of rest/044).
bool hasPath(const ServedType& type, const Target& target) {
  if (!target.subresource.empty() && type.subresource(target.subresource) == nullptr) return false;
  return type.namespaced ? target.name.empty() || !target.namespaceName.empty()
                         : target.namespaceName.empty();
}

bool isServed(const ServedType& type, const Target& target, std::string_view verb) {
  if (target.subresource.empty()) return type.allows(verb);
  const Subresource* subresource = type.subresource(target.subresource);
  return subresource != nullptr && std::ranges::find(subresource->verbs, verb) != subresource->verbs.end();
}

}  // namespace

ExchangeResponse Api::handle(const ExchangeRequest& request) {
  if (request.path == "/livez" || request.path == "/readyz" || request.path == "/healthz")
    return plainText(200, "ok");
  const std::optional<Target> target = parseTarget(request.path);
  if (isUnanswered(request.path, target)) {
    if (auto denied = target ? denialOfUnserved(request, *target) : std::nullopt) return answerWith(*denied);
    return plainText(503, "service unavailable\n");
  }
  if (request.method == "GET" && mayAskForTypes(request.path)) {
    if (std::optional<ExchangeResponse> document = discover(discoveredTypes(), request))
      return std::move(*document);
  }
  ServedTypePointer type;
  {
    const kube::MutexLock lock(plane_.mutex);
    if (target) type = plane_.types.find(target->group, target->version, target->resource);
  }
  if (target && type == nullptr) {
    if (auto denied = denialOfUnserved(request, *target)) return answerWith(*denied);
  }
  if (type == nullptr || !hasPath(*type, *target)) return plainText(404, "404 page not found\n");  // rest/044
  auto view = viewOf(request, plane_.seconds(), plane_.kubernetes());
  if (!view) return answerWith(view.error());
  Call call{request, *target, std::move(type), std::move(*view)};
  auto response = handleResource(call);
  ExchangeResponse answer = response ? std::move(*response) : answerWith(response.error());
  for (const std::string& warning : call.warnings) answer.warnings.push_back(warning);
  return answer;
}

TypeRegistry Api::discoveredTypes() {
  const kube::MutexLock lock(plane_.mutex);
  return plane_.discoveredTypes();
}

// The resources of a version go with their CRDs, although the group is still named for a moment.
std::optional<Json> Api::servedResources(std::string_view group, std::string_view version) {
  const kube::MutexLock lock(plane_.mutex);
  return resourceList(plane_.types, group, version);
}

// Returns the discovery document at the path; nullopt: the path has none.
std::optional<ExchangeResponse> Api::discover(const TypeRegistry& types, const ExchangeRequest& request) {
  constexpr std::string_view kOpenApi = "/openapi/v3/";
  const std::string_view path = request.path;
  if (path == "/version") return answerWith(200, versionInfo(types.kubernetes()));
  if (path == "/api") return answerWith(200, coreVersions(request.host));
  if (path == "/apis") return answerWith(200, groupList(types));
  if (path == "/openapi/v2") return openApiAnswer(request.accept, types.kubernetes());
  if (path == "/openapi/v3") return answerWith(200, openApi_.index(types));
  if (path.starts_with(kOpenApi)) {
    const auto version = groupVersionIn(path.substr(kOpenApi.size()));
    const auto text = version ? openApi_.document(types, version->first, version->second) : nullptr;
    if (text == nullptr) return std::nullopt;
    ExchangeResponse response;
    response.body = *text;
    return response;
  }
  std::optional<Json> document;
  if (const auto version = groupVersionIn(path.substr(std::min<size_t>(1, path.size()))))
    document = servedResources(version->first, version->second);
  else if (path.starts_with("/apis/"))
    document = groupOf(types, path.substr(6));
  if (!document) return std::nullopt;
  return answerWith(200, *document);
}

ApiResult<ExchangeResponse> Api::handleResource(Call& call) {
  const std::string_view verb = verbOf(call.http, call.target);
  // POST to an object's own path is a creation that names it (rest/045).
  if (verb.empty() || !isServed(*call.type, call.target, verb))
    return tl::unexpected(methodNotAllowed(call.type->type, verb.empty() ? call.http.method : verb));
  if (verb == "list" || verb == "watch" || verb == "deletecollection")
    call.listOptions = parseListOptions(call.http.query, plane_.kubernetes());
  if (auto allowed = authorize(call, verb); !allowed) return tl::unexpected(std::move(allowed.error()));
  if (call.type->namespaced && call.target.namespaceName.empty() && verb == "create")
    return tl::unexpected(badRequest("the namespace of the object is missing in the path"));
  if (verb == "get") return get(call);
  if (verb == "create") return create(call);
  if (verb == "update") return update(call);
  if (verb == "patch") return patch(call);
  if (verb == "delete") return remove(call);
  if (verb == "deletecollection") return removeCollection(call);
  if (!call.listOptions) return tl::unexpected(call.listOptions.error());
  return verb == "watch" ? watch(call, *call.listOptions) : list(call, *call.listOptions);
}

// As kube-aggregator answers for an APIService that is not Available.
bool Api::isUnanswered(std::string_view path, const std::optional<Target>& target) {
  const auto version = target ? std::optional(std::pair(target->group, target->version))
                              : groupVersionIn(path.substr(std::min<size_t>(1, path.size())));
  const kube::MutexLock lock(plane_.mutex);
  return version && plane_.types.isUnanswered(version->first, version->second);
}

// 403 comes before 404: what is served is told to those alone who may read it.
std::optional<ApiError> Api::denialOfUnserved(const ExchangeRequest& request, const Target& target) const {
  const AccessAttributes wanted{.verb = std::string(verbOf(request, target)),
                                .group = target.group,
                                .resource = target.resource,
                                .subresource = target.subresource,
                                .namespaceName = target.namespaceName,
                                .name = target.name,
                                .path = {}};
  if (mayDo(users_, request.user, wanted)) return std::nullopt;
  return accessDenied(request.user, wanted);
}

// A list or watch of the one object that a field selector names counts as a request for that name.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources
ApiResult<void> Api::authorize(const Call& call, std::string_view verb) const {
  std::string name = call.target.name;
  if (verb == "list" || verb == "watch")
    name = selectedName(call.listOptions, call.type->type).value_or(name);
  const kube::GroupResource& type = call.type->type;
  // A Namespace is in the namespace of its own name: a Role there may allow what is done to it.
  const bool isNamespace = type == kube::kNamespaces;
  const AccessAttributes wanted{.verb = std::string(verb),
                                .group = type.group,
                                .resource = type.resource,
                                .subresource = call.target.subresource,
                                .namespaceName = isNamespace ? call.target.name : call.target.namespaceName,
                                .name = std::move(name),
                                .path = {}};
  if (mayDo(users_, call.http.user, wanted)) return {};
  return tl::unexpected(accessDenied(call.http.user, wanted));
}

RecordRef Api::stored(const kube::ObjectKey& key) {
  const kube::MutexLock lock(plane_.mutex);
  return plane_.storage.find(key);
}

ApiResult<Json> Api::perform(Call& call, const kube::ObjectKey& key, const Prepare& prepare) {
  const size_t warnings = call.warnings.size();
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    call.warnings.resize(warnings);  // without those of an earlier attempt
    const RecordRef before = stored(key);
    auto mutation = prepare(before);
    if (!mutation) return tl::unexpected(std::move(mutation.error()));
    if (mutation->operation == Mutation::Operation::Create) {
      const kube::MutexLock lock(plane_.mutex);
      if (plane_.storage.find(key) != before) continue;
      if (auto possible = plane_.mayCreate(*mutation); !possible)
        return tl::unexpected(std::move(possible.error()));
    }
    if (auto admitted = admitter_.admit(*mutation, call.warnings); !admitted)
      return tl::unexpected(std::move(admitted.error()));
    const kube::MutexLock lock(plane_.mutex);
    if (plane_.storage.find(key) != before) continue;
    if (mutation->dryRun) {
      if (auto possible = plane_.mayCommit(*mutation); !possible)
        return tl::unexpected(std::move(possible.error()));
      return afterDryRun(*mutation, plane_);
    }
    const auto committed = plane_.commit(*mutation);
    if (!committed) return tl::unexpected(committed.error());
    return (*committed)->object();
  }
  return tl::unexpected(modified(call.type->type, call.target.name));
}

}  // namespace lastout::simulator
