// A criterion about objects that name the provider in a field, which changes while reviews run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/faults/fault_world.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using ::testing::HasSubstr;

class ReferencesTest : public ::testing::Test {
 public:
  ~ReferencesTest() override { EXPECT_EQ(world.judge.complaints(), "") << world.logged(); }

  // CoolResources in namespace app name the provider, which is in the same namespace.
  void begin(int instances) {
    world.replica().serve();
    Json crd = FaultWorld::definition();
    crd["spec"]["scope"] = "Namespaced";
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-preserve-unknown-fields"] = true;
    world.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    world.create("/api/v1/namespaces", FaultWorld::named("v1", "Namespace", "app"));
    world.create("/apis/apps/v1/namespaces/app/deployments", FaultWorld::provider());
    for (int i = 0; i < instances; ++i) {
      Json object = FaultWorld::named("my.crd.group/v1", "CoolResource", "one-" + std::to_string(i));
      object["spec"] = {{"providerRef", {{"name", "other"}}}};
      world.create(kObjects, object);
    }
    Json service = FaultWorld::service();
    service["spec"]["criteria"] = Json::array({criterionOn("spec.providerRef.name")});
    world.create("/apis/lastout.dev/v1alpha1/criticalservices", service);
    world.waitUntilGuarded();
  }
  static Json criterionOn(const std::string& field) {
    const Json reference = {{"group", "my.crd.group"}, {"resource", "coolresources"}, {"field", field}};
    return {{"type", "Reference"}, {"reference", reference}};
  }
  void name(const std::string& object, const std::string& provider) {
    world.patch(kObjects + ("/" + object), {{"spec", {{"providerRef", {{"name", provider}}}}}});
  }
  void expectToGo() {
    world.deleteAll({kFaultProvider});
    EXPECT_FALSE(world.isThere(kFaultProvider));
  }

  static constexpr const char* kObjects = "/apis/my.crd.group/v1/namespaces/app/coolresources";
  FaultWorld world;
};

// The watch does not tell of it: the confirming read does.
TEST_F(ReferencesTest, AFieldThatNobodyHasHeardOfKeepsTheProvider) {
  begin(3);
  world.replica().api.set({.held = {"coolresources"}});
  name("one-1", "provider");
  for (int i = 0; i < 5; ++i)
    world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group/app/one-1 names "
                                                  "deployments.apps/app/provider in spec.providerRef.name"));
  world.replica().api.calm();
  name("one-1", "other");
  expectToGo();
}

// The type is listed again for a criterion that asks about another field, and is unknown until then.
TEST_F(ReferencesTest, AFieldThatIsAskedAboutLaterCounts) {
  begin(2);
  name("one-0", "provider");
  const Json both = {criterionOn("spec.providerRef.name"), criterionOn("spec.otherRef.name")};
  world.patch("/apis/lastout.dev/v1alpha1/criticalservices/guard", {{"spec", {{"criteria", both}}}});
  name("one-0", "other");
  world.patch(kObjects + std::string("/one-1"), {{"spec", {{"otherRef", {{"name", "provider"}}}}}});
  world.expectRefused(kFaultProvider, HasSubstr("in spec.otherRef.name"));
  world.patch(kObjects + std::string("/one-1"), {{"spec", {{"otherRef", nullptr}}}});
  expectToGo();
}

TEST_F(ReferencesTest, AListThatIsRefusedKeepsTheProvider) {
  begin(1);
  world.replica().api.set({.forbidden = {"GET coolresources"}});
  world.expectRefused(kFaultProvider, HasSubstr("coolresources.my.crd.group"));
  world.replica().api.calm();
  expectToGo();
}

// The judge compares each ALLOW with what was there during all of its review.
TEST_F(ReferencesTest, FieldsThatChangeWhileReviewsRun) {
  begin(4);
  world.reviewWhile(kFaultProvider, [&] {
    for (int i = 0; i < 24; ++i) {
      const std::string object = "one-" + std::to_string(i % 4);
      name(object, "provider");
      world.waitUntilDenied();
      name(object, "other");
      world.waitUntilAllowed();
    }
  });
  expectToGo();
}

}  // namespace
}  // namespace lastout::testing
