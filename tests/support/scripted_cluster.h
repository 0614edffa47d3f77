// ScriptedCluster: the world of a dialogue about a controller that has neither a thread nor a clock: passes
// are made by the test, in its own time, and watches tell the controller of what the steps apply. Beside the
// steps of all dialogues (dialogue_world.h):
//
//   unseen                 what the next step does is not told by a watch until `watch tells`
//   wait SECONDS
//   pass                   one pass: what was written and told, in its order, and when the next is due
#pragma once

#include <map>
#include <optional>
#include <string>

#include "kube/object.h"
#include "server/runtime/controller.h"
#include "server/runtime/object_client.h"
#include "simulator/embedded_cluster.h"
#include "tests/support/dialogue_world.h"

namespace lastout::testing {

// The cluster comes before what asks it.
struct ScriptedClusterBase {
  ScriptedClusterBase();
  simulator::EmbeddedCluster cluster;
};

class ScriptedCluster : private ScriptedClusterBase, public DialogueWorld {
 public:
  // `crds`: a file of CRDs, whose kinds of that group steps name.
  ScriptedCluster(const std::string& crds, const std::string& group);

 protected:
  // The watch of a type tells.
  virtual void toldOf(const kube::Object& object) = 0;
  virtual void toldOfGone(const kube::ObjectKey& key, const std::string& uid) = 0;
  virtual server::Controller& controller() = 0;
  virtual void looksOn() { controller().forget(); }  // instead of a pass where another leads

  std::string pass(const DialogueStep& step) override;
  void changed() override { tellChanges(); }

  std::optional<kube::ResourceType> find(const kube::GroupResource& type) const;
  void tellChanges();
  void tellOfAll();      // as a watch that lists again
  std::string writes();  // what was written since the last time
  server::ControllerOptions controllerOptions(std::string subject);

  server::TimePoint now_{std::chrono::hours(1)};
  server::Patience patience_{[this] { return now_; }, [](std::chrono::milliseconds) {}};
  server::ObjectClient client_{server_, patience_};

 private:
  struct Seen {
    std::string uid;
    std::string resourceVersion;
  };

  const std::string group_;
  bool isUnseen_ = false;
  std::map<std::string, Seen> seen_;  // by path, as the watch has told of it
};

}  // namespace lastout::testing
