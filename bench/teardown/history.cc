#include "bench/teardown/history.h"

#include <cmath>

#include "bench/stop.h"

namespace lastout::bench {
namespace {

// `lastout serve` uses the admin's kubeconfig, as does whoever deletes the works, and nothing but those.
constexpr const char* kAdmin = "admin";
constexpr const char* kWorks = "manifestworks";
const std::set<std::string> kOwn{kWorks, "leases", "events", "validatingwebhookconfigurations"};

Milliseconds timeOf(const Json& line) {
  return Milliseconds(std::llround(line.at("t").get<double>() * 1000));
}

std::string textOf(const Json& line, const char* name) {
  const auto found = line.find(name);
  return found == line.end() || !found->is_string() ? "" : found->get<std::string>();
}

std::string groupOf(const Json& object) {
  const std::string version = textOf(object, "apiVersion");
  const size_t slash = version.find('/');
  return slash == std::string::npos ? "" : version.substr(0, slash);
}

void noteChange(TeardownHistory& history, const Json& line) {
  const std::string resource = textOf(line, "resource");
  const kube::ObjectKey key{
      {groupOf(line.at("object")), resource}, textOf(line, "namespace"), textOf(line, "name")};
  Lifetime& lifetime = (resource == kWorks ? history.works : history.objects)[key];
  const std::string type = textOf(line, "type");
  if (type == "ADDED") lifetime = {};
  const Milliseconds at = timeOf(line);
  if ((type == "DELETED" || line.at("terminating") == true) && !lifetime.deletedAt) lifetime.deletedAt = at;
  if (type == "DELETED") lifetime.goneAt = at;
  if (resource == kWorks && lifetime.deletedAt && history.begunAt == Milliseconds(0)) history.begunAt = at;
}

}  // namespace

TeardownHistory readHistory(std::istream& recording) {
  TeardownHistory history;
  std::set<std::string> asked;  // the uids of objects that others wanted to delete, and the paths of Secrets
  for (std::string text; std::getline(recording, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_discarded()) stopBench("a line of the recording cannot be read: " + text.substr(0, 200));
    const std::string kind = textOf(line, "kind");
    history.lastAt = timeOf(line);
    if (kind == "watch") noteChange(history, line);
    const bool byAdmin = textOf(line, "user") == kAdmin;
    if (kind == "admission" && !byAdmin && textOf(line, "operation") == "DELETE") {
      asked.insert(textOf(line, "uid"));
      if (textOf(line, "resource") == "secrets")
        asked.insert("/api/v1/namespaces/" + textOf(line, "namespace") + "/secrets/" + textOf(line, "name"));
      Lifetime& lifetime = history.objects[{{textOf(line, "group"), textOf(line, "resource")},
                                            textOf(line, "namespace"),
                                            textOf(line, "name")}];
      if (!lifetime.askedAt) lifetime.askedAt = timeOf(line);
      if (line.at("allowed") == false) ++history.denied;
    }
    const std::string action = textOf(line, "action");
    const bool deletes = kind == "client" && action.starts_with("DELETE ");
    if (!deletes || !byAdmin || kOwn.contains(action.substr(7)) || line.at("status") != 200) continue;
    ++history.deletedByLastout;
    const Json uid = line.value("/request/preconditions/uid"_json_pointer, Json());
    // What a request about a Secret says is not recorded.
    const std::string path = textOf(line, "path");
    if (!asked.contains(uid.is_string() ? uid.get<std::string>() : path)) history.unasked.push_back(path);
  }
  return history;
}

}  // namespace lastout::bench
