// Held objects as dialogues (dialogues/held-*.txt): watches tell, passes are made, and what is patched, told
// and let go follows.
//
//   policies FILE          the policies of that file
//   no policies            they are taken back
//   watch lists KIND       all objects of the kind are known: those below, as YAML
//   apply                  the objects below are created or replaced, and the watch tells of them
//   annotate OBJECT KEY=VALUE, patch OBJECT JSON    by a user; the watch tells
//   DELETE OBJECT          by a user: it terminates, or is gone
//   unseen                 what the next step does is not told by a watch until `watch tells`
//   database succeeds|fails|is unreachable
//   refuse METHOD ENDING STATUS
//   wait SECONDS
//   another leads, this leads
//   pass                   one pass: what was written and told, in its order, and when the next is due
//   show OBJECT            its status
#include "server/held_policies.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>
#include <string>

#include "client/fetch.h"
#include "kube/parse.h"
#include "tests/server/dialogue.h"
#include "tests/server/scripted_api.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::server {
namespace {

using nlohmann::json;
using testing::DialogueStep;
using testing::stop;

constexpr const char* kHeldGroup = "dbops.dbprovision.io";
constexpr int64_t kBeginning = 1'777'000'000;  // seconds since the epoch

// The kinds of dbops, as their CRDs in scenarios/ define them.
kube::ResourceMap heldTypes() {
  const std::string path = "scenarios/crds/dbops.yaml";
  const auto text = kube::readFile(path);
  if (!text) stop(toString(text.error()));
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  testing::objects(*text, types);
  return types;
}

// Without what stands before each path.
std::string shortened(std::string text) {
  const std::string prefix = "/apis/dbops.dbprovision.io/v1alpha1/namespaces/default/";
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.erase(at, prefix.size());
  return text;
}

class HeldDialogue {
 public:
  std::string answer(const DialogueStep& step);

 private:
  using Command = std::function<std::string(const DialogueStep&, std::istringstream&)>;

  std::map<std::string, Command> commands();
  std::string policies(const std::string& file);
  void listed(const std::string& kind, const std::string& text);
  void store(const std::string& text);
  void tellOf(const json& object);
  void tell();
  std::string pathOf(const std::string& object) const;
  void change(const std::string& object, const json& patch);
  void remove(const std::string& object);
  std::string pass();
  std::optional<kube::ResourceType> typeOf(const std::string& kind) const;

  kube::ResourceMap types_ = heldTypes();
  testing::ScriptedApi api_;
  TimePoint now_{std::chrono::hours(1)};
  int64_t seconds_ = kBeginning;
  bool leads_ = true;
  bool isUnseen_ = false;
  std::string told_;
  HeldObjects objects_;
  protection::SimulatedDatabase database_;
  size_t databaseTold_ = 0;
  Patience patience_{[this] { return now_; }, [](std::chrono::milliseconds) {}};
  ObjectClient client_{api_, patience_};
  HeldPolicies policies_{objects_, client_, database_, options()};
  Controller controller_{controllerOptions()};

  HeldPoliciesOptions options();
  ControllerOptions controllerOptions();
};

HeldPoliciesOptions HeldDialogue::options() {
  HeldPoliciesOptions options;
  options.findType = [this](const kube::GroupResource& type) -> std::optional<kube::ResourceType> {
    const kube::ResourceType* found = types_.find(type);
    return found == nullptr ? std::nullopt : std::optional(*found);
  };
  options.clock = [this] { return seconds_; };
  options.mayAct = [this] { return leads_; };
  options.tell = [this](const kube::Object& object, const protection::HoldEvent& event) {
    told_ += std::string(event.isWarning ? "Warning " : "Normal ") + event.reason + " " + object.kind + "/" +
             object.key.name + ": " + event.message + "\n";
  };
  options.count = [](HeldOutcome) {};
  options.log = [](Level, const std::string&) {};
  return options;
}

ControllerOptions HeldDialogue::controllerOptions() {
  ControllerOptions options;
  options.subject = "held objects";
  options.all = [this] { return objects_.all(); };
  options.settle = [this](const kube::ObjectKey& key) { return policies_.settle(key); };
  options.random = [] { return 0.5; };
  options.log = [this](Level level, const std::string& line) {
    told_ += (level == Level::Info ? "log: " : "problem: ") + line + "\n";
  };
  return options;
}

std::optional<kube::ResourceType> HeldDialogue::typeOf(const std::string& kind) const {
  const kube::ResourceType* found = types_.findKind(kHeldGroup, kind);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// "Database/shop" lies in the namespace "default".
std::string HeldDialogue::pathOf(const std::string& object) const {
  const size_t slash = object.find('/');
  const auto type = typeOf(object.substr(0, slash));
  if (!type) stop("no kind for " + object);
  return client::objectPath(*type, "default", object.substr(slash + 1));
}

std::string HeldDialogue::policies(const std::string& file) {
  const auto text = kube::readFile(file);
  if (!text) stop(toString(text.error()));
  auto read = protection::parsePolicies(*text, file);
  if (!read) return testing::lines(read.error());
  controller_.wake(objects_.setPolicies(*read));
  return "";
}

void HeldDialogue::tellOf(const json& object) {
  controller_.wake(objects_.upsert(testing::object(object.dump(), types_)));
}

// What was written is told by a watch, as the API server does.
void HeldDialogue::tell() {
  if (isUnseen_) return;
  for (const auto& [path, object] : api_.takeChanged()) {
    if (!object.is_null()) {
      tellOf(object);
      continue;
    }
    for (const kube::ObjectKey& key : objects_.all())
      if (client::objectPath(*types_.find(key.type), key.namespaceName, key.name) == path)
        controller_.wake(objects_.remove(key, objects_.find(key)->object.meta.uid));
  }
}

void HeldDialogue::store(const std::string& text) {
  for (const kube::Object& object : testing::objects(text, types_)) {
    json content(kube::toJson(object.content));
    content["metadata"]["namespace"] = object.key.namespaceName;
    content["metadata"]["uid"] = object.kind + "-" + object.key.name;
    const std::string path =
        client::objectPath(*types_.find(object.key.type), object.key.namespaceName, object.key.name);
    api_.put(path, content);
  }
  tell();
}

void HeldDialogue::listed(const std::string& kind, const std::string& text) {
  store(text);
  controller_.wake(objects_.know(typeOf(kind)->type, ""));
}

void HeldDialogue::change(const std::string& object, const json& patch) {
  const std::string path = pathOf(object);
  if (api_.find(path) == nullptr) stop(object + " is not there");
  json changed = *api_.find(path);
  changed.merge_patch(patch);
  api_.put(path, changed);
  tell();
}

void HeldDialogue::remove(const std::string& object) {
  const std::string path = pathOf(object);
  const json* found = api_.find(path);
  if (found == nullptr) stop(object + " is not there");
  const json options = {{"preconditions", {{"uid", (*found)["metadata"]["uid"]}}}};
  client::ApiRequest request;
  request.method = "DELETE";
  request.target = path;
  request.body = options.dump();
  const auto answered = api_.exchange(request, [](int, std::string_view) { return true; });
  if (!answered) stop("not deleted");
  api_.takeWrites();
  tell();
}

std::string HeldDialogue::pass() {
  told_.clear();
  std::optional<TimePoint> next;
  if (leads_)
    next = controller_.pass(now_, [this] { return leads_; });
  else
    controller_.forget();
  std::string said = shortened(api_.takeWrites());
  for (; databaseTold_ < database_.done().size(); ++databaseTold_)
    said += "database: " + database_.done()[databaseTold_] + "\n";
  said += told_;
  tell();
  if (next)
    said += "next in " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(*next - now_).count()) +
            " ms\n";
  return said.empty() ? "nothing\n" : said;
}

std::map<std::string, HeldDialogue::Command> HeldDialogue::commands() {
  const auto word = [](std::istringstream& rest) {
    std::string text;
    rest >> text;
    return text;
  };
  const auto line = [](std::istringstream& rest) {
    std::string text;
    std::getline(rest >> std::ws, text);
    return text;
  };
  return {
      {"policies", [=, this](const auto&, auto& rest) { return policies(word(rest)); }},
      {"watch",
       [=, this](const auto& step, auto& rest) {
         if (word(rest) == "lists") {
           listed(word(rest), step.text);
         } else {
           isUnseen_ = false;
           tell();
         }
         return std::string();
       }},
      {"apply",
       [this](const auto& step, auto&) {
         store(step.text);
         return std::string();
       }},
      {"annotate",
       [=, this](const auto&, auto& rest) {
         const std::string object = word(rest);
         const std::string pair = word(rest);
         const size_t equals = pair.find('=');
         const json value = equals == std::string::npos ? json() : json(pair.substr(equals + 1));
         change(object, {{"metadata", {{"annotations", {{pair.substr(0, equals), value}}}}}});
         return std::string();
       }},
      {"patch",
       [=, this](const auto&, auto& rest) {
         const std::string object = word(rest);
         change(object, json::parse(line(rest)));
         return std::string();
       }},
      {"DELETE",
       [=, this](const auto&, auto& rest) {
         remove(word(rest));
         return std::string();
       }},
      {"unseen",
       [this](const auto&, auto&) {
         isUnseen_ = true;
         return std::string();
       }},
      {"database",
       [=, this](const auto&, auto& rest) {
         using Mode = protection::SimulatedDatabase::Mode;
         const std::string how = line(rest);
         database_.become(how == "succeeds" ? Mode::Succeeds
                          : how == "fails"  ? Mode::Fails
                                            : Mode::Unreachable);
         return std::string();
       }},
      {"refuse",
       [=, this](const auto&, auto& rest) {
         const std::string method = word(rest);
         const std::string ending = word(rest);
         api_.refuse(method, ending, std::stoi(word(rest)));
         return std::string();
       }},
      {"wait",
       [=, this](const auto&, auto& rest) {
         const int seconds = std::stoi(word(rest));
         now_ += std::chrono::seconds(seconds);
         seconds_ += seconds;
         return std::string();
       }},
      {"another",
       [this](const auto&, auto&) {
         leads_ = false;
         return std::string();
       }},
      {"this",
       [this](const auto&, auto&) {
         leads_ = true;
         return std::string();
       }},
      {"no",
       [this](const auto&, auto&) {
         controller_.wake(objects_.setPolicies({}));
         return std::string();
       }},
      {"pass", [this](const auto&, auto&) { return pass(); }},
      {"show",
       [=, this](const auto&, auto& rest) {
         const json* object = api_.find(pathOf(word(rest)));
         return object == nullptr ? std::string("gone\n") : object->value("status", json()).dump(2) + "\n";
       }},
  };
}

std::string HeldDialogue::answer(const DialogueStep& step) {
  std::istringstream rest(step.command);
  std::string command;
  rest >> command;
  const auto all = commands();
  const auto found = all.find(command);
  if (found == all.end()) stop("no such step: " + step.command);
  return found->second(step, rest);
}

class HeldDialogues : public ::testing::TestWithParam<std::string> {};

TEST_P(HeldDialogues, GoAsWritten) {
  HeldDialogue dialogue;
  testing::playDialogue(GetParam(), [&](const DialogueStep& step) { return dialogue.answer(step); });
}

INSTANTIATE_TEST_SUITE_P(Server, HeldDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/dialogues")),
                         [](const auto& info) {
                           std::string name = info.param.substr(info.param.rfind('/') + 1);
                           name.resize(name.size() - 4);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lastout::server
