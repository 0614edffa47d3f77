#include "graph/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "graph/dump_selection.h"
#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<std::string> idsOf(const json& list) {
  std::vector<std::string> ids;
  for (const json& item : list) ids.push_back(item["id"]);
  return ids;
}

std::vector<std::string> edgesOf(const json& dump) {
  std::vector<std::string> edges;
  for (const json& edge : dump["edges"]) {
    edges.push_back(edge["from"].get<std::string>() + " -> " + edge["to"].get<std::string>());
  }
  return edges;
}

TEST(DumpJson, TellsTheStory) {
  const Cluster cluster = story();
  const json dump = json::parse(dumpJson(cluster.graph));
  EXPECT_THAT(idsOf(dump["objects"]),
              ElementsAre("namespaces/finalizer-namespace", kCrd, kProvider, kService, kInstance));
  EXPECT_THAT(idsOf(dump["conditions"]),
              ElementsAre("condition: finalizer my.crd.group/super-important on coolresources.my.crd.group",
                          "condition: existence of " + std::string(kCrd),
                          "condition: existence of " + std::string(kProvider)));
  EXPECT_THAT(edgesOf(dump),
              UnorderedElementsAre(
                  std::string(kProvider) + " -> condition: existence of " + std::string(kCrd),
                  std::string(kProvider) +
                      " -> condition: finalizer my.crd.group/super-important on coolresources.my.crd.group",
                  std::string(kService) + " -> condition: existence of " + std::string(kProvider),
                  "condition: existence of " + std::string(kCrd) + " -> " + std::string(kCrd),
                  "condition: existence of " + std::string(kProvider) + " -> " + std::string(kProvider),
                  "condition: finalizer my.crd.group/super-important on coolresources.my.crd.group -> " +
                      std::string(kInstance),
                  std::string(kCrd) + " -> " + std::string(kInstance),
                  "namespaces/finalizer-namespace -> " + std::string(kProvider)));
  EXPECT_EQ(dump["leftOut"], 0);
}

TEST(DumpJson, TellsWhatIsKnownOfAnObject) {
  Cluster cluster;
  cluster.put("replicasets.apps/a/r", {.uid = "owner"});
  cluster.put("pods/a/x",
              {.uid = "u", .finalizers = {"f"}, .ownerUids = {"owner", "gone"}, .terminating = true});
  const json pod = json::parse(dumpJson(cluster.graph))["objects"][0];
  EXPECT_EQ(pod["id"], "pods/a/x");
  EXPECT_EQ(pod["group"], "");
  EXPECT_EQ(pod["resource"], "pods");
  EXPECT_EQ(pod["namespace"], "a");
  EXPECT_EQ(pod["name"], "x");
  EXPECT_EQ(pod["present"], true);
  EXPECT_EQ(pod["uid"], "u");
  EXPECT_EQ(pod["deletionTimestamp"], 1700000000);
  EXPECT_EQ(pod["finalizers"], json::array({"f"}));
  EXPECT_EQ(pod["owners"][0]["object"], "replicasets.apps/a/r");
  EXPECT_EQ(pod["owners"][1]["uid"], "gone");
  EXPECT_FALSE(pod["owners"][1].contains("object"));
}

TEST(DumpJson, TellsWhatIsKnownOfACondition) {
  Cluster cluster;
  cluster.put("pods/a/x", {.finalizers = {"f"}});
  cluster.after("deployments.apps/a/d", finalizerCondition("pods", "f"), "services/a/s");
  cluster.after("deployments.apps/a/d", finalizerCondition("pods", "f"), "services/a/other");
  const json dump = json::parse(dumpJson(cluster.graph));
  EXPECT_EQ(dump["conditions"][0], json({{"id", "condition: finalizer f on pods"},
                                         {"kind", "Finalizer"},
                                         {"group", ""},
                                         {"resource", "pods"},
                                         {"finalizer", "f"},
                                         {"holders", 1},
                                         {"knowledge", "Synced"},
                                         {"met", false}}));
  EXPECT_EQ(dump["edges"][0]["origins"], json({{{"object", "services/a/other"}, {"field", "spec"}},
                                               {{"object", "services/a/s"}, {"field", "spec"}}}));
}

TEST(DumpJson, TellsTheVerdictOnGuardedObjects) {
  const Cluster cluster = story();
  DumpOptions options;
  options.verdict = [&](ObjectId object) -> std::optional<DumpVerdict> {
    if (cluster.graph.key(object) != key(kProvider)) return std::nullopt;
    return DumpVerdict{false, "one instance is left"};
  };
  const json dump = json::parse(dumpJson(cluster.graph, options));
  for (const json& object : dump["objects"]) {
    EXPECT_EQ(object.contains("verdict"), object["id"] == kProvider);
    if (object.contains("verdict")) {
      EXPECT_EQ(object["verdict"], json({{"allowed", false}, {"text", "one instance is left"}}));
    }
  }
  EXPECT_THAT(dumpDot(cluster.graph, options),
              HasSubstr("color=red penwidth=2 tooltip=\"one instance is left\""));
  EXPECT_THAT(dumpMermaid(cluster.graph, options), HasSubstr(":::denied"));
}

TEST(Dump, AroundAnObjectToADepth) {
  Cluster cluster = story();
  cluster.put("pods/elsewhere/x");
  DumpOptions options;
  options.focus = key(kInstance);
  options.depth = 1;
  const json near = json::parse(dumpJson(cluster.graph, options));
  EXPECT_THAT(idsOf(near["objects"]), ElementsAre(kCrd, kInstance));
  EXPECT_EQ(near["conditions"].size(), 1u);
  options.depth = 0;
  EXPECT_THAT(idsOf(json::parse(dumpJson(cluster.graph, options))["objects"]), ElementsAre(kInstance));
  options.depth = 100;
  EXPECT_EQ(json::parse(dumpJson(cluster.graph, options))["objects"].size(), 5u);
}

TEST(Dump, AbsentObjectShowsWhoNamesIt) {
  Cluster cluster = story();
  cluster.remove(kCrd);
  DumpOptions options;
  options.focus = key(kCrd);
  const json dump = json::parse(dumpJson(cluster.graph, options));
  const auto crd = std::ranges::find(dump["objects"], kCrd, [](const json& object) { return object["id"]; });
  ASSERT_NE(crd, dump["objects"].end());
  EXPECT_EQ((*crd)["present"], false);
  EXPECT_THAT(idsOf(dump["objects"]), testing::Contains(kProvider));
  options.focus = key("pods/never/seen");
  EXPECT_THAT(json::parse(dumpJson(cluster.graph, options))["objects"], IsEmpty());
}

// Everything goes after something; what does so now is less.
TEST(Dump, OnlyWhatIsBlocked) {
  Cluster cluster;
  cluster.put("deployments.apps/a/waits");
  cluster.put("deployments.apps/a/free");
  cluster.put("pods/a/holder", {.finalizers = {"f"}});
  cluster.put("pods/a/bystander");
  cluster.put("pods/b/going", {.finalizers = {"g"}, .terminating = true});
  cluster.put("namespaces/a");
  cluster.after("deployments.apps/a/waits", finalizerCondition("pods", "f"));
  cluster.after("deployments.apps/a/free", finalizerCondition("pods", "nobody-has-it"));
  DumpOptions options;
  options.blocked = true;
  const json dump = json::parse(dumpJson(cluster.graph, options));
  EXPECT_THAT(idsOf(dump["objects"]),
              UnorderedElementsAre("deployments.apps/a/waits", "pods/a/holder", "pods/b/going"));
  EXPECT_THAT(idsOf(dump["conditions"]), ElementsAre("condition: finalizer f on pods"));
  EXPECT_EQ(dump["leftOut"], 0);
  options.focus = key("deployments.apps/a/waits");
  options.depth = 1;
  EXPECT_THAT(idsOf(json::parse(dumpJson(cluster.graph, options))["objects"]),
              ElementsAre("deployments.apps/a/waits"));
}

TEST(Dump, OnlyWhatConcernsANamespace) {
  Cluster cluster;
  cluster.put("namespaces/a");
  cluster.put("namespaces/b");
  cluster.put("deployments.apps/a/d");
  cluster.put("pods/b/holder", {.finalizers = {"f"}});
  cluster.put("pods/b/bystander");
  cluster.after("deployments.apps/a/d", finalizerCondition("pods", "f"));
  DumpOptions options;
  options.namespaceName = "a";
  const json dump = json::parse(dumpJson(cluster.graph, options));
  EXPECT_THAT(idsOf(dump["objects"]),
              UnorderedElementsAre("namespaces/a", "deployments.apps/a/d", "pods/b/holder"));
  EXPECT_THAT(idsOf(dump["conditions"]), ElementsAre("condition: finalizer f on pods"));
  options.namespaceName = "nowhere";
  EXPECT_THAT(json::parse(dumpJson(cluster.graph, options))["objects"], IsEmpty());
  options.namespaceName = "b";
  options.blocked = true;
  EXPECT_THAT(json::parse(dumpJson(cluster.graph, options))["objects"][0]["id"], "pods/b/holder")
      << "it blocks, and is there";
}

TEST(Dump, BeyondTheLimitVerticesAreCountedAndThoseThatOrderComeFirst) {
  Cluster cluster = story();
  for (int i = 0; i < 100; ++i) cluster.put("pods/a/p" + std::to_string(i));
  DumpOptions options;
  options.limit = 6;
  const json dump = json::parse(dumpJson(cluster.graph, options));
  EXPECT_THAT(idsOf(dump["objects"]), ElementsAre(kCrd, kProvider, kService));
  EXPECT_EQ(dump["conditions"].size(), 3u);
  EXPECT_EQ(dump["leftOut"], 102);
  EXPECT_THAT(dumpDot(cluster.graph, options), HasSubstr("102 more left out"));
  EXPECT_THAT(dumpMermaid(cluster.graph, options), HasSubstr("102 more left out"));
}

TEST(Dump, SameContentGivesTheSameTextWhateverTheOrderItCameIn) {
  std::vector<std::string> objects;
  objects.reserve(30);
  for (int i = 0; i < 30; ++i) objects.push_back("pods/n" + std::to_string(i % 3) + "/p" + std::to_string(i));
  std::mt19937 random(7);
  std::vector<std::string> first;
  for (int round = 0; round < 5; ++round) {
    std::shuffle(objects.begin(), objects.end(), random);
    Cluster cluster;
    for (int i = 0; i < round; ++i) cluster.put("pods/n0/gone" + std::to_string(i));
    for (const std::string& object : objects) {
      cluster.put(object, {.uid = object,
                           .finalizers = {"f", object.substr(0, 7)},
                           .ownerUids = {objects[0] < object ? "pods/n0/p0" : "x"}});
      cluster.after(object, objectCondition(object.substr(0, object.size() - 1) + "0"),
                    "services/a/" + std::to_string(object.size()));
    }
    for (int i = 0; i < round; ++i) cluster.remove("pods/n0/gone" + std::to_string(i));
    for (const std::string& object : objects) cluster.put(object, {.uid = object, .finalizers = {"f"}});
    DumpOptions around;
    around.focus = key("pods/n0/p0");
    around.limit = 7;
    const std::vector<std::string> texts = {dumpJson(cluster.graph), dumpDot(cluster.graph),
                                            dumpMermaid(cluster.graph), dumpJson(cluster.graph, around)};
    if (round == 0) first = texts;
    EXPECT_EQ(texts, first);
  }
}

// A name that tries to end every kind of quotation, with a control character and a byte that is not UTF-8.
constexpr std::string_view kHostile = "a\"];\n--> <script>alert(1)</script>\\\xff%%`#x";

TEST(Dump, HostileNamesStayInsideTheirQuotes) {
  Cluster cluster;
  kube::ObjectMeta hostile;
  hostile.name = kHostile;
  cluster.graph.upsert(cluster.graph.internType(type("pods")), hostile);
  const json dump = json::parse(dumpJson(cluster.graph));
  EXPECT_EQ(dump["objects"][0]["name"], "a\"];\n--> <script>alert(1)</script>\\\xef\xbf\xbd%%`#x");
  EXPECT_THAT(dumpDot(cluster.graph),
              HasSubstr("n0 [label=\"pods/a\\\"];\\\\x0a--> <script>alert(1)</script>\\\\\\\\xff%%`#x\" "));
  const std::string mermaid = dumpMermaid(cluster.graph);
  EXPECT_THAT(mermaid,
              HasSubstr("n0[\"pods/a#34;#93;#59;#92;x0a--#62; #60;script#62;alert#40;1#41;#60;/script#62;"
                        "#92;#92;xff%%#96;#35;x\"]\n"));
}

TEST(Dump, EndlessNamesAreCut) {
  Cluster cluster;
  kube::ObjectMeta endless;
  endless.name = std::string(100'000, 'x');
  cluster.graph.upsert(cluster.graph.internType(type("pods")), endless);
  EXPECT_LT(dumpDot(cluster.graph).size(), 1000u);
  EXPECT_LT(dumpMermaid(cluster.graph).size(), 1500u);
}

TEST(DumpDot, SaysWhatIsAbsentTerminatingAndMet) {
  Cluster cluster;
  cluster.put("pods/a/x", {.terminating = true});
  cluster.after("pods/a/x", objectCondition("pods/a/absent"));
  const std::string text = dumpDot(cluster.graph);
  EXPECT_THAT(text, HasSubstr("[label=\"pods/a/absent\" shape=box style=dashed]"));
  EXPECT_THAT(text, HasSubstr("[label=\"pods/a/x\" shape=box style=filled fillcolor=lightgrey]"));
  EXPECT_THAT(text,
              HasSubstr("[label=\"existence of pods/a/absent\" shape=ellipse style=dashed color=darkgreen]"));
  EXPECT_THAT(text, testing::EndsWith("}\n"));
}

TEST(DumpMermaid, DrawsImpliedEdgesWithTheirReason) {
  const std::string text = dumpMermaid(story().graph);
  EXPECT_THAT(text, HasSubstr("n0 -. Content .-> n2\n"));
  EXPECT_THAT(text, HasSubstr("n1 -. Instance .-> n4\n"));
  EXPECT_THAT(text, Not(HasSubstr("more")));
}

// It may be deleted, and does not go.
TEST(Dump, WhatIsHeldDoesNotLookFree) {
  Cluster cluster;
  cluster.put("configmaps/shop/held");
  cluster.put("configmaps/shop/free");
  DumpOptions options;
  options.verdict = [&](ObjectId object) -> std::optional<DumpVerdict> {
    const bool isHeld = cluster.graph.name(object) == "held";
    return DumpVerdict{true, isHeld ? std::string(500, 'h') : "free", isHeld};
  };
  const std::string mermaid = dumpMermaid(cluster.graph, options);
  EXPECT_THAT(mermaid, HasSubstr("held\"]:::held\n"));
  EXPECT_THAT(mermaid, HasSubstr("free\"]:::allowed\n"));
  EXPECT_THAT(mermaid, HasSubstr("  classDef held "));
  const std::string dot = dumpDot(cluster.graph, options);
  EXPECT_THAT(dot, HasSubstr("color=darkorange penwidth=2 tooltip=\"" + std::string(500, 'h') + "\"]"))
      << "a sentence is told whole";
  EXPECT_THAT(dot, HasSubstr("color=darkgreen penwidth=2 tooltip=\"free\"]"));
  const std::string json = dumpJson(cluster.graph, options);
  EXPECT_EQ(json.find("\"held\": true"), json.rfind("\"held\": true"));
  EXPECT_NE(json.find("\"held\": true"), std::string::npos);
}

}  // namespace
}  // namespace lastout::graph::test
