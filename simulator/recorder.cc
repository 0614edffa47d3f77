#include "simulator/recorder.h"

#include <utility>

#include "simulator/decode.h"
#include "simulator/metadata.h"
#include "simulator/request.h"

namespace lastout::simulator {
namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Requests for these carry what nobody may read later.
bool isConfidential(std::string_view resource) { return resource == "secrets" || resource == "tokenreviews"; }

// Takes the data of Secrets out, however deep they stand; and what kubectl was last given, which is a text
// that may hold another copy. Bodies are nested no deeper than kDeepestJson.
void withhold(Json& json) {
  if (json.is_array()) {
    for (Json& item : json) withhold(item);
  } else if (json.is_object()) {
    if (stringAt(json, {"kind"}) == "Secret") {
      json.erase("data");
      json.erase("stringData");
    }
    json.erase(kLastApplied);
    for (auto& member : json.items()) withhold(member.value());
  }
}

bool mayHoldSecrets(const StoredRecord& record) {
  return record.text().find("\"Secret\"") != std::string::npos ||
         at(record.object(), {"metadata", "annotations", kLastApplied}) != nullptr;
}

std::string recordableText(const StoredRecord& record) {
  if (!mayHoldSecrets(record)) return record.text();
  Json object = record.object();
  withhold(object);
  return toText(object);
}

Json textOrNull(std::string_view text) { return text.empty() ? Json() : Json(text); }

double secondsAt(Recorder::Time when) { return static_cast<double>(when.count()) / 1000; }

// A body as JSON without secrets; null: it is none.
Json recordableBody(const std::string& body) {
  auto json = parseJsonText(body);
  if (!json) return nullptr;
  withhold(*json);
  return std::move(*json);
}

// What it does to metadata: of anything else nobody knows whether it is a piece of a Secret.
Json recordablePatch(const std::string& body) {
  auto json = parseJsonText(body);
  if (!json) return nullptr;
  if (json->is_array()) {
    Json operations = Json::array();
    for (Json& operation : *json) {
      const std::string_view path = stringAt(operation, {"path"});
      if (path.starts_with("/metadata/") && path.find("last-applied") == std::string_view::npos)
        operations.push_back(std::move(operation));
    }
    *json = std::move(operations);
  } else if (json->is_object()) {
    const Json* metadata = at(*json, {"metadata"});
    *json = metadata == nullptr ? Json::object() : Json{{"metadata", *metadata}};
  }
  withhold(*json);
  return std::move(*json);
}

const char* changeName(Write::Kind kind) {
  switch (kind) {
    case Write::Kind::Added:
      return "ADDED";
    case Write::Kind::Modified:
      return "MODIFIED";
    case Write::Kind::Deleted:
      break;
  }
  return "DELETED";
}

// Why it was denied: the causes that a webhook gave, or its message.
Json reasonsOf(const ApiError* denial) {
  Json why = Json::array();
  if (denial == nullptr) return why;
  if (const Json* causes = at(denial->details, {"causes"}); causes != nullptr && causes->is_array()) {
    for (const Json& cause : *causes) why.push_back(stringAt(cause, {"message"}));
  }
  if (why.empty()) why.push_back(denial->message);
  return why;
}

// The webhook that said no, as the API server quotes it; empty: none did, it could not be asked.
std::string denierOf(const ApiError& denial) {
  constexpr std::string_view kBefore = "admission webhook \"";
  const std::string_view message = denial.message;
  if (!message.starts_with(kBefore)) return {};
  const std::string_view rest = message.substr(kBefore.size());
  return std::string(rest.substr(0, rest.find('"')));
}

}  // namespace

kube::Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  if (!file) return tl::unexpected(kube::Error{"cannot write the recording " + path, {}, {}});
  return std::unique_ptr<Recorder>(new Recorder(path, std::move(file)));
}

void Recorder::write(const std::string& line) {
  const kube::MutexLock lock(mutex_);
  if (file_.is_open()) file_ << line << '\n';
}

void Recorder::client(Time when, const ExchangeRequest& request, const ExchangeResponse& response) {
  const std::optional<Target> target = parseTarget(request.path);
  const std::string resource = target ? target->resource : std::string();
  Json line = {{"t", secondsAt(when)},
               {"kind", "client"},
               {"action", request.method + " " + (target ? resource : request.path)},
               {"namespace", textOrNull(target ? target->namespaceName : "")},
               {"name", textOrNull(target ? target->name : "")},
               {"path", request.path},
               {"query", request.query},
               {"user", request.user.username},
               {"status", response.status}};
  if (target && !target->subresource.empty()) line["subresource"] = target->subresource;
  // Nobody knows what a body is about that was sent to no resource.
  if (target && !isConfidential(resource)) {
    const bool reads = request.method == "GET";
    if (!request.body.empty())
      line["request"] =
          request.method == "PATCH" ? recordablePatch(request.body) : recordableBody(request.body);
    if (!reads || response.status >= 400) line["answer"] = recordableBody(response.body);
  }
  write(toText(line));
}

void Recorder::review(Time when, const Mutation& mutation, const std::vector<std::string>& webhooks,
                      const ApiError* denial) {
  const Json& object = mutation.before == nullptr ? mutation.after : mutation.before->object();
  const Json* policy = at(mutation.options, {"propagationPolicy"});
  Json line = {{"t", secondsAt(when)},
               {"kind", "admission"},
               {"operation", toString(mutation.operation)},
               {"group", mutation.key.type.group},
               {"resource", mutation.key.type.resource},
               {"namespace", textOrNull(mutation.key.namespaceName)},
               {"name", mutation.key.name},
               {"uid", stringAt(object, {"metadata", "uid"})},
               {"propagationPolicy", policy == nullptr ? Json() : *policy},
               {"dryRun", mutation.dryRun},
               {"requestName", mutation.nameIsKnown ? mutation.key.name : ""},
               {"user", mutation.user.username},
               {"allowed", denial == nullptr},
               {"why", reasonsOf(denial)},
               {"webhooks", webhooks}};
  if (!mutation.subresource.empty()) line["subresource"] = mutation.subresource;
  if (denial != nullptr) line["webhook"] = denierOf(*denial);
  write(toText(line));
}

void Recorder::change(Time when, const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  const Json& object = write.record->object();
  std::string line = toText({{"t", secondsAt(when)},
                             {"kind", "watch"},
                             {"resource", key.type.resource},
                             {"type", changeName(write.kind)},
                             {"namespace", textOrNull(key.namespaceName)},
                             {"name", key.name},
                             {"terminating", isTerminating(object)},
                             {"finalizers", finalizersOf(object)}});
  line.pop_back();
  this->write(line + R"(,"object":)" + recordableText(*write.record) + "}");
}

void Recorder::marker(Time when, std::string_view note) {
  write(toText({{"t", secondsAt(when)}, {"kind", "marker"}, {"note", note}}));
}

kube::Result<void> Recorder::finish() {
  const kube::MutexLock lock(mutex_);
  if (file_.is_open()) file_.close();
  if (file_) return {};
  return tl::unexpected(
      kube::Error{"the recording " + path_ + " is not whole: it could not be written", {}, {}});
}

}  // namespace lastout::simulator
