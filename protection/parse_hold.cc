// readHold(): how a policy holds its objects by a finalizer.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "kube/messages.h"
#include "kube/names.h"
#include "protection/hold_finalizers.h"
#include "protection/read_parts.h"

namespace lastout::protection {
namespace {

using kube::Fields;

std::string finalizer(Fields& fields, std::string_view key, const std::string& text) {
  if (!kube::isQualifiedName(text) || text.find('/') == std::string::npos)
    fields.fail(key, fields.pathOf(key) +
                         R"( must be a name with a domain, as in "example.com/database", not )" +
                         kube::inQuotes(text));
  return text;
}

// A policy must not have lastout take away what Kubernetes, or lastout by another rule, holds an object with.
void refuseForeign(Fields& fields, const std::string& finalizer) {
  const std::string_view reserved = reservedDomainOf(finalizer);
  if (!reserved.empty())
    fields.fail("finalizer", fields.pathOf("finalizer") + " must be of a domain of yours, not of " +
                                 std::string(reserved) + ": " + kube::inQuotes(finalizer));
}

std::string annotationKey(Fields& fields, std::string_view key) {
  std::string text = fields.string(key).value_or("");
  if (!text.empty() && !kube::isQualifiedName(text))
    fields.fail(key, fields.pathOf(key) + " is no key of an annotation: " + kube::inQuotes(text));
  return text;
}

Force readForce(Fields fields) {
  Force force;
  if (auto key = readKeyTest(fields)) force.key = std::move(*key);
  if (force.key.place == KeyTest::MetadataField::Label)
    fields.fail("label", fields.pathOf("label") + " cannot force a deletion; name an annotation");
  if (fields.oneOf("starts", {"Always", "OnlyWhenDeleting"}) == "OnlyWhenDeleting")
    force.starts = Force::Starts::OnlyWhenDeleting;
  force.requiresDelete = fields.oneOf("requires", {"Delete", "Nothing"}) != "Nothing";
  fields.finish();
  return force;
}

ReportPlace readReportPlace(Fields fields) {
  ReportPlace place;
  place.annotation = annotationKey(fields, "annotation");
  place.condition = fields.string("condition").value_or("");
  if (place.annotation.empty() == place.condition.empty())
    fields.fail("annotation", fields.path() + " names one place: an annotation or a condition");
  if (!place.condition.empty() && !kube::isQualifiedName(place.condition))
    fields.fail("condition", fields.pathOf("condition") +
                                 " is no type of a condition: " + kube::inQuotes(place.condition));
  fields.finish();
  return place;
}

// What says something else must not be taken for a report, nor be overwritten by one.
void refuseSharedPlace(Fields& fields, const Hold& hold) {
  if (!hold.hasExternalStep()) return;
  const ReportPlace& place = *hold.external->reportedBy;
  std::vector<std::string> others{hold.confirmAnnotation, hold.external->annotation};
  if (hold.force) others.push_back(hold.force->key.key);
  for (const KeyTest& pause : hold.pauses)
    if (pause.place == KeyTest::MetadataField::Annotation) others.push_back(pause.key);
  const bool isShared = place.annotation.empty()
                            ? place.condition == hold.status.condition
                            : std::ranges::find(others, place.annotation) != others.end();
  if (isShared)
    fields.fail("external", fields.pathOf("external") + ".reportedBy: " + toString(place) +
                                " has another meaning in " + fields.path());
}

DeletionWord readWord(Fields fields) {
  DeletionWord word;
  word.field = readPath(fields, "field");
  word.annotation = annotationKey(fields, "annotation");
  if (word.field && !word.annotation.empty())
    fields.fail("annotation", fields.path() + " has a field and an annotation: one of them has the word");
  word.byDefault = fields.requiredString("default");
  word.allowed = readStrings(fields, "allowed");
  bool isAllowed = word.allowed.empty();
  for (const std::string& one : word.allowed) isAllowed = isAllowed || one == word.byDefault;
  if (!isAllowed)
    fields.fail("default", fields.pathOf("default") + " is not among " + fields.pathOf("allowed"));
  if (word.allowed.empty()) word.allowed = {word.byDefault};
  if (auto reportedBy = fields.fields("reportedBy"))
    word.reportedBy = readReportPlace(std::move(*reportedBy));
  fields.finish();
  return word;
}

FieldPath statusPath(Fields& fields, std::string_view key, FieldPath byDefault) {
  auto path = readPath(fields, key);
  if (!path) return byDefault;
  if (path->keys.size() < 2 || path->keys.front() != "status" || path->keys[1] == "conditions")
    fields.fail(key, fields.pathOf(key) + " must be a field of status other than its conditions");
  return std::move(*path);
}

void readText(Fields& fields, std::string_view key, std::string& text) {
  auto given = fields.string(key);
  if (given && given->empty()) fields.fail(key, fields.pathOf(key) + " is empty");
  if (given) text = std::move(*given);
}

HoldStatus readStatus(Fields fields) {
  HoldStatus status;
  status.phase = statusPath(fields, "phaseField", std::move(status.phase));
  status.message = statusPath(fields, "messageField", std::move(status.message));
  status.confirmation = statusPath(fields, "confirmationField", std::move(status.confirmation));
  readText(fields, "condition", status.condition);
  if (auto phases = fields.fields("phases")) {
    readText(*phases, "blocked", status.blocked);
    readText(*phases, "pending", status.pending);
    readText(*phases, "deleting", status.deleting);
    phases->finish();
  }
  fields.finish();
  return status;
}

HoldWords readWords(Fields& fields) {
  HoldWords words;
  if (auto reasons = fields.fields("reasons")) {
    readText(*reasons, "protected", words.isProtected);
    readText(*reasons, "children", words.hasChildren);
    readText(*reasons, "pending", words.isPending);
    readText(*reasons, "cascading", words.isCascading);
    readText(*reasons, "event", words.event);
    reasons->finish();
  }
  if (auto messages = fields.fields("messages")) {
    for (const auto& [key, text] :
         {std::pair{"protected", &words.protectedMessage}, std::pair{"pending", &words.pendingMessage}}) {
      std::string given = readMessage(*messages, key);
      if (!given.empty()) *text = std::move(given);
    }
    messages->finish();
  }
  return words;
}

}  // namespace

Hold readHold(Fields fields) {
  Hold hold;
  hold.finalizer = finalizer(fields, "finalizer", fields.requiredString("finalizer"));
  refuseForeign(fields, hold.finalizer);
  for (std::string& other : readStrings(fields, "finalizersOfOthers")) {
    hold.finalizersOfOthers.push_back(finalizer(fields, "finalizersOfOthers", other));
    if (other == hold.finalizer)
      fields.fail("finalizersOfOthers",
                  fields.pathOf("finalizersOfOthers") + " names " + fields.pathOf("finalizer") + " itself");
  }
  hold.pauses = readKeyTests(fields, "pauses");
  if (auto force = fields.fields("force")) hold.force = readForce(std::move(*force));
  hold.confirmAnnotation = annotationKey(fields, "confirmAnnotation");
  if (!hold.confirmAnnotation.empty() && !hold.force)
    fields.fail("confirmAnnotation", fields.pathOf("confirmAnnotation") + " confirms what " +
                                         fields.pathOf("force") + " asks for, which is missing");
  if (auto external = fields.fields("external")) hold.external = readWord(std::move(*external));
  if (auto status = fields.fields("status")) hold.status = readStatus(std::move(*status));
  refuseSharedPlace(fields, hold);
  hold.words = readWords(fields);
  hold.lookAgain = readPause(fields, "lookAgain", hold.lookAgain);
  hold.retryAfter = readPause(fields, "retryAfter", hold.retryAfter);
  fields.finish();
  return hold;
}

}  // namespace lastout::protection
