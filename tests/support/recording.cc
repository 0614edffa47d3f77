#include "tests/support/recording.h"

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "kube/parse.h"

namespace lastout::testing {
namespace {

[[noreturn]] void stop(const std::string& path, size_t line, const std::string& why) {
  std::cerr << path << ":" << line << ": " << why << "\n";
  std::abort();
}

std::string word(const kube::Value& event, std::string_view field) {
  const kube::Value* found = event.find(field);
  const std::string* text = found == nullptr ? nullptr : found->asString();
  return text == nullptr ? "" : *text;
}

RecordedEvent::Kind kindOf(const std::string& kind) {
  if (kind == "client") return RecordedEvent::Kind::Client;
  if (kind == "admission") return RecordedEvent::Kind::Admission;
  if (kind == "watch") return RecordedEvent::Kind::Watch;
  if (kind == "finalizer-controller") return RecordedEvent::Kind::FinalizerController;
  return RecordedEvent::Kind::Marker;
}

double secondsOf(const kube::Value& event) {
  const kube::Value* found = event.find("t");
  if (found == nullptr) return 0;
  if (const int64_t* whole = found->asInteger()) return static_cast<double>(*whole);
  const double* seconds = std::get_if<double>(&found->data);
  return seconds == nullptr ? 0 : *seconds;
}

// An admission names its resource without a group; the watches before it have shown every type.
kube::ObjectKey admissionKey(const kube::Value& event, const kube::ResourceMap& types,
                             const std::string& path, size_t line) {
  const std::string resource = word(event, "resource");
  for (const kube::ResourceType& type : types.types()) {
    if (type.type.resource == resource) return {type.type, word(event, "namespace"), word(event, "name")};
  }
  stop(path, line, "no type is called " + resource);
}

RecordedEvent eventOf(const kube::Value& value, kube::ResourceMap& types, const std::string& path,
                      size_t line) {
  RecordedEvent event;
  event.kind = kindOf(word(value, "kind"));
  event.seconds = secondsOf(value);
  event.line = line;
  if (event.kind == RecordedEvent::Kind::Client) {
    event.text = word(value, "action");
    event.key.name = word(value, "name");
  } else if (event.kind == RecordedEvent::Kind::Marker) {
    event.text = word(value, "note");
  } else if (event.kind == RecordedEvent::Kind::Admission) {
    event.key = admissionKey(value, types, path, line);
    event.operation = word(value, "operation");
    event.user = word(value, "user");
    event.allowed = *value.find("allowed")->asBool();
    for (const kube::Value& why : *value.find("why")->asList()) event.why.push_back(*why.asString());
  } else if (event.kind == RecordedEvent::Kind::Watch) {
    std::vector<kube::Value> documents = {*value.find("object")};
    auto objects = kube::parseObjects(std::move(documents), path, types);
    if (!objects) stop(path, line, kube::toString(objects.error()));
    event.object = std::move(objects->front());
    event.key = event.object.key;
    event.deleted = word(value, "type") == "DELETED";
  }
  return event;
}

}  // namespace

std::vector<RecordedEvent> readRecording(const std::string& path, kube::ResourceMap& types) {
  const auto text = kube::readFile(path);
  if (!text) stop(path, 0, kube::toString(text.error()));
  std::vector<std::pair<size_t, kube::Value>> lines;
  size_t number = 0;
  for (size_t start = 0; start < text->size();) {
    const size_t end = std::min(text->find('\n', start), text->size());
    ++number;
    auto value = kube::parseJson(std::string_view(*text).substr(start, end - start), path);
    if (!value) stop(path, number, kube::toString(value.error()));
    lines.emplace_back(number, std::move(*value));
    start = end + 1;
  }
  // CRDs first: the watches of a CRD's instances may come before that of the CRD.
  for (const auto& [line, value] : lines) {
    if (word(value, "kind") != "watch" || word(value, "resource") != "customresourcedefinitions") continue;
    if (const auto added = types.addCrd(*value.find("object"), path); !added) {
      stop(path, line, kube::toString(added.error()));
    }
  }
  std::vector<RecordedEvent> events;
  events.reserve(lines.size());
  for (const auto& [line, value] : lines) events.push_back(eventOf(value, types, path, line));
  return events;
}

}  // namespace lastout::testing
