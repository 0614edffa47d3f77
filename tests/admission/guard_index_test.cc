#include "admission/guard_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/admission/types.h"
#include "tests/admission/world.h"

namespace lastout::admission {
namespace {

using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::FinalizerCriterion;
using criticalservice::SpecificResourceCriterion;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

CriticalService service(const std::string& name, const kube::ObjectKey& provider, size_t criteria = 1) {
  CriticalService made;
  made.meta.name = name;
  made.provider = provider;
  for (size_t i = 0; i < criteria; ++i) {
    made.criteria.emplace_back(
        FinalizerCriterion{{"example.com", "things"}, "example.com/f" + std::to_string(i)});
  }
  return made;
}

struct GuardIndexTest : ::testing::Test {
  uint32_t put(const CriticalService& made) { return index.put(graph, made, types); }
  // "Provider a" for each guard entry of the object.
  std::vector<std::string> guardEntriesOf(const kube::ObjectKey& key) const {
    std::vector<std::string> found;
    for (const GuardEntry& guardEntry : index.guardEntries(key)) {
      const char* const names[] = {"Service ", "Provider ", "ProviderAncestor ", "Dependency ",
                                   "LastoutNamespace "};
      found.push_back(names[static_cast<int>(guardEntry.guardedAs)] +
                      index.service(guardEntry.service).meta.name);
    }
    return found;
  }

  kube::ResourceMap types = kube::ResourceMap::builtIn();
  graph::Graph graph;
  GuardIndex index{graph, "lastout"};
  const kube::ObjectKey web{kDeployments, "n", "web"};
};

TEST_F(GuardIndexTest, EachGuardedObjectHasItsGuardEntry) {
  put(service("a", web));
  EXPECT_THAT(guardEntriesOf(web), UnorderedElementsAre("Provider a"));
  EXPECT_THAT(guardEntriesOf({criticalservice::criticalServiceType(), "", "a"}),
              UnorderedElementsAre("Service a"));
  EXPECT_THAT(guardEntriesOf({kCrds, "", "criticalservices.lastout.dev"}), UnorderedElementsAre("Service a"));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "n"}), UnorderedElementsAre("ProviderAncestor a"));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "lastout"}), UnorderedElementsAre("LastoutNamespace a"));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "other"}), IsEmpty());
  EXPECT_THAT(guardEntriesOf({kDeployments, "n", "other"}), IsEmpty());
  EXPECT_THAT(guardEntriesOf({{"", "deployments"}, "n", "web"}), IsEmpty());
  EXPECT_THAT(guardEntriesOf({kCrds, "", "deployments.apps"}), IsEmpty()) << "built-in types have no CRD";
}

TEST_F(GuardIndexTest, TheCrdOfACustomProviderIsGuarded) {
  put(service("a", {{"example.com", "engines"}, "n", "e"}));
  EXPECT_THAT(guardEntriesOf({kCrds, "", "engines.example.com"}), UnorderedElementsAre("ProviderAncestor a"));
}

TEST_F(GuardIndexTest, ServicesShareProvidersAndNamespaces) {
  put(service("a", web));
  put(service("b", web));
  put(service("c", {kDeployments, "n", "other"}));
  EXPECT_THAT(guardEntriesOf(web), UnorderedElementsAre("Provider a", "Provider b"));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "n"}),
              UnorderedElementsAre("ProviderAncestor a", "ProviderAncestor b", "ProviderAncestor c"));
  EXPECT_TRUE(index.remove(graph, "a"));
  EXPECT_FALSE(index.remove(graph, "a"));
  EXPECT_THAT(guardEntriesOf(web), UnorderedElementsAre("Provider b"));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "n"}),
              UnorderedElementsAre("ProviderAncestor b", "ProviderAncestor c"));
}

// The API server never asks (docs/verdicts.md); of the CriticalService itself it does.
TEST_F(GuardIndexTest, NothingIsGuardedWhereNobodyAsks) {
  for (const char* const space : {"kube-system", "lastout"}) {
    CriticalService made = service("a", {kDeployments, space, "web"});
    const kube::ObjectKey listed{{"", "configmaps"}, space, "settings"};
    made.dependencies = {criticalservice::DependencyMode::Listed, {listed}};
    index.put(graph, made, types, {{listed, "listed", false}});
    EXPECT_THAT(guardEntriesOf(made.provider), IsEmpty()) << space;
    EXPECT_THAT(guardEntriesOf(listed), IsEmpty()) << space;
    EXPECT_THAT(guardEntriesOf(criticalservice::keyOf(made)), UnorderedElementsAre("Service a")) << space;
  }
  EXPECT_TRUE(isReviewed({kNamespaces, "", "lastout"}, "lastout"));
  EXPECT_FALSE(isReviewed({kNamespaces, "", "kube-system"}, "lastout"));
  EXPECT_TRUE(isReviewed({kDeployments, "lastout", "web"}, "")) << "lastout runs elsewhere";
}

TEST_F(GuardIndexTest, AProviderInLastoutsOwnNamespaceHasBothGuardEntriesThere) {
  put(service("a", {kDeployments, "lastout", "web"}));
  put(service("b", web));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "lastout"}),
              UnorderedElementsAre("ProviderAncestor a", "LastoutNamespace a", "LastoutNamespace b"));
  index.remove(graph, "a");
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "lastout"}), UnorderedElementsAre("LastoutNamespace b"));
}

TEST_F(GuardIndexTest, AChangedServiceKeepsItsNumberAndMovesItsGuardEntries) {
  const uint32_t number = put(service("a", web));
  put(service("b", web));
  CriticalService changed = service("a", {kDeployments, "m", "web"}, 3);
  EXPECT_EQ(put(changed), number);
  EXPECT_THAT(guardEntriesOf(web), UnorderedElementsAre("Provider b"));
  EXPECT_THAT(guardEntriesOf({kNamespaces, "", "m"}), UnorderedElementsAre("ProviderAncestor a"));
  EXPECT_EQ(index.rules().services[number].criterionCount, 3u);
}

TEST_F(GuardIndexTest, AChangedStatusChangesNoEdge) {
  CriticalService changed = service("a", web);
  const uint32_t number = put(changed);
  const uint64_t before = graph.revision();
  changed.providerUid = "u";
  put(changed);
  EXPECT_EQ(graph.revision(), before);
  EXPECT_EQ(index.service(number).providerUid, "u");
}

TEST_F(GuardIndexTest, AChangedEnforcementCounts) {
  CriticalService changed = service("a", web);
  const uint32_t number = put(changed);
  EXPECT_EQ(index.enforcement(number), criticalservice::EnforcementMode::Deny);
  changed.enforcement = criticalservice::EnforcementMode::Hold;
  EXPECT_EQ(put(changed), number);
  EXPECT_EQ(index.enforcement(number), criticalservice::EnforcementMode::Hold);
}

// What the graph says goes after what, as "subject -> condition's kind".
std::vector<std::string> edges(const graph::Graph& graph, const kube::ObjectKey& subject) {
  std::vector<std::string> found;
  const auto object = graph.findNamed(subject);
  if (!object) return found;
  for (const graph::RequirementView& requirement : graph.requirementsOf(*object)) {
    const graph::Condition condition = graph.condition(requirement.condition);
    found.push_back(
        condition.kind == graph::Condition::Kind::Finalizer
            ? "criterion"
            : kube::toString(kube::ObjectKey{condition.type, condition.namespaceName, condition.name}));
  }
  return found;
}

TEST_F(GuardIndexTest, TheGraphShowsWhatTheIntentOrders) {
  const kube::ObjectKey a{criticalservice::criticalServiceType(), "", "a"};
  CriticalService made = service("a", web);
  put(made);
  EXPECT_THAT(edges(graph, web), UnorderedElementsAre("criterion"));
  EXPECT_THAT(edges(graph, {kNamespaces, "", "n"}), UnorderedElementsAre("criterion"));
  EXPECT_THAT(edges(graph, a), UnorderedElementsAre("deployments.apps/n/web"));

  made.intent = DeletionIntent::BestEffortDeletion;
  put(made);
  EXPECT_THAT(edges(graph, web), UnorderedElementsAre("criterion"));
  EXPECT_THAT(edges(graph, a), IsEmpty());

  made.intent = DeletionIntent::OrphanResources;
  put(made);
  EXPECT_THAT(edges(graph, web), IsEmpty());
  EXPECT_THAT(edges(graph, {kNamespaces, "", "n"}), IsEmpty());
}

TEST_F(GuardIndexTest, NothingIsLeftBehind) {
  const uint32_t conditions = graph.conditionCount();
  const uint32_t slots = graph.objectSlots();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) {
      put(service("s" + std::to_string(i),
                  {kDeployments, "n" + std::to_string(i % 7), "p" + std::to_string(i % 20)}, 1 + i % 6));
    }
    EXPECT_EQ(index.size(), 50u);
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(index.remove(graph, "s" + std::to_string((i * 17) % 50)));
    EXPECT_EQ(index.size(), 0u);
    EXPECT_EQ(graph.conditionCount(), conditions);
    EXPECT_THAT(guardEntriesOf({kCrds, "", "criticalservices.lastout.dev"}), IsEmpty());
  }
  EXPECT_EQ(index.rules().services.size(), 50u) << "numbers are used again";
  EXPECT_LE(index.rules().criteria.size(), 50u * 8) << "lists of criteria are used again";
  EXPECT_LE(graph.objectSlots(), slots + 50 * 4);
}

TEST_F(GuardIndexTest, ACopyIsUnmovedByWhatComesLater) {
  put(service("a", web));
  const graph::Graph snapshot = graph.snapshot();
  const GuardIndex copy = index;
  index.remove(graph, "a");
  EXPECT_EQ(copy.guardEntries(web).size(), 1u);
  EXPECT_EQ(index.guardEntries(web).size(), 0u);
  EXPECT_EQ(decide(GraphFacts(snapshot, copy), copy.rules(), copy.guardEntries(web)).unmet, 1u)
      << "services are not known";
}

}  // namespace
}  // namespace lastout::admission
