// What API servers evaluate of a policy that holds: the DELETE of what another operator deletes, and who may
// force a deletion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "apiserver/policies.h"
#include "protection/cel.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using apiserver::AccessAttributes;
using apiserver::Json;
using ::testing::HasSubstr;

constexpr const char* kHolding = R"(  objects: [{resources: [{group: example.com, resource: databases}]}]
  when:
  - field: {path: spec.protected}
  - children: [{group: example.com, resource: grants, field: spec.databaseRef.name}]
  enforcement: Hold
  hold:
    finalizer: example.com/held
    finalizersOfOthers: [example.com/operator]
    force: {annotation: example.com/force, values: ["true"], requires: Delete}
    confirmAnnotation: example.com/confirm
)";

class HeldByCel : public ::testing::Test {
 public:
  HeldByCel() {
    for (const nlohmann::ordered_json& object : admissionPoliciesOf(policyOf(kHolding))) {
      const auto put = policies_.put(Json(object));
      EXPECT_TRUE(put) << put.error().message;
    }
  }

  static Json database(const char* metadata) {
    Json object =
        Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Database", "spec": {"protected": true},
                                  "metadata": {"name": "main", "namespace": "shop"}})");
    object["metadata"].update(Json::parse(metadata));
    return object;
  }

  // What the API server says; empty: it goes on.
  std::string deleted(const Json& object) { return review("DELETE", nullptr, &object); }
  std::string updated(const Json& before, const Json& after) { return review("UPDATE", &after, &before); }
  std::string created(const Json& object) { return review("CREATE", &object, nullptr); }

  bool mayDelete = false;
  bool mayDeleteChildren = false;

 private:
  std::string review(const char* operation, const Json* object, const Json* oldObject) {
    apiserver::ReviewRequest request;
    request.operation = operation;
    request.type = {"example.com", "databases"};
    request.version = request.kindVersion = "v1";
    request.kindGroup = "example.com";
    request.kind = "Database";
    request.namespaceName = "shop";
    request.name = "main";
    request.object = object;
    request.oldObject = oldObject;
    request.options = Json::object();
    request.user = {"jane", "", {}, {}};
    const auto verdict =
        reviewByPolicies(*policies_.snapshot(), request, [this](const AccessAttributes& wanted) {
          const std::string right =
              wanted.verb + " " + wanted.resource + " " + wanted.namespaceName + "/" + wanted.name;
          if (right == "delete grants shop/") return mayDeleteChildren;
          EXPECT_EQ(right, "delete databases shop/main");
          return mayDelete;
        });
    return verdict.denial ? verdict.denial->message : "";
  }

  apiserver::Policies policies_;
};

TEST_F(HeldByCel, TheDeleteOfAHeldObjectIsAccepted) {
  EXPECT_EQ(deleted(database(R"({"finalizers": ["example.com/held"]})")), "");
  EXPECT_EQ(deleted(database("{}")), "");
}

TEST_F(HeldByCel, WhatAnotherOperatorDeletesIsDeniedUnlessForced) {
  EXPECT_THAT(deleted(database(R"({"finalizers": ["example.com/operator"]})")),
              HasSubstr("spec.protected is true"));
  EXPECT_EQ(deleted(database(
                R"({"finalizers": ["example.com/operator"], "annotations": {"example.com/force": "true"}})")),
            "");
}

TEST_F(HeldByCel, OnlyWhoMayDeleteTheObjectForcesItsDeletion) {
  const Json forced = database(R"({"annotations": {"example.com/force": "true"}})");
  EXPECT_THAT(updated(database("{}"), forced),
              HasSubstr("user jane must not set annotation example.com/force or confirm it"));
  EXPECT_THAT(created(forced), HasSubstr("the right to delete databases.example.com main"));
  EXPECT_EQ(updated(forced, forced), "") << "nothing is set";
  EXPECT_EQ(updated(forced, database("{}")), "") << "it is taken back";
  EXPECT_EQ(updated(database("{}"), database(R"({"annotations": {"example.com/force": "no"}})")), "");
  mayDelete = true;
  EXPECT_EQ(updated(database("{}"), forced), "");
}

TEST_F(HeldByCel, OnlyWhoMayDeleteTheObjectConfirms) {
  const Json one = database(R"({"annotations": {"example.com/confirm": "1"}})");
  const Json two = database(R"({"annotations": {"example.com/confirm": "2"}})");
  EXPECT_NE(updated(database("{}"), one), "");
  EXPECT_NE(updated(one, two), "");
  EXPECT_EQ(updated(one, one), "");
}

TEST_F(HeldByCel, OnlyWhoMayDeleteTheChildrenConfirms) {
  mayDelete = true;
  const Json confirmed = database(R"({"annotations": {"example.com/confirm": "1"}})");
  EXPECT_THAT(updated(database("{}"), confirmed), HasSubstr("the right to delete grants.example.com"));
  EXPECT_EQ(updated(database("{}"), database(R"({"annotations": {"example.com/force": "true"}})")), "");
  EXPECT_EQ(updated(confirmed, confirmed), "");
  mayDeleteChildren = true;
  EXPECT_EQ(updated(database("{}"), confirmed), "");
}

}  // namespace
}  // namespace lastout::protection
