#include "tests/server/uninstall/uninstall_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string_view>

#include "control/kept_work_rule.h"
#include "kube/parse.h"
#include "kube/well_known.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {

using lastout::testing::objectOf;

namespace {

constexpr std::string_view kInstalledDeployment = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: lastout, labels: {app.kubernetes.io/name: lastout}}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: lastout}}
  template:
    metadata: {labels: {app.kubernetes.io/name: lastout}}
    spec: {containers: [{name: c, image: i}]}
)";

std::string renewTimeAt(int second) {
  return "2026-01-01T00:00:0" + std::to_string(second % 10) + ".000000Z";
}

}  // namespace

UninstallTest::UninstallTest() {
  options.leases = {{"lastout", "lastout"}, {"default", "lastout"}};
  options.patience = patience;
  options.tell = [this](const std::string& line) { told.push_back(line); };
  options.complain = [this](const std::string& line) { complaints.push_back(line); };
}

void UninstallTest::install() {
  createStory();
  create("/api/v1/namespaces", objectOf("v1", "Namespace", "lastout"));
  create("/apis/apps/v1/namespaces/lastout/deployments", ownDeployment());
  cluster.runUntil(std::chrono::seconds(10));
  now += std::chrono::seconds(10);
  create(kOwnLeases, lease(""));
  createSecret({{"ca.key", "a2V5"}, {"tls.key", "a2V5"}});
  createWork("work", {kube::kAppliedObjectsFinalizer, "others.io/f"});
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhook());
}

void UninstallTest::deferDeletions() {
  patch(std::string(kRecordingService) + "/status",
        {{"status",
          {{"deferredDeletions", Json::array({{{"group", "apps"},
                                               {"resource", "deployments"},
                                               {"namespace", "default"},
                                               {"name", "provider"},
                                               {"uid", "u"},
                                               {"requestedBy", "agent"},
                                               {"requestedAt", "2026-01-01T00:00:00Z"}}})},
           {"deferredDeletionsDropped", 2}}}});
}

void UninstallTest::createSecret(const Json& data) {
  Json secret = objectOf("v1", "Secret", "lastout-tls");
  secret["data"] = data;
  create("/api/v1/namespaces/lastout/secrets", secret);
}

void UninstallTest::createWork(const std::string& name, const Json& finalizers) {
  Json work = objectOf("work.open-cluster-management.io/v1", "AppliedManifestWork", name);
  work["metadata"]["finalizers"] = finalizers;
  work["spec"] = {{"hubHash", "h"}, {"manifestWorkName", name}};
  create(kWorks, work);
}

void UninstallTest::renew(const std::string& holder) {
  patch(kOwnLease, {{"spec", {{"holderIdentity", holder}, {"renewTime", renewTimeAt(++renewals)}}}});
}

void UninstallTest::lock(const std::string& name) {
  std::ifstream file("deploy/validating-admission-policies.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto documents = kube::parseYaml(text, "policies");
  ASSERT_TRUE(documents);
  for (const kube::Value& document : *documents) {
    const Json object = kube::toJson(document);
    if (object["metadata"]["name"] != name) continue;
    const bool isBinding = object["kind"] == "ValidatingAdmissionPolicyBinding";
    create(std::string("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic") +
               (isBinding ? "ybindings" : "ies"),
           object);
  }
}

void UninstallTest::createDeployments() {
  for (const std::string role : {"webhook", "controller"}) {
    Json deployment = ownDeployment();
    deployment["metadata"]["name"] = "lastout-" + role;
    deployment["spec"]["selector"]["matchLabels"]["app.kubernetes.io/component"] = role;
    deployment["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"] = role;
    create("/apis/apps/v1/namespaces/lastout/deployments", deployment);
  }
}

bool UninstallTest::run() {
  told.clear();
  complaints.clear();
  server.asked.clear();
  server.writes.clear();
  const auto isDone = uninstall(server, options);
  EXPECT_TRUE(isDone) << isDone.error().message;
  return isDone.value_or(false);
}

int UninstallTest::statusOfDelete(const std::string& path) {
  return ask({.method = "DELETE", .target = path, .body = {}, .headers = {}}).status;
}

Json UninstallTest::finalizersOf(const std::string& path) {
  return get(path)["metadata"].value("finalizers", Json::array());
}

void UninstallTest::expectNothingHoldsOrDenies() {
  for (const char* gone : {kOwnDeployment, kOwnWebhook, kOwnSecret, kOwnLease})
    EXPECT_FALSE(isThere(gone)) << gone;
  EXPECT_THAT(get(kOwnPods)["items"], ::testing::IsEmpty());
  EXPECT_EQ(finalizersOf(kWork), Json({"others.io/f"}));
  const Json status = get(kRecordingService).value("status", Json::object());
  EXPECT_FALSE(status.contains("deferredDeletions") || status.contains("deferredDeletionsDropped")) << status;
}

Json UninstallTest::ownDeployment() { return lastout::testing::jsonOf(kInstalledDeployment); }

Json UninstallTest::lease(const std::string& holder) {
  Json lease = objectOf("coordination.k8s.io/v1", "Lease", "lastout");
  lease["spec"] = {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", renewTimeAt(0)}};
  return lease;
}

Json UninstallTest::webhook() const {
  WebhookConfiguration configuration;
  configuration.address = {"https://127.0.0.1:1", "", "", 443, authority.certificate};
  configuration.ownNamespace = "lastout";
  configuration.objects = {
      {{{"apps", "deployments"}, "app", "p"}, kube::namespaceKey("lastout")}, {}, {{"apps", "deployments"}}};
  return toJson(configuration);
}

}  // namespace lastout::server
