// The subresource `scale`, held against recorded exchanges.
#include "simulator/scale.h"

#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

Json deployment() {
  Json object = recordedAnswer("077-patch-strategic-containers");
  object["metadata"]["resourceVersion"] = "771";
  object["spec"]["replicas"] = 1;
  return object;
}

TEST(Scale, IsTheRecordedOne) {
  EXPECT_EQ(scaleOf(deployment()), recordedAnswer("075-get-scale"));
  const Json reviewed = recordedReview("11-update-deployments-scale-admin")["oldObject"];
  Json web = recordedReview("09-update-deployments-admin")["object"];
  web["metadata"]["resourceVersion"] = "808";
  EXPECT_EQ(scaleOf(web), reviewed);
}

TEST(Scale, LeavesZeroWantedReplicasOutAndReadsThemSo) {
  const Json patched = recordedAnswer("076-patch-scale");
  Json none = withScale(deployment(), patched).value();
  EXPECT_EQ(none["spec"]["replicas"], 0);
  none["metadata"]["resourceVersion"] = "772";
  EXPECT_EQ(scaleOf(none), patched);
  none["status"] = Json::object();
  EXPECT_EQ(scaleOf(none)["status"]["replicas"], 0);
}

TEST(Scale, RefusesWhatIsNoCount) {
  for (const char* replicas : {"-1", "\"3\"", "1.5", "4294967296", "18446744073709551615"}) {
    const auto scaled = withScale(deployment(), {{"spec", {{"replicas", Json::parse(replicas)}}}});
    ASSERT_FALSE(scaled) << replicas;
    EXPECT_EQ(scaled.error().code, 422);
    EXPECT_EQ(scaled.error().details["causes"][0]["field"], "spec.replicas");
  }
}

TEST(Scale, WritesSelectorsAsKubectlReadsThem) {
  EXPECT_EQ(selectorText(Json::object()), "");
  EXPECT_EQ(selectorText(Json::parse(R"({"matchLabels": {"b": "1", "a": "2"}, "matchExpressions": [
              {"key": "tier", "operator": "In", "values": ["y", "x"]}, {"key": "c", "operator": "Exists"},
              {"key": "no", "operator": "DoesNotExist"}, {"key": "e", "operator": "NotIn", "values": ["z"]}]})")),
            "a=2,b=1,c,e notin (z),!no,tier in (x,y)");
}

}  // namespace
}  // namespace lastout::simulator
