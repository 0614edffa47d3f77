#include "simulator/admission_review.h"

#include <algorithm>
#include <utility>

#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/status_reason.h"
#include "kube/well_known.h"

namespace lastout::simulator {
namespace {

constexpr size_t kMostWarnings = 16;
constexpr std::string_view kReviewVersion = "admission.k8s.io/v1";
constexpr std::string_view kNotCalled = "failed to call webhook: ";
constexpr std::string_view kInvalidAnswer = "received invalid webhook response: ";

using UnusableAnswer = tl::unexpected<std::string>;

UnusableAnswer notCalled(std::string_view why) { return UnusableAnswer(std::string(kNotCalled).append(why)); }
UnusableAnswer invalidAnswer(std::string_view why) {
  return UnusableAnswer(std::string(kInvalidAnswer).append(why));
}

Json objectOrNull(const Json* object) { return object != nullptr ? *object : Json(nullptr); }

// How client-go words a status that is none of success.
std::string wordsOfStatus(const WebhookResponse& response) {
  const int status = response.status;
  if (status == 400) return "the server rejected our request for an unknown reason";
  if (status == 401) return "the server has asked for the client to provide credentials";
  if (status == 404) return "the server could not find the requested resource";
  if (status == 405) return "the server does not allow this method on the requested resource";
  if (status == kube::kTooManyRequests)
    return "the server has received too many requests and has asked us to try again later";
  if (status == 503) return "the server is currently unable to handle the request";
  if (status == 504)
    return "the server was unable to return a response in the time allotted, but may still be processing the "
           "request";
  if (status >= 500)
    return "an error on the server (" + kube::inQuotes(response.body) +
           ") has prevented the request from succeeding";
  return "the server responded with the status code " + std::to_string(status) +
         " but did not return more information";
}

std::string notRegistered(std::string_view kind, std::string_view version) {
  return "no kind " + kube::inQuotes(kind) + " is registered for version " + kube::inQuotes(version) +
         " in scheme \"k8s.io/apiserver/pkg/util/webhook/client.go:69\"";
}

// What is wrong with the frame around the response; empty: nothing.
std::string frameProblem(const Json& review) {
  if (!review.is_object()) return "couldn't get version/kind; json parse error: the answer is no JSON object";
  const std::string_view version = stringAt(review, {"apiVersion"});
  const std::string_view kind = stringAt(review, {"kind"});
  if (kind.empty()) return "Object 'Kind' is missing in the answer";
  if (version.empty()) return "Object 'apiVersion' is missing in the answer";
  // A version that is not known is reported with the kind that was expected (rest/103).
  if (version != kReviewVersion) return notRegistered("AdmissionReview", version);
  if (kind != "AdmissionReview") return notRegistered(kind, version);
  return "";
}

enum class AnswerType { Text, Number, Flag, List, Map };

bool answerHas(const Json& value, AnswerType wanted) {
  switch (wanted) {
    case AnswerType::Text:
      return value.is_string();
    case AnswerType::Number:
      return value.is_number_integer();
    case AnswerType::Flag:
      return value.is_boolean();
    case AnswerType::List:
      return value.is_array();
    case AnswerType::Map:
      return value.is_object();
  }
  return false;
}

// Checks the types of the members that are there, and takes note of the first wrong one.
struct AnswerTypes {
  std::string problem = {};
  void check(const Json& map, std::string_view path,
             std::initializer_list<std::pair<std::string_view, AnswerType>> members) {
    for (const auto& [key, wanted] : members) {
      const Json* value = at(map, {key});
      if (value == nullptr || value->is_null() || answerHas(*value, wanted) || !problem.empty()) continue;
      problem = std::string("json: cannot unmarshal ") + value->type_name() + " into ";
      problem.append(path).append(".").append(key);
    }
  }
};

// What of the response has the wrong type; empty: nothing.
std::string typeProblem(const Json& response) {
  AnswerTypes types;
  types.check(response, "response",
              {{"uid", AnswerType::Text},
               {"allowed", AnswerType::Flag},
               {"status", AnswerType::Map},
               {"warnings", AnswerType::List},
               {"patch", AnswerType::Text},
               {"patchType", AnswerType::Text}});
  const Json* status = at(response, {"status"});
  if (status == nullptr || !types.problem.empty()) return types.problem;
  types.check(*status, "response.status",
              {{"code", AnswerType::Number},
               {"reason", AnswerType::Text},
               {"message", AnswerType::Text},
               {"details", AnswerType::Map}});
  const Json* details = at(*status, {"details"});
  if (details == nullptr || !types.problem.empty()) return types.problem;
  types.check(*details, "response.status.details",
              {{"name", AnswerType::Text},
               {"group", AnswerType::Text},
               {"kind", AnswerType::Text},
               {"uid", AnswerType::Text},
               {"causes", AnswerType::List},
               {"retryAfterSeconds", AnswerType::Number}});
  const Json* causes = at(*details, {"causes"});
  if (causes == nullptr || !types.problem.empty()) return types.problem;
  for (const Json& cause : *causes)
    types.check(cause, "response.status.details.causes",
                {{"reason", AnswerType::Text}, {"message", AnswerType::Text}, {"field", AnswerType::Text}});
  return types.problem;
}

// The members that have these names and say something.
Json membersOf(const Json& map, std::initializer_list<std::string_view> keys) {
  Json kept = Json::object();
  for (const std::string_view key : keys) {
    const Json* value = at(map, {key});
    if (value == nullptr || value->is_null() || *value == Json("") || *value == Json(0)) continue;
    kept[std::string(key)] = *value;
  }
  return kept;
}

Json detailsOfDenial(const Json& details) {
  Json kept = membersOf(details, {"name", "group", "kind", "uid", "retryAfterSeconds"});
  const Json* causes = at(details, {"causes"});
  if (causes == nullptr || !causes->is_array() || causes->empty()) return kept;
  kept["causes"] = Json::array();
  for (const Json& cause : *causes)
    kept["causes"].push_back(membersOf(cause, {"reason", "message", "field"}));
  return kept;
}

ApiError denialOf(const Json& response, std::string_view webhook) {
  const Json* status = at(response, {"status"});
  const Json nothing = Json::object();
  const Json& given = status != nullptr && status->is_object() ? *status : nothing;
  ApiError denial;
  const Json* code = at(given, {"code"});
  const int64_t wanted = code != nullptr && code->is_number_integer() ? code->get<int64_t>() : 0;
  denial.code = wanted < 400 || wanted > 599 ? 400 : static_cast<int>(wanted);
  denial.reason = stringAt(given, {"reason"});
  denial.message = "admission webhook " + kube::inQuotes(webhook) + " denied the request";
  const std::string_view message = stringAt(given, {"message"});
  if (!message.empty()) {
    denial.message.append(": ").append(message);
  } else {
    denial.message += denial.reason.empty() ? " without explanation" : ": " + denial.reason;
  }
  if (const Json* details = at(given, {"details"}); details != nullptr && details->is_object())
    denial.details = detailsOfDenial(*details);
  return denial;
}

std::vector<std::string> warningsOf(const Json& response) {
  std::vector<std::string> warnings;
  const Json* given = at(response, {"warnings"});
  if (given == nullptr || !given->is_array()) return warnings;
  for (const Json& warning : *given) {
    if (!warning.is_string() || warning.get_ref<const std::string&>().empty()) continue;
    if (warnings.size() == kMostWarnings) break;
    warnings.push_back(kube::printable(warning.get_ref<const std::string&>()));
  }
  return warnings;
}

// The patch; null: none.
tl::expected<Json, std::string> patchOf(const Json& response, bool mutating) {
  const std::string_view patch = stringAt(response, {"patch"});
  const std::string_view type = stringAt(response, {"patchType"});
  if (!mutating && !patch.empty()) return invalidAnswer("validating webhook may not return response.patch");
  if (!mutating && !type.empty())
    return invalidAnswer("validating webhook may not return response.patchType");
  if (patch.empty() && type.empty()) return Json(nullptr);
  if (type.empty()) return invalidAnswer("webhook returned response.patch but not response.patchType");
  if (patch.empty()) return invalidAnswer("webhook returned response.patchType but not response.patch");
  if (type != "JSONPatch")
    return invalidAnswer("invalid response.patchType " + kube::inQuotes(type) + ", expected \"JSONPatch\"");
  const auto text = kube::fromBase64(patch);
  if (!text) return notCalled("illegal base64 data in response.patch");
  auto parsed = kube::parseJson(*text, "");
  if (!parsed) return invalidAnswer("response.patch is no JSON: " + parsed.error().message);
  return kube::toSortedJson(*parsed);
}

}  // namespace

std::string namespaceOf(const ReviewRequest& request) {
  const bool isNamespace = request.type == kube::kNamespaces;
  return isNamespace ? request.name : request.namespaceName;
}

Json attributesOf(const ReviewRequest& request) {
  const Json kind = {{"group", request.kindGroup}, {"version", request.kindVersion}, {"kind", request.kind}};
  const Json resource = {
      {"group", request.type.group}, {"version", request.version}, {"resource", request.type.resource}};
  Json asked = {{"kind", kind},
                {"resource", resource},
                {"requestKind", kind},
                {"requestResource", resource},
                {"operation", request.operation},
                {"userInfo", toJson(request.user)},
                {"dryRun", request.dryRun},
                {"options", request.options}};
  if (!request.subresource.empty()) {
    asked["subResource"] = request.subresource;
    asked["requestSubResource"] = request.subresource;
  }
  if (!request.name.empty()) asked["name"] = request.name;
  if (std::string name = namespaceOf(request); !name.empty()) asked["namespace"] = std::move(name);
  return asked;
}

Json reviewBody(const ReviewRequest& request, std::string_view uid) {
  Json asked = attributesOf(request);
  asked["uid"] = uid;
  asked["object"] = objectOrNull(request.object);
  asked["oldObject"] = objectOrNull(request.oldObject);
  return {{"kind", "AdmissionReview"}, {"apiVersion", kReviewVersion}, {"request", std::move(asked)}};
}

tl::expected<WebhookAnswer, std::string> readAnswer(const WebhookResponse& response, std::string_view webhook,
                                                    std::string_view uid, bool mutating) {
  if (response.status < 200 || response.status > 299) return notCalled(wordsOfStatus(response));
  auto parsed = kube::parseJson(response.body, "");
  if (!parsed) return notCalled("couldn't get version/kind; json parse error: " + parsed.error().message);
  const Json review = kube::toSortedJson(*parsed);
  if (const std::string problem = frameProblem(review); !problem.empty()) return notCalled(problem);
  const Json* given = at(review, {"response"});
  if (given == nullptr || given->is_null()) return invalidAnswer("webhook response was absent");
  if (!given->is_object()) return notCalled("json: the response is no object");
  if (const std::string problem = typeProblem(*given); !problem.empty()) return notCalled(problem);
  if (const std::string_view got = stringAt(*given, {"uid"}); got != uid)
    return invalidAnswer("expected response.uid=" + kube::inQuotes(uid) + ", got " + kube::inQuotes(got));

  WebhookAnswer answer;
  auto patch = patchOf(*given, mutating);
  if (!patch) return UnusableAnswer(std::move(patch.error()));
  answer.patch = std::move(*patch);
  answer.warnings = warningsOf(*given);
  const Json* allowed = at(*given, {"allowed"});
  if (allowed == nullptr || *allowed != Json(true)) answer.denial = denialOf(*given, webhook);
  return answer;
}

std::string warningHeader(std::string_view warning) {
  std::string header = "299 - \"";
  for (const char character : warning) {
    if (character == '"' || character == '\\') header += '\\';
    header += character;
  }
  return header + "\"";
}

}  // namespace lastout::simulator
