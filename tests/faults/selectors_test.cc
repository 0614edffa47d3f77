// A criterion about objects in namespaces that have a label, which changes while reviews run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/faults/fault_world.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::HasSubstr;

class SelectorsTest : public ::testing::Test {
 public:
  ~SelectorsTest() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  // A CoolResource in each of some namespaces, none of which has the label.
  void begin(int namespaces) {
    world.replica().serve();
    Json crd = FaultWorld::definition();
    crd["spec"]["scope"] = "Namespaced";
    world.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    world.create(kSpaces, FaultWorld::named("v1", "Namespace", "app"));
    world.create("/apis/apps/v1/namespaces/app/deployments", FaultWorld::provider());
    for (int i = 0; i < namespaces; ++i) addNamespace("space-" + std::to_string(i), nullptr);
    Json service = FaultWorld::service();
    service["spec"]["criteria"] = Json::array({service["spec"]["criteria"][0]});
    service["spec"]["criteria"][0]["finalizer"]["namespaces"] = {
        {"selector", {{"matchLabels", {{"tenant", "a"}}}}}};
    world.create("/apis/lastout.dev/v1alpha1/criticalservices", service);
    world.waitUntilGuarded();
  }
  void addNamespace(const std::string& name, const Json& tenant) {
    Json space = FaultWorld::named("v1", "Namespace", name);
    if (!tenant.is_null()) space["metadata"]["labels"] = {{"tenant", tenant}};
    world.create(kSpaces, space);
    world.create("/apis/my.crd.group/v1/namespaces/" + name + "/coolresources", FaultWorld::instance("one"));
  }
  void label(const std::string& space, const Json& tenant) {
    world.patch(kSpaces + ("/" + space), {{"metadata", {{"labels", {{"tenant", tenant}}}}}});
  }
  void expectToGo() {
    world.deleteAll({kFaultProvider});
    EXPECT_FALSE(world.isThere(kFaultProvider));
  }

  static constexpr const char* kSpaces = "/api/v1/namespaces";
  FaultWorld world;
};

TEST_F(SelectorsTest, WhatIsInNamespacesWithTheLabelKeepsTheProvider) {
  begin(2);
  label("space-1", "a");
  world.expectRefused(kFaultProvider,
                      HasSubstr("coolresources.my.crd.group/space-1/one has finalizer "
                                "my.crd.group/super-important in namespaces with tenant in (a)"));
  label("space-1", "b");
  addNamespace("later", "a");
  world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group/later/one"));
  label("later", nullptr);
  expectToGo();
}

// The watch does not tell of it: the confirming read does.
TEST_F(SelectorsTest, ALabelThatNobodyHasHeardOfKeepsTheProvider) {
  begin(2);
  world.replica().api.set({.held = {"namespaces"}});
  label("space-0", "a");
  for (int i = 0; i < 5; ++i)
    world.expectRefused(kFaultProvider, HasSubstr("the watch of namespaces is behind the API server"));
  world.replica().api.calm();
  world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group/space-0/one"));
  label("space-0", nullptr);
  expectToGo();
}

TEST_F(SelectorsTest, AListOfNamespacesThatIsRefusedKeepsTheProvider) {
  begin(1);
  world.replica().api.set({.forbidden = {"GET namespaces"}});
  world.expectRefused(kFaultProvider, HasSubstr("reading namespaces"));
  world.replica().api.calm();
  expectToGo();
}

// The judge compares each ALLOW with what was there during all of its review.
TEST_F(SelectorsTest, LabelsThatChangeWhileReviewsRun) {
  begin(4);
  world.reviewWhile(kFaultProvider, [&] {
    for (int i = 0; i < 24; ++i) {
      const std::string space = "space-" + std::to_string(i % 4);
      label(space, "a");
      world.waitUntilDenied();
      label(space, nullptr);
      world.waitUntilAllowed();
    }
  });
  expectToGo();
}

}  // namespace
}  // namespace lastout::testing
