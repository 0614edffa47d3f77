#include "admission/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/admission/explain_cases.h"
#include "tests/admission/world.h"

namespace lastout::admission {
namespace {

using ::testing::HasSubstr;

TEST(Explain, EveryKindOfVerdictReadsAsTheGoldenFileHasIt) {
  std::ifstream file("tests/admission/explain.golden");
  const std::string golden((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(explainCases(), golden) << "if this is what it should say: write_explain_golden --write";
}

std::string repeated(const std::string& text, size_t length) {
  std::string all;
  while (all.size() < length) all += text;
  return all.substr(0, length);
}

constexpr std::string_view kExcepting = R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: guard}
spec:
  provider: {group: apps, resource: deployments, namespace: op, name: op}
  criteria:
  - type: Finalizer
    finalizer: {resource: configmaps, finalizerName: example.com/f, exceptProviderNamespace: true}
---
apiVersion: v1
kind: Namespace
metadata: {name: op}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: op}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own, namespace: op, finalizers: [example.com/f]}
)";
constexpr std::string_view kElsewhere =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: far, finalizers: [example.com/f]}\n";

TEST(Explain, TellsWhichNamespaceACriterionLeavesOut) {
  World world(kExcepting);
  for (const char* object : {"deployments.apps/op/op", "namespaces/op"})
    EXPECT_TRUE(world.decide(object).allowed) << world.explain(object).message;
  world.apply(kElsewhere);
  EXPECT_EQ(
      world.explain("deployments.apps/op/op").message,
      "deployments.apps/op/op is the provider of criticalservices.lastout.dev/guard and must stay while "
      "configmaps/far/one has finalizer example.com/f outside namespace op; delete it first");
  world.apply(std::string(kElsewhere).replace(kElsewhere.find("one"), 3, "two"));
  EXPECT_EQ(world.explain("namespaces/op").message,
            "namespaces/op holds deployments.apps/op/op, the provider of criticalservices.lastout.dev/guard, "
            "and must stay while 2 configmaps have finalizer example.com/f outside namespace op (far/one and "
            "far/two); delete them first");
  world.know("configmaps", graph::Knowledge::Unknown);
  world.remove("configmaps/far/one");
  world.remove("configmaps/far/two");
  EXPECT_THAT(
      world.explain("deployments.apps/op/op").message,
      HasSubstr("it is not known whether any configmaps has finalizer example.com/f outside namespace "
                "op (configmaps have not been listed yet)"));
}

// The longest names that Kubernetes takes, everywhere.
TEST(Explain, AMessageHasABoundHoweverLongTheNamesAre) {
  const std::string label = repeated("abcdefghij", 63);
  const std::string name = repeated("long-name.", 252) + "x";
  const std::string group = repeated("long-group.", 252) + "x";
  criticalservice::CriticalService service;
  service.meta.name = name;
  service.provider = {{group, label}, label, name};
  service.providerUid = "first";
  kube::ObjectMeta meta;
  meta.namespaceName = label;
  meta.name = name;
  graph::Graph graph;
  GuardIndex index(graph, repeated("klmnopqrst", 63));
  graph.setKnowledge(graph.internType(criticalservice::criticalServiceType()), graph::Knowledge::Synced);
  const graph::TypeId type = graph.internType({group, label});
  for (int i = 0; i < 20; ++i) {
    service.criteria.emplace_back(criticalservice::FinalizerCriterion{{group, label}, group + "/" + label});
    meta.name = name.substr(0, 250) + std::to_string(i);
    meta.uid = std::to_string(i);
    meta.finalizers = {group + "/" + label};
    service.criteria.emplace_back(
        criticalservice::SpecificResourceCriterion{{{group, label}, label, meta.name}});
    graph.upsert(type, meta);
  }
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  for (int services = 0; services < 3; ++services) {
    service.meta.name = name.substr(0, 250) + std::to_string(services);
    index.put(graph, service, types);
  }
  meta.name = name;
  graph.upsert(type, meta);
  for (const kube::ObjectKey& key :
       {service.provider, criticalservice::keyOf(service), kube::ObjectKey{{"", "namespaces"}, "", label},
        kube::ObjectKey{
            {"apiextensions.k8s.io", "customresourcedefinitions"}, "", kube::crdName({group, label})},
        kube::ObjectKey{
            {"apiextensions.k8s.io", "customresourcedefinitions"}, "", "criticalservices.lastout.dev"}}) {
    const Verdict verdict = decide(GraphFacts(graph, index), index.rules(), index.guardEntries(key));
    ASSERT_FALSE(verdict.allowed) << kube::toString(key);
    const Explanation explanation = explain(graph, index, key, verdict);
    EXPECT_LE(explanation.message.size(), kLongestMessage);
    EXPECT_THAT(explanation.message, HasSubstr("; ")) << "what to do is not cut off";
    EXPECT_LE(explanation.causes.size(), kMostCauses + 5);
  }
}

TEST(Explain, TheOrderInWhichServicesCameDoesNotMatter) {
  const std::string yaml = R"(
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: NAME}
spec:
  provider: {group: apps, resource: deployments, namespace: n, name: d}
  criteria:
  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: m, name: NAME}}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: m, name: NAME}
)";
  const auto named = [&](const std::string& name) {
    std::string text = yaml;
    for (size_t at = text.find("NAME"); at != std::string::npos; at = text.find("NAME"))
      text.replace(at, 4, name);
    return text;
  };
  std::vector<std::string> names;
  names.reserve(15);
  for (int i = 0; i < 15; ++i) names.push_back("s" + std::to_string(i));
  World forward;
  for (const std::string& name : names) forward.apply(named(name));
  std::ranges::reverse(names);
  World backward;
  for (const std::string& name : names) backward.apply(named(name));
  backward.remove("criticalservices.lastout.dev/s7");
  backward.apply(named("s7"));
  const Explanation a = forward.explain("deployments.apps/n/d");
  const Explanation b = backward.explain("deployments.apps/n/d");
  EXPECT_EQ(a.message, b.message);
  ASSERT_EQ(a.causes.size(), b.causes.size());
  for (size_t i = 0; i < a.causes.size(); ++i) EXPECT_EQ(a.causes[i].message, b.causes[i].message);
}

TEST(Explain, AVerdictOfOtherFactsIsNoTrap) {
  const World world;
  Verdict denied;
  denied.allowed = false;
  denied.reason = Reason::CriterionUnmet;
  const Explanation explanation =
      explain(world.graph, world.index, KeyView{"", "namespaces", "", "n"}, denied);
  EXPECT_EQ(explanation.message, "namespaces/n was denied: what blocked it is gone meanwhile; try again");
}

TEST(Explain, NamesTheRevisionItLookedAt) {
  World world;
  const uint64_t before = world.explain("namespaces/n").revision;
  world.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n");
  EXPECT_GT(world.explain("namespaces/n").revision, before);
}

}  // namespace
}  // namespace lastout::admission
