// ProfileKeeper against the embedded cluster: all policies of a profile, and a CRD that is being deleted.
// What is put back, and what refused, is in the dialogues beside this.
#include "server/controllers/profile_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "protection/profiles.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;

const std::string kProfilePolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";
const std::string kKarmadaPolicy = kProfilePolicies + "/karmada";

class ProfileKeeperTest : public lastout::testing::ServerWorld {
 public:
  ~ProfileKeeperTest() override { end(); }

  void keep(const std::string& profile) {
    ProfileKeeperOptions options;
    options.policies = protection::profileManifests(profile).value();
    options.mayWrite = [] { return true; };
    options.random = lastout::testing::oneHalf;
    options.log = [this](Level, const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    keeper_ = std::make_unique<ProfileKeeper>(access, std::move(options));
    keeper_->start();
  }
  void end() {
    if (keeper_) keeper_->stop();
    keeper_.reset();
  }
  Json get(const std::string& path) { return Json::parse(ask({"GET", path, {}, {}}).body); }
  bool isThere(const std::string& path) { return get(path)["kind"] == "DeletionPolicy"; }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
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
  serveAndConnect([&](const simulator::ExchangeRequest& request) {
    if (!terminates || !request.path.ends_with("/customresourcedefinitions/deletionpolicies.lastout.dev"))
      return handle(request);
    simulator::ExchangeResponse answer;
    answer.body = definition.dump();
    return answer;
  });
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
