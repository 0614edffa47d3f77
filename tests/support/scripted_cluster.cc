#include "tests/support/scripted_cluster.h"

#include <utility>

#include "kube/parse.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {
namespace {

simulator::EmbeddedOptions scriptedOptions() {
  simulator::EmbeddedOptions options;
  options.callWebhook = [](const simulator::Webhook&,
                           const std::string&) -> tl::expected<simulator::WebhookResponse, std::string> {
    return tl::unexpected(std::string("there is nobody"));
  };
  options.wallClock = [] {
    return std::chrono::sys_days{std::chrono::year{2026} / 11 / 1} + std::chrono::hours(10);
  };
  return options;
}

}  // namespace

ScriptedClusterBase::ScriptedClusterBase() : cluster(scriptedOptions()) { cluster.clock().pause(); }

ScriptedCluster::ScriptedCluster(const std::string& crds, const std::string& group)
    : DialogueWorld([this](const simulator::ExchangeRequest& request) { return cluster.handle(request); },
                    {group, ""}),
      group_(group) {
  const auto text = kube::readFile(crds);
  if (!text) stop(toString(text.error()));
  store(*text);
  paths_.clear();  // nothing watches CRDs
  add("unseen", [this](const auto&, auto&) { isUnseen_ = true; });
  add("watch", [this](const auto&, auto&) {
    isUnseen_ = false;
    tellChanges();
  });
  add("wait", [this](const auto&, auto& rest) { now_ += std::chrono::seconds(std::stoi(wordOf(rest))); });
}

std::optional<kube::ResourceType> ScriptedCluster::find(const kube::GroupResource& type) const {
  const kube::ResourceType* found = types_.find(type);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// What was written is told by a watch, as the API server does. Nothing watches what no step has applied.
void ScriptedCluster::tellChanges() {
  if (isUnseen_) return;
  for (const auto& [path, key] : paths_) {
    const auto object = read(path);
    Seen& seen = seen_[path];
    const Json none = Json::object();
    const Json& metadata = object ? (*object)["metadata"] : none;
    const std::string uid = metadata.value("uid", "");
    if (!seen.uid.empty() && seen.uid != uid) toldOfGone(key, seen.uid);
    if (metadata.value("resourceVersion", "") != seen.resourceVersion && object)
      toldOf(testing::object(object->dump(), types_));
    seen = {uid, metadata.value("resourceVersion", "")};
  }
}

void ScriptedCluster::tellOfAll() {
  const bool isUnseen = std::exchange(isUnseen_, false);
  seen_.clear();
  tellChanges();
  isUnseen_ = isUnseen;
}

// Without what stands before each path of the group.
std::string ScriptedCluster::writes() {
  std::string said = server_.takeNotes();
  const std::string group = "/apis/" + group_ + "/";
  for (size_t at = said.find(group); at != std::string::npos; at = said.find(group, at)) {
    const size_t afterVersion = said.find('/', at + group.size()) + 1;
    const std::string space = "namespaces/default/";
    said.erase(at,
               afterVersion - at + (said.compare(afterVersion, space.size(), space) == 0 ? space.size() : 0));
  }
  return said;
}

std::string ScriptedCluster::pass(const DialogueStep& /*step*/) {
  takeTold();
  server_.takeNotes();
  std::optional<server::TimePoint> next;
  if (leads_)
    next = controller().pass(now_, [this] { return leads_.load(); });
  else
    looksOn();
  std::string said = writes() + takeTold();
  tellChanges();
  if (next)
    said += "next in " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*next - now_).count()) +
            " ms\n";
  return said.empty() ? "nothing\n" : said;
}

server::ControllerOptions ScriptedCluster::controllerOptions(std::string subject) {
  server::ControllerOptions options;
  options.subject = std::move(subject);
  options.random = [] { return 0.5; };
  options.log = log();
  return options;
}

}  // namespace lastout::testing
