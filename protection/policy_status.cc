#include "protection/policy_status.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "kube/timestamp.h"

namespace lastout::protection {
namespace {

using kube::Json;

struct PolicyCondition {
  const char* type;
  bool holds;
  const char* reason;
  std::string message;
};

PolicyCondition accepted(const PolicyStanding& standing) {
  if (standing.problem.empty()) return {"Accepted", true, "Accepted", "the policy is understood"};
  return {"Accepted", false, "NotUnderstood", standing.problem};
}

// What counts of a policy that is not understood as it stands.
std::string whatCounts(const PolicyStanding& standing) {
  if (!standing.understood)
    return "lastout understands no form of the policy: it makes nothing of it, and what API servers evaluate "
           "already stays";
  return "the policy is not understood as it stands; as it was in generation " +
         std::to_string(standing.understood->generation) + " it goes on protecting";
}

PolicyCondition enforced(const PolicyStanding& standing, std::chrono::sys_seconds now) {
  const auto no = [](const char* reason, std::string message) {
    return PolicyCondition{"Enforced", false, reason, std::move(message)};
  };
  if (!standing.problem.empty()) return no("NotAccepted", whatCounts(standing));
  if (!standing.writeProblem.empty()) return no("NotStored", standing.writeProblem);
  if (!standing.isStored) return no("NotStored", "what API servers are to evaluate is not stored yet");
  if (isSpreading(standing, now)) return no("Spreading", "API servers are about to read it");
  if (standing.hasWebhookPart && !standing.webhookAsks)
    return no("NotAsked", "some of it runs in the webhook, and API servers do not ask about that yet");
  return {"Enforced", true, "Enforced", "API servers go by the policy as it stands"};
}

PolicyCondition labelsKept(const std::string& problem) {
  if (problem.empty()) return {"LabelsKept", true, "Kept", "lastout keeps the labels of its objects"};
  return {"LabelsKept", false, "NotKept", problem};
}

PolicyCondition held(const std::string& problem, const std::string& forceProblem) {
  if (!problem.empty()) return {"Held", false, "NotHeld", problem};
  std::string message = "lastout keeps its finalizer on its objects";
  if (!forceProblem.empty()) message += "; force does not count: " + forceProblem;
  return {"Held", true, "Held", std::move(message)};
}

PolicyCondition typesKnown(const std::string& unknown) {
  if (unknown.empty())
    return {"TypesKnown", true, "Known", "nothing that the policy names is known to be missing"};
  return {"TypesKnown", false, "NotFound", unknown};
}

PolicyCondition typesReadable(const std::string& unreadable) {
  if (unreadable.empty())
    return {"TypesReadable", true, "Readable",
            "lastout may list what the policy may protect in a Namespace, and behind a CRD"};
  return {"TypesReadable", false, "Forbidden", unreadable};
}

Json conditionsIn(const Json& status) {
  Json conditions = Json::array();
  for (const Json& one : status.is_object() ? status.value("conditions", Json::array()) : Json::array())
    if (one.is_object()) conditions.push_back(one);
  return conditions;
}

// null: the status has no such condition.
Json conditionIn(const Json& status, std::string_view type) {
  for (Json& one : conditionsIn(status))
    if (one.value("type", "") == type) return std::move(one);
  return nullptr;
}

// The transition time of a condition that stays as it is stays, too.
Json toJson(const PolicyCondition& condition, const PolicyStanding& standing, const Json& before,
            std::chrono::sys_seconds now) {
  const char* status = condition.holds ? "True" : "False";
  std::string since = kube::timestampText(now);
  for (const Json& one : conditionsIn(before)) {
    if (one.value("type", "") == condition.type && one.value("status", "") == status)
      since = one.value("lastTransitionTime", since);
  }
  return {{"type", condition.type},
          {"status", status},
          {"reason", condition.reason},
          {"message", condition.message},
          {"observedGeneration", standing.generation},
          {"lastTransitionTime", since}};
}

// "Delete, Unprotect": a column of `kubectl get` shows a list as JSON. Stays as the form that counts does.
Json blocksOf(const PolicyStanding& standing, const Json& before) {
  if (!standing.understood) return before.is_object() ? before.value("blocks", Json()) : Json();
  std::string words;
  for (const Block block : standing.understood->policy.blocks)
    (words += words.empty() ? "" : ", ") += toString(block);
  return words;
}

// The form that counts; where this version understands none, the one that another wrote stays.
Json understoodOf(const PolicyStanding& standing, const Json& before) {
  if (standing.understood)
    return {{"generation", standing.understood->generation},
            {"spec", kube::toJson(standing.understood->spec)}};
  return before.is_object() ? before.value("understood", Json()) : Json();
}

}  // namespace

std::optional<UnderstoodForm> understoodFormIn(const kube::Object& policy) {
  const kube::Value* generation = policy.content.at({"status", "understood", "generation"});
  const kube::Value* spec = policy.content.at({"status", "understood", "spec"});
  if (generation == nullptr || generation->asInteger() == nullptr || spec == nullptr) return std::nullopt;
  kube::Object former = policy;
  former.content.data = kube::Value::Map{{"spec", {}, *spec}};
  auto read = parsePolicy(former);
  if (!read) return std::nullopt;
  return UnderstoodForm{*generation->asInteger(), *spec, std::move(*read)};
}

bool saysEnforced(const Json& status, int64_t generation) {
  for (const Json& one : conditionsIn(status)) {
    if (one.value("type", "") == "Enforced" && one.value("status", "") == "True")
      return one.value("observedGeneration", int64_t{-1}) == generation;
  }
  return false;
}

bool isSpreading(const PolicyStanding& standing, std::chrono::sys_seconds now) {
  return standing.isStored && now < standing.storedSince + kInForceAfter;
}

Json policyStatus(const PolicyStanding& standing, const Json& before, std::chrono::sys_seconds now) {
  Json conditions = Json::array({toJson(accepted(standing), standing, before, now),
                                 toJson(enforced(standing, now), standing, before, now)});
  if (standing.labelProblem)
    conditions.push_back(toJson(labelsKept(*standing.labelProblem), standing, before, now));
  if (standing.holdProblem)
    conditions.push_back(toJson(held(*standing.holdProblem, standing.forceProblem), standing, before, now));
  const auto addOrKeep = [&](const char* type, const std::optional<std::string>& told, const auto& made) {
    if (told)
      conditions.push_back(toJson(made(*told), standing, before, now));
    else if (Json stands = conditionIn(before, type); !stands.is_null())
      conditions.push_back(std::move(stands));
  };
  addOrKeep("TypesKnown", standing.unknownTypes, typesKnown);
  if (standing.seeksInContainers) addOrKeep("TypesReadable", standing.unreadableTypes, typesReadable);
  Json status = {{"observedGeneration", standing.generation}, {"conditions", std::move(conditions)}};
  if (Json blocks = blocksOf(standing, before); !blocks.is_null()) status["blocks"] = std::move(blocks);
  if (Json understood = understoodOf(standing, before); !understood.is_null())
    status["understood"] = std::move(understood);
  return status;
}

}  // namespace lastout::protection
