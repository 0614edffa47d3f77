// The plan for one held object, rule by rule: protection, children, confirmation, cascade, external step.
#include "protection/hold_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "protection/evaluate.h"
#include "protection/hold_status.h"
#include "tests/protection/held_objects.h"
#include "tests/protection/told_index.h"

namespace lastout::protection {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kDeletedAt = "2026-11-01T10:00:00Z";

StoredObject deleted(StoredObject object) {
  object.content["metadata"]["deletionTimestamp"] = kDeletedAt;
  return object;
}

StoredObject forced(StoredObject object) {
  object.annotate(kForceDelete, "true");
  return object;
}

HoldFacts with(std::vector<HeldChild> children) {
  HoldFacts facts;
  facts.children = std::move(children);
  return facts;
}

// The three children of the document's example.
HoldFacts threeChildren() {
  return with({childOf("Database", "myapp-database"), childOf("DatabaseUser", "myapp-user"),
               childOf("DatabaseRole", "readonly-role")});
}

json conditionIn(const json& patch) { return patch["status"]["conditions"][0]; }

// Nothing but words: the object stays.
void expectHeld(const HoldPlan& plan) {
  EXPECT_FALSE(plan.removeFinalizer);
  EXPECT_FALSE(plan.awaitedWord);
  EXPECT_FALSE(plan.deleteItself);
  EXPECT_THAT(plan.deleteChildren, IsEmpty());
}

void expectReason(const HoldPlan& plan, const std::string& phase, const std::string& reason) {
  ASSERT_TRUE(plan.statusPatch.is_object());
  EXPECT_EQ(plan.statusPatch["status"]["phase"], phase);
  const json condition = conditionIn(plan.statusPatch);
  EXPECT_EQ(condition["type"], "Ready");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["reason"], reason);
}

TEST(HoldPlan, SetsTheFinalizerOnWhatIsNotBeingDeleted) {
  StoredObject database = stored("Database", "db");
  database.content["metadata"]["finalizers"] = {"a.b/other"};
  EXPECT_TRUE(planFor(database).addFinalizer);
  const HoldPlan late = planFor(deleted(database));
  EXPECT_FALSE(late.addFinalizer);
  expectHeld(late);
}

TEST(HoldPlan, IsAtRestUntilSomethingIsAskedFor) {
  const HoldPlan plan = planFor(stored("Database", "db"), with({childOf("DatabaseGrant", "g")}));
  EXPECT_FALSE(plan.addFinalizer);
  EXPECT_TRUE(plan.statusPatch.is_null());
  EXPECT_FALSE(plan.lookAgain);
  expectHeld(plan);
}

TEST(HoldPlan, AProtectedObjectFailsWithTheDocumentsMessage) {
  const HoldPlan plan = planFor(deleted(stored("Database", "production-db", {{"deletionProtection", true}})));
  expectHeld(plan);
  expectReason(plan, "Failed", "DeletionProtected");
  EXPECT_EQ(plan.statusPatch["status"]["message"], "Deletion blocked by deletion protection");
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].reason, "DeletionBlocked");
  EXPECT_TRUE(plan.events[0].isWarning);
  EXPECT_EQ(plan.lookAgain, seconds(10));
}

TEST(HoldPlan, WhatIsShownAlreadyIsNeitherWrittenNorToldAgain) {
  StoredObject database = deleted(stored("Database", "db", {{"deletionProtection", true}}));
  database.content.merge_patch(planFor(database).statusPatch);
  const HoldPlan again = planFor(database);
  EXPECT_TRUE(again.statusPatch.is_null());
  EXPECT_THAT(again.events, IsEmpty());
  EXPECT_EQ(again.lookAgain, seconds(10));
}

TEST(HoldPlan, UsersAndRolesAreProtectedByTheirAnnotation) {
  for (const char* kind : {"DatabaseUser", "DatabaseRole"}) {
    StoredObject object = deleted(stored(kind, "u", {{"deletionProtection", true}}));
    EXPECT_TRUE(planFor(object).removeFinalizer) << kind;
    object.annotate("dbops.dbprovision.io/deletion-protection", "yes");
    EXPECT_TRUE(planFor(object).removeFinalizer) << kind;
    object.annotate("dbops.dbprovision.io/deletion-protection", "true");
    expectReason(planFor(object), "Failed", "DeletionProtected");
  }
}

TEST(HoldPlan, ProtectionGoesWithTheField) {
  for (const char* kind : {"DatabaseInstance", "Database", "DatabaseGrant", "DatabaseBackupSchedule"}) {
    expectReason(planFor(deleted(stored(kind, "x", {{"deletionProtection", true}}))), "Failed",
                 "DeletionProtected");
    const HoldPlan free = planFor(deleted(stored(kind, "x", {{"deletionProtection", false}})));
    EXPECT_TRUE(free.removeFinalizer) << kind;
  }
}

TEST(HoldPlan, ChildrenBlockAnUnprotectedParent) {
  const HoldPlan plan =
      planFor(deleted(stored("DatabaseInstance", "pg", {{"deletionProtection", false}})), threeChildren());
  expectHeld(plan);
  expectReason(plan, "Failed", "DependenciesExist");
  EXPECT_THAT(plan.statusPatch["status"]["message"], HasSubstr("Database/myapp-database"));
  EXPECT_EQ(plan.lookAgain, seconds(10));
}

// By the parents' kinds: those whose children block them.
TEST(HoldPlan, EachKindIsBlockedByItsChildren) {
  const std::map<std::string, std::vector<std::string>> blocking{
      {"dbops-instances", {"databases", "databaseusers", "databaseroles"}},
      {"dbops-databases", {"databasegrants"}},
      {"dbops-users", {"databasegrants"}},
      {"dbops-roles", {"databasegrants"}},
      {"dbops-grants", {}},
      {"dbops-backup-schedules", {}}};
  EXPECT_THAT(dbopsPolicies(), SizeIs(blocking.size()));
  for (const auto& [name, resources] : blocking) {
    std::vector<std::string> children;
    for (const Case& one : dbopsPolicy(name).when)
      for (const ChildrenTest& test : one.children) children.push_back(test.type.resource);
    EXPECT_EQ(children, resources) << name;
  }
}

constexpr const char* kOfDbops = "apiVersion: dbops.dbprovision.io/v1\nkind: ";

// By objects as they are: each child of the document's table by its field, and no other kind.
TEST(HoldPlan, AParentIsHeldByChildrenOfItsKindsAlone) {
  const std::map<std::string, std::string> plurals{
      {"DatabaseInstance", "databaseinstances"}, {"Database", "databases"},
      {"DatabaseUser", "databaseusers"},         {"DatabaseRole", "databaseroles"},
      {"DatabaseGrant", "databasegrants"},       {"DatabaseBackupSchedule", "databasebackupschedules"}};
  std::string definitions;
  for (const auto& [kind, plural] : plurals)
    definitions += definitionText("dbops.dbprovision.io", plural, kind, true);
  const std::string refersToAll =
      ", namespace: shop, uid: c}\nspec: {instanceRef: {name: it}, databaseRef: {name: it}, userRef: {name: "
      "it}, "
      "roleRef: {name: it}}\n";
  const std::map<std::string, std::set<std::string>> children{
      {"DatabaseInstance", {"Database", "DatabaseUser", "DatabaseRole"}},
      {"Database", {"DatabaseGrant"}},
      {"DatabaseUser", {"DatabaseGrant"}},
      {"DatabaseRole", {"DatabaseGrant"}}};
  for (const auto& [parent, plural] : plurals) {
    for (const auto& [child, ofChild] : plurals) {
      ToldIndex told(definitions);
      told.index.setPolicies(dbopsPolicies());
      told.knowAll();
      told.tell(std::string(kOfDbops) + child + "\nmetadata: {name: child" + refersToAll);
      const AskedAbout asked(testing::object(
          std::string(kOfDbops) + parent + "\nmetadata: {name: it, namespace: shop, uid: u}\n", told.types));
      bool isHeld = false;
      for (const DeletionPolicy& policy : dbopsPolicies())
        if (policy.objects.at(0).matches(asked.request.object, {}))
          isHeld = judge(policy, asked.request, told.index).has_value();
      const auto blocking = children.find(parent);
      EXPECT_EQ(isHeld, blocking != children.end() && blocking->second.contains(child))
          << child << " below " << parent;
    }
  }
}

TEST(HoldPlan, OtherKindsAreNotHeld) {
  for (const DeletionPolicy& policy : dbopsPolicies())
    for (const char* resource : {"databasebackups", "databaserestores"})
      EXPECT_FALSE(policy.objects.at(0).matches({dbopsType(resource), "shop", "x"}, {})) << policy.meta.name;
}

TEST(HoldPlan, ProtectionIsCheckedBeforeChildren) {
  expectReason(
      planFor(deleted(stored("DatabaseInstance", "pg", {{"deletionProtection", true}})), threeChildren()),
      "Failed", "DeletionProtected");
}

TEST(HoldPlan, ChildrenThatCannotBeListedHoldEvenByForce) {
  HoldFacts facts;
  facts.childrenUnknown = "databasegrants: Forbidden";
  const HoldPlan plan = planFor(deleted(forced(stored("Database", "db"))), facts);
  expectHeld(plan);
  expectReason(plan, "Failed", "DependenciesExist");
}

TEST(HoldPlan, TheHashIsOfTheSortedNames) {
  // printf 'Database/myapp-database\nDatabaseRole/readonly-role\nDatabaseUser/myapp-user' | sha256sum
  EXPECT_EQ(
      confirmationHash({"Database/myapp-database", "DatabaseUser/myapp-user", "DatabaseRole/readonly-role"}),
      "69504e18");
  EXPECT_EQ(
      confirmationHash({"DatabaseRole/readonly-role", "DatabaseUser/myapp-user", "Database/myapp-database"}),
      "69504e18");
}

TEST(HoldPlan, ForceWithChildrenAsksForConfirmation) {
  const HoldPlan plan = planFor(forced(stored("DatabaseInstance", "postgres-primary")), threeChildren());
  expectHeld(plan);
  expectReason(plan, "PendingDeletion", "PendingDeletionConfirmation");
  EXPECT_EQ(plan.statusPatch["status"]["deletionConfirmation"], json::parse(R"({
    "required": true,
    "hash": "69504e18",
    "children": ["Database/myapp-database", "DatabaseUser/myapp-user", "DatabaseRole/readonly-role"],
    "remainingCount": 3,
    "message": "Force-delete requires confirmation: 3 child resources will be cascade-deleted"})"));
  EXPECT_EQ(plan.lookAgain, seconds(10));
}

TEST(HoldPlan, AWrongHashBlocksAndTheRightOneStays) {
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  instance.annotate(kConfirm, "a1b2c3d4");
  const HoldPlan plan = planFor(instance, threeChildren());
  expectHeld(plan);
  EXPECT_TRUE(plan.statusPatch.is_null());
  EXPECT_EQ(instance.confirmation()["hash"], "69504e18");
}

// Each is named as the document does where that says which it is.
TEST(HoldPlan, NoTwoChildrenHaveOneName) {
  const DeletionPolicy& policy = dbopsPolicy("dbops-instances");
  EXPECT_EQ(childName(policy, "shop", childOf("Database", "x")), "Database/x");
  EXPECT_EQ(childName(policy, "shop", childOf("Database", "x", "infra")), "Database/infra/x");
  EXPECT_EQ(childName(policy, "", childOf("Database", "x")), "Database/shop/x") << "the parent is in none";
  EXPECT_EQ(childName(policy, "shop", childOf("Database", "x", "")), "Database/x") << "the child is in none";
  DeletionPolicy alike = policy;
  ChildrenTest other = alike.when.back().children.front();
  other.type = {"others.example.com", "databases"};
  alike.when.back().children.push_back(other);
  HeldChild child = childOf("Database", "x");
  EXPECT_EQ(childName(alike, "shop", child), "Database.dbops.dbprovision.io/x");
  child.key.type = other.type;
  EXPECT_EQ(childName(alike, "shop", child), "Database.others.example.com/x");
  EXPECT_EQ(childName(alike, "shop", childOf("DatabaseRole", "x")), "DatabaseRole/x");
}

TEST(HoldPlan, AnotherChildOfTheSameKindAndNameAsksAgain) {
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.content.merge_patch(planFor(instance, with({childOf("Database", "x")})).statusPatch);
  instance.annotate(kConfirm, instance.confirmation()["hash"]);
  EXPECT_THAT(planFor(instance, with({childOf("Database", "x")})).deleteChildren, SizeIs(1));
  expectHeld(planFor(instance, with({childOf("Database", "x", "infra")})));
}

TEST(HoldPlan, AnOutdatedHashBlocks) {
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  instance.annotate(kConfirm, "69504e18");
  HoldFacts more = threeChildren();
  more.children.push_back(childOf("DatabaseRole", "another"));
  const HoldPlan plan = planFor(instance, more);
  expectHeld(plan);
  EXPECT_EQ(plan.statusPatch["status"]["deletionConfirmation"]["remainingCount"], 4);
  EXPECT_NE(plan.statusPatch["status"]["deletionConfirmation"]["hash"], "69504e18");
}

TEST(HoldPlan, FewerChildrenThanTheHashIsOfAskAgainBeforeTheCascadeBegan) {
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  instance.annotate(kConfirm, "69504e18");
  HoldFacts fewer = threeChildren();
  fewer.children.pop_back();
  const HoldPlan plan = planFor(instance, fewer);
  expectHeld(plan);
  EXPECT_EQ(plan.statusPatch["status"]["deletionConfirmation"]["remainingCount"], 2);
}

TEST(HoldPlan, AConfirmedCascadeDeletesTheParentAndEachChild) {
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.annotate(kConfirm, "69504e18");  // beforehand: straight to the cascade
  HoldFacts facts = threeChildren();
  facts.children[1].terminates = true;
  const HoldPlan plan = planFor(instance, facts);
  EXPECT_TRUE(plan.deleteItself);
  EXPECT_FALSE(plan.removeFinalizer);
  ASSERT_THAT(plan.deleteChildren, SizeIs(2));
  EXPECT_EQ(plan.deleteChildren[0].key.name, "myapp-database");
  EXPECT_EQ(plan.deleteChildren[1].key.name, "readonly-role");
  expectReason(plan, "Deleting", "CascadeDeleting");
  EXPECT_EQ(plan.statusPatch["status"]["deletionConfirmation"]["required"], false);
}

TEST(HoldPlan, TheConfirmedListIsFrozenAndCountsDown) {
  StoredObject instance = deleted(forced(stored("DatabaseInstance", "pg")));
  instance.annotate(kConfirm, "69504e18");
  HoldFacts facts = threeChildren();
  std::vector<int> counts;
  while (true) {
    const HoldPlan plan = planFor(instance, facts);
    instance.content.merge_patch(plan.statusPatch.is_null() ? json::object() : plan.statusPatch);
    const json confirmation = instance.confirmation();
    counts.push_back(confirmation["remainingCount"]);
    EXPECT_THAT(confirmation["children"], SizeIs(3));
    EXPECT_EQ(confirmation["hash"], "69504e18");
    EXPECT_EQ(plan.removeFinalizer, facts.children.empty());
    if (facts.children.empty()) break;
    facts.children.pop_back();
  }
  EXPECT_THAT(counts, ElementsAre(3, 2, 1, 0));
}

TEST(HoldPlan, ANewChildDuringTheCascadeAsksAgain) {
  StoredObject instance = deleted(forced(stored("DatabaseInstance", "pg")));
  instance.annotate(kConfirm, "69504e18");
  HoldFacts facts = threeChildren();
  instance.content.merge_patch(planFor(instance, facts).statusPatch);
  facts.children.pop_back();
  facts.children.push_back(childOf("DatabaseRole", "another"));
  const HoldPlan plan = planFor(instance, facts);
  expectHeld(plan);
  expectReason(plan, "PendingDeletion", "PendingDeletionConfirmation");
}

TEST(HoldPlan, AStatusThatClaimsAConfirmationDoesNotGiveOne) {
  StoredObject instance = deleted(forced(stored("DatabaseInstance", "pg")));
  instance.content["status"]["deletionConfirmation"] = {
      {"required", false},
      {"hash", "69504e18"},
      {"children", {"Database/myapp-database", "DatabaseUser/myapp-user", "DatabaseRole/readonly-role"}}};
  expectHeld(planFor(instance, threeChildren()));
  instance.annotate(kConfirm, "a1b2c3d4");
  expectHeld(planFor(instance, threeChildren()));
}

TEST(HoldPlan, AChildThatStaysIsNamed) {
  StoredObject instance = deleted(forced(stored("DatabaseInstance", "pg")));
  HoldFacts facts = with({childOf("Database", "keep")});
  instance.annotate(kConfirm, confirmationHash({"Database/keep"}));
  facts.children[0].terminates = true;
  facts.children[0].obstacle = "Deletion blocked by deletion protection";
  const HoldPlan plan = planFor(instance, facts);
  EXPECT_FALSE(plan.removeFinalizer);
  EXPECT_THAT(plan.statusPatch["status"]["message"],
              HasSubstr("Database/keep stays: Deletion blocked by deletion protection"));
}

TEST(HoldPlan, WithoutForceMidwayTheChildrenBlockAndTheConfirmationGoes) {
  StoredObject instance = deleted(forced(stored("DatabaseInstance", "pg")));
  instance.annotate(kConfirm, "69504e18");
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  instance.annotate(kForceDelete, "");
  HoldFacts left = threeChildren();
  left.children.pop_back();
  const HoldPlan plan = planFor(instance, left);
  expectHeld(plan);
  expectReason(plan, "Failed", "DependenciesExist");
  instance.content.merge_patch(plan.statusPatch);
  EXPECT_TRUE(instance.confirmation().is_null());
}

TEST(HoldPlan, WithoutForceBeforeTheConfirmationAllIsAsItWas) {
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.content["status"]["conditions"] = {{{"type", "Synced"}, {"status", "True"}}};
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  EXPECT_THAT(instance.content["status"]["conditions"], SizeIs(2));
  instance.annotate(kForceDelete, "");
  const HoldPlan plan = planFor(instance, threeChildren());
  expectHeld(plan);
  instance.content.merge_patch(plan.statusPatch);
  EXPECT_EQ(instance.content["status"], (json{{"conditions", {{{"type", "Synced"}, {"status", "True"}}}}}));
}

TEST(HoldPlan, ForceOnALeafNeedsNoConfirmation) {
  const HoldPlan start = planFor(forced(stored("DatabaseGrant", "g", {{"deletionProtection", true}})));
  EXPECT_TRUE(start.deleteItself);
  EXPECT_FALSE(start.removeFinalizer);
  StoredObject grant = deleted(forced(stored("DatabaseGrant", "g", {{"deletionProtection", true}})));
  const HoldPlan plan = planFor(grant);
  EXPECT_TRUE(plan.removeFinalizer);
  EXPECT_TRUE(plan.isForced);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].reason, "DeletionForced");
}

// An alert is to see each deletion that would not be there without force.
TEST(HoldPlan, ForceThatBeginsADeletionIsTold) {
  const StoredObject unprotected = forced(stored("DatabaseGrant", "g"));
  const HoldPlan start = planFor(unprotected);
  EXPECT_TRUE(start.deleteItself);
  EXPECT_TRUE(start.begun.isWarning);
  EXPECT_EQ(start.begun.reason, "ForcedDeletionBegun");
  EXPECT_EQ(start.begun.message,
            "Deletion begun by force: annotation dbops.dbprovision.io/force-delete: true");
  EXPECT_FALSE(planFor(deleted(unprotected)).isForced) << "it would have gone without";
  StoredObject instance = forced(stored("DatabaseInstance", "pg"));
  instance.annotate(kConfirm, "69504e18");
  EXPECT_EQ(planFor(instance, threeChildren()).begun.reason, "ForcedDeletionBegun");
}

TEST(HoldPlan, ACascadeOfWhatSomebodyDeletedIsForcedAllTheSame) {
  StoredObject instance = deleted(forced(stored("DatabaseInstance", "pg")));
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  EXPECT_FALSE(planFor(instance).isForced) << "its children went before anybody confirmed";
  instance.annotate(kConfirm, "69504e18");
  instance.content.merge_patch(planFor(instance, threeChildren()).statusPatch);
  const HoldPlan plan = planFor(instance);
  EXPECT_TRUE(plan.removeFinalizer);
  EXPECT_TRUE(plan.isForced);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].message,
            "Deleted by force after its children: Database/myapp-database, DatabaseUser/myapp-user, "
            "DatabaseRole/readonly-role");
}

TEST(HoldPlan, ForceThatCountsWhileDeletingAloneBeginsNothing) {
  DeletionPolicy policy = dbopsPolicy("dbops-databases");
  policy.hold->force->starts = Force::Starts::OnlyWhenDeleting;
  const StoredObject database = forced(stored("Database", "db", {{"deletionProtection", true}}));
  for (const HoldFacts& facts : {HoldFacts(), with({childOf("DatabaseGrant", "g")})}) {
    const HoldPlan plan = planFor(policy, database, facts);
    expectHeld(plan);
    EXPECT_TRUE(plan.statusPatch.is_null());
    EXPECT_THAT(plan.events, IsEmpty());
    EXPECT_FALSE(plan.lookAgain);
  }
  EXPECT_TRUE(planFor(policy, deleted(database), {}).removeFinalizer);
  EXPECT_TRUE(planFor(database).deleteItself) << "with starts: Always it does";
}

TEST(HoldPlan, ForceIsExactlyTrue) {
  StoredObject grant = stored("DatabaseGrant", "g", {{"deletionProtection", true}});
  grant.annotate(kForceDelete, "True");
  EXPECT_FALSE(planFor(grant).deleteItself);
  expectHeld(planFor(deleted(grant)));
}

TEST(HoldPlan, ForceOnWhatHasNoFinalizerYetSetsThatFirst) {
  StoredObject grant = forced(stored("DatabaseGrant", "g"));
  grant.content["metadata"]["finalizers"] = json::array();
  const HoldPlan plan = planFor(grant);
  EXPECT_TRUE(plan.addFinalizer);
  EXPECT_FALSE(plan.deleteItself);
}

struct Word {
  const char* kind;
  const char* field;       // spec.deletionPolicy; null: not set
  const char* annotation;  // null: not set
  const char* asked;       // null: nothing is asked
};

TEST(HoldPlan, EachKindHasItsDeletionPolicy) {
  const Word words[] = {{"Database", nullptr, nullptr, "Delete"},
                        {"Database", "Retain", nullptr, "Retain"},
                        {"Database", "Snapshot", nullptr, "Snapshot"},
                        {"Database", "Delete", "Retain", "Delete"},
                        {"Database", "Drop", nullptr, nullptr},
                        {"DatabaseUser", nullptr, nullptr, "Delete"},
                        {"DatabaseUser", "Snapshot", "Retain", "Retain"},
                        {"DatabaseUser", nullptr, "Snapshot", nullptr},
                        {"DatabaseRole", nullptr, "Retain", "Retain"},
                        {"DatabaseGrant", "Retain", "Retain", "Delete"},
                        {"DatabaseBackupSchedule", "Retain", nullptr, "Retain"},
                        {"DatabaseBackupSchedule", "Snapshot", nullptr, nullptr}};
  for (const Word& word : words) {
    StoredObject object = deleted(stored(word.kind, "x"));
    if (word.field != nullptr) object.content["spec"]["deletionPolicy"] = word.field;
    if (word.annotation != nullptr) object.annotate("dbops.dbprovision.io/deletion-policy", word.annotation);
    const HoldPlan plan = planFor(withReports(word.kind), object, {});
    EXPECT_FALSE(plan.removeFinalizer);
    EXPECT_EQ(plan.awaitedWord.value_or("nothing"), word.asked == nullptr ? "nothing" : word.asked)
        << word.kind << " " << (word.field != nullptr ? word.field : "-");
  }
}

TEST(HoldPlan, AnInstanceOnlyLosesItsFinalizer) {
  const HoldPlan plan = planFor(deleted(stored("DatabaseInstance", "pg", {{"deletionPolicy", "Delete"}})));
  EXPECT_TRUE(plan.removeFinalizer);
  EXPECT_FALSE(plan.awaitedWord);
  EXPECT_FALSE(plan.isForced);
}

constexpr const char* kIgnored =
    "annotation dbops.dbprovision.io/force-delete does not count: nobody checks who sets it";

HoldFacts unguarded() {
  HoldFacts facts;
  facts.forceDoubt = "nobody checks who sets it";
  return facts;
}

TEST(HoldPlan, ForceThatNobodyChecksBeginsNothing) {
  const HoldPlan plan =
      planFor(forced(stored("Database", "db", {{"deletionProtection", true}})), unguarded());
  EXPECT_FALSE(plan.deleteItself);
  EXPECT_TRUE(plan.statusPatch.is_null()) << "it is not being deleted";
  EXPECT_EQ(plan.ignoredForce, kIgnored);
  EXPECT_EQ(plan.lookAgain, std::chrono::seconds(10));
  EXPECT_EQ(planFor(stored("Database", "db"), unguarded()).ignoredForce, "") << "nobody forces it";
}

TEST(HoldPlan, ForceThatNobodyChecksLetsNothingGo) {
  const HoldPlan plan =
      planFor(deleted(forced(stored("Database", "db", {{"deletionProtection", true}}))), unguarded());
  expectHeld(plan);
  EXPECT_EQ(plan.events.at(0).message, std::string("Deletion blocked by deletion protection; ") + kIgnored);
  EXPECT_EQ(plan.statusPatch["status"]["message"], plan.events.at(0).message);
  EXPECT_TRUE(planFor(deleted(forced(stored("Database", "db"))), unguarded()).removeFinalizer)
      << "nothing protects it";
}

// The confirmation of a cascade is as good as the force that asks for it.
TEST(HoldPlan, AConfirmationThatNobodyChecksDeletesNoChild) {
  StoredObject database = forced(stored("Database", "db"));
  database.annotate(kConfirm, "887aa8bb");  // printf DatabaseGrant/reader | sha256sum
  HoldFacts facts;
  facts.children = {childOf("DatabaseGrant", "reader")};
  EXPECT_EQ(planFor(database, facts).deleteChildren.size(), 1U);
  facts.forceDoubt = "nobody checks who sets it";
  const HoldPlan plan = planFor(deleted(database), facts);
  EXPECT_THAT(plan.deleteChildren, ::testing::IsEmpty());
  expectHeld(plan);
  EXPECT_THAT(plan.events.at(0).message, HasSubstr("1 child resource: DatabaseGrant/reader; annotation "));
}

TEST(HoldPlan, AnotherOperatorsFinalizerIsLeftToIt) {
  StoredObject database = stored("Database", "db", {{"deletionProtection", true}});
  database.content["metadata"]["finalizers"] = {"dbops.dbprovision.io/database-protection"};
  EXPECT_FALSE(planFor(database).addFinalizer);
  expectHeld(planFor(deleted(forced(database))));
  database.content["metadata"]["finalizers"].push_back("dbops.dbprovision.io/database");
  EXPECT_TRUE(planFor(database).removeFinalizer);
  const HoldPlan held = planFor(deleted(database));
  expectHeld(held);
  EXPECT_TRUE(held.statusPatch.is_null());
  EXPECT_TRUE(planFor(deleted(forced(database))).removeFinalizer);
}

StoredObject withFinalizers(StoredObject object, const std::vector<std::string>& finalizers) {
  object.content["metadata"]["finalizers"] = finalizers;
  return object;
}

constexpr const char* kOwnFinalizer = "dbops.dbprovision.io/database";
constexpr const char* kFormer = "example.com/former";

// Which finalizers go, and which one comes, with another one on the object that holds it for no policy any
// more.
TEST(HoldPlan, AFormerFinalizerGoesOnceTheOwnOneHolds) {
  HoldFacts facts;
  facts.releasable = {kFormer};
  const StoredObject both = withFinalizers(stored("Database", "db"), {kFormer, kOwnFinalizer});
  const StoredObject former = withFinalizers(stored("Database", "db"), {kFormer});
  for (const StoredObject& object : {both, deleted(both)}) {
    const HoldPlan plan = planFor(object, facts);
    EXPECT_THAT(plan.release, ElementsAre(kFormer));
    EXPECT_FALSE(plan.addFinalizer || plan.removeFinalizer || plan.awaitedWord);
  }
  const HoldPlan exchanged = planFor(former, facts);
  EXPECT_TRUE(exchanged.addFinalizer);
  EXPECT_THAT(exchanged.release, ElementsAre(kFormer));
}

// It takes no finalizer any more: without the former one it would go, whatever protects it.
TEST(HoldPlan, AFormerFinalizerHoldsWhatIsBeingDeletedInPlaceOfTheOwnOne) {
  HoldFacts facts;
  facts.releasable = {kFormer};
  StoredObject database =
      deleted(withFinalizers(stored("Database", "db", {{"deletionProtection", true}}), {kFormer}));
  const HoldPlan held = planFor(database, facts);
  expectHeld(held);
  EXPECT_THAT(held.release, ::testing::IsEmpty());
  expectReason(held, "Failed", "DeletionProtected");
  database.content["spec"]["deletionProtection"] = false;
  const HoldPlan ended = planFor(database, facts);
  EXPECT_TRUE(ended.removeFinalizer);
  EXPECT_THAT(ended.release, ElementsAre(kFormer));
}

TEST(HoldPlan, AFormerFinalizerIsNotLeftToAnotherOperator) {
  HoldFacts facts;
  facts.releasable = {kFormer};
  const StoredObject database = withFinalizers(stored("Database", "db", {{"deletionProtection", true}}),
                                               {kFormer, "dbops.dbprovision.io/database-protection"});
  EXPECT_THAT(planFor(database, facts).release, ElementsAre(kFormer));
  expectHeld(planFor(deleted(database), facts));
  EXPECT_THAT(planFor(deleted(database), facts).release, ::testing::IsEmpty());
}

TEST(HoldPlan, WithoutAPolicyNothingHolds) {
  HoldFacts facts;
  facts.releasable = {kFormer, kOwnFinalizer};
  const HoldPlan plan = planRelease(facts);
  EXPECT_THAT(plan.release, ElementsAre(kFormer, kOwnFinalizer));
  EXPECT_FALSE(plan.awaitedWord || plan.removeFinalizer);
}

TEST(HoldPlan, APausedObjectIsLeftAsItIs) {
  StoredObject database = deleted(stored("Database", "db"));
  database.annotate("dbops.dbprovision.io/pause-reconcile", "true");
  const HoldPlan plan = planFor(database);
  expectHeld(plan);
  EXPECT_TRUE(plan.statusPatch.is_null());
}

}  // namespace
}  // namespace lastout::protection
