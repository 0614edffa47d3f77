#include "client/status.h"

#include <algorithm>

#include "client/value_picker.h"
#include "kube/messages.h"
#include "kube/status_reason.h"
#include "kube/value.h"

namespace lastout::client {
namespace {

constexpr std::string_view kScheme = "https://";
constexpr int64_t kMostRetrySeconds = 86'400;  // seconds

// The path of a URL may be a secret, as that of a webhook that the API server could not reach, and what an
// API server says is told to others, in Events, in a status and in logs.
std::string withoutPaths(std::string_view text) {
  std::string told;
  for (size_t begin = text.find(kScheme); begin != std::string_view::npos; begin = text.find(kScheme)) {
    const size_t host = begin + kScheme.size();
    const size_t path = text.find_first_of("/\"' ", host);
    const size_t end = std::min(text.find_first_of("\"' ", host), text.size());
    told += text.substr(0, std::min(path, end));
    if (path < end) told += "/...";
    text.remove_prefix(end);
  }
  return told.append(text);
}

std::string stringIn(const kube::Value& map, std::string_view key) {
  return kube::printable(kube::textAt(map, {key}));
}

}  // namespace

bool isExpired(const ServerStatus& status) {
  return status.code == 410 || status.reason == "Expired" || status.reason == "Gone";
}

bool isBetweenStates(const ServerStatus& status) {
  if (status.code == 404) return status.reason.empty();
  return status.code == kube::kTooManyRequests &&
         status.message.find("storage is (re)initializing") != std::string::npos;
}

bool isTransient(int code) { return code == 408 || code == kube::kTooManyRequests || code >= 500; }

bool isTooLarge(const ServerStatus& status) {
  const auto says = [&](const char* words) { return status.message.find(words) != std::string::npos; };
  return status.code == 413 ||
         (status.code == 500 && (says("request is too large") || says("message larger than max")));
}

kube::Result<ServerStatus> statusOf(const kube::Value& object) {
  if (stringIn(object, "kind") != "Status") return tl::unexpected(kube::Error{"it is no Status", {}, {}});
  ServerStatus status;
  status.reason = stringIn(object, "reason");
  status.message = withoutPaths(stringIn(object, "message"));
  const kube::Value* code = object.find("code");
  if (code != nullptr && code->asInteger() != nullptr) {
    const int64_t number = *code->asInteger();
    if (number > 0 && number < 1000) status.code = static_cast<int>(number);
  }
  const kube::Value* causes = object.at({"details", "causes"});
  if (causes != nullptr && causes->asList() != nullptr) {
    status.isBehind = std::ranges::any_of(*causes->asList(), [](const kube::Value& cause) {
      return stringIn(cause, "reason") == "ResourceVersionTooLarge";
    });
  }
  const kube::Value* seconds = object.at({"details", "retryAfterSeconds"});
  if (seconds != nullptr && seconds->asInteger() != nullptr) {
    const int64_t number = *seconds->asInteger();
    if (number >= 0 && number <= kMostRetrySeconds) status.retryAfter = std::chrono::seconds(number);
  }
  return status;
}

ServerStatus statusOfAnswer(int code, std::string_view body) {
  ServerStatus status;
  const auto object = pickValue(body, Pick::Object, {});
  auto read = object ? statusOf(*object) : tl::unexpected(object.error());
  if (read) {
    status = std::move(*read);
  } else {
    while (!body.empty() && (body.back() == '\n' || body.back() == '\r')) body.remove_suffix(1);
    status.message = withoutPaths(kube::printable(body));
  }
  status.code = code;
  return status;
}

bool isAboutObject(const ServerStatus& status, std::string_view name) {
  return status.code == 404 && status.reason == "NotFound" &&
         status.message.ends_with("\"" + std::string(name) + "\" not found");
}

std::string toString(const ServerStatus& status) {
  std::string text = std::to_string(status.code);
  if (!status.reason.empty()) text += " " + status.reason;
  if (!status.message.empty()) text += ": " + status.message;
  return text;
}

}  // namespace lastout::client
