// The answer to a review, as an API server accepts it.
#include <algorithm>
#include <utility>

#include "admission/json_text.h"
#include "admission/review.h"
#include "kube/messages.h"
#include "kube/source_text.h"
#include "kube/status_reason.h"

namespace lastout::admission {
namespace {

constexpr size_t kMostAnswerWarnings = 16;
constexpr size_t kLongestWarning = 256;  // bytes; longer ones are cut when there are many
constexpr size_t kUsualAnswer = 2'048;   // bytes
constexpr std::string_view kNoMessage = "it is not allowed now";

// As a header's value can carry it.
std::string warningText(std::string_view warning) {
  std::string text = kube::printable(warning);
  if (text.size() <= kLongestWarning) return text;
  constexpr std::string_view kMore = "...";
  size_t end = 0;
  while (end < text.size()) {
    const size_t length = std::max<size_t>(kube::utf8Length(std::string_view(text).substr(end)), 1);
    if (end + length + kMore.size() > kLongestWarning) break;
    end += length;
  }
  return text.substr(0, end).append(kMore);
}

void writeDetails(JsonWriter& json, const Refusal& refusal) {
  const int wait = refusal.retryAfterSeconds.value_or(0);
  if (refusal.causes.empty() && wait <= 0) return;
  json.raw(",\"details\":{");
  if (!refusal.causes.empty()) {
    const char* before = "\"causes\":[{";
    for (const DenialCause& cause : refusal.causes) {
      json.raw(std::exchange(before, ",{"));
      json.member("reason", cause.reason);
      json.member("message", cause.message);
      json.member("field", cause.field);
      json.raw("}");
    }
    json.raw(wait > 0 ? "]," : "]");
  }
  if (wait > 0) {
    json.raw("\"retryAfterSeconds\":");
    json.number(wait);
  }
  json.raw("}");
}

void writeStatus(JsonWriter& json, const Refusal& refusal) {
  const int code = refusal.code >= 400 && refusal.code <= 599 ? refusal.code : 403;
  json.raw(",\"status\":{\"status\":\"Failure\"");
  json.member("message", refusal.message.empty() ? kNoMessage : refusal.message);
  json.member("reason", kube::reasonOfCode(code).value_or("Forbidden"));
  json.raw(",\"code\":");
  json.number(code);
  writeDetails(json, refusal);
  json.raw("}");
}

void writeWarnings(JsonWriter& json, const std::vector<std::string>& warnings) {
  size_t written = 0;
  for (const std::string& warning : warnings) {
    if (warning.empty()) continue;
    if (written == kMostAnswerWarnings) break;
    json.raw(written++ == 0 ? ",\"warnings\":[" : ",");
    json.text(warningText(warning));
  }
  if (written > 0) json.raw("]");
}

}  // namespace

std::string answerText(std::string_view uid, const ReviewAnswer& answer) {
  JsonWriter json(kUsualAnswer);
  json.raw(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":)");
  json.text(uid);
  json.raw(answer.refusal ? ",\"allowed\":false" : ",\"allowed\":true");
  if (answer.refusal) writeStatus(json, *answer.refusal);
  writeWarnings(json, answer.warnings);
  json.raw("}}");
  return json.take();
}

}  // namespace lastout::admission
