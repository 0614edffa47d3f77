#include "tests/support/scripted_server.h"

#include <algorithm>
#include <utility>

#include "client/cluster_uid.h"
#include "kube/encoding.h"
#include "simulator/status.h"
#include "tests/simulator/admin_request.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::ExchangeResponse;
using ScriptJson = nlohmann::json;

constexpr const char* kHidden = "…";

const char* reasonFor(int status) {
  switch (status) {
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 413:
      return "RequestEntityTooLarge";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    default:
      return status >= 500 ? "InternalError" : "";
  }
}

ExchangeResponse answerOf(const ScriptedRefusal& refusal) {
  ExchangeResponse response;
  response.status = refusal.status;
  response.retryAfter = refusal.retryAfter;
  if (refusal.message.starts_with('{')) {
    response.body = refusal.message;
    return response;
  }
  const std::string message = refusal.message.empty() ? "refused by the script" : refusal.message;
  response.body = simulator::statusOf({refusal.status, reasonFor(refusal.status), message, nullptr}).dump();
  return response;
}

// The name of an object stands at each second place behind the version.
bool isOfOneObject(const std::string& path) {
  const auto slashes = std::ranges::count(path, '/');
  return (slashes - (path.starts_with("/apis/") ? 3 : 2)) % 2 == 0 && slashes > 3;
}

// "Satisfied False CriterionUnmet since 2026-01-01T00:00:00Z: 1 of 2 criteria holds"
ScriptJson inOneLine(const ScriptJson& condition) {
  std::string text =
      condition.value("type", "") + " " + condition.value("status", "") + " " + condition.value("reason", "");
  if (condition.contains("lastTransitionTime"))
    text += " since " + condition["lastTransitionTime"].get<std::string>();
  if (condition.contains("observedGeneration"))
    text += " of generation " + condition["observedGeneration"].dump();
  if (const std::string message = condition.value("message", ""); !message.empty()) text += ": " + message;
  return text;
}

void shorten(ScriptJson& json) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("conditions") && json["conditions"].is_array())
    for (ScriptJson& condition : json["conditions"])
      if (condition.is_object()) condition = inOneLine(condition);
  if (json.is_object() && json.contains("webhooks") && json["webhooks"].is_array())
    for (ScriptJson& webhook : json["webhooks"]) webhook = webhook.value("name", "");
  if (json.is_object() && json.contains("failurePolicy")) json = kHidden;
  for (auto& item : json) shorten(item);
}

// Takes out what the request insists on, and says it.
std::string insistence(ScriptJson& body, const char* where) {
  if (!body.is_object() || !body.contains(where)) return "";
  ScriptJson& named = body[where];
  const bool isOfVersion = named.erase("resourceVersion") > 0;
  const bool isOfUid = named.erase("uid") > 0;
  if (named.empty()) body.erase(where);
  return isOfVersion ? " if unchanged" : isOfUid ? " if the same" : "";
}

std::string queryText(const kube::Query& query) {
  std::string text;
  for (const auto& [key, value] : query) {
    text += text.empty() ? "?" : "&";
    text += key;
    text += "=" + value;
  }
  return text;
}

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

void ScriptedServer::refuse(ScriptedRefusal refusal) {
  const std::lock_guard lock(mutex_);
  refusals_.push_back(std::move(refusal));
}

void ScriptedServer::before(const std::string& method, const std::string& ending,
                            std::function<void()> does) {
  const std::lock_guard lock(mutex_);
  interventions_.push_back({method, ending, std::move(does)});
}

void ScriptedServer::allow() {
  rule = nullptr;
  const std::lock_guard lock(mutex_);
  refusals_.clear();
}

kube::Result<client::ApiAnswer> ScriptedServer::exchange(const client::ApiRequest& request,
                                                         const Take& take) {
  asked.push_back(request.method + " " + request.target);
  if (request.method != "GET") writes.push_back(asked.back());
  ExchangeResponse response;
  ExchangeRequest http = adminRequest(request.method, request.target);
  http.accept = request.accept;
  http.contentType = request.contentType;
  http.body = request.body;
  if (const auto status = rule ? rule(request) : std::nullopt) {
    response = answerOf({"", "", *status, "the test says no"});
    note(http, *status);
  } else {
    response = handle(http);
  }
  if (response.status == 0) return tl::unexpected(kube::Error{"the server does not answer", {}, {}});
  client::ApiAnswer answer{response.status, {}};
  if (response.retryAfter) answer.retryAfter = std::chrono::seconds(*response.retryAfter);
  if (take(response.status, "") && !response.body.empty()) take(response.status, response.body);
  return answer;
}

ExchangeResponse ScriptedServer::handle(const ExchangeRequest& request) {
  if (const auto refusal = refusalOf(request.method, request.path)) {
    note(request, refusal->status);
    return answerOf(*refusal);
  }
  if (const auto does = interventionOf(request.method, request.path)) does();
  ExchangeResponse response = cluster_(request);
  note(request, response.status);
  return response;
}

std::optional<ScriptedRefusal> ScriptedServer::refusalOf(const std::string& method, const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(refusals_, [&](const ScriptedRefusal& one) {
    return one.method == method && path.ends_with(one.ending);
  });
  if (found == refusals_.end()) return std::nullopt;
  ScriptedRefusal refusal = std::move(*found);
  refusals_.erase(found);
  return refusal;
}

std::function<void()> ScriptedServer::interventionOf(const std::string& method, const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(interventions_, [&](const Intervention& one) {
    return one.method == method && path.ends_with(one.ending);
  });
  if (found == interventions_.end()) return {};
  std::function<void()> does = std::move(found->does);
  interventions_.erase(found);
  return does;
}

void ScriptedServer::note(const ExchangeRequest& request, int status) {
  ScriptJson body = ScriptJson::parse(request.body, nullptr, false);
  const std::lock_guard lock(mutex_);
  if (request.path == client::kClusterPath) return;  // every watch asks which cluster it is
  if (request.method == "GET" && (!notesReads_ || !request.query.empty() || !isOfOneObject(request.path)))
    return;
  std::string line = request.method + " " + request.path + queryText(request.query);
  line += insistence(body, request.method == "DELETE" ? "preconditions" : "metadata");
  const bool isUsual = request.contentType.empty() || request.contentType == "application/json" ||
                       request.contentType == "application/merge-patch+json";
  if (!isUsual) line += " as " + request.contentType;
  if (status == 0) line += " -> no answer";
  if (status >= 400) line += " -> " + std::to_string(status);
  line += "\n";
  // Who waits for something reads it again and again.
  if (request.method == "GET" && notes_.ends_with(line)) return;
  notes_ += line;
  if (body.is_object() && body.value("kind", "") == "DeleteOptions") {
    body.erase("kind");
    body.erase("apiVersion");
  }
  if (body.is_object() && body.value("kind", "") == "Secret" && body.contains("data"))
    for (ScriptJson& value : body["data"]) value = kHidden;
  shorten(body);
  if (body.is_structured() && !body.empty()) notes_ += "  " + body.dump() + "\n";
}

std::string ScriptedServer::takeNotes() {
  std::string notes;
  {
    const std::lock_guard lock(mutex_);
    notes = std::exchange(notes_, {});
  }
  return withNames(std::move(notes));
}

std::string ScriptedServer::notes() const {
  std::string notes;
  {
    const std::lock_guard lock(mutex_);
    notes = notes_;
  }
  return withNames(std::move(notes));
}

void ScriptedServer::nameUid(const std::string& uid, const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(uids_, [&](const auto& one) { return one.second == name; });
  uids_.emplace_back(uid, name);
  std::ranges::stable_sort(uids_, std::ranges::greater(), [](const auto& one) { return one.second.size(); });
}

std::string ScriptedServer::withNames(std::string text) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, name] : uids_) replaceAll(text, uid, name);
  return text;
}

std::string ScriptedServer::withUids(std::string text) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [uid, name] : uids_) replaceAll(text, name, uid);
  return text;
}

}  // namespace lastout::testing
