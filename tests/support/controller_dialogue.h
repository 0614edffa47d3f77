// ControllerDialogue: the world of a dialogue about a controller that has a thread: it asks an embedded
// cluster over real TLS, beside the script, as often as it likes. Beside the steps of all dialogues
// (dialogue_world.h):
//
//   story                  the objects of server_fixture.h: Deployment/provider waits for
//   CoolResource/instance and
//                          its CRD, as CriticalService/s says
//   follow TYPE...         watches tell the view of the cluster from now on; it knows all of these types
//   cluster passes SECONDS    the cluster's own controllers work for so long
//   wait SECONDS           on the wall clock
//   starts, ends           the controller; it is another process afterwards
//   pass                   (a conflict is left out, or told once where a step has made it: the watch is late)
//                          the controller passes until what was written and told is as expected below, and
//                          then a few times more; without an expectation a few times alone
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/backoff.h"
#include "tests/support/dialogue_world.h"
#include "tests/support/server_world.h"

namespace lastout::testing {

class ControllerDialogue : public ServerWorld,
                           public DialogueWorld,
                           public ::testing::WithParamInterface<std::string> {
 public:
  explicit ControllerDialogue(const std::vector<std::string>& groups = {});

  // Plays the file that is the test's parameter.
  void play();

 protected:
  using DialogueWorld::answer;
  using ServerWorld::get;

  void TearDown() override;

  // The controller: start() makes one, end() stops it for good, and does nothing where there is none.
  virtual void start() = 0;
  virtual void end() = 0;
  // Something may have changed.
  virtual void wake() {}
  // The controller has passed, by any thread; at least, it has asked something that it asks in each pass.
  void notePass() { ++passes_; }

  std::string pass(const DialogueStep& step) override;
  std::chrono::sys_seconds clock() const { return std::chrono::sys_seconds(std::chrono::seconds(seconds_)); }

 private:
  void tellStory();
  void passAFewTimes();
  std::string asked(const std::string& notes) const;
  std::string said() const;

  std::atomic<int> passes_{0};
  std::atomic<int64_t> seconds_{1'760'000'000};  // since the epoch: 2025-10-09T08:53:20Z
  std::chrono::milliseconds clusterTime_{0};
};

}  // namespace lastout::testing
