// lastout graph, by running the program: what is drawn of the story, and of what one focuses on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/program.h"

namespace lastout {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Ran;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* kThreeWorks = "scenarios/story-three-works.yaml";
constexpr const char* kProvider = "deployments.apps/finalizer-namespace/finalizer-deployment";
constexpr const char* kInstance = "coolresources.my.crd.group/some-instance";

Json json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"graph", "-o", "json"});
  const Ran ran = testing::lastout(std::move(arguments));
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  return Json::parse(ran.out, nullptr, false);
}

std::vector<std::string> ids(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list) texts.push_back(item["id"]);
  return texts;
}

const Json& object(const Json& graph, const std::string& id) {
  for (const Json& item : graph["objects"]) {
    if (item["id"] == id) return item;
  }
  ADD_FAILURE() << "no " << id;
  return graph["objects"][0];
}

// The way along edges from one object to others, over conditions.
std::vector<std::string> goesAfter(const Json& graph, const std::string& id) {
  std::vector<std::string> targets;
  for (const Json& edge : graph["edges"]) {
    if (edge["from"] != id) continue;
    const std::string to = edge["to"];
    if (!to.starts_with("condition: ")) {
      targets.push_back(to);
      continue;
    }
    for (const std::string& holder : goesAfter(graph, to)) targets.push_back(holder);
  }
  return targets;
}

TEST(GraphCommand, OfANamespaceThatIsNotThereSaysSo) {
  const Ran ran = testing::lastout({"graph", "--namespace", "finalizer-namspace", kThreeWorks});
  EXPECT_EQ(ran.exitCode, 2);
  EXPECT_THAT(ran.err, HasSubstr("nothing is known of a namespace \"finalizer-namspace\""));
}

TEST(GraphCommand, KnowsWhatTheStoryOrders) {
  const Json graph = json({kThreeWorks});
  EXPECT_EQ(graph["leftOut"], 0);
  const std::string crd = "customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group";
  EXPECT_THAT(goesAfter(graph, kProvider), AllOf(Contains(kInstance), Contains(crd)));
  EXPECT_THAT(goesAfter(graph, crd), ElementsAre(kInstance));
  EXPECT_THAT(goesAfter(graph, "criticalservices.lastout.dev/for-finalizer-deployment"), Contains(kProvider));
  EXPECT_THAT(goesAfter(graph, "namespaces/finalizer-namespace"), Contains(kProvider));
  EXPECT_THAT(goesAfter(graph, "manifestworks.work.open-cluster-management.io/cluster1/cr"),
              ElementsAre("appliedmanifestworks.work.open-cluster-management.io/cluster1-cr"));
  EXPECT_THAT(goesAfter(graph, "appliedmanifestworks.work.open-cluster-management.io/cluster1-cr"),
              ElementsAre(kInstance));
}

TEST(GraphCommand, TellsTheVerdictOnWhatIsGuarded) {
  const Json graph = json({kThreeWorks});
  const Json& provider = object(graph, kProvider);
  EXPECT_EQ(provider["verdict"]["allowed"], false);
  EXPECT_THAT(provider["verdict"]["text"].get<std::string>(), HasSubstr("my.crd.group/super-important"));
  EXPECT_EQ(object(graph, "namespaces/finalizer-namespace")["verdict"]["allowed"], false);
  EXPECT_EQ(object(graph, "criticalservices.lastout.dev/for-finalizer-deployment")["verdict"]["allowed"],
            false);
  EXPECT_FALSE(object(graph, kInstance).contains("verdict"));
}

TEST(GraphCommand, DrawsAtDifferentDepths) {
  const Json near = json({"--focus", "deploy/finalizer-deployment", "--depth", "1", kThreeWorks});
  EXPECT_THAT(ids(near["objects"]), Contains(kProvider));
  EXPECT_THAT(ids(near["objects"]), Not(Contains(kInstance)));
  const Json further = json({"--focus", "deploy/finalizer-deployment", "--depth", "2", kThreeWorks});
  EXPECT_THAT(ids(further["objects"]), Contains(kInstance));
  const Json alone = json({"--focus", "deploy/finalizer-deployment", "--depth", "0", kThreeWorks});
  EXPECT_THAT(ids(alone["objects"]), ElementsAre(kProvider));
  EXPECT_THAT(alone["edges"], IsEmpty());
}

TEST(GraphCommand, CountsWhatItLeavesOut) {
  const Json graph = json({"--limit", "2", kThreeWorks});
  EXPECT_EQ(graph["objects"].size() + graph["conditions"].size(), 2u);
  EXPECT_GT(graph["leftOut"], 10);
}

TEST(GraphCommand, DrawsMermaidUnlessToldOtherwise) {
  const Ran ran = testing::lastout({"graph", kThreeWorks});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\nflowchart "), HasSubstr("some-instance"), HasSubstr("-->")));
  EXPECT_EQ(testing::lastout({"graph", "-o", "mermaid", kThreeWorks}).out, ran.out);
}

TEST(GraphCommand, DrawsDot) {
  const std::string dot = testing::lastout({"graph", "-o", "dot", kThreeWorks}).out;
  EXPECT_THAT(dot, AllOf(HasSubstr("digraph lastout {"), HasSubstr("some-instance"), HasSubstr("->"),
                         ::testing::EndsWith("}\n")));
}

TEST(GraphCommand, ReadsTheStandardInput) {
  const std::string list = R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web", "uid": "u-1"}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "web"}}]})";
  const Ran ran = testing::lastout({{"graph", "-o", "json", "-"}, list, false, false});
  EXPECT_EQ(ran.exitCode, 0) << ran.err;
  EXPECT_THAT(goesAfter(Json::parse(ran.out), "namespaces/web"), ElementsAre("configmaps/web/a"));
  const Ran bad = testing::lastout({{"graph", "-"}, "kind: [\n", false, false});
  EXPECT_EQ(bad.exitCode, 2);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.err, StartsWith("<stdin>:2:1: this is no valid YAML"));
  std::string blanks;
  blanks.resize(17u << 20, ' ');
  const Ran huge = testing::lastout({{"graph", "-"}, blanks, false, false});
  EXPECT_EQ(huge.exitCode, 2);
  EXPECT_THAT(huge.err, HasSubstr("<stdin>: more than 16 MiB"));
}

TEST(GraphCommand, WarnsOnTheStandardErrorAlone) {
  const Ran ran = testing::lastout({{"graph", "-"},
                                    R"(apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: c}
spec:
  provider: {group: apps, resource: deployments, namespace: web, name: w}
  criteria:
  - type: Finalizer
    finalizer: {group: my.crd.group, resource: coolresources, finalizerName: my.crd.group/x}
)",
                                    false,
                                    false});
  EXPECT_EQ(ran.exitCode, 0);
  EXPECT_THAT(ran.err, StartsWith("warning: <stdin>:1:1: "));
  EXPECT_THAT(ran.out, Not(HasSubstr("warning")));
}

TEST(GraphCommand, AFocusMustBeThere) {
  for (const auto& [focus, message] :
       {std::pair{"deploy/finalizer-deploymnet", "did you mean deployments.apps/"},
        std::pair{"pod/x", "there are no pods"}, std::pair{"manifestworks/*", "names 3 objects"},
        std::pair{"nothing", "\"nothing\" is no reference"}}) {
    const Ran ran = testing::lastout({"graph", "--focus", focus, kThreeWorks});
    EXPECT_EQ(ran.exitCode, 2) << focus;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, AllOf(StartsWith("--focus: "), HasSubstr(message)));
  }
  EXPECT_EQ(testing::lastout({"graph", "--depth", "2", kThreeWorks}).exitCode, 2);
}

TEST(GraphCommand, SaysTheSameEachTime) {
  EXPECT_EQ(testing::lastout({"graph", "-o", "json", kThreeWorks}).out,
            testing::lastout({"graph", "-o", "json", kThreeWorks}).out);
}

}  // namespace
}  // namespace lastout
