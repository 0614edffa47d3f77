// TwoOfEachRole: the story in a FaultWorld with two lastouts that have the webhook role and two that have the
// controller role, which all serve unless a test wants to choose.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/faults/fault_world.h"

namespace lastout::testing {

class TwoOfEachRole : public ::testing::Test {
 public:
  explicit TwoOfEachRole(Processes processes, bool serves = true) : world(2, 1, processes) {
    if (serves) world.serve();
  }
  ~TwoOfEachRole() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  Replica& webhook(size_t number = 0) { return world.replica(number); }
  Replica& controller(size_t number = 0) { return world.replica(2 + number); }
  void begin(int instances) {
    world.createStory(instances);
    world.waitUntilGuarded();
  }
  void expectAllGone(int instances) {
    for (const std::string& path : FaultWorld::storyPaths(instances))
      EXPECT_FALSE(world.isThere(path)) << path;
    EXPECT_GT(world.judge.counts().allowed, 0) << "the provider's deletion was reviewed";
    EXPECT_THAT(world.unasked(), ::testing::IsEmpty());
  }
  // The provider's owner goes, so that the garbage collector asks for the provider, and is denied.
  void deferTheProvider() {
    const std::string owners = "/api/v1/namespaces/app/configmaps";
    world.create(owners, FaultWorld::named("v1", "ConfigMap", "owner"));
    const simulator::Json uid = world.get(owners + "/owner")["metadata"]["uid"];
    const simulator::Json owner = {
        {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", uid}};
    world.patch(kFaultProvider, {{"metadata", {{"ownerReferences", simulator::Json::array({owner})}}}});
    world.ask("DELETE", owners + "/owner");
    world.waitUntil("what was denied to the garbage collector is recorded", [&] {
      return world.get(kFaultService).dump().find("deferredDeletions") != std::string::npos;
    });
  }
  void waitUntilAgain(Replica& replica) {
    world.waitUntil(replica.identity + " is ready again", [&] { return replica.isReady(); });
  }

  FaultWorld world;
};

}  // namespace lastout::testing
