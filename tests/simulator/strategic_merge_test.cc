// Strategic merge patches: a recorded one, what kubectl sends, and the directives as Kubernetes documents
// them.
#include <gtest/gtest.h>

#include "simulator/decode.h"
#include "simulator/patch.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

const kube::GroupResource kDeployments{"apps", "deployments"};
const kube::GroupResource kServices{"", "services"};

Json merged(const char* object, const char* patch, const kube::GroupResource& type = kDeployments) {
  const auto result = strategicMerge(type, Json::parse(object), Json::parse(patch));
  return result ? *result : Json(result.error().message);
}

// A pod spec's containers, as an object of any type that has a spec.
Json mergedContainers(const char* containers, const char* patch) {
  const auto result = strategicMerge(kDeployments, {{"spec", {{"containers", Json::parse(containers)}}}},
                                     {{"spec", Json::parse(patch)}});
  return result ? (*result)["spec"]["containers"] : Json(result.error().message);
}

TEST(StrategicMerge, OfContainersIsTheRecordedOne) {
  const Json before = recordedExchange("072-create-deployment")["response"]["body"];
  const Json exchange = recordedExchange("077-patch-strategic-containers");
  const auto result = strategicMerge(kDeployments, before, exchange["request"]["body"]);
  EXPECT_EQ((*result)["spec"]["template"], exchange["response"]["body"]["spec"]["template"]);
}

TEST(StrategicMerge, LabelsAndScales) {
  EXPECT_EQ(
      merged(R"({"metadata":{"labels":{"a":"1","b":"2"}},"spec":{"replicas":1}})",
             R"({"metadata":{"labels":{"a":null,"c":"3"},"annotations":{"x":"y"}},"spec":{"replicas":2}})"),
      Json::parse(
          R"({"metadata":{"labels":{"b":"2","c":"3"},"annotations":{"x":"y"}},"spec":{"replicas":2}})"));
}

// As kubectl set image sends it.
TEST(StrategicMerge, SetsAnImage) {
  EXPECT_EQ(mergedContainers(R"([{"name":"a","image":"a:1"},{"name":"b","image":"b:1","args":["x"]}])",
                             R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],
                                 "containers":[{"name":"b","image":"b:2"}]})"),
            Json::parse(R"([{"name":"a","image":"a:1"},{"name":"b","image":"b:2","args":["x"]}])"));
}

// As kubectl apply sends it: a sidecar that somebody else put in between keeps its place.
TEST(StrategicMerge, OrdersAsApplyWantsAndLeavesWhatOthersAdded) {
  EXPECT_EQ(
      mergedContainers(R"([{"name":"a"},{"name":"sidecar"},{"name":"b"},{"name":"old"},{"name":"last"}])",
                       R"({"$setElementOrder/containers":[{"name":"new"},{"name":"a"},{"name":"b"}],
                                 "containers":[{"name":"new"},{"name":"old","$patch":"delete"}]})"),
      Json::parse(R"([{"name":"new"},{"name":"a"},{"name":"sidecar"},{"name":"b"},{"name":"last"}])"));
  EXPECT_EQ(mergedContainers(R"([{"name":"a"},{"name":"b"}])",
                             R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]})"),
            Json::parse(R"([{"name":"b"},{"name":"a"}])"));
}

TEST(StrategicMerge, MergesNestedListsByTheirOwnKeys) {
  EXPECT_EQ(mergedContainers(
                R"([{"name":"a","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],
                            "ports":[{"containerPort":80}],"volumeMounts":[{"mountPath":"/x","name":"v"}]}])",
                R"({"containers":[{"name":"a","env":[{"name":"B","$patch":"delete"},{"name":"A","value":"3"}],
                            "ports":[{"containerPort":80,"name":"web"},{"containerPort":81}],
                            "volumeMounts":[{"mountPath":"/x","readOnly":true}]}]})"),
            Json::parse(R"([{"name":"a","env":[{"name":"A","value":"3"}],
                       "ports":[{"containerPort":80,"name":"web"},{"containerPort":81}],
                       "volumeMounts":[{"mountPath":"/x","name":"v","readOnly":true}]}])"));
  EXPECT_EQ(merged(R"({"spec":{"ports":[{"port":80,"targetPort":1}]}})",
                   R"({"spec":{"ports":[{"port":80,"targetPort":2},{"port":81}]}})", kServices),
            Json::parse(R"({"spec":{"ports":[{"port":80,"targetPort":2},{"port":81}]}})"));
}

TEST(StrategicMerge, ReplacesListsWithoutAKey) {
  EXPECT_EQ(
      merged(R"({"spec":{"tolerations":[{"key":"a"}],"containers":[{"name":"c","args":["x","y"]}]}})",
             R"({"spec":{"tolerations":[{"key":"b"}],"containers":[{"name":"c","args":["z"]}]}})"),
      Json::parse(R"({"spec":{"tolerations":[{"key":"b"}],"containers":[{"name":"c","args":["z"]}]}})"));
  const char* subjects = R"({"subjects":[{"kind":"User","name":"a"}]})";
  EXPECT_EQ(merged(R"({"subjects":[{"kind":"User","name":"b"}]})", subjects,
                   {"rbac.authorization.k8s.io", "rolebindings"}),
            Json::parse(subjects));
}

TEST(StrategicMerge, KnowsOwnersFinalizersAndConditions) {
  EXPECT_EQ(
      merged(
          R"({"metadata":{"finalizers":["a","b"],"ownerReferences":[{"uid":"1","name":"x"}]},
                       "status":{"conditions":[{"type":"Ready","status":"False","reason":"r"}]}})",
          R"({"metadata":{"finalizers":["c","a"],"ownerReferences":[{"uid":"2"},{"uid":"1","$patch":"delete"}]},
                       "status":{"conditions":[{"type":"Ready","status":"True"}]}})"),
      Json::parse(R"({"metadata":{"finalizers":["a","b","c"],"ownerReferences":[{"uid":"2"}]},
                       "status":{"conditions":[{"type":"Ready","status":"True","reason":"r"}]}})"));
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b","c"]}})",
                   R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})"),
            Json::parse(R"({"metadata":{"finalizers":["a","c"]}})"));
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a","b"]}})",
                   R"({"metadata":{"$setElementOrder/finalizers":["c","b","a"],"finalizers":["c"]}})"),
            Json::parse(R"({"metadata":{"finalizers":["c","b","a"]}})"));
}

TEST(StrategicMerge, ReplacesAndDeletesByDirective) {
  EXPECT_EQ(mergedContainers(R"([{"name":"a","image":"1"},{"name":"b"}])",
                             R"({"containers":[{"name":"a"},{"$patch":"replace"}]})"),
            Json::parse(R"([{"name":"a"}])"));
  EXPECT_EQ(
      merged(R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},"replicas":1}})",
             R"({"spec":{"strategy":{"$patch":"replace","type":"Recreate"}}})"),
      Json::parse(R"({"spec":{"strategy":{"type":"Recreate"},"replicas":1}})"));
  EXPECT_EQ(merged(R"({"spec":{"securityContext":{"runAsUser":1}}})",
                   R"({"spec":{"securityContext":{"$patch":"delete"},"affinity":{"$patch":"delete"}}})"),
            Json::parse(R"({"spec":{"securityContext":{}}})"));
  EXPECT_EQ(merged(R"({"spec":{"a":1}})", R"({"spec":{"$patch":"merge","b":{"c":null,"d":1}}})"),
            Json::parse(R"({"spec":{"a":1,"b":{"d":1}}})"));
}

TEST(StrategicMerge, RetainsKeys) {
  EXPECT_EQ(merged(R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
                   R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})"),
            Json::parse(R"({"spec":{"strategy":{"type":"Recreate"}}})"));
  EXPECT_EQ(
      merged(
          R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
          R"({"spec":{"volumes":[{"$retainKeys":["name","configMap"],"name":"v","configMap":{"name":"c"}}]}})"),
      Json::parse(R"({"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}})"));
}

TEST(StrategicMerge, OfACustomResourceDefinitionMergesItsMetadataAlone) {
  const kube::GroupResource crds{"apiextensions.k8s.io", "customresourcedefinitions"};
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["a"]},"status":{"conditions":[{"type":"A"}]}})",
                   R"({"metadata":{"finalizers":["b"]},"status":{"conditions":[{"type":"B"}]}})", crds),
            Json::parse(R"({"metadata":{"finalizers":["a","b"]},"status":{"conditions":[{"type":"B"}]}})"));
}

TEST(StrategicMerge, RefusesWhatIsMalformed) {
  for (const char* patch :
       {R"({"spec":{"$patch":"explode"}})", R"({"spec":{"$patch":1}})",
        R"({"spec":{"containers":[{"image":"x"}]}})", R"({"spec":{"containers":["x"]}})",
        R"({"spec":{"containers":[{"name":null}]}})", R"({"spec":{"containers":[{"name":["c"]}]}})",
        R"({"spec":{"$retainKeys":["a"],"b":1}})", R"({"spec":{"$retainKeys":1}})",
        R"({"metadata":{"finalizers":[["a"]]}})",
        R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"a"}})",
        R"({"spec":{"$setElementOrder/containers":[{"image":"x"}]}})"}) {
    const auto result = strategicMerge(kDeployments, Json::parse(R"({"spec":{"containers":[{"name":"c"}]}})"),
                                       Json::parse(patch));
    ASSERT_FALSE(result) << patch;
    EXPECT_EQ(result.error().code, 400) << patch;
  }
  EXPECT_EQ(mergedContainers("[]", R"({"containers":[{"image":"x"}]})"),
            "an item of \"containers\" does not contain declared merge key: name");
  EXPECT_EQ(strategicMerge(kDeployments, Json::object(), 1).error().code, 400);
}

TEST(StrategicMerge, ReplacesWhatIsNoListOrMap) {
  EXPECT_EQ(merged(R"({"metadata":1,"spec":{"containers":"x"}})",
                   R"({"metadata":{"labels":{"a":null}},
                       "spec":{"containers":[{"name":1}],"$setElementOrder/containers":[{"name":1}]}})"),
            Json::parse(R"({"metadata":{"labels":{}},"spec":{"containers":[{"name":1}]}})"));
}

TEST(StrategicMerge, OfLongListsIsQuick) {
  Json list = Json::array();
  Json order = Json::array();
  for (int i = 0; i < 10'000; ++i) {
    list.push_back({{"name", std::to_string(i)}});
    order.push_back({{"name", std::to_string(9'999 - i)}});
  }
  const Json object = {{"spec", {{"containers", list}}}};
  const auto result = strategicMerge(
      kDeployments, object, {{"spec", {{"containers", list}, {"$setElementOrder/containers", order}}}});
  EXPECT_EQ((*result)["spec"]["containers"], order);
}

}  // namespace
}  // namespace lastout::simulator
