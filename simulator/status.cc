#include "simulator/status.h"

#include <set>
#include <utility>

#include "kube/status_reason.h"

namespace lastout::simulator {
namespace {

std::string inQuotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

Json detailsOf(std::string_view name, std::string_view group, std::string_view kind) {
  Json details = Json::object();
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  if (!kind.empty()) details["kind"] = kind;
  return details;
}

Json detailsOf(const kube::GroupResource& type, std::string_view name) {
  return detailsOf(name, type.group, type.resource);
}

Json toJson(const std::vector<StatusCause>& causes) {
  Json list = Json::array();
  for (const StatusCause& cause : causes) {
    Json item = Json::object();
    if (!cause.reason.empty()) item["reason"] = cause.reason;
    if (!cause.message.empty()) item["message"] = cause.message;
    if (!cause.field.empty()) item["field"] = cause.field;
    list.push_back(std::move(item));
  }
  return list;
}

Json emptyStatus() { return {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}}; }

std::string inWords(const StatusCause& cause) {
  return cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
}

ApiError failure(std::string_view reason, std::string message, Json details) {
  return {kube::codeOfReason(reason).value(), std::string(reason), std::move(message), std::move(details)};
}

}  // namespace

Json statusOf(const ApiError& error) {
  Json status = emptyStatus();
  status["status"] = "Failure";
  status["message"] = error.message;
  if (!error.reason.empty()) status["reason"] = error.reason;
  if (!error.details.is_null()) status["details"] = error.details;
  status["code"] = error.code;
  return status;
}

Json statusOfDeleted(const kube::GroupResource& type, std::string_view name, std::string_view uid) {
  Json status = emptyStatus();
  status["status"] = "Success";
  status["details"] = detailsOf(type, name);
  status["details"]["uid"] = uid;
  return status;
}

ApiError notFound(const kube::GroupResource& type, std::string_view name) {
  return failure("NotFound", kube::toString(type) + " " + inQuotes(name) + " not found",
                 detailsOf(type, name));
}

ApiError alreadyExists(const kube::GroupResource& type, std::string_view name) {
  return failure("AlreadyExists", kube::toString(type) + " " + inQuotes(name) + " already exists",
                 detailsOf(type, name));
}

ApiError conflict(const kube::GroupResource& type, std::string_view name, std::string_view why) {
  return failure("Conflict",
                 "Operation cannot be fulfilled on " + kube::toString(type) + " " + inQuotes(name) + ": " +
                     std::string(why),
                 detailsOf(type, name));
}

ApiError modified(const kube::GroupResource& type, std::string_view name) {
  return conflict(type, name,
                  "the object has been modified; please apply your changes to the latest version and try "
                  "again");
}

ApiError forbidden(const kube::GroupResource& type, std::string_view name, std::string_view why) {
  const std::string what = kube::toString(type) + (name.empty() ? "" : " " + inQuotes(name));
  return failure("Forbidden", what + " is forbidden: " + std::string(why), detailsOf(type, name));
}

ApiError invalid(std::string_view kind, std::string_view group, std::string_view name,
                 const std::vector<StatusCause>& causes) {
  std::string message(kind);
  if (!group.empty()) message.append(".").append(group);
  message += " " + inQuotes(name) + " is invalid: ";
  std::vector<std::string> words;
  std::set<std::string> said;  // each is said once (recorded: rest/065)
  for (const StatusCause& cause : causes) {
    std::string one = inWords(cause);
    if (said.insert(one).second) words.push_back(std::move(one));
  }
  message += words.size() > 1 ? "[" : "";
  for (size_t i = 0; i < words.size(); ++i) message += (i > 0 ? ", " : "") + words[i];
  message += words.size() > 1 ? "]" : "";
  Json details = detailsOf(name, group, kind);
  details["causes"] = toJson(causes);
  return failure("Invalid", std::move(message), std::move(details));
}

ApiError badRequest(std::string message) { return failure("BadRequest", std::move(message), nullptr); }

ApiError unauthorized() { return failure("Unauthorized", "Unauthorized", nullptr); }

ApiError methodNotAllowed(const kube::GroupResource& type, std::string_view verb) {
  return failure(
      "MethodNotAllowed",
      std::string(verb) + " is not supported on resources of kind " + inQuotes(kube::toString(type)),
      detailsOf(type, ""));
}

ApiError notAcceptable(std::string_view accepted) {
  return failure("NotAcceptable", "only the following media types are accepted: " + std::string(accepted),
                 nullptr);
}

ApiError unsupportedMediaType(std::string_view accepted) {
  return failure("UnsupportedMediaType",
                 "the body of the request was in an unknown format - accepted media types include: " +
                     std::string(accepted),
                 nullptr);
}

ApiError tooLarge(std::size_t limit) {
  return failure("RequestEntityTooLarge", "Request entity too large: limit is " + std::to_string(limit),
                 nullptr);
}

ApiError expired(std::string message) { return failure("Expired", std::move(message), nullptr); }

ApiError futureVersion(uint64_t wanted, uint64_t current) {
  Json details = {{"causes", toJson({{"ResourceVersionTooLarge", "Too large resource version", ""}})},
                  {"retryAfterSeconds", 1}};
  return failure("Timeout",
                 "Timeout: Too large resource version: " + std::to_string(wanted) +
                     ", current: " + std::to_string(current),
                 std::move(details));
}

ApiError internalError(std::string_view why) {
  const std::string message(why);
  return failure("InternalError", "Internal error occurred: " + message,
                 {{"causes", toJson({{"", message, ""}})}});
}

}  // namespace lastout::simulator
