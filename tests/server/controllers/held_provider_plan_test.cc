// Which providers are to be held, by a view that a test fills.
#include "server/controllers/held_provider_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/parse.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using control::HeldProviderAction;
using graph::Knowledge;
using ::testing::IsEmpty;

const kube::GroupResource kHeldDeployments{"apps", "deployments"};
const kube::GroupResource kHeldWidgets{"example.com", "widgets"};
const kube::ObjectKey kHeldOne{kHeldDeployments, "n", "d"};
const std::string kHeldBy(kube::kCriteriaFinalizer);

// A Deployment n/d, whose CriticalService "s" waits for what carries a/b.
class HeldProvidersTest : public ::testing::Test {
 public:
  HeldProvidersTest() {
    guard("s", "Hold");
    for (const auto& type : {criticalservice::criticalServiceType(), kHeldDeployments, kHeldWidgets})
      view.know(type, Knowledge::Synced);
    put(kHeldOne, false, {});
  }

  void guard(const std::string& name, const std::string& enforcement, const std::string& space = "n",
             const std::string& intent = "Ordered") {
    const nlohmann::json service = {
        {"apiVersion", "lastout.dev/v1alpha1"},
        {"kind", "CriticalService"},
        {"metadata", {{"name", name}}},
        {"spec",
         {{"enforcement", enforcement},
          {"deletionIntent", intent},
          {"provider", {{"group", "apps"}, {"resource", "deployments"}, {"namespace", space}, {"name", "d"}}},
          {"criteria",
           {{{"type", "Finalizer"},
             {"finalizer",
              {{"group", "example.com"}, {"resource", "widgets"}, {"finalizerName", "a/b"}}}}}}}}};
    auto object = kube::parseObject(kube::fromJson(service), "", kube::ResourceMap::builtIn());
    ASSERT_TRUE(object) << object.error().message;
    ASSERT_TRUE(view.guard(std::move(*object)));
  }
  void put(const kube::ObjectKey& key, bool terminating, std::vector<std::string> finalizers) {
    kube::ObjectMeta meta;
    meta.namespaceName = key.namespaceName;
    meta.name = key.name;
    meta.uid = "uid-" + key.name;
    meta.finalizers = std::move(finalizers);
    if (terminating) meta.deletionTimestamp = 1;
    view.upsert(key.type, meta);
  }
  // Something carries what the provider waits for.
  void block() { put({kHeldWidgets, "", "w"}, false, {"a/b"}); }

  HeldProviderChange only() {
    const std::vector<HeldProviderChange> changes = heldProviderChanges(view);
    EXPECT_LE(changes.size(), 1U);
    return changes.empty() ? HeldProviderChange() : changes.front();
  }

  admission::ClusterView view{"lastout", admission::ViewScope::WhatIsWatched};
};

TEST_F(HeldProvidersTest, AreThoseThatEveryGuardWantsHeld) {
  EXPECT_EQ(only().holding, HeldProviderAction::Begins);
  EXPECT_EQ(only().provider, kHeldOne);
  EXPECT_EQ(only().uid, "uid-d");
  put(kHeldOne, false, {"others.io/f", kHeldBy});
  EXPECT_THAT(heldProviderChanges(view), IsEmpty());
  guard("another", "Deny");
  EXPECT_EQ(only().holding, HeldProviderAction::Ends);
  EXPECT_TRUE(only().isWithdrawn);
  guard("another", "Deny", "n", "OrphanResources");
  EXPECT_THAT(heldProviderChanges(view), IsEmpty());
}

TEST_F(HeldProvidersTest, AreLetGoWithTheirCriteria) {
  put(kHeldOne, true, {});
  EXPECT_THAT(heldProviderChanges(view), IsEmpty()) << "it takes no new finalizer";
  block();
  put(kHeldOne, true, {kHeldBy});
  EXPECT_THAT(heldProviderChanges(view), IsEmpty());
  guard("another", "Deny");
  EXPECT_THAT(heldProviderChanges(view), IsEmpty()) << "it is kept for that one, too";
  view.remove({kHeldWidgets, "", "w"});
  EXPECT_EQ(only().holding, HeldProviderAction::LetsItGo);
  EXPECT_FALSE(only().isWithdrawn);
  view.know(kHeldWidgets, Knowledge::Stale);
  EXPECT_THAT(heldProviderChanges(view), IsEmpty()) << "nobody knows";
  guard("another", "Deny", "n", "OrphanResources");
  guard("s", "Hold", "n", "OrphanResources");
  EXPECT_EQ(only().holding, HeldProviderAction::LetsItGo) << "nobody guards it";
  EXPECT_TRUE(only().isWithdrawn);
}

TEST_F(HeldProvidersTest, StayAsTheyAreUntilTheServicesAreKnown) {
  put(kHeldOne, true, {kHeldBy});
  view.know(criticalservice::criticalServiceType(), Knowledge::Stale);
  EXPECT_THAT(heldProviderChanges(view), IsEmpty());
  put(kHeldOne, false, {});
  EXPECT_THAT(heldProviderChanges(view), IsEmpty());
}

TEST_F(HeldProvidersTest, AreNoneWhereAPIServersDoNotAsk) {
  put(kHeldOne, false, {kHeldBy});
  for (const char* const space : {"kube-system", "lastout"}) {
    guard("excluded", "Hold", space);
    put({kHeldDeployments, space, "d"}, false, {});
    EXPECT_THAT(heldProviderChanges(view), IsEmpty()) << space;
    put({kHeldDeployments, space, "d"}, false, {kHeldBy});
    EXPECT_EQ(only().holding, HeldProviderAction::Ends) << space;
    view.remove({kHeldDeployments, space, "d"});
  }
}

TEST_F(HeldProvidersTest, ThatNobodyNamesAreHeldNoLonger) {
  put(kHeldOne, false, {kHeldBy});
  put({kHeldDeployments, "n", "other"}, false, {kHeldBy});
  EXPECT_EQ(only().provider.name, "other");
  EXPECT_EQ(only().holding, HeldProviderAction::Ends);
  put({kHeldDeployments, "n", "other"}, false, {});
  EXPECT_THAT(view.heldObjects(), ::testing::ElementsAre(kHeldOne));
  view.forget(kHeldDeployments);
  EXPECT_THAT(view.heldObjects(), IsEmpty());
}

TEST_F(HeldProvidersTest, AreAllLetGoWhereNoneIsToBe) {
  block();
  put(kHeldOne, true, {kHeldBy});
  const auto changes = heldProviderChanges(view, false);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().holding, HeldProviderAction::Ends);
  EXPECT_TRUE(changes.front().isWithdrawn);
}

}  // namespace
}  // namespace lastout::server
