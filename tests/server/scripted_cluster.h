// ScriptedCluster: what dialogues about a controller have in common: an API server of the test's own
// (scripted_api.h), the kinds that some CRDs define, time, the Lease, and watches that tell the controller.
//
//   apply                  the objects below are created or replaced, and the watch tells of them
//   annotate OBJECT KEY=VALUE, label OBJECT KEY=VALUE    by a user, KEY: it is taken away; the watch tells
//   patch OBJECT JSON      the same
//   DELETE OBJECT          by a user: it terminates, or is gone
//   unseen                 what the next step does is not told by a watch until `watch tells`
//   refuse METHOD ENDING STATUS [MESSAGE]
//   wait SECONDS
//   another leads, this leads
//   pass                   one pass: what was written and told, in its order, and when the next is due
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "kube/object.h"
#include "kube/resource_map.h"
#include "server/runtime/controller.h"
#include "server/runtime/log.h"
#include "server/runtime/object_client.h"
#include "tests/server/dialogue.h"
#include "tests/server/scripted_api.h"

namespace lastout::testing {

// The next word of a step, and the rest of it.
std::string wordOf(std::istringstream& step);
std::string restOf(std::istringstream& step);

class ScriptedCluster {
 public:
  // `crds`: a file of CRDs, whose kinds of that group steps name.
  ScriptedCluster(const std::string& crds, std::string group);
  virtual ~ScriptedCluster() = default;
  ScriptedCluster(const ScriptedCluster&) = delete;
  ScriptedCluster& operator=(const ScriptedCluster&) = delete;

  std::string answer(const DialogueStep& step);

 protected:
  using Json = nlohmann::json;
  using Command = std::function<std::string(const DialogueStep&, std::istringstream&)>;

  // The watch of a type tells.
  virtual void toldOf(const kube::Object& object) = 0;
  virtual void toldOfGone(const kube::ObjectKey& key, const std::string& uid) = 0;
  virtual server::Controller& controller() = 0;
  virtual void looksOn() { controller().forget(); }  // instead of a pass where another leads
  virtual std::string alsoDone() { return ""; }      // beside what was written, at the end of a pass

  std::optional<kube::ResourceType> find(const kube::GroupResource& type) const;
  kube::ResourceType typeOf(const std::string& kind) const;
  // "Database/shop" lies in the namespace "default", "Database/infra/shop" in another one.
  std::string pathOf(const std::string& object) const;
  void store(const std::string& text);
  void tell();
  void tellOfAll();  // as a watch that lists again
  std::string pass();
  std::string writes();  // what was written and told since the last time
  server::ControllerOptions controllerOptions(std::string subject);
  server::Log log();

  kube::ResourceMap types_;
  ScriptedApi api_;
  server::TimePoint now_{std::chrono::hours(1)};
  bool leads_ = true;
  std::string told_;
  server::Patience patience_{[this] { return now_; }, [](std::chrono::milliseconds) {}};
  server::ObjectClient client_{api_, patience_};
  std::map<std::string, Command> commands_;  // more of them are added by who derives

 private:
  void addCommands();
  void change(const std::string& object, const Json& patch);
  void changeKey(const char* where, std::istringstream& step);
  void remove(const std::string& object);

  const std::string group_;
  bool isUnseen_ = false;
  std::map<std::string, kube::ObjectKey> keys_;  // by path
  std::map<std::string, std::string> uids_;      // by path
};

}  // namespace lastout::testing
