// What the index says of children and of what is active, as watches have told of them.
#include "protection/fact_index.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/protection/told_index.h"

namespace lastout::protection {
namespace {

// --- children

constexpr const char* kParents = R"(  objects: [{resources: [{group: db.example.com, resource: databases}]}]
  when:
  - children:
    - {group: db.example.com, resource: grants, field: spec.databaseRef.name, namespaceField: spec.databaseRef.namespace}
    - {group: db.example.com, resource: users, label: db.example.com/database}
    - {group: db.example.com, resource: roles, ownerReference: true}
)";

class Children : public ::testing::Test {
 public:
  Children() {
    told.index.setPolicies({policy});
    told.knowAll();
  }
  Count of(size_t test, const std::string& yaml) {
    const AskedAbout asked(testing::object(yaml, told.types));
    return told.index.children(policy.when[0].children[test], asked.request);
  }
  static std::string database(std::string_view space = "shop") {
    return "apiVersion: db.example.com/v1\nkind: Database\nmetadata: {name: main, namespace: " +
           std::string(space) + ", uid: u-main}\n";
  }
  static std::string grant(std::string_view name, std::string_view space, std::string_view reference,
                           std::string_view metadata = "") {
    return "apiVersion: db.example.com/v1\nkind: Grant\nmetadata: {name: " + std::string(name) +
           ", namespace: " + std::string(space) + ", uid: u-" + std::string(name) + std::string(metadata) +
           "}\nspec: {databaseRef: {" + std::string(reference) + "}}\n";
  }

  const DeletionPolicy policy = policyOf(kParents);
  ToldIndex told{definitionText("db.example.com", "databases", "Database", true) +
                 definitionText("db.example.com", "clusterdatabases", "ClusterDatabase", false) +
                 definitionText("db.example.com", "grants", "Grant", true) +
                 definitionText("db.example.com", "users", "User", true) +
                 definitionText("db.example.com", "roles", "Role", true)};
};

TEST_F(Children, ByAFieldInTheSameNamespaceUnlessItNamesAnother) {
  told.tell(grant("writer", "shop", "name: main"));
  told.tell(grant("reader", "shop", "name: main, namespace: \"\""));
  told.tell(grant("other", "shop", "name: another"));
  told.tell(grant("elsewhere", "blog", "name: main"));
  told.tell(grant("across", "blog", "name: main, namespace: shop"));
  told.tell(grant("away", "shop", "name: main, namespace: blog"));
  EXPECT_EQ(of(0, database()).objects, 3U);
  EXPECT_EQ(of(0, database()).first, "Grant/blog/across");
  EXPECT_EQ(of(0, database("blog")).objects, 2U);
  EXPECT_EQ(of(0, database("none")).objects, 0U);
}

TEST_F(Children, TerminatingOnesCountUntilTheyAreGone) {
  told.tell(
      grant("reader", "shop", "name: main", ", deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [a/b]"));
  EXPECT_EQ(of(0, database()).objects, 1U);
  told.remove({{"db.example.com", "grants"}, "shop", "reader"}, "u-reader");
  EXPECT_EQ(of(0, database()).objects, 0U);
}

TEST_F(Children, AChildThatRefersToAnotherParentNowCountsThere) {
  told.tell(grant("reader", "shop", "name: main"));
  told.tell(grant("reader", "shop", "name: another"));
  EXPECT_EQ(of(0, database()).objects, 0U);
  EXPECT_EQ(of(0, database()).first, "");
}

TEST_F(Children, OfAClusterScopedObjectAreInAnyNamespaceButNameNone) {
  told.tell(grant("a", "shop", "name: main"));
  told.tell(grant("b", "blog", "name: main"));
  told.tell(grant("c", "blog", "name: main, namespace: blog"));
  const Count count = of(0, "apiVersion: db.example.com/v1\nkind: ClusterDatabase\nmetadata: {name: main}\n");
  EXPECT_EQ(count.objects, 2U);
  EXPECT_EQ(count.first, "Grant/blog/b") << "in another namespace than the object";
}

TEST_F(Children, ByALabel) {
  told.tell(
      "apiVersion: db.example.com/v1\nkind: User\nmetadata: {name: app, namespace: shop, uid: u, labels: "
      "{db.example.com/database: main}}\n");
  EXPECT_EQ(of(1, database()).objects, 1U);
  EXPECT_EQ(of(1, database()).first, "User/app");
  EXPECT_EQ(of(1, database("blog")).objects, 0U);
}

TEST_F(Children, ByAnOwnerReferenceWithTheUid) {
  const auto role = [](const std::string& uid) {
    return "apiVersion: db.example.com/v1\nkind: Role\nmetadata: {name: r, namespace: shop, uid: u, "
           "ownerReferences: [{apiVersion: db.example.com/v1, kind: Database, name: main, uid: " +
           uid + "}]}\n";
  };
  told.tell(role("u-former"));
  EXPECT_EQ(of(2, database()).objects, 0U) << "of a former object of the same name";
  told.tell(role("u-main"));
  EXPECT_EQ(of(2, database()).objects, 1U);
}

TEST_F(Children, WhatIsNotKnownWellEnoughCannotBeCounted) {
  told.doubt({"db.example.com", "grants"}, "the watch is broken");
  const Count count = of(0, database());
  ASSERT_TRUE(count.unknown);
  EXPECT_EQ(*count.unknown, "grants.db.example.com: the watch is broken");
  EXPECT_FALSE(of(1, database()).unknown) << "the other types are known";
}

TEST_F(Children, GrandchildrenDoNotCount) {
  told.tell(
      "apiVersion: db.example.com/v1\nkind: User\nmetadata: {name: app, namespace: shop, uid: u, labels: "
      "{db.example.com/database: main}}\n");
  told.tell(grant("g", "shop", "name: app"));
  EXPECT_EQ(of(0, database()).objects, 0U);
}

// --- what is active

constexpr const char* kCascading = R"(  objects: [{resources: [{group: "*", resource: "*"}]}]
  when:
  - {label: example.com/protect, values: [Cascading], active: Pods}
  - {label: example.com/protect, values: [Cascading], active: BoundClaims}
  - {label: example.com/protect, values: [Cascading], active: Instances}
  - {label: example.com/protect, values: [Cascading], active: Replicas}
)";

class Active : public ::testing::Test {
 public:
  Active() {
    told.index.setPolicies({policy});
    told.knowAll();
  }
  Count of(Activity activity, const std::string& yaml) {
    const AskedAbout asked(testing::object(yaml, told.types));
    return told.index.active(activity, asked.request);
  }
  static std::string pod(std::string_view name, std::string_view phase, std::string_view metadata = "") {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + std::string(name) + ", namespace: shop, uid: u-" +
           std::string(name) + std::string(metadata) + "}\nstatus: {phase: " + std::string(phase) + "}\n";
  }

  const DeletionPolicy policy = policyOf(kCascading, "kruise");
  ToldIndex told{definitionText("example.com", "gizmos", "Gizmo", true)};
  const std::string shop = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
};

TEST_F(Active, PodsThatHaveNeitherEndedNorBeenDeleted) {
  told.tell(pod("done", "Succeeded"));
  told.tell(pod("broken", "Failed"));
  told.tell(pod("leaving", "Running", ", deletionTimestamp: 2026-01-01T00:00:00Z"));
  EXPECT_EQ(of(Activity::Pods, shop).objects, 0U);
  told.tell(pod("waiting", "Pending"));
  told.tell(pod("web", "Running"));
  EXPECT_EQ(of(Activity::Pods, shop).objects, 2U);
  EXPECT_EQ(of(Activity::Pods, shop).first, "Pod/waiting");
  EXPECT_EQ(of(Activity::Pods, "apiVersion: v1\nkind: Namespace\nmetadata: {name: blog}\n").objects, 0U);
}

TEST_F(Active, ClaimsThatAreBound) {
  const auto claim = [](const std::string& name, const std::string& phase, const std::string& metadata) {
    return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name +
           ", namespace: shop, uid: u-" + name + metadata + "}\nstatus: {phase: " + phase + "}\n";
  };
  told.tell(claim("a", "Pending", ""));
  told.tell(claim("b", "Bound", ", deletionTimestamp: 2026-01-01T00:00:00Z"));
  EXPECT_EQ(of(Activity::BoundClaims, shop).objects, 0U);
  told.tell(claim("c", "Bound", ""));
  EXPECT_EQ(of(Activity::BoundClaims, shop).objects, 1U);
}

TEST_F(Active, InstancesAreFollowedOnceTheirDefinitionIsProtected) {
  const auto definition = [](const std::string& labels) {
    return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
           "gizmos.example.com, uid: u-crd, labels: {" +
           labels +
           "}}\nspec: {group: example.com, names: {plural: "
           "gizmos, kind: Gizmo}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n";
  };
  told.tell(definition(""));
  EXPECT_FALSE(told.generationOf({"example.com", "gizmos"}));
  told.tell(definition("example.com/protect: Cascading"));
  EXPECT_TRUE(of(Activity::Instances, definition("")).unknown) << "not read yet";
  told.tell("apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: a, namespace: shop, uid: u-a}\n");
  told.tell(
      "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: b, namespace: shop, uid: u-b, "
      "deletionTimestamp: 2026-01-01T00:00:00Z}\n");
  told.knowAll();
  EXPECT_EQ(of(Activity::Instances, definition("")).objects, 1U);
  EXPECT_EQ(of(Activity::Instances, definition("")).first, "Gizmo/shop/a");

  told.index.setPolicies({policy, policyOf(kParents)});
  EXPECT_EQ(of(Activity::Instances, definition("")).objects, 1U) << "what is asked as before stays known";
  told.tell(definition(""));
  EXPECT_FALSE(told.generationOf({"example.com", "gizmos"}));
}

TEST_F(Active, OnlyNamespacesAndDefinitionsHaveAny) {
  const std::string deployment =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
  for (const Activity activity : {Activity::Pods, Activity::BoundClaims, Activity::Instances})
    EXPECT_TRUE(of(activity, deployment).unknown);
}

// --- being told

TEST(FactIndexTold, WhatIsToldForWhatWasAskedBeforeIsPassedOver) {
  ToldIndex told(definitionText("db.example.com", "users", "User", true));
  const auto policyWith = [](const std::string& how) {
    return policyOf(
        "  objects: [{resources: [{group: a, resource: b}]}]\n  when: [{children: [{group: "
        "db.example.com, resource: users, " +
        how + "}]}]\n");
  };
  told.index.setPolicies({policyWith("label: a/b")});
  const WantedType before = told.index.wanted().front();
  EXPECT_FALSE(before.withContent);
  told.index.setPolicies({policyWith("field: spec.ref")});
  const WantedType after = told.index.wanted().front();
  EXPECT_TRUE(after.withContent);
  EXPECT_NE(after.generation, before.generation);
  told.index.know(before.type, "", before.generation);
  const DeletionPolicy policy = policyWith("field: spec.ref");
  const AskedAbout asked(
      testing::object("apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: y}\n"));
  EXPECT_TRUE(told.index.children(policy.when[0].children[0], asked.request).unknown);
  told.index.know(after.type, "", after.generation);
  EXPECT_FALSE(told.index.children(policy.when[0].children[0], asked.request).unknown);
}

TEST(FactIndexTold, PoliciesThatAskNothingOfOtherObjectsWantNoType) {
  ToldIndex told;
  told.index.setPolicies({policyOf("  objects: [{resources: [{group: apps, resource: deployments}]}]\n")});
  EXPECT_TRUE(told.index.wanted().empty());
}

}  // namespace
}  // namespace lastout::protection
