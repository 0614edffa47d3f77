// ApiError: how the API server says no, as the Status object that clients know (tests/recordings/rest).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kube/object_key.h"
#include "simulator/json.h"

namespace lastout::simulator {

// One of details.causes; what is empty is left out.
struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};

struct ApiError {
  int code = 500;       // of HTTP, and in the Status
  std::string reason;   // "NotFound"; empty: left out
  std::string message;  // for people
  Json details;         // null: left out
};

template <class T>
using ApiResult = tl::expected<T, ApiError>;

// The Status object of an error.
Json statusOf(const ApiError& error);
// The Status object that answers a DELETE that removed the object at once.
Json statusOfDeleted(const kube::GroupResource& type, std::string_view name, std::string_view uid);

// What a Status calls an object: mostly {resource, group}, for messages about content {kind, group}.
ApiError notFound(const kube::GroupResource& type, std::string_view name);
ApiError alreadyExists(const kube::GroupResource& type, std::string_view name);
// "Operation cannot be fulfilled on <type> "<name>": <why>"
ApiError conflict(const kube::GroupResource& type, std::string_view name, std::string_view why);
ApiError modified(const kube::GroupResource& type, std::string_view name);  // a stale resourceVersion
// `<type> "<name>" is forbidden: <why>`; without a name `<type> is forbidden: <why>`
ApiError forbidden(const kube::GroupResource& type, std::string_view name, std::string_view why);
// `<Kind>.<group> "<name>" is invalid: <field>: <message>`; a list where causes have different words.
ApiError invalid(std::string_view kind, std::string_view group, std::string_view name,
                 const std::vector<StatusCause>& causes);
ApiError badRequest(std::string message);
ApiError unauthorized();
ApiError methodNotAllowed(const kube::GroupResource& type, std::string_view verb);
ApiError notAcceptable(std::string_view accepted);  // `accepted`: media types, joined by ", "
ApiError unsupportedMediaType(std::string_view accepted);
ApiError tooLarge(std::size_t limit);   // of the request's body, in bytes
ApiError expired(std::string message);  // 410: a resourceVersion or continue token is too old
ApiError futureVersion(uint64_t wanted, uint64_t current);  // 504, as recorded in rest/071
ApiError internalError(std::string_view why);

}  // namespace lastout::simulator
