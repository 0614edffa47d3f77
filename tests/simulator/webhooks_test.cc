// Webhook configurations: which are accepted, and which requests concern them.
#include "simulator/webhooks.h"

#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

// A configuration with one webhook for all DELETEs of deployments, changed by a merge patch.
Json configuration(const char* change = "{}", const std::string& name = "rec",
                   const std::string& kind = "ValidatingWebhookConfiguration") {
  Json webhook =
      Json::parse(R"({"name": "rec.test.dev", "admissionReviewVersions": ["v1"], "sideEffects": "None",
    "clientConfig": {"url": "https://127.0.0.1:19443/validate"},
    "rules": [{"operations": ["DELETE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}]})");
  webhook.merge_patch(Json::parse(change));
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"webhooks", Json::array({webhook})}};
}

Webhook webhookWith(const char* change = "{}") {
  return checkConfiguration(configuration(change)).value().front();
}

ReviewRequest deletion() {
  ReviewRequest request;
  request.operation = "DELETE";
  request.type = {"apps", "deployments"};
  request.version = "v1";
  request.namespaceName = "app";
  request.name = "target";
  request.namespaceLabels = {{"team", "blue"}};
  return request;
}

TEST(WebhookConfiguration, OfTheRecordingIsReadWithItsDefaults) {
  const auto recorded =
      checkConfiguration(recordedExchange("098-create-webhook-configuration")["request"]["body"]);
  ASSERT_TRUE(recorded) << recorded.error().message;
  const Webhook& webhook = recorded->front();
  EXPECT_EQ(webhook.timeout, std::chrono::seconds(2));
  EXPECT_EQ(webhook.address.url, "https://127.0.0.1:19443/validate");
  EXPECT_TRUE(webhook.address.authorities.starts_with("-----BEGIN CERTIFICATE-----"));
  EXPECT_EQ(webhookWith().timeout, std::chrono::seconds(10));
  EXPECT_FALSE(webhookWith().failureIsIgnored);
}

TEST(WebhookConfiguration, MistakesAreTheCausesOf422) {
  struct Case {
    const char* change;
    const char* field;
    const char* words;
  };
  const Case cases[] = {
      {R"({"name": null})", "name", "Required value"},
      {R"({"name": "short"})", "name", "at least three segments"},
      {R"({"admissionReviewVersions": []})", "admissionReviewVersions", "must specify one of v1, v1beta1"},
      {R"({"admissionReviewVersions": ["v2"]})", "admissionReviewVersions", "must include at least one of"},
      {R"({"timeoutSeconds": 0})", "timeoutSeconds", "the timeout value must be between 1 and 30 seconds"},
      {R"({"timeoutSeconds": 31})", "timeoutSeconds", "Invalid value: 31: "},
      {R"({"sideEffects": null})", "sideEffects", "must specify one of None, NoneOnDryRun"},
      {R"({"sideEffects": "Some"})", "sideEffects",
       R"(Unsupported value: "Some": supported values: "None", "NoneOnDryRun")"},
      {R"({"failurePolicy": "Maybe"})", "failurePolicy", R"(supported values: "Fail", "Ignore")"},
      {R"({"clientConfig": null})", "clientConfig", "exactly one of url or service is required"},
      {R"({"clientConfig": {"service": {}}})", "clientConfig", "exactly one of url or service is required"},
      {R"({"clientConfig": {"url": "http://h/p"}})", "clientConfig.url",
       R"(Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path])"},
      {R"({"clientConfig": {"url": "https://h:p/"}})", "clientConfig.url",
       "Required value: url must be a valid URL"},
      {R"({"admissionReviewVersions": ["v1", "v1"]})", "admissionReviewVersions[1]", "duplicate version"},
      {R"({"clientConfig": {"url": null, "service": {"namespace": "n", "name": "s", "path": "/a//b"}}})",
       "clientConfig.service.path", "segment[1] may not be empty"},
      {R"({"clientConfig": {"url": null, "service": {"namespace": "n", "name": "s", "path": "/A"}}})",
       "clientConfig.service.path", "segment[0]: a lowercase RFC 1123 subdomain"},
      {R"({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}})",
       "namespaceSelector.matchExpressions[0].operator", "not a valid selector operator"},
      {R"({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]}})",
       "namespaceSelector.matchExpressions[0].values[0]", "a valid label must be"},
      {R"({"clientConfig": {"url": "https:///p"}})", "clientConfig.url", "host must be specified"},
      {R"({"clientConfig": {"url": "https://a@h/"}})", "clientConfig.url",
       "user information is not permitted"},
      {R"({"clientConfig": {"url": "https://h/?q"}})", "clientConfig.url",
       "query parameters are not permitted"},
      {R"({"clientConfig": {"url": "https://h/#f"}})", "clientConfig.url", "fragments are not permitted"},
      {R"({"clientConfig": {"url": null, "service": {"namespace": "n"}}})", "clientConfig.service.name",
       "service name is required"},
      {R"({"clientConfig": {"url": null, "service": {"namespace": "n", "name": "s", "port": 0}}})",
       "clientConfig.service.port", "port is not valid"},
      {R"({"objectSelector": {"matchLabels": {"-": "a"}}})", "objectSelector.matchLabels",
       "name part must consist of"},
      {R"({"matchConditions": [{"expression": "true"}]})", "matchConditions[0].name", "Required value"},
      {R"({"matchConditions": [{"name": "a b", "expression": "true"}]})", "matchConditions[0].name",
       R"(Invalid value: "a b": name part must consist of)"},
      {R"({"matchConditions": [{"name": "a", "expression": "true"}, {"name": "a", "expression": "true"}]})",
       "matchConditions[1].name", R"(Duplicate value: "a")"},
      {R"({"matchConditions": [{"name": "a", "expression": " "}]})", "matchConditions[0].expression",
       "Required value"},
      {R"({"matchConditions": [{"name": "a", "expression": "size(object) == 'a'"}]})",
       "matchConditions[0].expression", "compilation failed: found no matching overload for '_==_'"},
      {R"({"rules": [{"operations": ["EAT"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]})",
       "rules[0].operations[0]", R"(Unsupported value: "EAT": supported values: "*", "CONNECT")"},
      {R"({"rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"]}]})",
       "rules[0].resources", "Required value"},
  };
  for (const Case& each : cases) {
    const auto read = checkConfiguration(configuration(each.change));
    ASSERT_FALSE(read) << each.change;
    EXPECT_EQ(read.error().code, 422) << each.change;
    const Json& cause = read.error().details["causes"][0];
    EXPECT_EQ(cause["field"], "webhooks[0]." + std::string(each.field));
    EXPECT_NE(std::string(cause["message"]).find(each.words), std::string::npos) << cause;
  }
}

TEST(WebhookConfiguration, ThatIsNoneIs400) {
  for (const char* change : {R"({"rules": 1})", R"({"rules": [1]})", R"({"timeoutSeconds": "2"})",
                             R"({"clientConfig": []})", R"({"clientConfig": {"url": 1}})",
                             R"({"clientConfig": {"caBundle": "*"}})", R"({"objectSelector": "a"})"}) {
    const auto read = checkConfiguration(configuration(change));
    ASSERT_FALSE(read) << change;
    EXPECT_EQ(read.error().code, 400) << change;
  }
  for (const char* text : {"1", "null", "[]", R"({"webhooks": {}})", R"({"webhooks": [[]]})"})
    checkConfiguration(Json::parse(text));  // whatever it says, it says it
}

// In clientConfig, API servers check only the URL or the Service. The placeholders of kubebuilder and Istio
// ("Cg==", an empty line) are stored until somebody puts in the real one.
TEST(WebhookConfiguration, IsStoredWithACaBundleThatHasNoCertificate) {
  for (const char* change :
       {R"({"clientConfig": {"caBundle": "Cg=="}})", R"({"clientConfig": {"caBundle": "bm8="}})"})
    EXPECT_TRUE(webhookWith(change).address.cannotTrust) << change;
  EXPECT_FALSE(webhookWith(R"({"clientConfig": {"caBundle": ""}})").address.cannotTrust);
}

TEST(WebhookConfiguration, NamesEachWebhookOnce) {
  Json twice = configuration();
  twice["webhooks"].push_back(twice["webhooks"][0]);
  EXPECT_EQ(checkConfiguration(twice).error().details["causes"][0]["reason"], "FieldValueDuplicate");
}

TEST(WebhookUrl, HasThesePartsAlone) {
  EXPECT_EQ(parseWebhookUrl("https://host")->port, 443);
  EXPECT_EQ(parseWebhookUrl("https://[::1]:8443/a/b")->host, "::1");
  EXPECT_EQ(parseWebhookUrl("https://[::1]:8443/a/b")->path, "/a/b");
  for (const char* bad :
       {"https://host:0", "https://host:65536", "https://host:x", "https://h:1:2", "https://[::1",
        "https://h\r\n/", "https://h/a b", "https://h/\r\nX: y", "ftp://h", "h", ""})
    EXPECT_FALSE(parseWebhookUrl(bad)) << bad;
}

TEST(WebhookRules, MatchOperationGroupVersionAndResource) {
  EXPECT_TRUE(concerns(webhookWith(), deletion()));
  ReviewRequest request = deletion();
  request.operation = "UPDATE";
  EXPECT_FALSE(concerns(webhookWith(), request));
  request = deletion();
  request.version = "v1beta1";
  EXPECT_FALSE(concerns(webhookWith(), request));
  request = deletion();
  request.type.group = "extensions";
  EXPECT_FALSE(concerns(webhookWith(), request));
}

// The conventions of admissionregistration.k8s.io/v1 for resources.
TEST(WebhookRules, NameSubresourcesOnlyWithASlash) {
  const auto matches = [](const std::string& pattern, const std::string& subresource) {
    Webhook webhook = webhookWith();
    webhook.matches.rules[0].resources = {pattern};
    ReviewRequest request = deletion();
    request.subresource = subresource;
    return concerns(webhook, request);
  };
  for (const char* pattern : {"deployments", "*", "*/*", "deployments/*"})
    EXPECT_TRUE(matches(pattern, "")) << pattern;
  for (const char* pattern : {"*/*", "deployments/*", "deployments/scale", "*/scale"})
    EXPECT_TRUE(matches(pattern, "scale")) << pattern;
  for (const char* pattern : {"deployments", "*", "deployments/status", "pods/*", "*/status"})
    EXPECT_FALSE(matches(pattern, "scale")) << pattern;
  EXPECT_FALSE(matches("deployments/scale", ""));
}

TEST(WebhookRules, ScopeCountsANamespaceAmongTheClusters) {
  Webhook webhook = webhookWith();
  kube::RuleWithOperations& rule = webhook.matches.rules[0];
  rule = {{"*"}, {"*"}, {"*"}, {"*/*"}, "Namespaced", {}};
  ReviewRequest ofNamespace = deletion();
  ofNamespace.type = {"", "namespaces"};
  EXPECT_TRUE(concerns(webhook, deletion()));
  EXPECT_FALSE(concerns(webhook, ofNamespace));
  rule.scope = "Cluster";
  EXPECT_FALSE(concerns(webhook, deletion()));
  EXPECT_TRUE(concerns(webhook, ofNamespace));
}

TEST(WebhookSelectors, LookAtNamespacesAndAtBothObjects) {
  const Webhook blue = webhookWith(R"({"namespaceSelector": {"matchLabels": {"team": "blue"}}})");
  const Webhook critical = webhookWith(R"({"objectSelector": {"matchLabels": {"critical": "yes"}}})");
  ReviewRequest request = deletion();
  EXPECT_TRUE(concerns(blue, request));
  EXPECT_FALSE(concerns(critical, request));
  const Json object = {{"metadata", {{"labels", {{"critical", "yes"}}}}}};
  request.oldObject = &object;
  request.namespaceLabels.clear();
  EXPECT_FALSE(concerns(blue, request));
  EXPECT_TRUE(concerns(critical, request));
  request.namespaceName.clear();
  EXPECT_TRUE(concerns(blue, request)) << "what is in no namespace is not selected by one";
}

TEST(WebhookSelectors, TakeANamespacesOwnLabels) {
  Webhook blue = webhookWith(R"({"namespaceSelector": {"matchLabels": {"team": "blue"}}})");
  blue.matches.rules[0] = {{"*"}, {""}, {"v1"}, {"namespaces"}, "*", {}};
  const Json before = {{"metadata", {{"labels", {{"team", "blue"}}}}}};
  const Json after = {{"metadata", {{"labels", {{"team", "red"}}}}}};
  ReviewRequest request = deletion();
  request.type = {"", "namespaces"};
  request.oldObject = &before;
  EXPECT_TRUE(concerns(blue, request));
  request.operation = "UPDATE";
  request.object = &after;
  EXPECT_FALSE(concerns(blue, request)) << "what it is to become counts";
}

TEST(WebhookConfiguration, HasAtMost64MatchConditions) {
  Json many = configuration();
  for (int i = 0; i < 65; ++i)
    many["webhooks"][0]["matchConditions"].push_back({{"name", std::to_string(i)}, {"expression", "true"}});
  const auto read = checkConfiguration(many);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().details["causes"][0]["reason"], "FieldValueTooMany");
  EXPECT_EQ(read.error().details["causes"][0]["message"], "Too many: 65: must have at most 64 items");
  many["webhooks"][0]["matchConditions"].erase(64);
  EXPECT_TRUE(checkConfiguration(many));
}

TEST(WebhookConditions, AreMetAllOrNobodyIsAsked) {
  const Json target = {{"metadata", {{"name", "target"}, {"namespace", "app"}}}};
  ReviewRequest request = deletion();
  request.oldObject = &target;
  const auto asked = [&](const std::vector<std::string>& expressions, bool ignores = false) -> std::string {
    Json change = {{"matchConditions", Json::array()}, {"failurePolicy", ignores ? "Ignore" : "Fail"}};
    for (const std::string& expression : expressions)
      change["matchConditions"].push_back(
          {{"name", "n" + std::to_string(change["matchConditions"].size())}, {"expression", expression}});
    const auto answer = isToBeAsked(webhookWith(change.dump().c_str()), request);
    return answer ? (*answer ? "asked" : "not asked")
                  : std::to_string(answer.error().code) + " " + answer.error().message;
  };
  const std::string listed =
      "(oldObject.metadata.namespace + '/' + oldObject.metadata.name) in ['app/target']";
  EXPECT_EQ(asked({}), "asked");
  EXPECT_EQ(asked({listed}), "asked");
  EXPECT_EQ(asked({listed, "request.operation == 'UPDATE'"}), "not asked");
  // The name in the path is not there where a collection is deleted.
  EXPECT_EQ(asked({"request.name == 'target'"}), "asked");
  request.name.clear();
  EXPECT_EQ(asked({"request.name == 'target'"}),
            "403 deployments.apps is forbidden: expression 'request.name == 'target'' resulted in error: no "
            "such key: "
            "name");
  EXPECT_EQ(asked({"request.name == 'target'"}, true), "not asked");
  EXPECT_EQ(asked({"request.name == 'target'", "false"}), "not asked")
      << "a false one decides, whatever fails";
  EXPECT_EQ(asked({listed}), "asked");
}

TEST(Webhooks, AreAskedInTheOrderOfTheirNames) {
  Webhooks webhooks;
  ASSERT_TRUE(webhooks.put(configuration("{}", "b")));
  ASSERT_TRUE(webhooks.put(configuration("{}", "a")));
  ASSERT_TRUE(webhooks.put(configuration("{}", "c", "MutatingWebhookConfiguration")));
  EXPECT_FALSE(webhooks.put(configuration(R"({"timeoutSeconds": 0})", "a"))) << "and the good one stays";
  const auto before = webhooks.snapshot();
  const auto found = matching(*before, false, deletion()).value();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->configuration, "a");
  EXPECT_EQ(found[1]->configuration, "b");
  EXPECT_EQ(matching(*before, true, deletion()).value().size(), 1U);
  webhooks.remove("ValidatingWebhookConfiguration", "a");
  webhooks.remove("ValidatingWebhookConfiguration", "c");
  EXPECT_EQ(webhooks.snapshot()->all.size(), 2U);
  EXPECT_EQ(before->all.size(), 3U) << "a request goes by what it began with";
}

TEST(Webhooks, AreNotAskedAboutTheirOwnConfigurations) {
  Webhook webhook = webhookWith();
  webhook.matches.rules[0] = {{"*"}, {"*"}, {"*"}, {"*/*"}, "*", {}};
  ReviewRequest request = deletion();
  EXPECT_TRUE(concerns(webhook, request));
  request.type = {"admissionregistration.k8s.io", "validatingwebhookconfigurations"};
  EXPECT_FALSE(concerns(webhook, request));
}

}  // namespace
}  // namespace lastout::simulator
