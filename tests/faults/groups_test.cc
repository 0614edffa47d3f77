// A criterion about a group of types, of which some come while reviews run, and one may not be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/faults/fault_world.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::HasSubstr;

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

class GroupsTest : public ::testing::Test {
 public:
  ~GroupsTest() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  void begin() {
    world.replica().serve();
    world.createDefinition();
    world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "app"));
    world.create("/apis/apps/v1/namespaces/app/deployments", FaultWorld::provider());
    Json service = FaultWorld::service();
    service["spec"]["criteria"].erase(1);
    service["spec"]["criteria"][0]["finalizer"]["resource"] = "*";
    world.create("/apis/lastout.dev/v1alpha1/criticalservices", service);
    world.waitUntilGuarded();
  }
  // Another type of the group, and an object of it that carries the finalizer.
  void createType(const std::string& plural) {
    Json crd = FaultWorld::definition();
    crd["metadata"]["name"] = plural + ".my.crd.group";
    crd["spec"]["names"] = {{"kind", "Kind" + plural}, {"plural", plural}};
    world.create(kDefinitions, crd);
    Json object = FaultWorld::instance("one");
    object["kind"] = "Kind" + plural;
    world.create("/apis/my.crd.group/v1/" + plural, object);
  }
  void deleteType(const std::string& plural) {
    world.patch("/apis/my.crd.group/v1/" + plural + "/one", {{"metadata", {{"finalizers", Json::array()}}}});
    world.deleteAll(
        {"/apis/my.crd.group/v1/" + plural + "/one", kDefinitions + ("/" + plural + ".my.crd.group")});
  }
  void expectToGo() {
    world.deleteAll({kFaultProvider});
    EXPECT_FALSE(world.isThere(kFaultProvider));
  }

  FaultWorld world;
};

// Neither the watch of CRDs nor discovery tells of it: the confirming read does.
TEST_F(GroupsTest, ATypeOfWhichNobodyHasHeardKeepsTheProvider) {
  begin();
  world.replica().api.set({.held = {"customresourcedefinitions"}, .undiscovered = true});
  createType("latecomers");
  for (int i = 0; i < 5; ++i)
    world.expectRefused(kFaultProvider, HasSubstr("latecomers.my.crd.group have not been listed yet"));
  world.replica().api.calm();
  world.expectRefused(kFaultProvider, HasSubstr("latecomers.my.crd.group/one has finalizer"));
  deleteType("latecomers");
  expectToGo();
}

TEST_F(GroupsTest, AListThatIsRefusedForOneTypeKeepsTheProvider) {
  begin();
  world.replica().api.set({.forbidden = {"GET latecomers"}});
  createType("latecomers");
  world.createInstance("read");
  world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group/read has finalizer"));
  world.patch(kFaultInstances + std::string("/read"), {{"metadata", {{"finalizers", Json::array()}}}});
  world.expectRefused(kFaultProvider, HasSubstr("lastout is not allowed to list latecomers.my.crd.group"));
  world.replica().api.calm();
  deleteType("latecomers");
  expectToGo();
}

// The judge compares each ALLOW with what was there during all of its review.
TEST_F(GroupsTest, TypesThatComeWhileReviewsRun) {
  begin();
  world.reviewWhile(kFaultProvider, [&] {
    for (int i = 0; i < 8; ++i) {
      createType("types" + std::to_string(i));
      world.waitUntilDenied();
      deleteType("types" + std::to_string(i));
      world.waitUntilAllowed();
    }
  });
  expectToGo();
}

}  // namespace
}  // namespace lastout::testing
