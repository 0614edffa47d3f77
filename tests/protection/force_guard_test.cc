// Who may force and confirm the deletion of what a policy holds, and whose DELETE is denied, as an API server
// evaluates the policies that lastout makes.
#include "protection/force_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "protection/cel.h"
#include "simulator/validating_admission_policies.h"
#include "tests/protection/held_objects.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using ::testing::HasSubstr;

// A user who may delete these types in the namespace shop, in an API server with the policies of dbops.
class ForceGuardTest : public ::testing::Test {
 public:
  ForceGuardTest() {
    for (const DeletionPolicy& policy : dbopsPolicies()) store(policy);
  }
  void store(const DeletionPolicy& policy) {
    for (const nlohmann::ordered_json& object : admissionPoliciesOf(policy)) {
      const auto put = policies.put(simulator::Json(object));
      EXPECT_TRUE(put) << object.dump(2) << put.error().message;
    }
  }

  // The denial; empty: there is none.
  std::string review(const std::string& operation, const StoredObject* before, const StoredObject* after) {
    const StoredObject& one = after == nullptr ? *before : *after;
    const simulator::Json oldObject =
        before == nullptr ? simulator::Json() : simulator::Json(before->content);
    const simulator::Json object = after == nullptr ? simulator::Json() : simulator::Json(after->content);
    simulator::ReviewRequest request;
    request.operation = operation;
    request.type = one.key.type;
    request.version = request.kindVersion = "v1alpha1";
    request.kindGroup = request.type.group;
    request.kind = one.kind;
    request.namespaceName = one.key.namespaceName;
    request.name = one.key.name;
    if (before != nullptr) request.oldObject = &oldObject;
    if (after != nullptr) request.object = &object;
    request.user = {"jane", "", {}, {}};
    const auto verdict = simulator::reviewByPolicies(
        *policies.snapshot(), request,
        {[this](const simulator::AccessAttributes& access) {
           return access.verb == "delete" &&
                  (mayDeleteAnywhere.contains(access.resource) ||
                   (access.namespaceName == "shop" && mayDelete.contains(access.resource)));
         },
         nullptr});
    return verdict.denial ? verdict.denial->message : "";
  }
  std::string update(const StoredObject& before, const StoredObject& after) {
    return review("UPDATE", &before, &after);
  }

  simulator::ValidatingAdmissionPolicies policies;
  std::set<std::string> mayDelete;
  std::set<std::string> mayDeleteAnywhere;  // in all namespaces
};

StoredObject annotated(StoredObject object, const char* annotation, const char* value) {
  object.annotate(annotation, value);
  return object;
}

TEST_F(ForceGuardTest, ForceIsSetByThoseWhoMayDelete) {
  const StoredObject grant = stored("DatabaseGrant", "g");
  const StoredObject forced = annotated(grant, kForceDelete, "true");
  EXPECT_THAT(update(grant, forced), HasSubstr("must be allowed to delete the object"));
  EXPECT_THAT(review("CREATE", nullptr, &forced), HasSubstr("must be allowed to delete the object"));
  mayDelete = {"databasegrants"};
  EXPECT_EQ(update(grant, forced), "");
  EXPECT_EQ(review("CREATE", nullptr, &forced), "");
}

TEST_F(ForceGuardTest, WhatSetsNoForceIsFree) {
  const StoredObject grant = stored("DatabaseGrant", "g");
  const StoredObject forced = annotated(grant, kForceDelete, "true");
  EXPECT_EQ(update(grant, annotated(grant, kForceDelete, "no")), "");
  EXPECT_EQ(update(forced, annotated(forced, "a.b/note", "x")), "");
  EXPECT_EQ(update(forced, grant), "");
  EXPECT_EQ(review("CREATE", nullptr, &grant), "");
}

TEST_F(ForceGuardTest, ACascadeIsConfirmedByThoseWhoMayDeleteAllOfIt) {
  const StoredObject instance = stored("DatabaseInstance", "pg");
  const StoredObject confirmed = annotated(instance, kConfirm, "69504e18");
  mayDelete = {"databaseinstances"};
  mayDeleteAnywhere = {"databases", "databaseusers"};
  EXPECT_THAT(update(instance, confirmed), HasSubstr("must be allowed to delete databaseroles"));
  mayDeleteAnywhere.insert("databaseroles");
  EXPECT_EQ(update(instance, confirmed), "");
  mayDelete.clear();
  mayDeleteAnywhere.clear();
  EXPECT_EQ(update(confirmed, annotated(confirmed, "a.b/note", "x")), "");
  EXPECT_NE(update(confirmed, annotated(confirmed, kConfirm, "a1b2c3d4")), "");
}

// A Database of any namespace can name the instance (spec.instanceRef.namespace).
TEST_F(ForceGuardTest, ACascadeThatReachesOtherNamespacesIsConfirmedByThoseWhoMayDeleteThere) {
  const StoredObject instance = stored("DatabaseInstance", "pg");
  const StoredObject confirmed = annotated(instance, kConfirm, "69504e18");
  mayDelete = {"databaseinstances", "databases", "databaseusers", "databaseroles"};
  EXPECT_THAT(
      update(instance, confirmed),
      HasSubstr("must be allowed to delete databaseroles.dbops.dbprovision.io in all namespaces, which go"));
  EXPECT_THAT(review("CREATE", nullptr, &confirmed), HasSubstr("in all namespaces"));
  mayDeleteAnywhere = {"databases", "databaseusers", "databaseroles"};
  EXPECT_EQ(update(instance, confirmed), "");
}

// What refers to it in one way or the other, and where that can be.
TEST_F(ForceGuardTest, WhereChildrenCanBeIsWhereTheUserMayDeleteThem) {
  const auto confirmedBy = [&](const char* child, const char* namespaceName) {
    store(
        policyOf("  objects: [{resources: [{group: a.b, resource: servers}]}]\n"
                 "  when: [{children: [{group: a.b, resource: tables, " +
                 std::string(child) +
                 "}]}]\n"
                 "  enforcement: Hold\n"
                 "  hold: {finalizer: a.b/held, force: {annotation: a.b/force}, "
                 "confirmAnnotation: a.b/confirm}\n"));
    StoredObject server{{{"a.b", "servers"}, namespaceName, "s"}, "Server", {{"metadata", {{"name", "s"}}}}};
    if (*namespaceName != '\0') server.content["metadata"]["namespace"] = namespaceName;
    return update(server, annotated(server, "a.b/confirm", "x"));
  };
  mayDelete = {"servers", "tables"};
  mayDeleteAnywhere = {"servers"};
  EXPECT_EQ(confirmedBy("field: spec.server", "shop"), "");
  EXPECT_EQ(confirmedBy("label: a.b/server", "shop"), "");
  constexpr const char* kFurther = "must be allowed to delete tables.a.b";
  EXPECT_THAT(confirmedBy("field: spec.server, namespaceField: spec.space", "shop"), HasSubstr(kFurther));
  EXPECT_THAT(confirmedBy("ownerReference: true", "shop"), HasSubstr(kFurther));
  EXPECT_THAT(confirmedBy("field: spec.server", ""), HasSubstr(kFurther)) << "it is in no namespace";
  mayDeleteAnywhere.insert("tables");
  for (const char* child : {"field: spec.server, namespaceField: spec.space", "ownerReference: true"})
    EXPECT_EQ(confirmedBy(child, "shop"), "") << child;
  EXPECT_EQ(confirmedBy("label: a.b/server", ""), "");
}

TEST_F(ForceGuardTest, TheDeletionOfWhatAnotherOperatorHoldsIsDenied) {
  StoredObject database = stored("Database", "db", {{"deletionProtection", true}});
  database.content["metadata"]["finalizers"] = {"dbops.dbprovision.io/database"};
  EXPECT_EQ(review("DELETE", &database, nullptr), "");
  database.content["metadata"]["finalizers"] = {"dbops.dbprovision.io/database-protection"};
  EXPECT_THAT(review("DELETE", &database, nullptr), HasSubstr("Deletion blocked by deletion protection"));
  EXPECT_EQ(review("DELETE", &(database = annotated(database, kForceDelete, "true")), nullptr), "");
}

}  // namespace
}  // namespace lastout::protection
