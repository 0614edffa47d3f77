// ProfileKeeper against the embedded cluster: the policies of profiles are applied, put back, and left to
// others as far as these have added to them.
#include "server/profile_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "protection/profiles.h"
#include "tests/server/server_fixture.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;

const std::string kProfilePolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
const std::string kKarmadaPolicy = kProfilePolicies + "/karmada";

class ProfileKeeperTest : public lastout::testing::ServerTest {
 public:
  ~ProfileKeeperTest() override {
    if (keeper_) keeper_->stop();
  }

  void keep(const std::string& profile) {
    ProfileKeeperOptions options;
    options.policies = protection::profileManifests(profile).value();
    options.mayWrite = [this] { return leads_.load(); };
    options.random = [] { return [] { return 0.5; }; };
    options.log = [this](Level, const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    keeper_ = std::make_unique<ProfileKeeper>(access, std::move(options));
    keeper_->start();
  }
  void lead(bool leads) {
    leads_ = leads;
    keeper_->reconsider();
  }
  Json get(const std::string& path) { return Json::parse(ask({"GET", path, {}, {}}).body); }
  bool isThere(const std::string& path) { return get(path)["kind"] == "DeletionPolicy"; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  std::atomic<bool> leads_{true};
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<ProfileKeeper> keeper_;
};

TEST_F(ProfileKeeperTest, AppliesAllPoliciesOfAProfile) {
  keep("dbops");
  for (const char* name : {"instances", "databases", "users", "roles", "grants", "backup-schedules"})
    waitUntil([&] { return isThere(kProfilePolicies + "/dbops-" + name); });
  EXPECT_EQ(get(kProfilePolicies + "/dbops-users")["spec"]["enforcement"], "Hold");
}

TEST_F(ProfileKeeperTest, PutsBackWhatSomebodyDeletesOrChanges) {
  keep("karmada");
  waitUntil([&] { return isThere(kKarmadaPolicy); });
  const Json spec = get(kKarmadaPolicy)["spec"];
  remove(kKarmadaPolicy);
  waitUntil([&] { return isThere(kKarmadaPolicy); });
  patch(kKarmadaPolicy, {{"spec", {{"when", Json::array({{{"label", "example.com/none"}}})}}}});
  waitUntil([&] { return get(kKarmadaPolicy)["spec"] == spec; });
  waitUntil([&] { return log().find("deletion policy karmada of --profile is as it") != std::string::npos; });
}

TEST_F(ProfileKeeperTest, WhatOthersHaveAddedStays) {
  keep("karmada");
  waitUntil([&] { return isThere(kKarmadaPolicy); });
  const Json when = get(kKarmadaPolicy)["spec"]["when"];
  const Json exempt = {{"groups", {"sweepers"}}};
  patch(kKarmadaPolicy,
        {{"metadata", {{"labels", {{"team", "a"}}}}},
         {"spec", {{"exempt", exempt}, {"when", Json::array({{{"label", "example.com/none"}}})}}}});
  waitUntil([&] { return get(kKarmadaPolicy)["spec"]["when"] == when; });
  const Json standing = get(kKarmadaPolicy);
  EXPECT_EQ(standing["spec"]["exempt"], exempt);
  EXPECT_EQ(standing["metadata"]["labels"], (Json{{"team", "a"}}));
}

TEST_F(ProfileKeeperTest, OnlyWhoLeadsApplies) {
  keep("karmada");
  waitUntil([&] { return isThere(kKarmadaPolicy); });
  lead(false);
  remove(kKarmadaPolicy);
  create(kProfilePolicies, Json::parse(R"({"apiVersion": "lastout.dev/v1alpha1", "kind": "DeletionPolicy",
    "metadata": {"name": "karmada"}, "spec": {"objects": [{"resources": [{"resource": "secrets"}]}]}})"));
  lead(true);
  waitUntil([&] { return get(kKarmadaPolicy)["spec"].contains("when"); });
}

}  // namespace
}  // namespace lastout::server
