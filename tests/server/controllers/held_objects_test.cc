// What is known of held objects: their children are those that FactIndex counts, by which `why` answers.
#include "server/controllers/held_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "protection/kept_facts.h"
#include "tests/protection/policies.h"
#include "tests/protection/told_index.h"

namespace lastout::server {
namespace {

using protection::DeletionPolicy;
using protection::policyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kHeldKinds = protection::definitionText("example.com", "servers", "Server", false) +
                               protection::definitionText("example.com", "instances", "Instance", true) +
                               protection::definitionText("example.com", "databases", "Database", true) +
                               protection::definitionText("example.com", "tenants", "Tenant", false);

std::string holding(const std::string& resource, const std::string& child) {
  return "  objects: [{resources: [{group: example.com, resource: " + resource +
         "}]}]\n  when: [{children: [{group: example.com, " + child +
         "}]}]\n  enforcement: Hold\n  hold: {finalizer: example.com/held}\n";
}

struct ChildRow {
  const char* parent;  // its type
  const char* test;    // of the child
  const char* child;   // as YAML, but for apiVersion
  bool isChild;
};

constexpr const char* kByField =
    "resource: databases, field: spec.of.name, namespaceField: spec.of.namespace";
constexpr const char* kTenants = "resource: tenants, field: spec.of.name, namespaceField: spec.of.namespace";
constexpr const char* kByLabel = "resource: databases, label: example.com/of";
constexpr const char* kByOwner = "resource: databases, ownerReference: true";

// The parent is instances/shop/x, or servers/x.
const ChildRow kChildRows[] = {
    {"instances", kByField, "kind: Database\nmetadata: {name: d, namespace: shop}\nspec: {of: {name: x}}",
     true},
    {"instances", kByField, "kind: Database\nmetadata: {name: d, namespace: shop}\nspec: {of: {name: y}}",
     false},
    {"instances", kByField, "kind: Database\nmetadata: {name: d, namespace: infra}\nspec: {of: {name: x}}",
     false},
    {"instances", kByField,
     "kind: Database\nmetadata: {name: d, namespace: infra}\nspec: {of: {name: x, namespace: shop}}", true},
    {"instances", kByField,
     "kind: Database\nmetadata: {name: d, namespace: shop}\nspec: {of: {name: x, namespace: infra}}", false},
    {"instances", kTenants, "kind: Tenant\nmetadata: {name: t}\nspec: {of: {name: x}}", false},
    {"instances", kTenants, "kind: Tenant\nmetadata: {name: t}\nspec: {of: {name: x, namespace: shop}}",
     true},
    {"instances", kByLabel,
     "kind: Database\nmetadata: {name: d, namespace: shop, labels: {example.com/of: x}}\nspec: {}", true},
    {"instances", kByLabel,
     "kind: Database\nmetadata: {name: d, namespace: infra, labels: {example.com/of: x}}\nspec: {}", false},
    {"servers", kByField, "kind: Database\nmetadata: {name: d, namespace: shop}\nspec: {of: {name: x}}",
     true},
    // One that names a namespace names no cluster-scoped object.
    {"servers", kByField,
     "kind: Database\nmetadata: {name: d, namespace: shop}\nspec: {of: {name: x, namespace: shop}}", false},
    {"servers", kByField,
     "kind: Database\nmetadata: {name: d, namespace: shop}\nspec: {of: {name: x, namespace: infra}}", false},
    {"servers", kTenants, "kind: Tenant\nmetadata: {name: t}\nspec: {of: {name: x}}", true},
    {"servers", kTenants, "kind: Tenant\nmetadata: {name: t}\nspec: {of: {name: x, namespace: shop}}", false},
    {"servers", kByLabel,
     "kind: Database\nmetadata: {name: d, namespace: shop, labels: {example.com/of: x}}\nspec: {}", true},
};

kube::Object heldObject(protection::ToldIndex& told, const std::string& yaml) {
  return testing::object("apiVersion: example.com/v1\n" + yaml + "\n", told.types);
}

TEST(HeldObjects, HaveTheChildrenThatFactIndexCounts) {
  for (const ChildRow& row : kChildRows) {
    const bool isServer = row.parent == std::string("servers");
    const DeletionPolicy policy = policyOf(holding(row.parent, row.test));
    protection::ToldIndex told(kHeldKinds);
    told.index.setPolicies({policy});
    const kube::Object parent =
        heldObject(told, isServer ? "kind: Server\nmetadata: {name: x, uid: u}"
                                  : "kind: Instance\nmetadata: {name: x, namespace: shop, uid: u}");
    const kube::Object child = heldObject(told, row.child);
    HeldObjects objects;
    objects.setPolicies({policy});
    objects.upsert(parent);
    const HeldObjects::Changed changed = objects.upsert(child);
    told.tell(child);
    told.knowAll();
    const protection::AskedAbout asked(parent);
    const uint32_t counted = told.index.children(policy.when.front().children.front(), asked.request).objects;
    const std::string place = std::string(row.parent) + ": " + row.child;
    EXPECT_EQ(counted, row.isChild ? 1U : 0U) << place;
    EXPECT_EQ(objects.find(parent.key)->children.size(), row.isChild ? 1U : 0U) << place;
    HeldObjects unseen;
    unseen.setPolicies({policy});
    EXPECT_EQ(unseen.find(kube::Object(parent), {child})->children.size(), row.isChild ? 1U : 0U) << place;
    EXPECT_EQ(std::ranges::find(changed, parent.key) != changed.end(), row.isChild) << place;
    objects.remove(child.key, child.meta.uid);
    EXPECT_THAT(objects.find(parent.key)->children, IsEmpty()) << place;
  }
}

TEST(HeldObjects, HaveTheirDependentsAsChildren) {
  const DeletionPolicy policy = policyOf(holding("instances", kByOwner));
  protection::ToldIndex told(kHeldKinds);
  HeldObjects objects;
  objects.setPolicies({policy});
  const kube::Object parent =
      heldObject(told, "kind: Instance\nmetadata: {name: x, namespace: shop, uid: u}");
  objects.upsert(parent);
  for (const char* uid : {"u", "other"})
    objects.upsert(heldObject(told, std::string("kind: Database\nmetadata: {name: of-") + uid +
                                        ", namespace: shop, uid: d-" + uid +
                                        ", ownerReferences: [{apiVersion: example.com/v1, kind: Instance, "
                                        "name: x, uid: " +
                                        uid + "}]}"));
  const auto children = objects.find(parent.key)->children;
  ASSERT_EQ(children.size(), 1U);
  EXPECT_EQ(children.front().key.name, "of-u");
}

TEST(HeldObjects, OfAPolicyThatWentWhileNoLastoutRanAreReleased) {
  protection::ToldIndex told(kHeldKinds);
  HeldObjects objects;
  const kube::Object database = heldObject(
      told, "kind: Database\nmetadata: {name: d, namespace: shop, finalizers: [example.com/held]}");
  objects.upsert(database);
  EXPECT_THAT(objects.all(), IsEmpty());
  EXPECT_THAT(objects.knowFormer({{database.key.type, {"example.com/held"}}}), ElementsAre(database.key));
  EXPECT_THAT(objects.wanted(), ElementsAre(database.key.type));
  const auto held = objects.find(database.key);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->policy, nullptr);
  EXPECT_THAT(held->releasable, ElementsAre("example.com/held"));
  EXPECT_THAT(objects.knowFormer({{database.key.type, {"example.com/held"}}}), IsEmpty());
}

// Nobody can say which objects a policy holds that is not understood.
TEST(HeldObjects, OfAPolicyThatIsNotUnderstoodAreLeftAlone) {
  protection::ToldIndex told(kHeldKinds);
  HeldObjects objects;
  const kube::Object database = heldObject(
      told, "kind: Database\nmetadata: {name: d, namespace: shop, finalizers: [example.com/held]}");
  objects.upsert(database);
  const DeletionPolicy policy = policyOf(holding("databases", kTenants));
  EXPECT_THAT(objects.setPolicies({policy}), ElementsAre(database.key));
  objects.setPolicies({}, {{database.key.type, {"example.com/held"}}});
  EXPECT_THAT(objects.all(), IsEmpty());
  EXPECT_FALSE(objects.find(database.key));
  objects.setPolicies({});
  EXPECT_THAT(objects.all(), ElementsAre(database.key));
}

}  // namespace
}  // namespace lastout::server
