// Whether a provider does its work, by what its own status says.
#include "criticalservice/readiness.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

const kube::GroupResource kCools{"my.crd.group", "coolresources"};

std::string readiness(const kube::GroupResource& type, const char* object) {
  const Readiness result = readinessOf(type, kube::fromJson(nlohmann::json::parse(object)));
  return (!result.ready ? "unknown " : *result.ready ? "ready " : "not ready ") + result.reason;
}

TEST(Readiness, OfWhatKeepsPods) {
  EXPECT_EQ(readiness(kube::kDeployments, R"({"status":{"readyReplicas":1}})"), "ready PodsReady");
  EXPECT_EQ(readiness(kube::kDeployments, R"({"spec":{"replicas":2},"status":{}})"), "not ready NoPodReady");
  EXPECT_EQ(readiness(kube::kDeployments, R"({"spec":{"replicas":0}})"), "not ready ScaledToZero");
  EXPECT_EQ(readiness(kube::kDeployments, R"({"status":{"readyReplicas":"x"}})"), "not ready NoPodReady");
  EXPECT_EQ(readiness({"apps", "daemonsets"}, R"({"status":{"numberReady":3}})"), "ready PodsReady");
  EXPECT_EQ(readiness({"", "replicationcontrollers"}, "{}"), "not ready NoPodReady");
  EXPECT_EQ(readiness({"batch", "jobs"}, R"({"status":{"active":1}})"), "ready PodsReady");
  EXPECT_EQ(readiness({"batch", "jobs"}, R"({"status":{"active":1,"ready":0}})"), "not ready NoPodReady");
  EXPECT_EQ(
      readiness({"batch", "jobs"}, R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})"),
      "not ready Finished");
  EXPECT_EQ(readiness({"batch", "cronjobs"}, R"({"spec":{"suspend":true}})"), "not ready Suspended");
  EXPECT_EQ(readiness({"batch", "cronjobs"}, "{}"), "ready Present");
}

TEST(Readiness, OfAnyOtherType) {
  EXPECT_EQ(readiness(kCools, "{}"), "ready Present");
  EXPECT_EQ(readiness(kCools, R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})"),
            "ready ConditionTrue");
  EXPECT_EQ(readiness(kCools, R"({"status":{"conditions":[{"type":"Available","status":"False"}]}})"),
            "not ready ConditionFalse");
  EXPECT_EQ(readiness(kCools, R"({"status":{"conditions":[7,{"type":"Ready"}]}})"),
            "unknown ConditionUnknown");
}

}  // namespace
}  // namespace lastout::criticalservice
