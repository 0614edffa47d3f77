#include "replay/recording.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <utility>

#include "criticalservice/critical_service.h"
#include "kube/fields.h"

namespace lastout::replay {
namespace {

using What = RecordedEvent::Kind;
using kube::Errors;
using kube::Fields;

constexpr double kLatest = 1e12;  // seconds

std::chrono::milliseconds timeOf(Fields& fields) {
  const kube::Value* found = fields.any("t");
  double seconds = -1;
  if (found != nullptr && found->asInteger() != nullptr) seconds = static_cast<double>(*found->asInteger());
  if (found != nullptr && std::holds_alternative<double>(found->data))
    seconds = std::get<double>(found->data);
  if (seconds >= 0 && seconds <= kLatest) return std::chrono::milliseconds(std::llround(seconds * 1000));
  fields.fail("t", "t must say when it happened, in seconds since the recording began");
  return {};
}

What kindOf(Fields& fields) {
  const auto word =
      fields.oneOf("kind", {"client", "admission", "watch", "finalizer-controller", "marker"}).value_or("");
  if (word == "client") return What::Client;
  if (word == "admission") return What::Admission;
  if (word == "watch") return What::Watch;
  if (word == "finalizer-controller") return What::FinalizerController;
  if (word.empty() && !fields.has("kind")) fields.fail("kind", "kind is missing: what is this line about?");
  return What::Marker;
}

kube::Value& member(kube::Value& map, std::string_view key) {
  if (map.asMap() == nullptr) map.data = kube::Value::Map{};
  auto& members = std::get<kube::Value::Map>(map.data);
  const auto found = std::ranges::find(members, key, &kube::Member::key);
  if (found != members.end()) return found->value;
  return members.emplace_back(kube::Member{std::string(key), {}, {}}).value;
}

}  // namespace

RecordingReader::RecordingReader(std::string name, std::unique_ptr<std::istream> source,
                                 const kube::ParseLimits& limits)
    : path_(std::move(name)), source_(std::move(source)), limits_(limits) {}

kube::Object asGuardedThen(kube::Object object) {
  const bool isService = object.key.type == criticalservice::criticalServiceType();
  if (!isService || object.content.find("spec") == nullptr ||
      object.content.at({"spec", "guard", "dependencies"}) != nullptr)
    return object;
  member(member(member(object.content, "spec"), "guard"), "dependencies").data = std::string("None");
  return object;
}

kube::Result<RecordingReader> RecordingReader::open(const std::string& path,
                                                    const kube::ParseLimits& limits) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return tl::unexpected(kube::Error{"is a folder: name the recording itself", path, {}});
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file) return tl::unexpected(kube::Error{"cannot be opened", path, {}});
  return RecordingReader(path, std::move(file), limits);
}

kube::Error RecordingReader::at(std::string message) const {
  return {std::move(message), path_, {.line = line_, .column = 1}};
}

// Without its end; nothing at the end of the file.
kube::Result<std::optional<std::string>> RecordingReader::readLine() {
  std::string line;
  ++line_;
  for (int c = source_->get(); c != std::istream::traits_type::eof(); c = source_->get()) {
    if (c == '\n') return line;
    if (line.size() == limits_.bytes)
      return tl::unexpected(at("the line is longer than " + std::to_string(limits_.bytes) + " bytes"));
    line += static_cast<char>(c);
  }
  if (source_->bad()) return tl::unexpected(at("cannot be read any further"));
  cutOff_ = !line.empty();
  return line.empty() ? std::nullopt : std::optional(std::move(line));
}

tl::expected<std::optional<RecordedEvent>, Errors> RecordingReader::next() {
  auto text = readLine();
  if (!text) return tl::unexpected(Errors{text.error()});
  if (!*text) return std::nullopt;
  const auto value = kube::parseJson(**text, path_, limits_);
  Errors errors;
  RecordedEvent event;
  if (value) {
    event = read(*value, errors);
  } else if (cutOff_) {
    return std::nullopt;
  } else {
    errors.push_back(value.error());
  }
  cutOff_ = false;  // it was whole, only its end of line is missing
  for (kube::Error& error : errors) error.position.line = line_;  // each was parsed as a text of its own
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return event;
}

RecordedEvent RecordingReader::read(const kube::Value& line, Errors& errors) {
  Fields fields(line, path_, "", errors);
  RecordedEvent event;
  if (!errors.empty()) return event;
  event.line = line_;
  event.at = timeOf(fields);
  event.kind = kindOf(fields);
  event.user = fields.string("user").value_or("");
  if (event.kind == What::Admission) {
    readAdmission(fields, event, errors);
  } else if (event.kind == What::Watch) {
    readWatch(fields, event, errors);
  } else if (event.kind == What::Marker) {
    event.text = fields.string("note").value_or("");
  } else {
    event.text = fields.requiredString("action");
    event.status = fields.integer("status").value_or(0);
    event.key.namespaceName = fields.string("namespace").value_or("");
    event.key.name = fields.string("name").value_or("");
  }
  return event;
}

void RecordingReader::readAdmission(Fields& fields, RecordedEvent& event, Errors& errors) const {
  event.operation = fields.requiredString("operation");
  event.subresource = fields.string("subresource").value_or("");
  event.policy = fields.string("propagationPolicy").value_or("");
  event.key.namespaceName = fields.string("namespace").value_or("");
  event.key.name = fields.requiredString("name");
  if (fields.has("webhooks")) event.webhooks = fields.strings("webhooks");
  if (const auto denier = fields.string("webhook")) event.webhooks = {*denier};
  event.why = fields.strings("why");
  const auto allowed = fields.boolean("allowed");
  if (!allowed && !fields.has("allowed")) fields.fail("allowed", "allowed must be true or false");
  event.allowed = allowed.value_or(false);
  const std::string resource = fields.requiredString("resource");
  if (!errors.empty()) return;
  if (const auto group = fields.string("group")) {
    event.key.type = {*group, resource};
  } else if (auto type = typeCalled(resource)) {
    event.key.type = *type;
  } else {
    errors.push_back(type.error());
  }
}

// A recording shows an object before anybody asks to delete it; of a built-in type it need not.
kube::Result<kube::GroupResource> RecordingReader::typeCalled(const std::string& resource) const {
  if (const auto seen = seen_.find(resource); seen != seen_.end()) {
    if (seen->second.size() == 1) return *seen->second.begin();
    return tl::unexpected(at("resource \"" + resource + "\" is of several groups: say \"group\" beside it"));
  }
  for (const kube::ResourceType& type : kube::ResourceMap::builtIn().types()) {
    if (type.type.resource == resource) return type.type;
  }
  return tl::unexpected(at("no \"watch\" line above shows a type whose resource is \"" + resource + "\""));
}

void RecordingReader::readWatch(Fields& fields, RecordedEvent& event, Errors& errors) {
  const auto change = fields.oneOf("type", {"ADDED", "MODIFIED", "DELETED"});
  if (!change && !fields.has("type")) fields.fail("type", "type must be ADDED, MODIFIED or DELETED");
  event.deleted = change == "DELETED";
  const std::string resource = fields.requiredString("resource");
  auto object = fields.requiredFields("object");
  if (!object) return;
  event.object.apiVersion = object->string("apiVersion").value_or("");
  event.object.kind = object->string("kind").value_or("");
  const auto metadata = object->requiredFields("metadata");
  if (!metadata || !errors.empty()) return;
  auto meta = kube::parseMeta(metadata->value(), path_);
  if (!meta) {
    errors.push_back(meta.error());
    return;
  }
  if (meta->name.empty()) object->fail("metadata", "object.metadata.name is missing");
  event.key = {{kube::groupOf(event.object.apiVersion), resource}, meta->namespaceName, meta->name};
  event.object.key = event.key;
  event.object.meta = std::move(*meta);
  event.object.content = object->value();
  event.object.file = path_;
  seen_[resource].insert(event.key.type);
}

}  // namespace lastout::replay
