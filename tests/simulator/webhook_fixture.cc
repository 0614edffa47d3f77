#include "tests/simulator/webhook_fixture.h"

#include "kube/encoding.h"

namespace lastout::testing {
namespace {

using simulator::Json;

}  // namespace

WebhookClusterTest::WebhookClusterTest(simulator::EmbeddedOptions options)
    : ClusterTest([&] {
        options.callWebhook = webhookThat([this](const simulator::Webhook& webhook, const Json& request) {
          return asked_.at(webhook.name)(request);
        });
        return std::move(options);
      }()) {}

void WebhookClusterTest::put(const std::string& kind, const std::string& resource,
                             const std::string& operation, Asked asked) {
  const std::string name = "w" + std::to_string(asked_.size()) + ".test.dev";
  createWebhook(kind, name, {operation}, resource);
  asked_[name] = std::move(asked);
}

void WebhookClusterTest::validate(const std::string& resource, const std::string& operation, Asked asked) {
  put("ValidatingWebhookConfiguration", resource, operation, std::move(asked));
}

void WebhookClusterTest::mutate(const std::string& resource, const std::string& operation, Asked asked) {
  put("MutatingWebhookConfiguration", resource, operation, std::move(asked));
}

void WebhookClusterTest::createWidgets(const Json& schema) {
  expect(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "widgets.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"names", {{"kind", "Widget"}, {"plural", "widgets"}}},
            {"scope", "Namespaced"},
            {"versions", Json::array({{{"name", "v1"},
                                       {"served", true},
                                       {"storage", true},
                                       {"schema", {{"openAPIV3Schema", schema}}}}})}}}});
}

Json WebhookClusterTest::allow() { return {{"allowed", true}}; }

Json WebhookClusterTest::deny(const std::string& why) {
  return {{"allowed", false}, {"status", {{"message", why}}}};
}

Json WebhookClusterTest::patch(const Json& operations) {
  return {{"allowed", true},
          {"patchType", "JSONPatch"},
          {"patch", kube::toBase64(simulator::toText(operations))}};
}

}  // namespace lastout::testing
