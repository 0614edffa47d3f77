#include "tests/simulator/cluster_fixture.h"

#include <utility>

#include "kube/names.h"
#include "tests/simulator/admin_request.h"

namespace lastout::testing {
namespace {

using simulator::ExchangeRequest;
using simulator::ExchangeResponse;
using simulator::Json;

simulator::EmbeddedOptions complete(simulator::EmbeddedOptions options) {
  if (!options.callWebhook) options.callWebhook = noWebhook();
  return options;
}

}  // namespace

simulator::CallWebhook noWebhook() {
  return [](const simulator::Webhook&,
            const std::string&) -> tl::expected<simulator::WebhookResponse, std::string> {
    return tl::unexpected(std::string("there is nobody"));
  };
}

simulator::CallWebhook webhookThat(Responds responds) {
  return [responds = std::move(responds)](
             const simulator::Webhook& webhook,
             const std::string& body) -> tl::expected<simulator::WebhookResponse, std::string> {
    const Json request = Json::parse(body)["request"];
    Json response = responds(webhook, request);
    response["uid"] = request["uid"];
    return simulator::WebhookResponse{200, simulator::toText({{"kind", "AdmissionReview"},
                                                              {"apiVersion", "admission.k8s.io/v1"},
                                                              {"response", response}})};
  };
}

ClusterTest::ClusterTest(simulator::EmbeddedOptions options) : cluster(complete(std::move(options))) {
  cluster.clock().pause();
  now = cluster.clock().now();
}

ExchangeResponse ClusterTest::send(const std::string& method, const std::string& path, const Json& body,
                                   const std::string& contentType) {
  ExchangeRequest request = adminRequest(method, path);
  request.user = user;
  request.contentType = contentType;
  if (!body.is_null()) request.body = simulator::toText(body);
  return cluster.handle(request);
}

Json ClusterTest::expect(int status, const std::string& method, const std::string& path, const Json& body,
                         const std::string& contentType) {
  const ExchangeResponse response = send(method, path, body, contentType);
  EXPECT_EQ(response.status, status) << method << " " << path << "\n" << response.body;
  return Json::parse(response.body, nullptr, false);
}

void ClusterTest::pass(std::chrono::milliseconds time) {
  now += time;
  cluster.runUntil(now);
  cluster.clock().advance(time);
}

uint64_t ClusterTest::version() {
  const kube::MutexLock lock(cluster.plane().mutex);
  return cluster.plane().storage.version();
}

bool ClusterTest::isEmpty(const kube::GroupResource& type, std::string_view namespaceName) {
  const kube::MutexLock lock(cluster.plane().mutex);
  return cluster.plane().storage.list(type, namespaceName).empty();
}

void ClusterTest::createNamespace(const std::string& name) {
  expect(201, "POST", "/api/v1/namespaces",
         {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
}

void ClusterTest::createWebhook(const std::string& kind, const std::string& name,
                                const std::vector<std::string>& operations, const std::string& resource) {
  const Json rule = {
      {"operations", operations}, {"apiGroups", {"*"}}, {"apiVersions", {"*"}}, {"resources", {resource}}};
  const Json webhook = {{"name", name},
                        {"admissionReviewVersions", {"v1"}},
                        {"sideEffects", "None"},
                        {"clientConfig", {{"url", "https://127.0.0.1:19443/"}}},
                        {"rules", Json::array({rule})}};
  expect(201, "POST", "/apis/admissionregistration.k8s.io/v1/" + kube::lowerCase(kind) + "s",
         {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"webhooks", Json::array({webhook})}});
}

}  // namespace lastout::testing
