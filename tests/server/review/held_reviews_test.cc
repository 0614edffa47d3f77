// DELETEs of a provider whose CriticalService says Hold: what the request says of the object and of the
// deletion counts, and who guards it by now.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "graph/condition.h"
#include "kube/well_known.h"
#include "server/review/review_handler.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using graph::Knowledge;
using lastout::testing::Json;
using lastout::testing::kCoolResources;
using lastout::testing::kProvider;
using lastout::testing::kService;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kHeldServicePath = "/apis/lastout.dev/v1alpha1/criticalservices/s";
constexpr const char* kHeldProviderPath = "/apis/apps/v1/namespaces/default/deployments/provider";
constexpr const char* kHeldServices = "/apis/lastout.dev/v1alpha1/criticalservices";

const Json kHeld = {kube::kCriteriaFinalizer};
const Json kBackground = {{"propagationPolicy", "Background"}};

class HeldReviewsTest : public lastout::testing::ServerWorld {
 public:
  // The story with spec.enforcement: Hold; all of it is known.
  void followHeldStory() {
    createStoryWithoutService();
    Json service = criticalService();
    service["spec"]["enforcement"] = "Hold";
    create(kHeldServices, service);
    patch(kHeldProviderPath, {{"metadata", {{"finalizers", kHeld}}}});
    follow();
    waitFor(kCoolResources, Knowledge::Synced);
    waitFor(kProvider.type, Knowledge::Synced);
    view.inspect([this](const admission::ClusterView& cluster, const kube::ResourceMap& /*types*/) {
      uid = cluster.graph().uid(cluster.graph().find(kProvider).value());
    });
  }

  // The answer to a DELETE of the provider with these finalizers.
  Json reviewHeld(const Json& finalizers, const Json& options) {
    const Json metadata = {
        {"name", "provider"}, {"namespace", "default"}, {"uid", uid}, {"finalizers", finalizers}};
    return reviewUpdate(kProvider, {{"operation", "DELETE"},
                                    {"object", nullptr},
                                    {"oldObject", {{"metadata", metadata}}},
                                    {"options", options}});
  }

  std::string uid;  // the provider's
};

TEST_F(HeldReviewsTest, AreAllowedAtOnceWithWhatItWaitsFor) {
  followHeldStory();
  for (const Json& options : {kBackground, Json{{"propagationPolicy", "Orphan"}}, Json::object(),
                              Json{{"orphanDependents", true}}, Json(nullptr)}) {
    const Json response = reviewHeld(kHeld, options);
    EXPECT_TRUE(response["allowed"]) << options << response;
    ASSERT_EQ(response["warnings"].size(), 1U) << options;
    EXPECT_THAT(
        response["warnings"][0].get<std::string>(),
        AllOf(HasSubstr("deployments.apps/default/provider may be deleted, but waits to be finalized until"),
              HasSubstr("coolresources.my.crd.group/instance has finalizer")));
  }
  EXPECT_EQ(verdicts().back().reason, admission::Reason::Held);
  EXPECT_TRUE(verdicts().back().confirmed) << "who guards it was asked once more";
}

TEST_F(HeldReviewsTest, InTheForegroundAreDeniedAlsoOfWhatTerminates) {
  followHeldStory();
  const Json foreground = {{"propagationPolicy", "Foreground"}};
  EXPECT_FALSE(reviewHeld(kHeld, foreground)["allowed"]);
  EXPECT_FALSE(reviewHeld({kube::kForegroundFinalizer, kube::kCriteriaFinalizer}, Json::object())["allowed"]);
  EXPECT_TRUE(reviewHeld({kube::kForegroundFinalizer, kube::kCriteriaFinalizer}, kBackground)["allowed"])
      << "Background takes the other back";
  EXPECT_FALSE(reviewDelete({{"", "namespaces"}, "", "default"})["allowed"]);
  EXPECT_FALSE(reviewDelete(kService)["allowed"]);
}

TEST_F(HeldReviewsTest, OfWhatHasNoFinalizerYetAreDeniedAsEver) {
  followHeldStory();
  for (const Json& finalizers : {Json::array(), Json{"example.com/f"}, Json(nullptr)}) {
    const Json response = reviewHeld(finalizers, kBackground);
    EXPECT_FALSE(response["allowed"]) << finalizers;
    EXPECT_EQ(response["status"]["details"]["causes"][0]["reason"], "CriterionUnmet");
    EXPECT_FALSE(response.contains("warnings")) << response;
  }
  EXPECT_FALSE(reviewDelete(kProvider)["allowed"]);
}

// An API server that saw no finalizer deletes at once, whatever it shows when it asks.
TEST_F(HeldReviewsTest, OfWhatTheWatchHasNotShownHeldAreDeniedAsEver) {
  followHeldStory();
  const std::string was = std::exchange(uid, "another");
  const Json response = reviewHeld(kHeld, kBackground);
  EXPECT_FALSE(response["allowed"]);
  ASSERT_EQ(response["warnings"].size(), 1U) << "it will be held";
  EXPECT_THAT(response["warnings"][0].get<std::string>(),
              AllOf(HasSubstr("lastout holds deployments.apps/default/provider only once"),
                    HasSubstr("--hold-after")));
  EXPECT_FALSE(reviewHeld(kHeld, {{"propagationPolicy", "Foreground"}}).contains("warnings"))
      << "that never holds";
  uid.clear();
  EXPECT_FALSE(reviewHeld(kHeld, kBackground)["allowed"]) << "the API server does not say which it is";
  uid = was;
  EXPECT_TRUE(reviewHeld(kHeld, kBackground)["allowed"]);
}

// Only the API server has the change, or the other service.
TEST_F(HeldReviewsTest, AGuardThatSaysDenyAndThatTheWatchHasNotToldOfIsRespected) {
  followHeldStory();
  watches->stop();
  Json another = criticalService();
  another["metadata"]["name"] = "another";
  create(kHeldServices, another);
  EXPECT_THAT(reviewHeld(kHeld, kBackground)["status"]["message"].get<std::string>(),
              HasSubstr("criticalservices.lastout.dev/another guards it since a moment ago"));
  remove(std::string(kHeldServices) + "/another");
  EXPECT_TRUE(reviewHeld(kHeld, kBackground)["allowed"]);
  patch(kHeldServicePath, {{"spec", {{"enforcement", "Deny"}}}});
  EXPECT_THAT(reviewHeld(kHeld, kBackground)["status"]["message"].get<std::string>(),
              HasSubstr("criticalservices.lastout.dev/s guards it since a moment ago"));
}

TEST_F(HeldReviewsTest, AScaleToZeroIsDecidedAsEver) {
  createStoryWithoutService();
  Json service = criticalService();
  service["spec"]["enforcement"] = "Hold";
  service["spec"]["guard"] = {{"scaleToZero", true}};
  create(kHeldServices, service);
  patch(kHeldProviderPath, {{"metadata", {{"finalizers", kHeld}}}});
  follow();
  waitFor(kCoolResources, Knowledge::Synced);
  waitFor(kProvider.type, Knowledge::Synced);
  const Json metadata = {{"name", "provider"}, {"finalizers", kHeld}};
  const auto of = [&](int replicas) {
    return Json{{"spec", {{"replicas", replicas}}}, {"metadata", metadata}};
  };
  EXPECT_FALSE(reviewUpdate(kProvider, {{"oldObject", of(2)}, {"object", of(0)}})["allowed"]);
}

}  // namespace
}  // namespace lastout::server
