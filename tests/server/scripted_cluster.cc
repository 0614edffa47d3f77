#include "tests/server/scripted_cluster.h"

#include <utility>

#include "client/fetch.h"
#include "kube/parse.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {

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

ScriptedCluster::ScriptedCluster(const std::string& crds, std::string group)
    : types_(kube::ResourceMap::builtIn()), group_(std::move(group)) {
  const auto text = kube::readFile(crds);
  if (!text) stop(toString(text.error()));
  objects(*text, types_);
  addCommands();
}

std::optional<kube::ResourceType> ScriptedCluster::find(const kube::GroupResource& type) const {
  const kube::ResourceType* found = types_.find(type);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

kube::ResourceType ScriptedCluster::typeOf(const std::string& kind) const {
  const kube::ResourceType* found = types_.findKind(group_, kind);
  if (found == nullptr) found = types_.findKind("", kind);
  if (found == nullptr) stop("no kind " + kind);
  return *found;
}

std::string ScriptedCluster::pathOf(const std::string& object) const {
  const size_t slash = object.find('/');
  const kube::ResourceType type = typeOf(object.substr(0, slash));
  const size_t second = object.find('/', slash + 1);
  if (second != std::string::npos)
    return client::objectPath(type, object.substr(slash + 1, second - slash - 1), object.substr(second + 1));
  return client::objectPath(type, type.namespaced ? "default" : "", object.substr(slash + 1));
}

// What was written is told by a watch, as the API server does. Nothing watches what no step has applied.
void ScriptedCluster::tell() {
  if (isUnseen_) return;
  for (const auto& [path, object] : api_.takeChanged()) {
    if (!keys_.contains(path)) continue;
    if (object.is_null())
      toldOfGone(keys_.at(path), uids_.at(path));
    else
      toldOf(testing::object(object.dump(), types_));
  }
}

void ScriptedCluster::tellOfAll() {
  api_.takeChanged();
  for (const auto& [path, key] : keys_)
    if (const Json* object = api_.find(path)) toldOf(testing::object(object->dump(), types_));
}

void ScriptedCluster::store(const std::string& text) {
  for (const kube::Object& object : objects(text, types_)) {
    Json content(kube::toJson(object.content));
    if (!object.key.namespaceName.empty()) content["metadata"]["namespace"] = object.key.namespaceName;
    const bool isElsewhere = !object.key.namespaceName.empty() && object.key.namespaceName != "default";
    const std::string uid =
        object.kind + (isElsewhere ? "-" + object.key.namespaceName : "") + "-" + object.key.name;
    content["metadata"]["uid"] = uid;
    const std::string path =
        client::objectPath(*types_.find(object.key.type), object.key.namespaceName, object.key.name);
    keys_[path] = object.key;
    uids_[path] = uid;
    api_.put(path, content);
  }
  tell();
}

void ScriptedCluster::change(const std::string& object, const Json& patch) {
  const std::string path = pathOf(object);
  if (api_.find(path) == nullptr) stop(object + " is not there");
  Json changed = *api_.find(path);
  changed.merge_patch(patch);
  api_.put(path, changed);
  tell();
}

void ScriptedCluster::changeKey(const char* where, std::istringstream& step) {
  const std::string object = wordOf(step);
  const std::string pair = wordOf(step);
  const size_t equals = pair.find('=');
  const Json value = equals == std::string::npos ? Json() : Json(pair.substr(equals + 1));
  change(object, {{"metadata", {{where, {{pair.substr(0, equals), value}}}}}});
}

void ScriptedCluster::remove(const std::string& object) {
  const std::string path = pathOf(object);
  const Json* found = api_.find(path);
  if (found == nullptr) stop(object + " is not there");
  const Json options = {{"preconditions", {{"uid", (*found)["metadata"]["uid"]}}}};
  client::ApiRequest request;
  request.method = "DELETE";
  request.target = path;
  request.body = options.dump();
  const auto answered = api_.exchange(request, [](int, std::string_view) { return true; });
  if (!answered) stop("not deleted");
  api_.takeWrites();
  tell();
}

// Without what stands before each path of the group.
std::string ScriptedCluster::writes() {
  std::string said = api_.takeWrites();
  const std::string group = "/apis/" + group_ + "/";
  for (size_t at = said.find(group); at != std::string::npos; at = said.find(group, at)) {
    const size_t afterVersion = said.find('/', at + group.size()) + 1;
    const std::string space = "namespaces/default/";
    said.erase(at,
               afterVersion - at + (said.compare(afterVersion, space.size(), space) == 0 ? space.size() : 0));
  }
  return said + std::exchange(told_, {});
}

std::string ScriptedCluster::pass() {
  told_.clear();
  std::optional<server::TimePoint> next;
  if (leads_)
    next = controller().pass(now_, [this] { return leads_; });
  else
    looksOn();
  const std::string told = std::exchange(told_, {});
  std::string said = writes() + alsoDone() + told;
  tell();
  if (next)
    said += "next in " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*next - now_).count()) +
            " ms\n";
  return said.empty() ? "nothing\n" : said;
}

server::Log ScriptedCluster::log() {
  return [this](server::Level level, const std::string& line) {
    told_ += (level == server::Level::Info ? "log: " : "problem: ") + line + "\n";
  };
}

server::ControllerOptions ScriptedCluster::controllerOptions(std::string subject) {
  server::ControllerOptions options;
  options.subject = std::move(subject);
  options.random = [] { return 0.5; };
  options.log = log();
  return options;
}

void ScriptedCluster::addCommands() {
  const auto add = [this](const char* name,
                          std::function<void(const DialogueStep&, std::istringstream&)> does) {
    commands_[name] = [does = std::move(does)](const DialogueStep& step, std::istringstream& rest) {
      does(step, rest);
      return std::string();
    };
  };
  add("apply", [this](const auto& step, auto&) { store(step.text); });
  add("annotate", [this](const auto&, auto& rest) { changeKey("annotations", rest); });
  add("label", [this](const auto&, auto& rest) { changeKey("labels", rest); });
  add("patch", [this](const auto&, auto& rest) {
    const std::string object = wordOf(rest);
    change(object, Json::parse(restOf(rest)));
  });
  add("DELETE", [this](const auto&, auto& rest) { remove(wordOf(rest)); });
  add("unseen", [this](const auto&, auto&) { isUnseen_ = true; });
  add("watch", [this](const auto&, auto&) {
    isUnseen_ = false;
    tell();
  });
  add("refuse", [this](const auto&, auto& rest) {
    const std::string method = wordOf(rest);
    const std::string ending = wordOf(rest);
    const int status = std::stoi(wordOf(rest));
    api_.refuse(method, ending, status, restOf(rest));
  });
  add("wait", [this](const auto&, auto& rest) { now_ += std::chrono::seconds(std::stoi(wordOf(rest))); });
  add("another", [this](const auto&, auto&) { leads_ = false; });
  add("this", [this](const auto&, auto&) { leads_ = true; });
  commands_["pass"] = [this](const auto&, auto&) { return pass(); };
}

std::string ScriptedCluster::answer(const DialogueStep& step) {
  std::istringstream rest(step.command);
  const std::string command = wordOf(rest);
  const auto found = commands_.find(command);
  if (found == commands_.end()) stop("no such step: " + step.command);
  return found->second(step, rest);
}

}  // namespace lastout::testing
