#include "tests/support/dialogue_world.h"

#include <utility>

#include "client/api_server.h"
#include "kube/well_known.h"
#include "tests/simulator/admin_request.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

std::string collectionOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::string wordOf(std::istringstream& step) {
  std::string text;
  step >> text;
  return text;
}

std::string restOf(std::istringstream& step) {
  std::string text;
  std::getline(step >> std::ws, text);
  return text;
}

DialogueWorld::DialogueWorld(simulator::Handler cluster, std::vector<std::string> groups)
    : types_(kube::ResourceMap::builtIn()),
      server_(cluster),
      cluster_(std::move(cluster)),
      groups_(std::move(groups)) {
  addCommands();
}

std::string DialogueWorld::answer(const DialogueStep& step) {
  std::istringstream rest(step.command);
  const std::string command = wordOf(rest);
  const auto found = commands_.find(command);
  if (found == commands_.end()) stop("no such step: " + step.command);
  return found->second(step, rest);
}

kube::ResourceType DialogueWorld::typeOf(const std::string& kind) const {
  for (const std::string& group : groups_)
    if (const kube::ResourceType* found = types_.findKind(group, kind)) return *found;
  stop("no kind " + kind);
}

kube::ObjectKey DialogueWorld::keyOf(const std::string& object) const {
  const size_t slash = object.find('/');
  const kube::ResourceType type = typeOf(object.substr(0, slash));
  const size_t second = object.find('/', slash + 1);
  if (second != std::string::npos)
    return {type.type, object.substr(slash + 1, second - slash - 1), object.substr(second + 1)};
  return {type.type, type.namespaced ? "default" : "", object.substr(slash + 1)};
}

std::string DialogueWorld::pathOf(const std::string& object) const {
  const kube::ObjectKey key = keyOf(object);
  return client::objectPath(typeOf(object.substr(0, object.find('/'))), key.namespaceName, key.name);
}

std::string DialogueWorld::uidOf(const std::string& object) {
  const auto found = read(pathOf(object));
  if (!found) stop(object + " is not there");
  return (*found)["metadata"]["uid"];
}

simulator::ExchangeResponse DialogueWorld::ask(const std::string& method, const std::string& target,
                                               const Json& body) {
  simulator::ExchangeRequest request = adminRequest(method, target);
  request.contentType = method == "PATCH" ? kMergePatch : "application/json";
  if (!body.is_null()) request.body = server_.withUids(body.dump());
  return cluster_(request);
}

std::optional<DialogueWorld::Json> DialogueWorld::read(const std::string& path) {
  const simulator::ExchangeResponse answer = ask("GET", path, nullptr);
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) stop(path + ": " + answer.body);
  return Json::parse(answer.body);
}

void DialogueWorld::put(const std::string& path, const Json& object) {
  simulator::ExchangeResponse answer = ask("POST", collectionOf(path), object);
  if (answer.status == 409) answer = ask("PATCH", path, object);
  if (answer.status >= 400) stop(path + ": " + answer.body);
  if (object.contains("status")) change(path, {{"status", object["status"]}});
}

// A status is another subresource, where the type has it.
void DialogueWorld::change(const std::string& path, const Json& patch) {
  if (const auto answer = ask("PATCH", path, patch); answer.status != 200) stop(path + ": " + answer.body);
  if (!patch.contains("status")) return;
  const auto answer = ask("PATCH", path + "/status", {{"status", patch["status"]}});
  if (answer.status != 200 && answer.status != 404) stop(path + "/status: " + answer.body);
}

void DialogueWorld::erase(const std::string& path) {
  const auto answer = ask("DELETE", path, nullptr);
  if (answer.status >= 400) stop(path + ": " + answer.body);
}

// Its uid is called "Kind-name" from then on, "Kind-namespace-name" outside of "default"; what is applied may
// say so of itself.
void DialogueWorld::storeOne(const kube::Object& object) {
  Json content(kube::toJson(object.content));
  const std::string space = object.key.namespaceName;
  if (!space.empty()) {
    content["metadata"]["namespace"] = space;
    const std::string path = "/api/v1/namespaces/" + space;
    if (!read(path))
      put(path, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}});
  }
  const std::string path = client::objectPath(*types_.find(object.key.type), space, object.key.name);
  put(path, content);
  const bool isElsewhere = !space.empty() && space != "default";
  const std::string name = object.kind + (isElsewhere ? "-" + space : "") + "-" + object.key.name;
  server_.nameUid((*read(path))["metadata"]["uid"], name);
  if (content.dump().find(name) != std::string::npos) change(path, content);
  paths_[path] = object.key;
}

void DialogueWorld::store(const std::string& text) {
  for (const kube::Object& object : objects(text, types_)) storeOne(object);
}

void DialogueWorld::changeKey(const char* where, std::istringstream& step) {
  const std::string object = wordOf(step);
  const std::string pair = restOf(step);
  const size_t equals = pair.find('=');
  const Json value = equals == std::string::npos ? Json() : Json(pair.substr(equals + 1));
  change(pathOf(object), {{"metadata", {{where, {{pair.substr(0, equals), value}}}}}});
}

void DialogueWorld::tell(const std::string& line) {
  const std::lock_guard lock(mutex_);
  told_ += line + "\n";
}

void DialogueWorld::tellOnce(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (("\n" + told_).find("\n" + line + "\n") == std::string::npos) told_ += line + "\n";
}

std::string DialogueWorld::told() const {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = told_;
  }
  return server_.withNames(std::move(text));
}

std::string DialogueWorld::takeTold() {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = std::exchange(told_, {});
  }
  return server_.withNames(std::move(text));
}

server::LogSink DialogueWorld::log() {
  return [this](server::Level level, const std::string& line) {
    tell((level == server::Level::Info ? "log: " : "problem: ") + line);
  };
}

std::function<void(server::Event)> DialogueWorld::eventTeller() {
  return [this](const server::Event& event) {
    tell((event.warning ? "Warning " : "Normal ") + event.reason + " " + event.kind + "/" + event.name +
         ": " + event.message);
  };
}

void DialogueWorld::add(const char* name,
                        std::function<void(const DialogueStep&, std::istringstream&)> does) {
  commands_[name] = [does = std::move(does)](const DialogueStep& step, std::istringstream& rest) {
    does(step, rest);
    return std::string();
  };
}

void DialogueWorld::addCommands() {
  const auto addChange = [this](const char* name,
                                const std::function<void(const DialogueStep&, std::istringstream&)>& does) {
    add(name, [this, does](const DialogueStep& step, std::istringstream& rest) {
      does(step, rest);
      changed();
    });
  };
  addChange("apply", [this](const auto& step, auto&) { store(step.text); });
  addChange("annotate", [this](const auto&, auto& rest) { changeKey("annotations", rest); });
  addChange("label", [this](const auto&, auto& rest) { changeKey("labels", rest); });
  addChange("patch", [this](const auto&, auto& rest) {
    const std::string object = wordOf(rest);
    change(pathOf(object), Json::parse(restOf(rest)));
  });
  addChange("DELETE", [this](const auto&, auto& rest) { erase(pathOf(wordOf(rest))); });
  add("refuse", [this](const auto&, auto& rest) {
    ScriptedRefusal refusal{wordOf(rest), wordOf(rest), std::stoi(wordOf(rest)), {}, {}};
    refusal.message = restOf(rest);
    if (refusal.message.starts_with("after ")) {
      std::istringstream more(refusal.message.substr(6));
      refusal.retryAfter = std::stoi(wordOf(more));
      refusal.message = restOf(more);
    }
    if (refusal.status == 409) expectsConflicts_ = true;
    server_.refuse(std::move(refusal));
  });
  add("before", [this](const auto& step, auto& rest) {
    const std::string method = wordOf(rest);
    const std::string ending = wordOf(rest);
    expectsConflicts_ = true;
    server_.before(
        method, ending,
        [this, does = DialogueStep{restOf(rest), step.text, {}, false, step.line}] { answer(does); });
  });
  add("note", [this](const auto&, auto&) { server_.noteReads(); });
  add("another", [this](const auto&, auto&) { leads_ = false; });
  add("this", [this](const auto&, auto&) { leads_ = true; });
  commands_["show"] = [this](const auto&, auto& rest) {
    const auto object = read(pathOf(wordOf(rest)));
    if (!object) return std::string("gone\n");
    const Json::json_pointer pointer(restOf(rest));
    return server_.withNames((object->contains(pointer) ? object->at(pointer).dump() : "none") + "\n");
  };
  commands_["pass"] = [this](const auto& step, auto&) { return pass(step); };
}

}  // namespace lastout::testing
