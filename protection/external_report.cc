#include "protection/external_report.h"

#include "kube/messages.h"
#include "kube/value.h"

namespace lastout::protection {
namespace {

using State = ExternalReport::State;

constexpr std::string_view kBetweenParts = ": ";

// Takes `part` and what separates it from the next off the front of the text. Returns false if the text does
// not begin with that part.
bool takePart(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  const std::string_view rest = text.substr(part.size());
  if (!rest.empty() && !rest.starts_with(kBetweenParts)) return false;
  text = rest.empty() ? rest : rest.substr(kBetweenParts.size());
  return true;
}

ExternalReport failed(std::string_view message) {
  return {State::Failed, message.empty() ? "no reason was reported" : kube::printable(message)};
}

ExternalReport missing(const std::string& wanted, std::string_view found) {
  return {State::Missing, wanted + (found.empty() ? "" : ", not " + kube::inQuotes(found))};
}

// "Delete/6f3c…: Done", "Delete/6f3c…: Failed: the server refuses it".
ExternalReport reportIn(std::string_view text, const std::string& step, const std::string& place) {
  std::string_view rest = text;
  if (takePart(rest, step)) {
    if (rest == kReportedDone) return {State::Done, ""};
    if (takePart(rest, kReportedFailed)) return failed(rest);
  }
  return missing(
      place + " is to be " + kube::inQuotes(step + std::string(kBetweenParts) + std::string(kReportedDone)),
      text);
}

// status True with reason Done, or False with Failed; the message is "Delete/6f3c…", or "Delete/6f3c…: why".
ExternalReport reportIn(const kube::Value* condition, const std::string& step, const std::string& place) {
  const std::string wanted = place + " is to be True with reason Done and message " + kube::inQuotes(step);
  if (condition == nullptr) return missing(wanted, "");
  const std::string& status = kube::textAt(*condition, {"status"});
  const std::string& reason = kube::textAt(*condition, {"reason"});
  const std::string& message = kube::textAt(*condition, {"message"});
  std::string_view rest = message;
  if (takePart(rest, step)) {
    if (status == "True" && reason == kReportedDone) return {State::Done, ""};
    if (status == "False" && reason == kReportedFailed) return failed(rest);
  }
  return missing(wanted, status + " " + reason + std::string(kBetweenParts) + message);
}

}  // namespace

std::string reportedStep(std::string_view word, std::string_view uid) {
  return std::string(word) + "/" + std::string(uid);
}

ExternalReport externalReportIn(const ReportPlace& place, std::string_view word, const kube::ObjectMeta& meta,
                                const kube::Value& content) {
  const std::string step = reportedStep(word, meta.uid);
  if (place.annotation.empty())
    return reportIn(kube::statusCondition(content, place.condition), step, toString(place));
  const auto found = meta.annotations.find(place.annotation);
  const std::string_view text = found == meta.annotations.end() ? std::string_view() : found->second;
  return reportIn(text, step, toString(place));
}

}  // namespace lastout::protection
