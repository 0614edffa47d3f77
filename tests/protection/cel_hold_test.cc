// What API servers evaluate of a policy that holds: the DELETE of what another operator deletes, and who may
// force a deletion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "protection/cel.h"
#include "simulator/validating_admission_policies.h"
#include "tests/protection/policies.h"

namespace lastout::protection {
namespace {

using simulator::AccessAttributes;
using simulator::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

 private:
  std::string review(const char* operation, const Json* object, const Json* oldObject) {
    simulator::ReviewRequest request;
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
    const auto verdict = reviewByPolicies(
        *policies_.snapshot(), request,
        {[this](const AccessAttributes& wanted) {
           EXPECT_EQ(wanted.verb + " " + wanted.resource + " " + wanted.namespaceName + "/" + wanted.name,
                     "delete databases shop/main");
           return mayDelete;
         },
         nullptr});
    return verdict.denial ? verdict.denial->message : "";
  }

  simulator::ValidatingAdmissionPolicies policies_;
};

TEST_F(HeldByCel, TheDeleteOfAHeldObjectIsAccepted) {
  EXPECT_EQ(deleted(database(R"({"finalizers": ["example.com/held"]})")), "");
}

TEST_F(HeldByCel, TheDeleteOfWhatHasNoFinalizerYetIsDenied) {
  EXPECT_THAT(
      deleted(database("{}")),
      HasSubstr("spec.protected is true, says deletion policy p; it has no finalizer example.com/held "
                "yet, so it cannot be held: try again, or run lastout serve with --hold-policies"));
  EXPECT_NE(deleted(database(R"({"finalizers": ["example.com/third"]})")), "");
  EXPECT_EQ(deleted(database(R"({"annotations": {"example.com/force": "true"}})")), "");
  EXPECT_EQ(deleted(database(
                R"({"finalizers": ["example.com/third"], "deletionTimestamp": "2026-01-01T00:00:00Z"})")),
            "");
  Json unprotected = database("{}");
  unprotected["spec"]["protected"] = false;
  EXPECT_EQ(deleted(unprotected), "");
}

TEST_F(HeldByCel, WhatAnotherOperatorDeletesIsDeniedUnlessForced) {
  EXPECT_THAT(deleted(database(R"({"finalizers": ["example.com/operator"]})")),
              AllOf(HasSubstr("spec.protected is true"), Not(HasSubstr("it cannot be held"))));
  EXPECT_EQ(deleted(database(
                R"({"finalizers": ["example.com/operator"], "annotations": {"example.com/force": "true"}})")),
            "");
}

}  // namespace
}  // namespace lastout::protection
