#include "protection/hold_status.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "kube/timestamp.h"
#include "kube/value.h"
#include "tls/openssl.h"

namespace lastout::protection {
namespace {

using nlohmann::json;

constexpr size_t kHashBytes = 4;
constexpr size_t kMostChildren = 10'000;  // that are read from a status

json& at(json& object, const FieldPath& path) {
  json* place = &object;
  for (const std::string& key : path.keys) place = &(*place)[key];
  return *place;
}

void setText(json& patch, const kube::Value& content, const FieldPath& path, const std::string& text) {
  if (path.textIn(content) != text) at(patch, path) = text;
}

const kube::Value* conditionsIn(const kube::Value& content) { return content.at({"status", "conditions"}); }

std::string_view textOf(const kube::Value& map, std::string_view key) {
  return FieldPath{{std::string(key)}}.textIn(map);
}

// The reason of the condition as it stands; empty: there is none.
std::string_view reasonIn(const Hold& hold, const kube::Value& content) {
  const kube::Value* condition = kube::statusCondition(content, hold.status.condition);
  return condition == nullptr ? std::string_view() : textOf(*condition, "reason");
}

bool isOurs(const HoldWords& words, const HoldStatus& status, std::string_view reason) {
  return reason == words.isPending || reason == words.isCascading || reason == words.isProtected ||
         reason == words.hasChildren || reason == status.deleting;
}

// The list with another condition of the type, or without; a merge patch replaces a list as a whole. null:
// it is as it should be.
json conditionsWith(const Hold& hold, const kube::Value& content, const HoldStanding* standing, int64_t now) {
  const std::string& type = hold.status.condition;
  json list = json::array();
  json former;
  if (const kube::Value* conditions = conditionsIn(content); conditions != nullptr && conditions->asList()) {
    for (const kube::Value& one : *conditions->asList())
      (textOf(one, "type") == type ? former : list.emplace_back()) = json(kube::toJson(one));
  }
  const auto has = [&](const char* key, const std::string& text) {
    return former.is_object() && former.contains(key) && former[key] == text;
  };
  if (standing == nullptr) {
    if (!former.is_object() || !former.contains("reason") || !former["reason"].is_string() ||
        !isOurs(hold.words, hold.status, former["reason"].get<std::string>()))
      return nullptr;
    return list;
  }
  if (has("status", "False") && has("reason", standing->reason) && has("message", standing->message))
    return nullptr;
  json condition{
      {"type", type}, {"status", "False"}, {"reason", standing->reason}, {"message", standing->message}};
  condition["lastTransitionTime"] =
      has("status", "False") && former.contains("lastTransitionTime")
          ? former["lastTransitionTime"]
          : json(kube::timestampText(std::chrono::sys_seconds(std::chrono::seconds(now))));
  list.push_back(std::move(condition));
  return list;
}

json asJson(const Confirmation& confirmation) {
  return {{"required", confirmation.required},
          {"hash", confirmation.hash},
          {"children", confirmation.children},
          {"remainingCount", confirmation.remainingCount},
          {"message", confirmation.message}};
}

}  // namespace

std::string confirmationHash(std::vector<std::string> children) {
  std::ranges::sort(children);
  std::string text;
  for (const std::string& child : children) text += (text.empty() ? "" : "\n") + child;
  return tls::digestOf(text, kHashBytes);
}

std::optional<Confirmation> confirmationIn(const Hold& hold, const kube::Value& content) {
  const kube::Value* block = hold.status.confirmation.in(content);
  if (block == nullptr) return std::nullopt;
  Confirmation made;
  const kube::Value* required = block->find("required");
  const kube::Value* remaining = block->find("remainingCount");
  const kube::Value* children = block->find("children");
  made.required = required == nullptr || !required->asBool() || *required->asBool();
  made.hash = textOf(*block, "hash");
  made.message = textOf(*block, "message");
  if (remaining != nullptr && remaining->asInteger()) made.remainingCount = *remaining->asInteger();
  if (children != nullptr && children->asList() && children->asList()->size() <= kMostChildren) {
    for (const kube::Value& child : *children->asList())
      if (child.asString()) made.children.push_back(*child.asString());
  }
  return made;
}

StatusChange statusChange(const Hold& hold, const kube::Value& content,
                          const std::optional<HoldStanding>& standing, int64_t now) {
  json patch = json::object();
  const bool hasBlock = hold.status.confirmation.in(content) != nullptr;
  if (standing) {
    setText(patch, content, hold.status.phase, standing->phase);
    setText(patch, content, hold.status.message, standing->message);
  } else {
    for (const FieldPath* path : {&hold.status.phase, &hold.status.message})
      if (path->in(content) != nullptr) at(patch, *path) = nullptr;
  }
  json conditions = conditionsWith(hold, content, standing ? &*standing : nullptr, now);
  if (!conditions.is_null()) patch["status"]["conditions"] = std::move(conditions);
  StatusChange change;
  change.isNews = !patch.empty();
  change.isNewReason = standing && reasonIn(hold, content) != standing->reason;
  const bool wantsBlock = standing && standing->confirmation;
  if (wantsBlock && confirmationIn(hold, content) != standing->confirmation)
    at(patch, hold.status.confirmation) = asJson(*standing->confirmation);
  if (!wantsBlock && hasBlock) at(patch, hold.status.confirmation) = nullptr;
  if (!patch.empty()) change.patch = std::move(patch);
  return change;
}

}  // namespace lastout::protection
