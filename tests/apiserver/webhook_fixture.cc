#include "tests/apiserver/webhook_fixture.h"

#include "kube/base64.h"

namespace lastout::testing {
namespace {

using apiserver::Json;

constexpr const char* kConfigurations = "/apis/admissionregistration.k8s.io/v1/";

}  // namespace

WebhookClusterTest::WebhookClusterTest(apiserver::Users users)
    : ClusterTest([&] {
        apiserver::EmbeddedOptions options;
        options.users = std::move(users);
        options.callWebhook =
            [this](const apiserver::Webhook& webhook,
                   const std::string& body) -> tl::expected<apiserver::WebhookResponse, std::string> {
          const Json review = Json::parse(body);
          Json response = asked_.at(webhook.name)(review["request"]);
          response["uid"] = review["request"]["uid"];
          return apiserver::WebhookResponse{200, apiserver::toText({{"kind", "AdmissionReview"},
                                                                    {"apiVersion", "admission.k8s.io/v1"},
                                                                    {"response", response}})};
        };
        return options;
      }()) {}

void WebhookClusterTest::put(const std::string& kind, const std::string& resource,
                             const std::string& operation, Asked asked) {
  const std::string name = "w" + std::to_string(asked_.size()) + ".test.dev";
  const Json rule = {
      {"operations", {operation}}, {"apiGroups", {"*"}}, {"apiVersions", {"*"}}, {"resources", {resource}}};
  const Json webhook = {{"name", name},
                        {"admissionReviewVersions", {"v1"}},
                        {"sideEffects", "None"},
                        {"clientConfig", {{"url", "https://127.0.0.1:19443/"}}},
                        {"rules", Json::array({rule})}};
  std::string plural = kind + "s";
  for (char& c : plural) c = static_cast<char>(std::tolower(c));
  expect(201, "POST", kConfigurations + plural,
         {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"webhooks", Json::array({webhook})}});
  asked_[name] = std::move(asked);
}

void WebhookClusterTest::validate(const std::string& resource, const std::string& operation, Asked asked) {
  put("ValidatingWebhookConfiguration", resource, operation, std::move(asked));
}

void WebhookClusterTest::mutate(const std::string& resource, const std::string& operation, Asked asked) {
  put("MutatingWebhookConfiguration", resource, operation, std::move(asked));
}

Json WebhookClusterTest::allow() { return {{"allowed", true}}; }

Json WebhookClusterTest::deny(const std::string& why) {
  return {{"allowed", false}, {"status", {{"message", why}}}};
}

Json WebhookClusterTest::patch(const Json& operations) {
  return {{"allowed", true},
          {"patchType", "JSONPatch"},
          {"patch", kube::toBase64(apiserver::toText(operations))}};
}

}  // namespace lastout::testing
