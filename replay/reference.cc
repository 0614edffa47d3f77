// References, events and merge patches, as scenario files write them.
#include <algorithm>
#include <array>

#include "kube/messages.h"
#include "replay/spec.h"

namespace lastout::replay {

namespace {

struct EventWord {
  std::string_view word;
  cluster::EventKind kind;
};

constexpr std::array<EventWord, 6> kEventWords = {{{"requested", cluster::EventKind::Requested},
                                                   {"denied", cluster::EventKind::Denied},
                                                   {"accepted", cluster::EventKind::Accepted},
                                                   {"gone", cluster::EventKind::Gone},
                                                   {"created", cluster::EventKind::Created},
                                                   {"changed", cluster::EventKind::Changed}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string eventAdvice(std::string_view word) {
  std::vector<std::string_view> known;
  known.reserve(std::size(kEventWords));
  for (const EventWord& each : kEventWords) known.push_back(each.word);
  const std::string_view near = kube::nearest(word, known);
  if (!near.empty()) return " (did you mean \"" + std::string(near) + "\"?)";
  return ": write requested, denied, accepted, gone, created or changed after the object";
}

std::optional<ScenarioReference> parseText(std::string_view text, const kube::Value& value,
                                           const std::string& path, const Scenario& scenario,
                                           kube::Errors& errors) {
  kube::Result<kube::ObjectPattern> pattern = kube::parsePattern(text, scenario.types);
  if (!pattern) {
    errors.push_back({path + ": " + pattern.error().message, scenario.file, value.position});
    return std::nullopt;
  }
  return ScenarioReference{std::move(*pattern), std::string(text), value.position};
}

// The text of a string value; null and other kinds are reported.
const std::string* textOf(const kube::Value& value, const std::string& path, std::string_view wanted,
                          const Scenario& scenario, kube::Errors& errors) {
  const std::string* text = value.asString();
  if (text == nullptr) {
    std::string message =
        path + ": this is " + std::string(kube::kindName(value)) + "; " + std::string(wanted);
    errors.push_back({std::move(message), scenario.file, value.position});
  }
  return text;
}

}  // namespace

std::optional<ScenarioReference> readReference(const kube::Value& value, const std::string& path,
                                               const Scenario& scenario, kube::Errors& errors) {
  const std::string* text =
      textOf(value, path, "write an object, as in deployments.apps/my-namespace/my-name", scenario, errors);
  if (text == nullptr) return std::nullopt;
  return parseText(trimmed(*text), value, path, scenario, errors);
}

std::optional<EventReference> readEvent(const kube::Value& value, const std::string& path,
                                        const Scenario& scenario, kube::Errors& errors) {
  const std::string* text = textOf(
      value, path, "write an event, as in \"deployments.apps/my-namespace/my-name gone\"", scenario, errors);
  if (text == nullptr) return std::nullopt;
  const std::string_view whole = trimmed(*text);
  const size_t space = whole.find_last_of(' ');
  const std::string_view word = space == std::string_view::npos ? whole : whole.substr(space + 1);
  for (const EventWord& each : kEventWords) {
    if (each.word != word || space == std::string_view::npos) continue;
    std::optional<ScenarioReference> object =
        parseText(trimmed(whole.substr(0, space)), value, path, scenario, errors);
    if (!object) return std::nullopt;
    return EventReference{std::move(*object), each.kind, std::string(whole)};
  }
  errors.push_back(
      {path + ": \"" + std::string(whole) + "\" does not end with what happens" + eventAdvice(word),
       scenario.file, value.position});
  return std::nullopt;
}

namespace {

bool isTextOrNull(const kube::Member& member) { return member.value.isNull() || member.value.asString(); }

}  // namespace

std::optional<std::string> wrongMerge(const kube::Value& merge, const std::string& path) {
  if (merge.asMap() == nullptr) return path + " is " + std::string(kube::kindName(merge)) + "; write a map";
  for (const kube::Member& member : *merge.asMap()) {
    if (member.key == "apiVersion" || member.key == "kind")
      return path + "." + member.key + ": a patch does not change what an object is";
    if (member.key != "metadata") continue;
    if (member.value.asMap() == nullptr)
      return path + ".metadata is " + std::string(kube::kindName(member.value)) + "; write a map";
    for (const kube::Member& part : *member.value.asMap()) {
      if (part.key != "labels" && part.key != "annotations")
        return path + ".metadata." + part.key + ": of the metadata, a merge has labels and annotations";
      const kube::Value::Map* map = part.value.asMap();
      if (map == nullptr || !std::ranges::all_of(*map, isTextOrNull))
        return path + ".metadata." + part.key + ": each value is a text, or null to remove the key";
    }
  }
  return std::nullopt;
}

}  // namespace lastout::replay
