// judge(), the CEL that is made of a policy, and a brute force agree on random policies, objects and
// requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kube/resource_map.h"
#include "protection/cel.h"
#include "protection/evaluate.h"
#include "protection/placement.h"
#include "simulator/validating_admission_policies.h"
#include "tests/protection/plain_policy.h"
#include "tests/protection/policies.h"
#include "tests/support/seed.h"

namespace lastout::protection {
namespace {

using testing::Dice;
using testing::PlainPolicy;
using testing::PlainRequest;

// Nothing else is ever asked for.
class NoFacts : public Facts {
 public:
  AncestorState ancestor(const AncestorTest& /*test*/, const Request& /*request*/) const override {
    testing::stop("a local case asked for an ancestor");
  }
  Count children(const ChildrenTest& /*test*/, const Request& /*request*/) const override {
    testing::stop("a local case asked for children");
  }
  Count active(Activity /*activity*/, const Request& /*request*/) const override {
    testing::stop("a local case asked for what is active");
  }
  Listers listers(const ListedBy& /*listedBy*/, const Request& /*request*/) const override {
    testing::stop("a local case asked for a lister");
  }
};

kube::ResourceMap withWidgets() {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  types.add({{"example.com", "widgets"}, "Widget", "v1", "widget", {}, true, false});
  return types;
}

struct Objects {
  kube::Object before;
  kube::Object after;
  simulator::Json beforeJson;
  simulator::Json afterJson;
};

Objects objectsOf(const PlainRequest& request, kube::ResourceMap& types) {
  Objects made{
      testing::object(request.before.yaml(), types), testing::object(request.after.yaml(), types), {}, {}};
  made.beforeJson = kube::toJson(made.before.content);
  made.afterJson = kube::toJson(made.after.content);
  return made;
}

std::optional<std::string> byJudge(const DeletionPolicy& policy, const PlainRequest& plain,
                                   const Objects& objects) {
  Request request;
  request.operation = plain.isUpdate ? PolicyOperation::Update : PolicyOperation::Delete;
  request.object = objects.before.key;
  request.kind = objects.before.kind;
  request.meta = &objects.before.meta;
  request.content = &objects.before.content;
  if (plain.isUpdate) request.newMeta = &objects.after.meta;
  request.user = plain.user;
  request.groups = plain.groups;
  request.orphans = plain.orphans;
  const auto denial = judge(policy, request, NoFacts(), CaseScope::Local);
  return denial ? std::optional(denial->message) : std::nullopt;
}

void store(const DeletionPolicy& policy, simulator::ValidatingAdmissionPolicies& policies) {
  for (const nlohmann::ordered_json& object : admissionPoliciesOf(policy)) {
    const auto put = policies.put(simulator::Json(object));
    if (!put) testing::stop("not accepted: " + put.error().message + "\n" + object.dump(2));
  }
}

std::optional<std::string> byApiServer(const simulator::ValidatingAdmissionPolicies& policies,
                                       const PlainRequest& plain, const Objects& objects) {
  simulator::ReviewRequest request;
  request.operation = plain.isUpdate ? "UPDATE" : "DELETE";
  request.type = objects.before.key.type;
  request.version = "v1";
  request.subresource = plain.subresource;
  request.kindGroup = request.type.group;
  request.kindVersion = "v1";
  request.kind = objects.before.kind;
  request.namespaceName = objects.before.key.namespaceName;
  request.name = objects.before.key.name;
  request.oldObject = &objects.beforeJson;
  if (plain.isUpdate) request.object = &objects.afterJson;
  request.options = simulator::Json::parse(R"({"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"})");
  if (plain.orphans) request.options["propagationPolicy"] = "Orphan";
  request.user = {plain.user, "", plain.groups, {}};
  const auto verdict = simulator::reviewByPolicies(
      *policies.snapshot(), request, {[](const simulator::AccessAttributes&) { return false; }, nullptr});
  return verdict.denial ? std::optional(verdict.denial->message) : std::nullopt;
}

#ifdef LASTOUT_SANITIZED
constexpr int kPolicyCount = 200;
#else
constexpr int kPolicyCount = 2'000;
#endif
constexpr int kRequestsEach = 8;

TEST(CelProperty, JudgeCelAndBruteForceAgree) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  Dice dice(seed);
  kube::ResourceMap types = withWidgets();
  int denied = 0;
  for (int i = 0; i < kPolicyCount; ++i) {
    const PlainPolicy plain = testing::drawPolicy(dice);
    const DeletionPolicy policy = policyOf(plain.spec());
    simulator::ValidatingAdmissionPolicies policies;
    store(policy, policies);
    for (int j = 0; j < kRequestsEach; ++j) {
      const PlainRequest request = testing::drawRequest(dice);
      const Objects objects = objectsOf(request, types);
      const bool expected = plain.denies(request);
      denied += expected ? 1 : 0;
      const auto judged = byJudge(policy, request, objects);
      const auto reviewed = byApiServer(policies, request, objects);
      const std::string all =
          plain.spec() + "---\n" + request.before.yaml() +
          (request.isUpdate ? "--- updated by /" + request.subresource + " to\n" + request.after.yaml()
                            : "--- deleted\n");
      ASSERT_EQ(judged.has_value(), expected) << all;
      ASSERT_EQ(reviewed.has_value(), expected) << all << reviewed.value_or("");
      if (!expected) continue;
      ASSERT_THAT(*reviewed, ::testing::EndsWith("denied request: " + *judged)) << all;
    }
  }
  EXPECT_GT(denied, kPolicyCount / 4) << "the generator draws too little that is denied";
}

}  // namespace
}  // namespace lastout::protection
