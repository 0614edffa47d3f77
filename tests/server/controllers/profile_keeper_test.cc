// ProfileKeeper against the embedded cluster: the policies of profiles are applied, put back, and left to
// others as far as these have added to them.
#include "server/controllers/profile_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "protection/profiles.h"
#include "tests/support/server_fixture.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;

const std::string kProfilePolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
const std::string kKarmadaPolicy = kProfilePolicies + "/karmada";

class ProfileKeeperTest : public lastout::testing::ServerTest {
 public:
  ~ProfileKeeperTest() override { end(); }

  void keep(const std::string& profile, bool leads = true) {
    leads_ = leads;
    ProfileKeeperOptions options;
    options.policies = protection::profileManifests(profile).value();
    options.mayWrite = [this] {
      ++asked_;
      return leads_.load();
    };
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
  void end() {
    if (keeper_) keeper_->stop();
    keeper_.reset();
  }
  // Until a pass that begins after this call has ended; one asks twice at most before it applies something.
  void waitForPass() {
    const int before = asked_;
    waitUntil([&] {
      keeper_->reconsider();
      return asked_ >= before + 4;
    });
  }
  Json get(const std::string& path) { return Json::parse(ask({"GET", path, {}, {}}).body); }
  bool isThere(const std::string& path) { return get(path)["kind"] == "DeletionPolicy"; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  std::atomic<bool> leads_{true};
  std::atomic<int> asked_{0};  // whether it leads
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
  keep("karmada", false);
  waitUntil([&] { return openWatches > 0; });
  waitForPass();
  EXPECT_FALSE(isThere(kKarmadaPolicy));
  lead(true);
  waitUntil([&] { return isThere(kKarmadaPolicy); });
}

// The API server would create what is applied, and the CRD would stay for it.
TEST_F(ProfileKeeperTest, WhileTheCrdIsBeingDeletedNothingIsApplied) {
  std::atomic<bool> terminates{false};
  const Json definition = {{"apiVersion", "meta.k8s.io/v1"},
                           {"kind", "PartialObjectMetadata"},
                           {"metadata",
                            {{"name", "deletionpolicies.lastout.dev"},
                             {"uid", "d"},
                             {"resourceVersion", "1"},
                             {"deletionTimestamp", "2026-01-01T00:00:00Z"}}}};
  serve([&](const simulator::HttpRequest& request) {
    if (!terminates || !request.path.ends_with("/customresourcedefinitions/deletionpolicies.lastout.dev"))
      return handle(request);
    simulator::HttpResponse answer;
    answer.body = definition.dump();
    return answer;
  });
  client::Connection connection = access->connection();
  connection.server.port = static_cast<uint16_t>(port);
  access = client::Access::open(std::move(connection), [] { return int64_t{0}; }).value();
  keep("karmada");
  waitUntil([&] { return isThere(kKarmadaPolicy); });
  terminates = true;
  remove(kKarmadaPolicy);
  waitUntil([&] {
    return log().find("karmada cannot be applied: the CRD deletionpolicies.lastout.dev is being deleted") !=
           std::string::npos;
  });
  EXPECT_FALSE(isThere(kKarmadaPolicy));
  end();
}

}  // namespace
}  // namespace lastout::server
