// Admission policies: which are accepted, and what they say to a request.
#include "simulator/validating_admission_policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "simulator/selection.h"

namespace lastout::simulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A policy for all writes of configmaps whose validations are `validations`, changed by a merge patch.
Json policyWith(const char* validations, const char* change = "{}") {
  Json policy = Json::parse(R"({
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
    "spec": {"matchConstraints": {"resourceRules": [
      {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}]}}})");
  policy["spec"]["validations"] = Json::parse(validations);
  policy.merge_patch(Json::parse(change));
  return policy;
}

Json bindingWith(const char* change = "{}", const std::string& name = "b") {
  Json binding = Json::parse(R"({
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {},
    "spec": {"policyName": "p", "validationActions": ["Deny"]}})");
  binding["metadata"]["name"] = name;
  binding.merge_patch(Json::parse(change));
  return binding;
}

const Json kBefore = Json::parse(R"({"metadata": {"name": "a", "namespace": "app"}, "data": {"k": "v"}})");
const Json kAfter = Json::parse(
    R"({"metadata": {"name": "a", "namespace": "app", "labels": {"team": "blue"}}, "data": {"k": "w"}})");

ReviewRequest updateRequest() {
  ReviewRequest request;
  request.operation = "UPDATE";
  request.type = {"", "configmaps"};
  request.version = "v1";
  request.namespaceName = "app";
  request.name = "a";
  request.object = &kAfter;
  request.oldObject = &kBefore;
  request.user = {"jane", "", {"developers"}, {}};
  return request;
}

// The names that jane may delete.
bool mayDeleteMine(const AccessAttributes& wanted) {
  return wanted.verb == "delete" && wanted.name == "mine";
}

// Two settings, of which the second has the label team.
tl::expected<PolicyParameters, std::string> settingsOf(const ParameterKind& kind,
                                                       const ParameterReference& reference) {
  if (kind.kind != "Setting")
    return tl::unexpected("failed to find resource referenced by paramKind: '/v1, Kind=" + kind.kind + "'");
  const Json first = Json::parse(R"({"metadata": {"name": "first"}, "most": 1})");
  const Json second =
      Json::parse(R"({"metadata": {"name": "second", "labels": {"team": "blue"}}, "most": 2})");
  PolicyParameters found;
  for (const Json& each : {first, second}) {
    const bool isMeant = reference.name.empty() ? matches(reference.selector, each)
                                                : each["metadata"]["name"] == reference.name;
    if (isMeant) found.push_back(std::make_shared<const Json>(each));
  }
  return found;
}

PolicyVerdict verdictOf(const std::vector<Json>& objects, const ReviewRequest& request = updateRequest()) {
  ValidatingAdmissionPolicies policies;
  for (const Json& object : objects) {
    const auto put = policies.put(object);
    EXPECT_TRUE(put) << put.error().message;
  }
  return reviewByPolicies(*policies.snapshot(), request, {mayDeleteMine, settingsOf});
}

// "" when it goes on.
std::string denialBy(const Json& policy, const ReviewRequest& request = updateRequest(),
                     const Json& binding = bindingWith()) {
  const PolicyVerdict verdict = verdictOf({policy, binding}, request);
  return verdict.denial ? verdict.denial->message : "";
}

constexpr const char* kNever = R"([{"expression": "false", "message": "no"}])";

// The words, codes and details of Kubernetes' validating dispatcher.
TEST(Policies, DenyInTheWordsOfTheApiServer) {
  const PolicyVerdict verdict = verdictOf({policyWith(kNever), bindingWith()});
  ASSERT_TRUE(verdict.denial);
  EXPECT_EQ(
      verdict.denial->message,
      "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no");
  EXPECT_EQ(verdict.denial->code, 422);
  EXPECT_EQ(verdict.denial->reason, "Invalid");
  EXPECT_EQ(
      verdict.denial->details["causes"],
      Json::parse(R"([{"message": "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"}])"));
  EXPECT_THAT(verdict.warnings, IsEmpty());
}

TEST(Policies, DenyWithTheReasonOfTheValidation) {
  for (const auto& [reason, code] : std::vector<std::pair<std::string, int>>{
           {"Forbidden", 403}, {"Invalid", 422}, {"RequestEntityTooLarge", 413}}) {
    const std::string validations = R"([{"expression": "false", "reason": ")" + reason + "\"}]";
    const PolicyVerdict verdict = verdictOf({policyWith(validations.c_str()), bindingWith()});
    ASSERT_TRUE(verdict.denial) << reason;
    EXPECT_EQ(verdict.denial->reason, reason);
    EXPECT_EQ(verdict.denial->code, code);
  }
}

TEST(Policies, NameTheMessageOfTheExpressionOrTheFixedOneOrTheExpression) {
  const auto messageOf = [](const char* validation) {
    const std::string said = denialBy(policyWith(validation));
    return said.substr(said.find("request: ") + 9);
  };
  EXPECT_EQ(messageOf(R"([{"expression": "false", "message": "fixed",
    "messageExpression": "object.metadata.name + ' has ' + object.data.k"}])"),
            "a has w");
  EXPECT_EQ(
      messageOf(
          R"([{"expression": "false", "message": "fixed", "messageExpression": "'' + object.data.x"}])"),
      "fixed");
  EXPECT_EQ(messageOf(R"([{"expression": "false", "messageExpression": "' '"}])"),
            "failed expression: false");
}

TEST(Policies, SeeObjectOldObjectRequestAndVariables) {
  EXPECT_EQ(denialBy(policyWith(R"-([
    {"expression": "object.data.k == 'w' && oldObject.data.k == 'v'"},
    {"expression": "request.operation == 'UPDATE' && request.name == 'a' && request.namespace == 'app'"},
    {"expression": "request.userInfo.username == 'jane' && 'developers' in request.userInfo.groups"},
    {"expression": "variables.changed && variables.both == 'vw'"},
    {"expression": "!has(request.subResource)"}])-",
                                R"({"spec": {"variables": [
    {"name": "changed", "expression": "object.data != oldObject.data"},
    {"name": "both", "expression": "variables.changed ? oldObject.data.k + object.data.k : ''"}]}})")),
            "");
}

constexpr const char* kTakesSettings = R"({"spec": {"paramKind": {"apiVersion": "v1", "kind": "Setting"}}})";

std::string denialWithReference(const char* validations, const std::string& reference,
                                const char* change = kTakesSettings) {
  return denialBy(policyWith(validations, change), updateRequest(),
                  bindingWith((R"({"spec": {"paramRef": )" + reference + "}}").c_str()));
}

TEST(Policies, SeeTheObjectThatTheBindingNamesAsParams) {
  constexpr const char* kMost =
      R"-([{"expression": "params != null && params.most > 1", "messageExpression": "'of ' + params.metadata.name"}])-";
  EXPECT_EQ(denialWithReference(kMost, R"({"name": "second", "parameterNotFoundAction": "Deny"})"), "");
  EXPECT_THAT(denialWithReference(kMost, R"({"name": "first", "parameterNotFoundAction": "Deny"})"),
              HasSubstr("denied request: of first"));
  EXPECT_THAT(denialWithReference(kMost, R"({"selector": {}, "parameterNotFoundAction": "Allow"})"),
              HasSubstr("denied request: of first"))
      << "each that the selector matches has to hold";
  EXPECT_EQ(
      denialWithReference(
          kMost, R"({"selector": {"matchLabels": {"team": "blue"}}, "parameterNotFoundAction": "Allow"})"),
      "");
  EXPECT_THAT(denialBy(policyWith(kMost, kTakesSettings)), HasSubstr("failed expression"))
      << "no reference: null";
}

// The words of Kubernetes' CollectParams.
TEST(Policies, WithoutTheObjectThatTheBindingNamesItSaysWhatToDo) {
  EXPECT_EQ(denialWithReference(kNever, R"({"name": "third", "parameterNotFoundAction": "Allow"})"), "");
  EXPECT_THAT(denialWithReference(kNever, R"({"name": "third", "parameterNotFoundAction": "Deny"})"),
              HasSubstr("with binding 'b' denied request: failed to configure binding: no params found for "
                        "policy binding with `Deny` parameterNotFoundAction"));
  EXPECT_THAT(
      denialWithReference(kNever, R"({"name": "first", "parameterNotFoundAction": "Allow"})",
                          R"({"spec": {"paramKind": {"apiVersion": "v1", "kind": "Other"}}})"),
      HasSubstr(
          "failed to configure binding: failed to find resource referenced by paramKind: '/v1, Kind=Other'"));
  EXPECT_EQ(
      denialWithReference(
          kNever, R"({"name": "third", "parameterNotFoundAction": "Deny"})",
          R"({"spec": {"failurePolicy": "Ignore", "paramKind": {"apiVersion": "v1", "kind": "Setting"}}})"),
      "");
}

TEST(Policies, AskTheAuthorizerWhatTheUserMayDo) {
  const auto asked = [](const std::string& name) {
    const std::string validations =
        R"([{"expression": "authorizer.group('apps').resource('deployments').namespace('app').name(')" +
        name + R"-(').check('delete').allowed()"}])-";
    return denialBy(policyWith(validations.c_str()));
  };
  EXPECT_EQ(asked("mine"), "");
  EXPECT_THAT(asked("yours"), HasSubstr("denied request: failed expression: authorizer.group('apps')"));
  EXPECT_NE(
      denialBy(policyWith(R"-([{"expression": "authorizer.requestResource.check('delete').allowed()"}])-")),
      "")
      << "of \"a\"";
}

// Two in each expression or variable, and 28 in all.
TEST(Policies, AskNoMoreThanApiServersPayFor) {
  const auto asking = [](size_t variables) {
    Json policy = policyWith("[]");
    policy["spec"]["validations"] = Json::array();
    for (size_t i = 0; i < variables; ++i) {
      const std::string name = "v" + std::to_string(i);
      const std::string check =
          "authorizer.group('').resource('pods').name('mine').check('delete').allowed()";
      policy["spec"]["variables"].push_back({{"name", name}, {"expression", check + " && " + check}});
      policy["spec"]["validations"].push_back({{"expression", "variables." + name}});
    }
    return denialBy(policy);
  };
  EXPECT_EQ(asking(14), "");
  EXPECT_THAT(asking(15), HasSubstr("fails to evaluate: operation cancelled: actual cost limit exceeded"));
}

TEST(Policies, MatchByRulesNamesSelectorsAndConditions) {
  const auto isDenied = [](const char* change, const ReviewRequest& request = updateRequest()) {
    return !denialBy(policyWith(kNever, change), request).empty();
  };
  EXPECT_TRUE(isDenied("{}"));
  const auto rule = [](const std::string& more) {
    return R"({"spec": {"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], )" +
           more + "}]}}}";
  };
  EXPECT_FALSE(isDenied(rule(R"("operations": ["DELETE"], "resources": ["configmaps"])").c_str()));
  EXPECT_FALSE(isDenied(rule(R"("operations": ["*"], "resources": ["secrets"])").c_str()));
  EXPECT_FALSE(isDenied(rule(R"("operations": ["*"], "resources": ["*"], "scope": "Cluster")").c_str()));
  const std::string named = rule(R"("operations": ["*"], "resources": ["*"], "resourceNames": ["a"])");
  EXPECT_TRUE(isDenied(named.c_str()));
  ReviewRequest ofCollection = updateRequest();
  ofCollection.name.clear();
  EXPECT_FALSE(isDenied(named.c_str(), ofCollection)) << "that names nobody";
  EXPECT_FALSE(isDenied(R"({"spec": {"matchConstraints": {"excludeResourceRules": [
    {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["configmaps"]}]}}})"));
  EXPECT_TRUE(
      isDenied(R"({"spec": {"matchConstraints": {"objectSelector": {"matchLabels": {"team": "blue"}}}}})"));
  EXPECT_FALSE(
      isDenied(R"({"spec": {"matchConstraints": {"objectSelector": {"matchLabels": {"team": "red"}}}}})"));
  EXPECT_FALSE(
      isDenied(R"({"spec": {"matchConstraints": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}})"));
  EXPECT_FALSE(isDenied(
      R"({"spec": {"matchConditions": [{"name": "c", "expression": "request.operation == 'DELETE'"}]}})"));
  EXPECT_TRUE(
      isDenied(R"({"spec": {"matchConditions": [{"name": "c", "expression": "object.data.k == 'w'"}]}})"));
}

TEST(Policies, ThatFailDenyOrAreIgnored) {
  constexpr const char* kFails = R"([{"expression": "object.data.x == 'a'"}])";
  EXPECT_EQ(denialBy(policyWith(kFails)),
            "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
            "expression "
            "'object.data.x == 'a'' resulted in error: no such key: x");
  EXPECT_EQ(denialBy(policyWith(kFails, R"({"spec": {"failurePolicy": "Ignore"}})")), "");
  constexpr const char* kCondition =
      R"({"spec": {"matchConditions": [{"name": "c", "expression": "object.data.x == 'a'"}]}})";
  EXPECT_THAT(denialBy(policyWith(kNever, kCondition)), HasSubstr("resulted in error: no such key: x"));
  EXPECT_THAT(
      denialBy(policyWith(R"([{"expression": "variables.x"}])",
                          R"({"spec": {"variables": [{"name": "x", "expression": "object.a == 'a'"}]}})")),
      HasSubstr("expression 'variables.x' resulted in error: composited variable \"x\" fails to evaluate: "
                "no such key: a"));
}

TEST(Policies, DenyWarnOrAuditAsTheBindingSays) {
  const Json policy = policyWith(kNever);
  EXPECT_FALSE(verdictOf({policy}).denial) << "without a binding";
  EXPECT_FALSE(verdictOf({bindingWith()}).denial) << "without its policy";
  const PolicyVerdict warned =
      verdictOf({policy, bindingWith(R"({"spec": {"validationActions": ["Warn", "Audit"]}})")});
  EXPECT_FALSE(warned.denial);
  EXPECT_THAT(warned.warnings,
              ElementsAre("Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no"));
  const PolicyVerdict audited =
      verdictOf({policy, bindingWith(R"({"spec": {"validationActions": ["Audit"]}})")});
  EXPECT_FALSE(audited.denial);
  EXPECT_THAT(audited.warnings, IsEmpty());
  constexpr const char* kOther =
      R"({"spec": {"matchResources": {"objectSelector": {"matchLabels": {"a": "b"}}}}})";
  EXPECT_EQ(denialBy(policy, updateRequest(), bindingWith(kOther)), "") << "bound for others";
  constexpr const char* kBlue =
      R"({"spec": {"matchResources": {"objectSelector": {"matchLabels": {"team": "blue"}}}}})";
  EXPECT_NE(denialBy(policy, updateRequest(), bindingWith(kBlue)), "");
}

TEST(Policies, PassOverPoliciesButNotWebhookConfigurations) {
  const Json policy = policyWith(kNever, R"({"spec": {"matchConstraints": {"resourceRules": [
    {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]}}})");
  ReviewRequest request = updateRequest();
  request.namespaceName.clear();
  for (const char* resource : {"validatingadmissionpolicies", "validatingadmissionpolicybindings"}) {
    request.type = {"admissionregistration.k8s.io", resource};
    EXPECT_EQ(denialBy(policy, request), "") << resource;
  }
  request.type = {"admissionregistration.k8s.io", "validatingwebhookconfigurations"};
  EXPECT_NE(denialBy(policy, request), "");
}

TEST(Policies, AreGoneWhenTheyAreRemoved) {
  ValidatingAdmissionPolicies policies;
  ASSERT_TRUE(policies.put(policyWith(kNever)));
  ASSERT_TRUE(policies.put(bindingWith()));
  ASSERT_TRUE(policies.put(bindingWith("{}", "c")));
  EXPECT_EQ(policies.snapshot()->bound.front().bindings.size(), 2U);
  policies.remove("ValidatingAdmissionPolicyBinding", "b");
  EXPECT_EQ(policies.snapshot()->bound.front().bindings.size(), 1U);
  policies.remove("ValidatingAdmissionPolicy", "p");
  EXPECT_TRUE(policies.snapshot()->bound.empty());
}

// "<field>: <message>" of the first cause, or the message of a 400.
std::string refusal(const Json& object) {
  const auto put = ValidatingAdmissionPolicies().put(object);
  if (put) return "";
  if (put.error().code != 422) return put.error().message;
  const Json& cause = put.error().details["causes"][0];
  return std::string(cause["field"]) + ": " + std::string(cause["message"]);
}

TEST(PolicyConfiguration, WhatIsNotEvaluatedIsStoredWithAWarning) {
  const auto with = [](const char* validation, const char* change = "{}") {
    const auto warnings = checkPolicyOrBinding(policyWith(validation, change));
    EXPECT_TRUE(warnings) << warnings.error().message;
    return warnings.value_or(std::vector<std::string>{});
  };
  constexpr const char* kTrue = R"([{"expression": "true"}])";
  constexpr const char* kMatches = R"-([{"expression": "object.data.k.matches('v')"}])-";
  EXPECT_THAT(with(kTrue), IsEmpty());
  EXPECT_THAT(with(kMatches),
              ElementsAre("spec.validations[0].expression: lastout up does not evaluate this expression (the "
                          "function \"matches\" at 1:14 is not supported): it fails for every request, and "
                          "failurePolicy Fail denies that"));
  EXPECT_THAT(with(kMatches, R"({"spec": {"failurePolicy": "Ignore"}})"),
              ElementsAre(HasSubstr("and failurePolicy Ignore leaves it out")));
  EXPECT_THAT(with(kTrue, R"-({"spec": {"variables": [{"name": "a", "expression": "int('1')"}]}})-"),
              ElementsAre(HasSubstr("spec.variables[0].expression: ")));
  EXPECT_THAT(with(R"-([{"expression": "true", "messageExpression": "string(1)"}])-"),
              ElementsAre(HasSubstr("is not supported): denials have the message instead")));
  // What these mean needs no warning: an expression that uses parameters has one.
  EXPECT_THAT(with(kTrue, R"({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}})"),
              IsEmpty());
  EXPECT_THAT(with("[]", R"({"spec": {"auditAnnotations": [{"key": "a", "valueExpression": "'b'"}]}})"),
              IsEmpty());
  EXPECT_EQ(
      refusal(bindingWith(R"({"spec": {"paramRef": {"name": "a", "parameterNotFoundAction": "Deny"}}})")),
      "");
  EXPECT_THAT(refusal(policyWith(kTrue, R"({"spec": {"validation": []}})")), HasSubstr("validation"));
}

// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#failure-policy
TEST(Policies, ThatAreNotEvaluatedFailAsFailurePolicySays) {
  constexpr const char* kMatches = R"-([{"expression": "object.data.k.matches('w')"}])-";
  constexpr const char* kOfVariable = R"([{"expression": "variables.a == 1"}])";
  constexpr const char* kVariable = R"-({"spec": {"variables": [{"name": "a", "expression": "int('1')"}]}})-";
  EXPECT_THAT(
      denialBy(policyWith(kMatches)),
      HasSubstr("denied request: expression 'object.data.k.matches('w')' resulted in error: lastout up "
                "does not evaluate this expression: the function \"matches\" at 1:14 is not supported"));
  EXPECT_EQ(denialBy(policyWith(kMatches, R"({"spec": {"failurePolicy": "Ignore"}})")), "");
  EXPECT_THAT(denialBy(policyWith(kOfVariable, kVariable)), HasSubstr("lastout up does not evaluate"));
  EXPECT_EQ(denialBy(policyWith(R"([{"expression": "true"}])", kVariable)), "") << "which nothing needs";
}

TEST(PolicyConfiguration, ExpressionsAreRefusedWithTheirPlace) {
  const auto with = [](const char* change) {
    return refusal(policyWith(R"([{"expression": "true"}])", change));
  };
  EXPECT_EQ(
      refusal(policyWith(R"-([{"expression": "true"}, {"expression": "nothing == 'b'"}])-"))
          .find("spec.validations[1].expression: Invalid value: \"nothing == 'b'\": compilation failed: "
                "undeclared reference to 'nothing' at 1:1"),
      0U);
  EXPECT_THAT(refusal(policyWith(R"([{"expression": "object.a"}])")), HasSubstr("must evaluate to bool"));
  EXPECT_THAT(
      refusal(policyWith(R"([{"expression": "true", "messageExpression": "true"}])")),
      HasSubstr(
          "spec.validations[0].messageExpression: Invalid value: \"true\": must evaluate to string but got "
          "bool"));
  EXPECT_THAT(
      refusal(policyWith(
          R"([{"expression": "true", "messageExpression": "authorizer.path('/').check('get').allowed() ? 'a' : 'b'"}])")),
      HasSubstr("undeclared reference to 'authorizer'"));
  EXPECT_THAT(refusal(policyWith(R"([{"expression": "variables.a"}])")),
              HasSubstr("undeclared reference to 'variables'"))
      << "there are none";
  EXPECT_THAT(refusal(policyWith(R"([{"expression": "params.a"}])")),
              HasSubstr("undeclared reference to 'params'"));
  EXPECT_THAT(
      with(R"({"spec": {"variables": [{"name": "a", "expression": "variables.b"},
                                              {"name": "b", "expression": "true"}]}})"),
      HasSubstr("spec.variables[0].expression: Invalid value: \"variables.b\": compilation failed: undefined "
                "field 'b'"))
      << "of those before it alone";
  EXPECT_THAT(with(R"({"spec": {"variables": [{"name": "a-b", "expression": "true"}]}})"),
              HasSubstr("spec.variables[0].name: Invalid value: \"a-b\": must be a valid CEL identifier"));
  EXPECT_EQ(
      with(
          R"({"spec": {"variables": [{"name": "a", "expression": "1"}, {"name": "a", "expression": "2"}]}})"),
      "")
      << "the last counts";
  EXPECT_THAT(
      with(R"({"spec": {"matchConditions": [{"name": "a", "expression": "variables.a"}]}})"),
      HasSubstr("spec.matchConditions[0].expression: Invalid value: \"variables.a\": compilation failed: "
                "undeclared reference to 'variables'"));
}

TEST(PolicyConfiguration, MistakesAreTheCausesOf422) {
  EXPECT_EQ(
      refusal(policyWith("[]")),
      "spec.validations: Required value: validations or auditAnnotations must contain at least one item");
  const auto with = [](const char* change) {
    return refusal(policyWith(R"([{"expression": "true"}])", change));
  };
  EXPECT_EQ(with(R"({"spec": {"matchConstraints": null}})"), "spec.matchConstraints: Required value");
  EXPECT_EQ(with(R"({"spec": {"matchConstraints": {"resourceRules": null}}})"),
            "spec.matchConstraints.resourceRules: Required value");
  EXPECT_EQ(with(R"({"spec": {"failurePolicy": "Never"}})"),
            R"(spec.failurePolicy: Unsupported value: "Never": supported values: "Fail", "Ignore")");
  EXPECT_EQ(with(R"({"spec": null})"), "spec: Required value");
  EXPECT_THAT(refusal(policyWith(R"([{"expression": "true", "reason": "Gone"}])")),
              HasSubstr("spec.validations[0].reason: Unsupported value: \"Gone\""));
  EXPECT_THAT(refusal(policyWith(R"([{"expression": " "}])")),
              HasSubstr("spec.validations[0].expression: Required"));
  const auto audited = [](const std::string& annotation) {
    return refusal(policyWith("[]", (R"({"spec": {"auditAnnotations": [)" + annotation + "]}}").c_str()));
  };
  EXPECT_THAT(audited(R"({"key": "a b", "valueExpression": "'b'"})"),
              HasSubstr("spec.auditAnnotations[0].key: Invalid"));
  EXPECT_THAT(
      audited(R"({"key": "a", "valueExpression": "1"})"),
      HasSubstr("spec.auditAnnotations[0].valueExpression: Invalid value: \"1\": must evaluate to one of"));
  EXPECT_THAT(audited(R"({"key": "a", "valueExpression": "'b'"}, {"key": "a", "valueExpression": "null"})"),
              HasSubstr("spec.auditAnnotations[1].key: Duplicate"));
  const std::pair<const char*, const char*> parameterKinds[] = {
      {R"({"kind": "A"})", "spec.paramKind.apiVersion: Required value"},
      {R"({"apiVersion": "v1"})", "spec.paramKind.kind: Required value"},
      {R"({"apiVersion": "a/b/c", "kind": "A"})", "spec.paramKind.apiVersion: Invalid value"},
      {R"({"apiVersion": "A_/v1", "kind": "A"})", "spec.paramKind.apiVersion: Invalid value"},
      {R"({"apiVersion": "a/V1", "kind": "A"})", "spec.paramKind.apiVersion: Invalid value"},
      {R"({"apiVersion": "v1", "kind": "A_"})", "spec.paramKind.kind: Invalid value"},
  };
  for (const auto& [kind, words] : parameterKinds)
    EXPECT_THAT(with((R"({"spec": {"paramKind": )" + std::string(kind) + "}}").c_str()), HasSubstr(words));
  const std::pair<const char*, const char*> rules[] = {
      {R"({"operations": ["*", "DELETE"]})", "operations: Invalid"},
      {R"({"apiGroups": ["*", "apps"]})", "apiGroups: Invalid"},
      {R"({"apiVersions": ["v1", ""]})", "apiVersions[1]: Required"},
      {R"({"resources": ["pods/*", "pods/status"]})", "resources[1]: Invalid value: \"pods/status\""},
      {R"({"resources": ["*/status", "pods/status"]})", "resources[1]: Invalid"},
      {R"({"resources": ["*/*", "pods"]})", "resources: Invalid"},
      {R"({"resources": ["*", "pods"]})", "resources: Invalid"},
      {R"({"resources": ["pods", "*"]})", ""},
      {R"({"resources": ["*", "pods/status"]})", ""},
      {R"({"resources": [""]})", "resources[0]: Required"},
      {R"({"resourceNames": ["a", "a"]})", "resourceNames[1]: Duplicate"},
      {R"({"resourceNames": ["a/b"]})", "resourceNames[0]: Invalid"},
      {R"({"scope": "World"})", "scope: Unsupported"},
  };
  for (const auto& [change, words] : rules) {
    Json rule = {{"operations", {"DELETE"}},
                 {"apiGroups", {"apps"}},
                 {"apiVersions", {"*"}},
                 {"resources", {"deployments"}}};
    rule.merge_patch(Json::parse(change));
    const Json constraints = {{"spec", {{"matchConstraints", {{"resourceRules", Json::array({rule})}}}}}};
    const std::string told = with(constraints.dump().c_str());
    EXPECT_THAT(told, words[0] == '\0' ? HasSubstr("") : HasSubstr("resourceRules[0]." + std::string(words)))
        << change;
    EXPECT_EQ(told.empty(), words[0] == '\0') << change;
  }
  const std::pair<const char*, const char*> references[] = {
      {R"({"parameterNotFoundAction": "Deny"})", "spec.paramRef: Required"},
      {R"({"name": "a"})", "spec.paramRef.parameterNotFoundAction: Required"},
      {R"({"name": "a", "parameterNotFoundAction": "Wait"})",
       "spec.paramRef.parameterNotFoundAction: Unsupported"},
      {R"({"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"})",
       "spec.paramRef.name: Forbidden"},
  };
  for (const auto& [reference, words] : references)
    EXPECT_THAT(refusal(bindingWith((R"({"spec": {"paramRef": )" + std::string(reference) + "}}").c_str())),
                HasSubstr(words));
  EXPECT_THAT(refusal(bindingWith(R"({"spec": {"policyName": "A_"}})")),
              HasSubstr("spec.policyName: Invalid"));
  EXPECT_EQ(refusal(bindingWith(R"({"spec": {"policyName": null}})")), "spec.policyName: Required value");
  EXPECT_EQ(refusal(bindingWith(R"({"spec": {"validationActions": []}})")),
            "spec.validationActions: Required value: at least one validation action is required");
  EXPECT_THAT(refusal(bindingWith(R"({"spec": {"validationActions": ["Deny", "Warn"]}})")),
              HasSubstr("must not contain both Deny and Warn"));
  EXPECT_THAT(refusal(bindingWith(R"({"spec": {"validationActions": ["Deny", "Deny"]}})")),
              HasSubstr("spec.validationActions[1]: Duplicate value"));
  EXPECT_THAT(refusal(bindingWith(R"({"spec": {"validationActions": ["Log"]}})")),
              HasSubstr("spec.validationActions[0]: Unsupported value: \"Log\""));
}

TEST(PolicyConfiguration, ThatIsNoneIs400) {
  EXPECT_THAT(refusal(policyWith(R"([{"expression": 1}])")),
              HasSubstr("cannot be handled as a ValidatingAdmissionPolicy"));
  for (const char* text : {"1", "null", "[]", R"({"spec": []})", R"({"spec": {"validations": {}}})"})
    EXPECT_FALSE(checkPolicy(Json::parse(text))) << text;
}

}  // namespace
}  // namespace lastout::simulator
